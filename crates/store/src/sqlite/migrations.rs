//! The schema and its history. Migrations are numbered, applied in order, each in one transaction, and never
//! edited afterwards: the database holds a checksum of each applied one.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior, params};

use super::connection::Fault;
use crate::schema_history::{AppliedMigration, Migration, check};

const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        name: "first",
        sql: include_str!("migrations/0001_first.sql"),
        serves: 1,
    },
    Migration {
        version: 2,
        name: "failing sources",
        sql: include_str!("migrations/0002_failing_sources.sql"),
        serves: 1,
    },
    Migration {
        version: 3,
        name: "identity",
        sql: include_str!("migrations/0003_identity.sql"),
        serves: 1,
    },
    Migration {
        version: 4,
        name: "outlines",
        sql: include_str!("migrations/0004_outlines.sql"),
        serves: 4,
    },
    Migration {
        version: 5,
        name: "uses",
        sql: include_str!("migrations/0005_uses.sql"),
        serves: 4,
    },
    Migration {
        version: 6,
        name: "fallbacks",
        sql: include_str!("migrations/0006_fallbacks.sql"),
        serves: 4,
    },
    Migration {
        version: 7,
        name: "typed references",
        sql: concat!(
            include_str!("migrations/0007_typed_references.sql"),
            include_str!("migrations/0007_typed_references_rows.sql"),
        ),
        serves: 7,
    },
    Migration {
        version: 8,
        name: "quarantine",
        sql: include_str!("migrations/0008_quarantine.sql"),
        serves: 7,
    },
    // An older binary would add events without recording by which rules they were redacted.
    Migration {
        version: 9,
        name: "rescans",
        sql: include_str!("migrations/0009_rescans.sql"),
        serves: 9,
    },
    Migration {
        version: 10,
        name: "pollution",
        sql: include_str!("migrations/0010_pollution.sql"),
        serves: 9,
    },
    Migration {
        version: 11,
        name: "origins",
        sql: include_str!("migrations/0011_origins.sql"),
        serves: 9,
    },
    Migration {
        version: 12,
        name: "supersessions",
        sql: include_str!("migrations/0012_supersessions.sql"),
        serves: 9,
    },
    Migration {
        version: 13,
        name: "selections",
        sql: include_str!("migrations/0013_selections.sql"),
        serves: 9,
    },
    Migration {
        version: 14,
        name: "proposals",
        sql: include_str!("migrations/0014_proposals.sql"),
        serves: 9,
    },
    Migration {
        version: 15,
        name: "pipeline_state",
        sql: include_str!("migrations/0015_pipeline_state.sql"),
        serves: 9,
    },
    Migration {
        version: 16,
        name: "venues",
        sql: include_str!("migrations/0016_venues.sql"),
        serves: 16,
    },
    Migration {
        version: 17,
        name: "records",
        sql: include_str!("migrations/0017_records.sql"),
        serves: 16,
    },
    // An older binary would store what was purged.
    Migration {
        version: 18,
        name: "tombstones",
        sql: include_str!("migrations/0018_tombstones.sql"),
        serves: 18,
    },
    Migration {
        version: 19,
        name: "covering indexes",
        sql: include_str!("migrations/0019_covering_indexes.sql"),
        serves: 18,
    },
    Migration {
        version: 20,
        name: "overviews",
        sql: include_str!("migrations/0020_overviews.sql"),
        serves: 18,
    },
    Migration {
        version: 21,
        name: "record indexes",
        sql: include_str!("migrations/0021_record_indexes.sql"),
        serves: 18,
    },
    Migration {
        version: 22,
        name: "quarantine index",
        sql: include_str!("migrations/0022_quarantine_index.sql"),
        serves: 18,
    },
    Migration {
        version: 23,
        name: "sign blocks",
        sql: include_str!("migrations/0023_sign_blocks.sql"),
        serves: 18,
    },
    Migration {
        version: 24,
        name: "failing sources index",
        sql: include_str!("migrations/0024_failing_sources_index.sql"),
        serves: 18,
    },
    // An older binary would not count its commits.
    Migration {
        version: 25,
        name: "index changes",
        sql: include_str!("migrations/0025_index_changes.sql"),
        serves: 25,
    },
];

/// What fills rows and columns from the texts that hold their values in schemas before the seventh.
pub(super) const FILL_FROM_TEXTS: &str = include_str!("migrations/0007_typed_references_rows.sql");

/// Brings the schema up to date. Opening a current one costs one read.
pub(super) fn ensure(connection: &mut Connection, path: &Path) -> Result<(), Fault> {
    bring_to(connection, path, MIGRATIONS)
}

/// Whether the schema has everything that this binary reads. Changes nothing.
pub(super) fn is_current(connection: &Connection, path: &Path) -> Result<bool, Fault> {
    Ok(check_applied(connection, path, MIGRATIONS)? >= MIGRATIONS.len())
}

fn bring_to(
    connection: &mut Connection,
    path: &Path,
    migrations: &[Migration],
) -> Result<(), Fault> {
    if check_applied(connection, path, migrations)? >= migrations.len() {
        return Ok(());
    }
    // Outside a transaction, as SQLite requires; the file keeps the setting.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    for _ in migrations {
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Checked again under the lock: another process may have been faster.
        let applied = check_applied(&tx, path, migrations)?;
        let Some(next) = migrations.get(applied) else {
            return Ok(());
        };
        apply(&tx, next)?;
        tx.commit()?;
    }
    Ok(())
}

fn apply(tx: &Connection, migration: &Migration) -> Result<(), Fault> {
    tx.execute_batch(
        "CREATE TABLE IF NOT EXISTS schema_migrations (
            version    INTEGER PRIMARY KEY,
            name       TEXT NOT NULL,
            checksum   TEXT NOT NULL,
            applied_at INTEGER NOT NULL,
            serves     INTEGER NOT NULL
        );",
    )?;
    tx.execute_batch(migration.sql)?;
    tx.execute(
        "INSERT INTO schema_migrations (version, name, checksum, applied_at, serves)
         VALUES (?, ?, ?, CAST(unixepoch('subsec') * 1000 AS INTEGER), ?)",
        params![
            migration.version,
            migration.name,
            migration.checksum(),
            migration.serves
        ],
    )?;
    Ok(())
}

/// Counts the applied migrations, after checking each.
fn check_applied(
    connection: &Connection,
    path: &Path,
    migrations: &[Migration],
) -> Result<usize, Fault> {
    if !has_history(connection, path)? {
        return Ok(0);
    }
    let select = "SELECT version, checksum, serves FROM schema_migrations ORDER BY version";
    let mut rows = connection.prepare(select)?;
    let applied: Vec<AppliedMigration> = rows
        .query_map([], |row| {
            Ok(AppliedMigration {
                version: row.get(0)?,
                checksum: row.get(1)?,
                serves: row.get(2)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    check(&path.display().to_string(), &applied, migrations)?;
    Ok(applied.len())
}

fn has_history(connection: &Connection, path: &Path) -> Result<bool, Fault> {
    let (ours, tables): (bool, u64) = connection.query_row(
        "SELECT coalesce(max(name = 'schema_migrations'), 0), count(*) FROM sqlite_schema
         WHERE type = 'table'",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    if !ours && tables > 0 {
        let what = format!("{} is not a daybook's database", path.display());
        return Err(Fault::corrupt(what));
    }
    Ok(ours)
}

//! The schema and its history. Migrations are numbered, applied in order, each in one transaction,
//! and never edited afterwards: a checksum of each applied one stands beside it.

use std::path::Path;

use daybook_domain::StoreError;
use rusqlite::{Connection, TransactionBehavior, params};

use super::connection::Fault;

struct Migration {
    version: u32,
    name: &'static str,
    sql: &'static str,
}

const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    name: "first",
    sql: include_str!("migrations/0001_first.sql"),
}];

/// Brings the schema up to date. Opening what is up to date costs one read.
pub(super) fn ensure(connection: &mut Connection, path: &Path) -> Result<(), Fault> {
    bring_to(connection, path, MIGRATIONS)
}

fn bring_to(
    connection: &mut Connection,
    path: &Path,
    migrations: &[Migration],
) -> Result<(), Fault> {
    if check_applied(connection, path, migrations)? == migrations.len() {
        return Ok(());
    }
    // Outside a transaction, as SQLite demands; it stays with the file.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    for _ in migrations {
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Looked at again under the lock: another process may have been faster.
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
            applied_at INTEGER NOT NULL
        );",
    )?;
    tx.execute_batch(migration.sql)?;
    tx.execute(
        "INSERT INTO schema_migrations (version, name, checksum, applied_at)
         VALUES (?, ?, ?, CAST(unixepoch('subsec') * 1000 AS INTEGER))",
        params![migration.version, migration.name, checksum(migration.sql)],
    )?;
    Ok(())
}

/// How many migrations are applied, after a look at each.
fn check_applied(
    connection: &Connection,
    path: &Path,
    migrations: &[Migration],
) -> Result<usize, Fault> {
    if !has_history(connection, path)? {
        return Ok(0);
    }
    let mut rows =
        connection.prepare("SELECT version, checksum FROM schema_migrations ORDER BY version")?;
    let applied: Vec<(u32, String)> = rows
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let known = migrations.last().map_or(0, |migration| migration.version);
    let found = applied.last().map_or(0, |(version, _)| *version);
    if found > known {
        return Err(Fault::Store(StoreError::TooNew {
            what: path.display().to_string(),
            found,
            known,
        }));
    }
    for ((version, applied), ours) in applied.iter().zip(migrations) {
        if *version != ours.version || *applied != checksum(ours.sql) {
            return Err(Fault::corrupt(format!(
                "{}: migration {version} is not the one that this daybook knows",
                path.display()
            )));
        }
    }
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

fn checksum(sql: &str) -> String {
    blake3::hash(sql.as_bytes()).to_hex()[..32].to_owned()
}

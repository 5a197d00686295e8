//! The schema and its history. Migrations are numbered, applied in order, each in one transaction, and never
//! edited afterwards: the database holds a checksum of each applied one.

use daybook_domain::StoreError;

use super::PostgresStore;
use super::connection::{TenantAccess, Tx, TxMode};
use super::fault::Fault;
use super::values::{get, values};
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
        name: "index",
        sql: include_str!("migrations/0002_index.sql"),
        serves: 2,
    },
    Migration {
        version: 3,
        name: "jobs",
        sql: include_str!("migrations/0003_jobs.sql"),
        serves: 3,
    },
    Migration {
        version: 4,
        name: "failing sources",
        sql: include_str!("migrations/0004_failing_sources.sql"),
        serves: 3,
    },
    Migration {
        version: 5,
        name: "identity",
        sql: include_str!("migrations/0005_identity.sql"),
        serves: 3,
    },
    Migration {
        version: 6,
        name: "commits",
        sql: include_str!("migrations/0006_commits.sql"),
        serves: 3,
    },
    Migration {
        version: 7,
        name: "outlines",
        sql: include_str!("migrations/0007_outlines.sql"),
        serves: 7,
    },
    Migration {
        version: 8,
        name: "uses",
        sql: include_str!("migrations/0008_uses.sql"),
        serves: 7,
    },
    Migration {
        version: 9,
        name: "fallbacks",
        sql: include_str!("migrations/0009_fallbacks.sql"),
        serves: 7,
    },
    Migration {
        version: 10,
        name: "typed references",
        sql: include_str!("migrations/0010_typed_references.sql"),
        serves: 10,
    },
    Migration {
        version: 11,
        name: "quarantine",
        sql: include_str!("migrations/0011_quarantine.sql"),
        serves: 10,
    },
    // An older binary would add events without recording by which rules they were redacted.
    Migration {
        version: 12,
        name: "rescans",
        sql: include_str!("migrations/0012_rescans.sql"),
        serves: 12,
    },
    Migration {
        version: 13,
        name: "pollution",
        sql: include_str!("migrations/0013_pollution.sql"),
        serves: 12,
    },
    Migration {
        version: 14,
        name: "origins",
        sql: include_str!("migrations/0014_origins.sql"),
        serves: 12,
    },
    Migration {
        version: 15,
        name: "supersessions",
        sql: include_str!("migrations/0015_supersessions.sql"),
        serves: 12,
    },
    Migration {
        version: 16,
        name: "selections",
        sql: include_str!("migrations/0016_selections.sql"),
        serves: 12,
    },
    Migration {
        version: 17,
        name: "proposals",
        sql: include_str!("migrations/0017_proposals.sql"),
        serves: 12,
    },
    Migration {
        version: 18,
        name: "pipeline_state",
        sql: include_str!("migrations/0018_pipeline_state.sql"),
        serves: 12,
    },
    Migration {
        version: 19,
        name: "venues",
        sql: include_str!("migrations/0019_venues.sql"),
        serves: 19,
    },
    // An older binary would store what was purged.
    Migration {
        version: 20,
        name: "tombstones",
        sql: include_str!("migrations/0020_tombstones.sql"),
        serves: 20,
    },
    // An older binary would bring back what was taken out of a shared history.
    Migration {
        version: 21,
        name: "rewritten trees",
        sql: include_str!("migrations/0021_rewritten_trees.sql"),
        serves: 21,
    },
    Migration {
        version: 22,
        name: "overviews",
        sql: include_str!("migrations/0022_overviews.sql"),
        serves: 21,
    },
];

/// A migrating process holds the advisory lock of this number: "daybook" in ASCII.
const LOCK: i64 = 0x64_6179_626f_6f6b;

/// Brings the schema up to date. Opening a current one costs one read.
pub(super) async fn ensure(store: &PostgresStore) -> Result<(), StoreError> {
    let server = store.server.as_str();
    let look = |tx: Tx| async move { applied(&tx, server).await };
    let mut applied = store.read(TenantAccess::All, look).await?;
    while applied < MIGRATIONS.len() {
        let step = |tx: Tx| async move { step(&tx, server).await };
        applied = store
            .retry(TxMode::Migrate, TenantAccess::All, step)
            .await?;
    }
    Ok(())
}

/// Applies the next migration, and returns how many are applied then.
async fn step(tx: &Tx, server: &str) -> Result<usize, Fault> {
    tx.execute("SELECT pg_advisory_xact_lock($1)", values![LOCK])
        .await?;
    // Checked again under the lock: another process may have been faster.
    let applied = applied(tx, server).await?;
    let Some(next) = MIGRATIONS.get(applied) else {
        return Ok(applied);
    };
    tx.batch(
        "CREATE TABLE IF NOT EXISTS schema_migrations (
            version    BIGINT PRIMARY KEY,
            name       TEXT NOT NULL,
            checksum   TEXT NOT NULL,
            applied_at BIGINT NOT NULL,
            serves     BIGINT NOT NULL
        )",
    )
    .await?;
    tx.batch(next.sql).await?;
    tx.execute(
        "INSERT INTO schema_migrations (version, name, checksum, applied_at, serves)
         VALUES ($1, $2, $3, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT, $4)",
        values![next.version, next.name, next.checksum(), next.serves],
    )
    .await?;
    Ok(applied + 1)
}

/// Counts the applied migrations, after checking each.
async fn applied(tx: &Tx, server: &str) -> Result<usize, Fault> {
    if !has_history(tx, server).await? {
        return Ok(0);
    }
    let select = "SELECT version, checksum, serves FROM schema_migrations ORDER BY version";
    let mut applied = Vec::new();
    for row in tx.rows(select, &[]).await? {
        applied.push(AppliedMigration {
            version: get(&row, "version")?,
            checksum: get(&row, "checksum")?,
            serves: get(&row, "serves")?,
        });
    }
    check(server, &applied, MIGRATIONS)?;
    Ok(applied.len())
}

async fn has_history(tx: &Tx, server: &str) -> Result<bool, Fault> {
    let row = tx
        .one(
            "SELECT coalesce(bool_or(tablename = 'schema_migrations'), FALSE) AS ours,
                count(*) AS tables
             FROM pg_tables WHERE schemaname = current_schema()",
            &[],
        )
        .await?;
    let (ours, tables): (bool, u64) = (get(&row, "ours")?, get(&row, "tables")?);
    if !ours && tables > 0 {
        let what = format!("{server} holds the tables of something else");
        return Err(Fault::corrupt(what));
    }
    Ok(ours)
}

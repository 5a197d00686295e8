//! Gaps as rows.

use daybook_domain::{Failure, Gap, JobKey, JobKind};
use tokio_postgres::Row;

use super::connection::Tx;
use super::fault::Fault;
use super::values::{SqlValue, get, parse_column, values};

pub(super) async fn put(tx: &Tx, gap: &Gap) -> Result<(), Fault> {
    let (tenant, owner, name) = gap.job.parts();
    let put = "INSERT INTO gaps (kind, tenant, owner, name, from_seq, to_seq, failure_class,
            failure_message, at, engine)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT (kind, tenant, owner, name, from_seq) DO UPDATE SET to_seq = excluded.to_seq,
            failure_class = excluded.failure_class, failure_message = excluded.failure_message,
            at = excluded.at, engine = excluded.engine";
    let gap = values![
        gap.job.kind().as_str(),
        tenant,
        owner,
        name,
        gap.from,
        gap.to,
        gap.failure.class.as_str(),
        &gap.failure.message,
        gap.at,
        &gap.engine,
    ];
    tx.execute(put, gap).await?;
    Ok(())
}

/// The gaps of all tenants, by job and position.
pub(super) async fn all(tx: &Tx) -> Result<Vec<Gap>, Fault> {
    let all = "true ORDER BY kind = 'redact', kind DESC, tenant, owner, name, from_seq";
    select(tx, all, &[]).await
}

/// Gaps for which a condition holds, in the order that it ends with.
pub(super) async fn select(
    tx: &Tx,
    condition: &str,
    values: &[SqlValue],
) -> Result<Vec<Gap>, Fault> {
    let find = format!("SELECT * FROM gaps WHERE {condition}");
    let gap_of = |row: &Row| {
        Ok(Gap {
            job: key_of(row)?,
            from: get(row, "from_seq")?,
            to: get(row, "to_seq")?,
            failure: failure_of(row)?,
            at: get(row, "at")?,
            engine: get(row, "engine")?,
        })
    };
    tx.rows(&find, values).await?.iter().map(gap_of).collect()
}

/// Deletes the gaps of a job, and returns how many there were.
pub(super) async fn delete(tx: &Tx, key: &JobKey) -> Result<usize, Fault> {
    let (tenant, owner, name) = key.parts();
    let gone = "DELETE FROM gaps WHERE kind = $1 AND tenant = $2 AND owner = $3 AND name = $4";
    let key = values![key.kind().as_str(), tenant, owner, name];
    let gone = tx.execute(gone, key).await?;
    usize::try_from(gone).map_err(|_| Fault::corrupt("more gaps than there can be"))
}

fn key_of(row: &Row) -> Result<JobKey, Fault> {
    let kind = parse_column::<JobKind>(row, "kind")?;
    let part = |column: &str| get::<String>(row, column);
    JobKey::from_parts(kind, &part("tenant")?, &part("owner")?, &part("name")?)
        .ok_or_else(|| Fault::corrupt("owner of a gap cannot be read"))
}

fn failure_of(row: &Row) -> Result<Failure, Fault> {
    Ok(Failure {
        class: parse_column(row, "failure_class")?,
        message: get(row, "failure_message")?,
    })
}

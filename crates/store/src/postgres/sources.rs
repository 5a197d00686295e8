//! Files that events came from, and the imports that took them in.
//!
//! The first time that an import moves a file on, the file's state before is kept beside it, so
//! that undoing the import can put it back.

use daybook_domain::source::{Import, ImportNo, Source};
use daybook_domain::{EventSeq, StoreError, Tenant, Timestamp};
use tokio_postgres::Row;

use super::connection::Tx;
use super::fault::Fault;
use super::names::{session_id_of, session_no, tenant_no};
use super::values::{get, values};

/// A file's state, as tables `sources` and `import_sources` both keep it.
const STATE: &str = "format, session_no, size, modified, \"offset\", lines, fingerprint_head,
    fingerprint_tail, bad_lines, first_bad_line, first_bad_why, secrets, state, failure,
    reading";

/// A file's state as columns of `table`.
fn state_of(table: &str) -> String {
    let columns = STATE.split(',').map(str::trim);
    let columns: Vec<String> = columns.map(|column| format!("{table}.{column}")).collect();
    columns.join(", ")
}

pub(super) async fn all(tx: &Tx, tenant: &Tenant) -> Result<Vec<Source>, Fault> {
    let sql = format!(
        "SELECT path, {STATE}, tenant, agent, host_id FROM sources JOIN tenants USING (tenant_no)
         LEFT JOIN sessions USING (tenant_no, session_no) WHERE tenant = $1 ORDER BY path"
    );
    let rows = tx.rows(&sql, values![&tenant.0]).await?;
    rows.iter().map(source_of).collect()
}

fn source_of(row: &Row) -> Result<Source, Fault> {
    let fingerprint = |column: &str| get(row, column).map(i64::cast_unsigned);
    let first_bad = match get(row, "first_bad_line")? {
        Some(line) => Some((line, get(row, "first_bad_why")?)),
        None => None,
    };
    let session = match get::<Option<String>>(row, "host_id")? {
        Some(_) => Some(session_id_of(row)?),
        None => None,
    };
    Ok(Source {
        path: get(row, "path")?,
        format: get(row, "format")?,
        session,
        size: get(row, "size")?,
        modified: get(row, "modified")?,
        offset: get(row, "offset")?,
        lines: get(row, "lines")?,
        fingerprint: (
            fingerprint("fingerprint_head")?,
            fingerprint("fingerprint_tail")?,
        ),
        bad_lines: get(row, "bad_lines")?,
        first_bad,
        secrets: get(row, "secrets")?,
        state: get(row, "state")?,
        failure: get(row, "failure")?,
        reading: get(row, "reading")?,
    })
}

/// Replaces what is known of a file.
pub(super) async fn put(
    tx: &Tx,
    tenant: &Tenant,
    source: &Source,
    import: Option<ImportNo>,
) -> Result<(), Fault> {
    let number = match import {
        Some(import) => {
            let number = lock_import(tx, tenant, import).await?;
            keep_state_before(tx, number, import, &source.path).await?;
            number
        }
        None => tenant_no(tx, tenant).await?,
    };
    let session = match &source.session {
        Some(session) => Some(session_no(tx, session).await?),
        None => None,
    };
    replace(tx, number, source, session).await
}

/// Replaces what is known of a file whose session has the number `session`.
pub(super) async fn replace(
    tx: &Tx,
    tenant: i64,
    source: &Source,
    session: Option<i64>,
) -> Result<(), Fault> {
    let (line, why) = source.first_bad.clone().unzip();
    let sql = format!(
        "INSERT INTO sources (tenant_no, path, {STATE})
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
            $16, $17)
         ON CONFLICT (tenant_no, path) DO UPDATE SET ({STATE}) = ROW ({excluded})",
        excluded = state_of("excluded")
    );
    let values = values![
        tenant,
        &source.path,
        &source.format,
        session,
        source.size,
        source.modified,
        source.offset,
        source.lines,
        source.fingerprint.0.cast_signed(),
        source.fingerprint.1.cast_signed(),
        source.bad_lines,
        line,
        why,
        source.secrets,
        &source.state,
        &source.failure,
        source.reading,
    ];
    tx.execute(&sql, values).await?;
    Ok(())
}

pub(super) async fn keep_state_before(
    tx: &Tx,
    tenant: i64,
    import: ImportNo,
    path: &str,
) -> Result<(), Fault> {
    let sql = format!(
        "INSERT INTO import_sources (tenant_no, import_no, path, seen, {STATE})
         SELECT $1, $2, $3, before.path IS NOT NULL, {state}
         FROM (SELECT) AS one LEFT JOIN sources AS before ON tenant_no = $1 AND path = $3
         ON CONFLICT DO NOTHING",
        state = state_of("before")
    );
    tx.execute(&sql, values![tenant, import.0, path]).await?;
    Ok(())
}

/// Notes what an import added to a session, and counts it.
pub(super) async fn note_range(
    tx: &Tx,
    import: ImportNo,
    session: i64,
    (from, to): (EventSeq, EventSeq),
) -> Result<(), Fault> {
    let note = "WITH grown AS (
            UPDATE import_ranges SET to_seq = $4
            WHERE import_no = $1 AND session_no = $2 AND to_seq = $3 - 1 RETURNING 1
        ), begun AS (
            INSERT INTO import_ranges (tenant_no, import_no, session_no, from_seq, to_seq)
            SELECT tenant_no, $1, $2, $3, $4 FROM imports
            WHERE import_no = $1 AND NOT EXISTS (SELECT FROM grown)
        )
        UPDATE imports SET events = events + $4 + 1 - $3 WHERE import_no = $1";
    let values = values![import.0, session, from.0, to.0];
    tx.execute(note, values).await?;
    Ok(())
}

pub(super) async fn begin_import(
    tx: &Tx,
    tenant: &Tenant,
    what: &str,
    now: Timestamp,
) -> Result<ImportNo, Fault> {
    let tenant = tenant_no(tx, tenant).await?;
    let begin = "INSERT INTO imports (tenant_no, began_at, what, events) VALUES ($1, $2, $3, 0)
        RETURNING import_no";
    let row = tx.one(begin, values![tenant, now, what]).await?;
    Ok(ImportNo(get(&row, "import_no")?))
}

pub(super) async fn end_import(
    tx: &Tx,
    tenant: &Tenant,
    import: ImportNo,
    now: Timestamp,
) -> Result<(), Fault> {
    lock_import(tx, tenant, import).await?;
    let end = "UPDATE imports SET ended_at = $2 WHERE import_no = $1";
    tx.execute(end, values![import.0, now]).await?;
    Ok(())
}

/// The number of the tenant that an import must be of. Nobody else changes the import until this
/// transaction ends.
pub(super) async fn lock_import(tx: &Tx, tenant: &Tenant, import: ImportNo) -> Result<i64, Fault> {
    let find = "SELECT tenant_no FROM imports JOIN tenants USING (tenant_no)
        WHERE import_no = $1 AND tenant = $2 FOR UPDATE OF imports";
    let Some(row) = tx.row(find, values![import.0, &tenant.0]).await? else {
        return Err(StoreError::NotFound(format!("import {}", import.0)).into());
    };
    get(&row, "tenant_no")
}

pub(super) async fn imports(tx: &Tx, tenant: &Tenant, limit: usize) -> Result<Vec<Import>, Fault> {
    let find = "SELECT import_no, began_at, ended_at, what, events,
            (SELECT count(*) FROM import_sources
                WHERE tenant_no = imports.tenant_no AND import_no = imports.import_no) AS files
        FROM imports JOIN tenants USING (tenant_no) WHERE tenant = $1
        ORDER BY import_no DESC LIMIT $2";
    let import = |row: &Row| {
        Ok(Import {
            no: ImportNo(get(row, "import_no")?),
            began_at: get(row, "began_at")?,
            ended_at: get(row, "ended_at")?,
            what: get(row, "what")?,
            events: get(row, "events")?,
            files: get(row, "files")?,
        })
    };
    let rows = tx.rows(find, values![&tenant.0, limit]).await?;
    rows.iter().map(import).collect()
}

/// Puts some of the files that an import read back to their state before it, and says how many.
/// Later imports of the same file must not remember it as read either.
pub(super) async fn restore_step(
    tx: &Tx,
    tenant: i64,
    import: ImportNo,
    most: usize,
) -> Result<usize, Fault> {
    let find = "SELECT path FROM import_sources WHERE tenant_no = $1 AND import_no = $2
        ORDER BY path LIMIT $3 FOR UPDATE";
    let rows = tx.rows(find, values![tenant, import.0, most]).await?;
    let paths: Vec<String> = rows
        .iter()
        .map(|row| get(row, "path"))
        .collect::<Result<_, Fault>>()?;
    if paths.is_empty() {
        return Ok(0);
    }
    let restored = paths.len();
    let key = values![tenant, import.0, paths];
    let (state, before) = (STATE, state_of("before"));
    let forget = "DELETE FROM sources WHERE tenant_no = $1 AND path = ANY ($2)";
    tx.execute(forget, &[key[0].clone(), key[2].clone()])
        .await?;
    let put_back = format!(
        "INSERT INTO sources (tenant_no, path, {state}) SELECT tenant_no, path, {state}
         FROM import_sources
         WHERE tenant_no = $1 AND import_no = $2 AND path = ANY ($3) AND seen"
    );
    tx.execute(&put_back, key).await?;
    let pass_on = format!(
        "UPDATE import_sources AS later SET (seen, {state}) = ROW (before.seen, {before})
         FROM import_sources AS before
         WHERE before.tenant_no = $1 AND before.import_no = $2 AND before.path = ANY ($3)
            AND later.tenant_no = $1 AND later.import_no > $2 AND later.path = before.path"
    );
    tx.execute(&pass_on, key).await?;
    let forget = "DELETE FROM import_sources
        WHERE tenant_no = $1 AND import_no = $2 AND path = ANY ($3)";
    tx.execute(forget, key).await?;
    Ok(restored)
}

/// Forgets an import whose events and files are gone.
pub(super) async fn delete_import(tx: &Tx, import: ImportNo) -> Result<(), Fault> {
    let delete = "DELETE FROM imports WHERE import_no = $1";
    tx.execute(delete, values![import.0]).await?;
    Ok(())
}

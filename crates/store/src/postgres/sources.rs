//! Files that events came from, and the imports that read them.
//!
//! The first time that an import reads further in a file, the file's previous state is kept beside it, so that
//! undoing the import can restore it.

use daybook_domain::source::{ImportNo, ImportRun, TranscriptSource};
use daybook_domain::{EventSeq, Page, PageRequest, SessionId, StoreError, Tenant, Timestamp};
use tokio_postgres::Row;

use super::connection::Tx;
use super::fault::Fault;
use super::names::{session_id_of, session_no, tenant_no};
use super::tombstones;
use super::values::{SqlValue, get, values};

/// A file's state, as tables `sources` and `import_sources` both keep it.
const STATE: &str = "format, session_no, size, modified, \"offset\", lines, fingerprint_head,
    fingerprint_tail, bad_lines, first_bad_line, first_bad_why, secrets, state, failure,
    reading, claimed_id";

/// A file's state as columns of `table`.
fn state_of(table: &str) -> String {
    let columns = STATE.split(',').map(str::trim);
    let columns: Vec<String> = columns.map(|column| format!("{table}.{column}")).collect();
    columns.join(", ")
}

/// One page of a tenant's files that fulfil `condition`.
pub(super) async fn page(
    tx: &Tx,
    tenant: &Tenant,
    condition: &str,
    page: &PageRequest<String>,
) -> Result<Page<TranscriptSource, String>, Fault> {
    let (behind, path) = match &page.after {
        Some(path) => (">", path.as_str()),
        None => (">=", ""),
    };
    let rows = format!("tenant = $1 AND path {behind} $2 AND {condition} ORDER BY path LIMIT $3");
    let values = values![&tenant.0, path, page.most() + 1];
    let sources = sources_where(tx, &rows, values).await?;
    let key = |source: &TranscriptSource| source.path.clone();
    Ok(Page::cut(sources, page.most(), key))
}

/// What is known of the files at `paths`, by path.
pub(super) async fn at_paths(
    tx: &Tx,
    tenant: &Tenant,
    paths: &[&str],
) -> Result<Vec<TranscriptSource>, Fault> {
    let at_paths = "tenant = $1 AND path = ANY ($2) ORDER BY path";
    sources_where(tx, at_paths, values![&tenant.0, paths.to_vec()]).await
}

/// Files that last fed a session, by path.
pub(super) async fn of_session(
    tx: &Tx,
    session: &SessionId,
) -> Result<Vec<TranscriptSource>, Fault> {
    let of_session = "tenant = $1 AND host_id = $2 AND agent = $3 ORDER BY path";
    let id = values![&session.tenant.0, &session.host_id, &session.agent];
    sources_where(tx, of_session, id).await
}

async fn sources_where(
    tx: &Tx,
    condition: &str,
    values: &[SqlValue],
) -> Result<Vec<TranscriptSource>, Fault> {
    let sql = format!(
        "SELECT path, {STATE}, tenant, agent, host_id FROM sources JOIN tenants USING (tenant_no)
         LEFT JOIN sessions USING (tenant_no, session_no) WHERE {condition}"
    );
    let rows = tx.rows(&sql, values).await?;
    rows.iter().map(source_of).collect()
}

fn source_of(row: &Row) -> Result<TranscriptSource, Fault> {
    let fingerprint = |column: &str| get(row, column).map(i64::cast_unsigned);
    let first_bad = match get(row, "first_bad_line")? {
        Some(line) => Some((line, get(row, "first_bad_why")?)),
        None => None,
    };
    let session = match get::<Option<String>>(row, "host_id")? {
        Some(_) => Some(session_id_of(row)?),
        None => None,
    };
    Ok(TranscriptSource {
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
        claimed_id: get(row, "claimed_id")?,
    })
}

/// Replaces a file's state.
pub(super) async fn put(
    tx: &Tx,
    tenant: &Tenant,
    source: &TranscriptSource,
    import: Option<ImportNo>,
) -> Result<(), Fault> {
    if let Some(session) = &source.session
        && tombstones::is_name_purged(tx, session).await?
    {
        return Ok(());
    }
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

/// Replaces the state of a file whose session has the number `session`.
pub(super) async fn replace(
    tx: &Tx,
    tenant: i64,
    source: &TranscriptSource,
    session: Option<i64>,
) -> Result<(), Fault> {
    let (line, why) = source.first_bad.clone().unzip();
    let sql = format!(
        "INSERT INTO sources (tenant_no, path, {STATE})
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
            $16, $17, $18)
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
        &source.claimed_id,
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

/// Records the events that an import added to a session, and counts them.
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

/// Finds and locks an import until this transaction ends, and returns the number of its tenant.
pub(super) async fn lock_import(tx: &Tx, tenant: &Tenant, import: ImportNo) -> Result<i64, Fault> {
    let find = "SELECT tenant_no FROM imports JOIN tenants USING (tenant_no)
        WHERE import_no = $1 AND tenant = $2 FOR UPDATE OF imports";
    let Some(row) = tx.row(find, values![import.0, &tenant.0]).await? else {
        return Err(StoreError::NotFound(format!("import {}", import.0)).into());
    };
    get(&row, "tenant_no")
}

pub(super) async fn imports(
    tx: &Tx,
    tenant: &Tenant,
    before: ImportNo,
    limit: usize,
) -> Result<Vec<ImportRun>, Fault> {
    let find = "SELECT import_no, began_at, ended_at, what, events,
            (SELECT count(*) FROM import_sources
                WHERE tenant_no = imports.tenant_no AND import_no = imports.import_no) AS files
        FROM imports JOIN tenants USING (tenant_no) WHERE tenant = $1 AND import_no < $2
        ORDER BY import_no DESC LIMIT $3";
    let import = |row: &Row| {
        Ok(ImportRun {
            no: ImportNo(get(row, "import_no")?),
            began_at: get(row, "began_at")?,
            ended_at: get(row, "ended_at")?,
            what: get(row, "what")?,
            events: get(row, "events")?,
            files: get(row, "files")?,
        })
    };
    let rows = tx.rows(find, values![&tenant.0, before.0, limit]).await?;
    rows.iter().map(import).collect()
}

/// Restores some of the files that an import read to their state before it, and returns how many. Later imports
/// of the same file then have that state as their state before.
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

/// Deletes an import whose events and files are gone.
pub(super) async fn delete_import(tx: &Tx, import: ImportNo) -> Result<(), Fault> {
    let delete = "DELETE FROM imports WHERE import_no = $1";
    tx.execute(delete, values![import.0]).await?;
    Ok(())
}

//! Files that events came from, and the imports that read them.
//!
//! The first time that an import reads further in a file, the file's previous state is kept beside it, so that
//! undoing the import can restore it.

use std::collections::BTreeSet;

use daybook_domain::source::{ImportNo, ImportRun, TranscriptSource};
use daybook_domain::{EventSeq, Page, PageRequest, SessionId, StoreError, Tenant, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::connection::Fault;
use super::listing::{Listing, list};
use super::names::{session_id_of, session_no, tenant_no};
use super::{SqliteStore, tombstones};

/// A file's state, as tables `sources` and `import_sources` both keep it.
pub(super) const STATE: &str = "format, session_no, size, modified, \"offset\", lines,
    fingerprint_head, fingerprint_tail, bad_lines, first_bad_line, first_bad_why, secrets, state,
    failure, reading, claimed_id";

impl SqliteStore {
    /// One page of a tenant's files that fulfil `condition`. SQLite prefers the key of the table to an index of few of its
    /// rows, so `indexed` names that index.
    pub(super) fn page_of_sources(
        &self,
        tenant: &Tenant,
        (condition, indexed): (&str, &str),
        page: &PageRequest<String>,
    ) -> Result<Page<TranscriptSource, String>, StoreError> {
        let (behind, path) = match &page.after {
            Some(path) => (">", path.as_str()),
            None => (">=", ""),
        };
        let rows = format!("tenant = ? AND path {behind} ? AND {condition} ORDER BY path LIMIT ?");
        let key = |source: &TranscriptSource| source.path.clone();
        self.page(page.most(), key, |tx, rows_at_most| {
            sources_where(tx, (indexed, &rows), params![tenant.0, path, rows_at_most])
        })
    }
}

/// What is known of the files at `paths`, by path.
pub(super) fn at_paths(
    tx: &Connection,
    tenant: &Tenant,
    paths: &[&str],
) -> Result<Listing<TranscriptSource>, Fault> {
    let mut known = Listing::empty();
    for path in paths.iter().collect::<BTreeSet<_>>() {
        let at_path = "tenant = ? AND path = ?";
        known.append(sources_where(tx, ("", at_path), params![tenant.0, path])?);
    }
    Ok(known)
}

/// Files that last fed a session, by path.
pub(super) fn of_session(
    tx: &Connection,
    session: &SessionId,
) -> Result<Listing<TranscriptSource>, Fault> {
    let of_session = "tenant = ? AND host_id = ? AND agent = ? ORDER BY path";
    let id = params![session.tenant.0, session.host_id, session.agent];
    sources_where(tx, ("", of_session), id)
}

fn sources_where(
    tx: &Connection,
    (indexed, condition): (&str, &str),
    values: &[&dyn ToSql],
) -> Result<Listing<TranscriptSource>, Fault> {
    let sql = format!(
        "SELECT path, {STATE}, tenant, agent, host_id FROM sources {indexed} JOIN tenants USING (tenant_no)
         LEFT JOIN sessions USING (tenant_no, session_no) WHERE {condition}"
    );
    let mut find = tx.prepare_cached(&sql)?;
    list(find.query(values)?, ("sources", &[0]), source_of)
}

fn source_of(row: &Row<'_>) -> rusqlite::Result<TranscriptSource> {
    let fingerprint = |column: &str| row.get::<_, i64>(column).map(i64::cast_unsigned);
    let first_bad = match row.get("first_bad_line")? {
        Some(line) => Some((line, row.get("first_bad_why")?)),
        None => None,
    };
    let session = match row.get::<_, Option<String>>("host_id")? {
        Some(_) => Some(session_id_of(row)?),
        None => None,
    };
    Ok(TranscriptSource {
        path: row.get("path")?,
        format: row.get("format")?,
        session,
        size: row.get("size")?,
        modified: row.get("modified")?,
        offset: row.get("offset")?,
        lines: row.get("lines")?,
        fingerprint: (
            fingerprint("fingerprint_head")?,
            fingerprint("fingerprint_tail")?,
        ),
        bad_lines: row.get("bad_lines")?,
        first_bad,
        secrets: row.get("secrets")?,
        state: row.get("state")?,
        failure: row.get("failure")?,
        reading: row.get("reading")?,
        claimed_id: row.get("claimed_id")?,
    })
}

/// Replaces a file's state, unless it is the transcript of a purged session.
pub(super) fn put(
    tx: &Connection,
    tenant: &Tenant,
    source: &TranscriptSource,
    import: Option<ImportNo>,
) -> Result<(), Fault> {
    if let Some(session) = &source.session
        && tombstones::is_name_purged(tx, session)?
    {
        return Ok(());
    }
    if let Some(import) = import {
        let tenant = check_import(tx, tenant, import)?;
        keep_state_before(tx, tenant, import, &source.path)?;
    }
    let session = match &source.session {
        Some(session) => Some(session_no(tx, session)?),
        None => None,
    };
    let (line, why) = source.first_bad.clone().unzip();
    let sql = format!(
        "INSERT OR REPLACE INTO sources (tenant_no, path, {STATE})
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    );
    tx.prepare_cached(&sql)?.execute(params![
        tenant_no(tx, tenant)?,
        source.path,
        source.format,
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
        source.state,
        source.failure,
        source.reading,
        source.claimed_id,
    ])?;
    Ok(())
}

fn keep_state_before(
    tx: &Connection,
    tenant: i64,
    import: ImportNo,
    path: &str,
) -> Result<(), Fault> {
    let key = params![tenant, import.0, path];
    let kept = tx
        .prepare_cached(
            "SELECT 1 FROM import_sources WHERE tenant_no = ? AND import_no = ? AND path = ?",
        )?
        .exists(key)?;
    if kept {
        return Ok(());
    }
    let sql = format!(
        "INSERT INTO import_sources (tenant_no, import_no, path, seen, {STATE})
         SELECT ?1, ?2, path, 1, {STATE} FROM sources WHERE tenant_no = ?1 AND path = ?3"
    );
    let seen = tx.prepare_cached(&sql)?.execute(key)?;
    if seen == 0 {
        tx.prepare_cached(
            "INSERT INTO import_sources (tenant_no, import_no, path, seen) VALUES (?, ?, ?, 0)",
        )?
        .execute(key)?;
    }
    Ok(())
}

/// Records the events that an import added to a session, and counts them.
pub(super) fn note_range(
    tx: &Connection,
    import: ImportNo,
    session: i64,
    (from, to): (EventSeq, EventSeq),
) -> Result<(), Fault> {
    let grown = tx
        .prepare_cached(
            "UPDATE import_ranges SET to_seq = ?4
             WHERE import_no = ?1 AND session_no = ?2 AND to_seq = ?3 - 1",
        )?
        .execute(params![import.0, session, from.0, to.0])?;
    if grown == 0 {
        tx.prepare_cached(
            "INSERT INTO import_ranges (import_no, session_no, from_seq, to_seq)
             VALUES (?, ?, ?, ?)",
        )?
        .execute(params![import.0, session, from.0, to.0])?;
    }
    tx.prepare_cached("UPDATE imports SET events = events + ? WHERE import_no = ?")?
        .execute(params![to.0 + 1 - from.0, import.0])?;
    Ok(())
}

pub(super) fn begin_import(
    tx: &Connection,
    tenant: &Tenant,
    what: &str,
    now: Timestamp,
) -> Result<ImportNo, Fault> {
    let tenant = tenant_no(tx, tenant)?;
    tx.prepare_cached(
        "INSERT INTO imports (tenant_no, began_at, what, events) VALUES (?, ?, ?, 0)",
    )?
    .execute(params![tenant, now.0, what])?;
    Ok(ImportNo(tx.last_insert_rowid()))
}

pub(super) fn end_import(
    tx: &Connection,
    tenant: &Tenant,
    import: ImportNo,
    now: Timestamp,
) -> Result<(), Fault> {
    check_import(tx, tenant, import)?;
    tx.prepare_cached("UPDATE imports SET ended_at = ? WHERE import_no = ?")?
        .execute(params![now.0, import.0])?;
    Ok(())
}

/// Finds an import, and returns the number of its tenant.
pub(super) fn check_import(
    tx: &Connection,
    tenant: &Tenant,
    import: ImportNo,
) -> Result<i64, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT tenant_no FROM imports JOIN tenants USING (tenant_no)
         WHERE import_no = ? AND tenant = ?",
    )?;
    let found = find.query_row(params![import.0, tenant.0], |row| row.get(0));
    let unknown = || StoreError::NotFound(format!("import {}", import.0)).into();
    found.optional()?.ok_or_else(unknown)
}

pub(super) fn imports(
    tx: &Connection,
    tenant: &Tenant,
    before: ImportNo,
    limit: i64,
) -> Result<Listing<ImportRun>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT import_no, began_at, ended_at, what, events,
            (SELECT count(*) FROM import_sources
                WHERE tenant_no = imports.tenant_no AND import_no = imports.import_no)
         FROM imports JOIN tenants USING (tenant_no) WHERE tenant = ? AND import_no < ?
         ORDER BY import_no DESC LIMIT ?",
    )?;
    let rows = find.query(params![tenant.0, before.0, limit])?;
    list(rows, ("imports", &[0]), |row| {
        Ok(ImportRun {
            no: ImportNo(row.get(0)?),
            began_at: Timestamp(row.get(1)?),
            ended_at: row.get::<_, Option<i64>>(2)?.map(Timestamp),
            what: row.get(3)?,
            events: row.get(4)?,
            files: row.get(5)?,
        })
    })
}

/// Restores some of the files that an import read to their state before it, and returns how many. Later imports
/// of the same file then have that state as their state before.
pub(super) fn restore_step(
    tx: &Connection,
    tenant: i64,
    import: ImportNo,
    most: usize,
) -> Result<usize, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT path, seen FROM import_sources WHERE tenant_no = ? AND import_no = ?
         ORDER BY path LIMIT ?",
    )?;
    let files: Vec<(String, bool)> = find
        .query_map(params![tenant, import.0, most], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<Result<_, _>>()?;
    for (path, seen) in &files {
        restore(tx, (tenant, import, path), *seen)?;
    }
    Ok(files.len())
}

fn restore(
    tx: &Connection,
    (tenant, import, path): (i64, ImportNo, &str),
    seen: bool,
) -> Result<(), Fault> {
    let key = params![tenant, import.0, path];
    tx.prepare_cached("DELETE FROM sources WHERE tenant_no = ? AND path = ?")?
        .execute(params![tenant, path])?;
    if seen {
        let sql = format!(
            "INSERT INTO sources (tenant_no, path, {STATE})
             SELECT tenant_no, path, {STATE} FROM import_sources
             WHERE tenant_no = ? AND import_no = ? AND path = ?"
        );
        tx.prepare_cached(&sql)?.execute(key)?;
    }
    let sql = format!(
        "INSERT OR REPLACE INTO import_sources (tenant_no, import_no, path, seen, {STATE})
         SELECT before.tenant_no, later.import_no, before.path, before.seen, {columns}
         FROM import_sources AS before JOIN import_sources AS later USING (tenant_no, path)
         WHERE before.tenant_no = ?1 AND before.import_no = ?2 AND before.path = ?3
         AND later.import_no > ?2",
        columns = before_columns()
    );
    tx.prepare_cached(&sql)?.execute(key)?;
    tx.prepare_cached(
        "DELETE FROM import_sources WHERE tenant_no = ? AND import_no = ? AND path = ?",
    )?
    .execute(key)?;
    Ok(())
}

fn before_columns() -> String {
    let columns: Vec<String> = STATE
        .split(',')
        .map(|column| format!("before.{}", column.trim()))
        .collect();
    columns.join(", ")
}

/// Deletes an import whose events and files are gone.
pub(super) fn delete_import(tx: &Connection, import: ImportNo) -> Result<Option<()>, Fault> {
    let mut delete =
        tx.prepare_cached("DELETE FROM imports WHERE import_no = ? RETURNING import_no")?;
    Ok(delete.query_row([import.0], |_| Ok(())).optional()?)
}

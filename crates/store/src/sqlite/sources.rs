//! Files that events came from, and the imports that took them in.
//!
//! The first time that an import moves a file on, the file's state before is kept beside it, so
//! that undoing the import can put it back.

use daybook_domain::source::{Import, ImportNo, Source};
use daybook_domain::{EventSeq, StoreError, Tenant, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::connection::Fault;
use super::listing::{Listing, list};
use super::names::{session_id_of, session_no, tenant_no};

/// A file's state, as tables `sources` and `import_sources` both keep it.
pub(super) const STATE: &str = "format, session_no, size, modified, \"offset\", lines,
    fingerprint_head, fingerprint_tail, bad_lines, first_bad_line, first_bad_why, secrets, state,
    failure, reading";

pub(super) fn all(tx: &Connection, tenant: &Tenant) -> Result<Listing<Source>, Fault> {
    let sql = format!(
        "SELECT path, {STATE}, tenant, agent, host_id FROM sources JOIN tenants USING (tenant_no)
         LEFT JOIN sessions USING (tenant_no, session_no) WHERE tenant = ? ORDER BY path"
    );
    let mut find = tx.prepare_cached(&sql)?;
    list(find.query([&tenant.0])?, ("sources", &[0]), source_of)
}

fn source_of(row: &Row<'_>) -> rusqlite::Result<Source> {
    let fingerprint = |column: &str| row.get::<_, i64>(column).map(i64::cast_unsigned);
    let first_bad = match row.get("first_bad_line")? {
        Some(line) => Some((line, row.get("first_bad_why")?)),
        None => None,
    };
    let session = match row.get::<_, Option<String>>("host_id")? {
        Some(_) => Some(session_id_of(row)?),
        None => None,
    };
    Ok(Source {
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
    })
}

/// Replaces what is known of a file.
pub(super) fn put(
    tx: &Connection,
    tenant: &Tenant,
    source: &Source,
    import: Option<ImportNo>,
) -> Result<(), Fault> {
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
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
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

/// Notes what an import added to a session, and counts it.
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

/// The number of the tenant that an import must be of.
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
    limit: usize,
) -> Result<Listing<Import>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT import_no, began_at, ended_at, what, events,
            (SELECT count(*) FROM import_sources
                WHERE tenant_no = imports.tenant_no AND import_no = imports.import_no)
         FROM imports JOIN tenants USING (tenant_no) WHERE tenant = ?
         ORDER BY import_no DESC LIMIT ?",
    )?;
    let rows = find.query(params![tenant.0, limit])?;
    list(rows, ("imports", &[0]), |row| {
        Ok(Import {
            no: ImportNo(row.get(0)?),
            began_at: Timestamp(row.get(1)?),
            ended_at: row.get::<_, Option<i64>>(2)?.map(Timestamp),
            what: row.get(3)?,
            events: row.get(4)?,
            files: row.get(5)?,
        })
    })
}

/// Puts some of the files that an import read back to their state before it, and says how many.
/// Later imports of the same file must not remember it as read either.
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

/// Forgets an import whose events and files are gone.
pub(super) fn delete_import(tx: &Connection, import: ImportNo) -> Result<Option<()>, Fault> {
    let mut delete =
        tx.prepare_cached("DELETE FROM imports WHERE import_no = ? RETURNING import_no")?;
    Ok(delete.query_row([import.0], |_| Ok(())).optional()?)
}

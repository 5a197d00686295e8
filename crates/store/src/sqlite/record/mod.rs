//! The record of a memory: rows as lines of JSON, from which a lost database is made again.
//!
//! Memory files carry what people read. What they leave out (the evidence of each observation, retractions, the done
//! watermark and outcome of each session, the identity of its events) is recorded in one part for each session, scope
//! and tenant. Triggers mark the parts that are older than their rows; a caller writes these parts to files and then
//! clears the marks that it has seen. Words of events are not recorded: they are read again from their transcripts.
//! What a person asked to remember is in no transcript, so its words are.
//!
//! Not here: files and their places (`engine`).

mod lines;
mod restore;
mod rows;

pub use restore::{RecordRestore, RestoredRecord};

use daybook_domain::{RecordKey, RecordKind, StaleRecord, StoreError};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Map, Value};

use super::SqliteStore;
use super::connection::Fault;
use super::names::parse_column;
use super::row_numbers::at_most;
use super::transfer::is_moved;
use lines::{line_of, select_lines};
use rows::{LineKind, OF_SCOPE, OF_SESSION, OF_TENANT, SCOPE, SESSION};

/// Events whose identity one line holds.
const EVENTS_IN_A_LINE: usize = 500;

impl SqliteStore {
    /// At most `most` parts of the record that are older than their rows; none once the content was moved to another
    /// database.
    ///
    /// # Errors
    /// When the database fails.
    pub fn stale_records(&self, most: usize) -> Result<Vec<StaleRecord>, StoreError> {
        self.read(|tx| {
            if is_moved(tx)? {
                return Ok(Vec::new());
            }
            let mut find = tx.prepare_cached(
                "SELECT kind, no, mark FROM ix_stale_records ORDER BY kind, no LIMIT ?",
            )?;
            let marks = find.query_map([at_most(most)], |row| {
                let (kind, no) = (parse_column(row, 0)?, row.get(1)?);
                let key = RecordKey { kind, no };
                Ok(StaleRecord {
                    key,
                    mark: row.get(2)?,
                })
            })?;
            Ok(marks.collect::<Result<_, _>>()?)
        })
    }

    /// The lines of a part of the record; none where what it describes is gone.
    ///
    /// # Errors
    /// When the database fails, or holds a value that is no text, number or bytes.
    pub fn record_lines(&self, key: RecordKey) -> Result<Vec<String>, StoreError> {
        self.read(|tx| match key.kind {
            RecordKind::Session => session_lines(tx, key.no),
            RecordKind::Scope => framed_lines(tx, key.no, &SCOPE, &OF_SCOPE, None),
            RecordKind::Tenant => {
                let mut lines = Vec::new();
                for kind in &OF_TENANT {
                    select_lines(tx, kind, &[key.no], &mut lines)?;
                }
                Ok(lines)
            }
        })
    }

    /// Marks every part as stale, because the files of the record are gone. False where there is nothing to record.
    ///
    /// # Errors
    /// When the database fails.
    pub fn mark_all_records(&self) -> Result<bool, StoreError> {
        let has_content = self.read(|tx| {
            let find = "SELECT EXISTS (SELECT 1 FROM sessions WHERE known)
                OR EXISTS (SELECT 1 FROM scopes) OR EXISTS (SELECT 1 FROM projects)";
            let has_content: bool = tx.query_row(find, [], |row| row.get(0))?;
            Ok(has_content && !is_moved(tx)?)
        })?;
        if has_content {
            self.write(|tx| {
                Ok(tx.execute_batch(
                    "INSERT OR IGNORE INTO ix_stale_records
                        SELECT 'session', session_no, 1 FROM sessions WHERE known;
                     INSERT OR IGNORE INTO ix_stale_records SELECT 'scope', scope_no, 1 FROM scopes;
                     INSERT OR IGNORE INTO ix_stale_records SELECT 'tenant', tenant_no, 1 FROM tenants;",
                )?)
            })?;
        }
        Ok(has_content)
    }

    /// Clears marks of parts that were written, unless their rows have changed since.
    ///
    /// # Errors
    /// When the database fails.
    pub fn clear_stale_records(&self, written: &[StaleRecord]) -> Result<(), StoreError> {
        self.write(|tx| {
            let mut clear = tx.prepare_cached(
                "DELETE FROM ix_stale_records WHERE kind = ? AND no = ? AND mark = ?",
            )?;
            for StaleRecord { key, mark } in written {
                clear.execute(params![key.kind.as_str(), key.no, mark])?;
            }
            Ok(())
        })
    }
}

fn session_lines(tx: &Connection, session: i64) -> Result<Vec<String>, Fault> {
    match last_done(tx, session)? {
        Some(done) => framed_lines(tx, session, &SESSION, &OF_SESSION, Some(done)),
        None => Ok(Vec::new()),
    }
}

/// The lines of a part that begins and ends with the line `frame`, which names what the part describes.
fn framed_lines(
    tx: &Connection,
    no: i64,
    frame: &LineKind,
    kinds: &[LineKind],
    done: Option<i64>,
) -> Result<Vec<String>, Fault> {
    let values: Vec<i64> = [Some(no), done].into_iter().flatten().collect();
    let mut lines = Vec::new();
    select_lines(tx, frame, &values, &mut lines)?;
    let Some(identity) = lines.first().cloned() else {
        return Ok(lines);
    };
    if let Some(done) = done {
        event_lines(tx, no, done, &mut lines)?;
    }
    for kind in kinds {
        select_lines(tx, kind, &values, &mut lines)?;
    }
    lines.push(identity);
    Ok(lines)
}

/// The last position of a session that needs no extraction any more; `None` for a session that is only cited.
///
/// Where a redo is under way, it is the position up to which the earlier results stand. Without a job, windows that
/// were extracted show it; nothing is due in the sessions of notes.
fn last_done(tx: &Connection, session: i64) -> Result<Option<i64>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT min(events, CASE
            WHEN jobs.job_no IS NOT NULL THEN max(done, ifnull(redo_until, 0))
            WHEN sessions.kind = 'memory_agent' THEN events
            ELSE ifnull((SELECT max(to_seq) FROM extractions
                WHERE extractions.session_no = sessions.session_no AND live), 0) END)
         FROM sessions JOIN tenants USING (tenant_no)
         LEFT JOIN jobs ON jobs.kind = 'extract' AND jobs.tenant = tenants.tenant
            AND jobs.owner = sessions.agent AND jobs.name = sessions.host_id
         WHERE session_no = ? AND known",
    )?;
    Ok(find.query_row([session], |row| row.get(0)).optional()?)
}

/// Lines with identity, line and time of the events that are done. Lines and times are differences to the event before.
fn event_lines(
    tx: &Connection,
    session: i64,
    done: i64,
    lines: &mut Vec<String>,
) -> Result<(), Fault> {
    let mut find = tx.prepare_cached(
        "SELECT event_no & 4294967295, hex(id), line, at FROM events
         WHERE event_no BETWEEN (?1 << 32) + 1 AND (?1 << 32) | ?2 ORDER BY event_no",
    )?;
    let events: Vec<(i64, String, i64, i64)> = find
        .query_map([session, done], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?
        .collect::<Result<_, _>>()?;
    for some in events.chunk_by(|a, b| a.0 + 1 == b.0) {
        for some in some.chunks(EVENTS_IN_A_LINE) {
            let ids: String = some.iter().map(|event| event.1.as_str()).collect();
            let steps = |value: fn(&(i64, String, i64, i64)) -> i64| -> Vec<Value> {
                let before = std::iter::once(0).chain(some.iter().map(value));
                let pairs = some.iter().map(value).zip(before);
                pairs.map(|(now, before)| (now - before).into()).collect()
            };
            let first = some.first().map_or(0, |event| event.0);
            lines.push(line_of(Map::from_iter([
                ("row".to_owned(), "events".into()),
                ("from".to_owned(), first.into()),
                ("ids".to_owned(), ids.into()),
                ("lines".to_owned(), steps(|event| event.2).into()),
                ("at".to_owned(), steps(|event| event.3).into()),
            ])));
        }
    }
    Ok(())
}

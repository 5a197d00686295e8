//! Undoing an import, in steps that each leave the store consistent: a step deletes events together with
//! everything that rests on them. Files are restored last, so an interrupted undo can still find what is left to
//! delete.

use std::collections::BTreeSet;

use daybook_domain::eligibility::Switches;
use daybook_domain::source::{ImportNo, UndoneImport};
use daybook_domain::{EventSeq, JobKey, Origin, Session, SessionId, StoreError, Tenant, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::connection::Fault;
use super::names::{parse_column, session_numbered};
use super::pollution::rederive_learned;
use super::revisions::raise;
use super::row_numbers::{event_no, event_nos, seq_of};
use super::sessions::save;
use super::{
    SqliteStore, evidence_rows, extractions, index_rows, job_rows, places, sources, threads, uses,
};
use crate::bounds::STEP_ROWS;
use crate::evidence::TouchedObservations;
use crate::log::SessionRow;

/// The result of one step.
struct UndoStep {
    events: u64,
    observations: u64,
    session: SessionId,
    removed: bool,
}

impl SqliteStore {
    pub(super) fn undo(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<UndoneImport, StoreError> {
        let tenant = self.read(|tx| sources::check_import(tx, tenant, import))?;
        let mut undone = UndoneImport::default();
        let mut shortened = BTreeSet::new();
        while let Some(step) = self.write(|tx| step(tx, import, now))? {
            undone.events += step.events;
            undone.observations += step.observations;
            if step.removed {
                undone.sessions += 1;
                shortened.remove(&step.session);
            } else {
                shortened.insert(step.session);
            }
        }
        undone.shortened = shortened.len() as u64;
        while self.write(|tx| sources::restore_step(tx, tenant, import, STEP_ROWS))? > 0 {}
        self.write(|tx| sources::delete_import(tx, import))?;
        Ok(undone)
    }
}

/// Deletes the last events that the import added to one session; `None` when nothing is left.
fn step(tx: &Connection, import: ImportNo, now: Timestamp) -> Result<Option<UndoStep>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT session_no, from_seq, to_seq FROM import_ranges WHERE import_no = ?
         ORDER BY session_no DESC, from_seq DESC LIMIT 1",
    )?;
    let range: Option<(i64, u64, u64)> = find
        .query_row([import.0], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((session, begin, end)) = range else {
        return Ok(None);
    };
    let from = begin.max((end + 1).saturating_sub(STEP_ROWS as u64));
    let Some(mut row) = session_numbered(tx, session)? else {
        return Err(Fault::corrupt(format!(
            "import {} names session {session}, which is gone",
            import.0
        )));
    };
    shrink_range(tx, import, session, (begin, from))?;
    let range = (EventSeq(from), EventSeq(end));
    let id = row.session.id.clone();
    let mut concerned = extractions::forget_windows(tx, (session, &id), range)?;
    concerned.extend(uses::forget(tx, session, range)?);
    let events = delete_events(tx, session, range)?;
    threads::truncate(tx, session, EventSeq(from))?;
    let mut touched = TouchedObservations::default();
    let gone = (from..=end).map(EventSeq).collect();
    evidence_rows::cut(tx, session, &gone, &mut touched)?;
    let was_polluted = row.session.pollution.is_some();
    let removed = rederive_session(tx, &mut row)?;
    if was_polluted && (removed || row.session.pollution.is_none()) {
        row.session.pollution = None;
        save(tx, &row)?;
        rederive_learned(tx, &row, &Switches::default(), now)?;
    }
    let key = JobKey::Extract(id.clone());
    if removed {
        job_rows::delete(tx, &key)?;
    } else {
        shorten_job(tx, &key, &row.session, now)?;
    }
    let settled = evidence_rows::settle(tx, &touched)?;
    concerned.extend(settled.scopes);
    raise(tx, &concerned, now)?;
    if removed {
        forget_session(tx, session)?;
        uses::forget_user(tx, session)?;
    }
    Ok(Some(UndoStep {
        events,
        observations: settled.withdrawn,
        session: id,
        removed,
    }))
}

fn shrink_range(
    tx: &Connection,
    import: ImportNo,
    session: i64,
    (begin, from): (u64, u64),
) -> Result<(), Fault> {
    let key = params![import.0, session, begin];
    if from > begin {
        tx.prepare_cached(
            "UPDATE import_ranges SET to_seq = ? WHERE import_no = ? AND session_no = ?
             AND from_seq = ?",
        )?
        .execute(params![from - 1, import.0, session, begin])?;
    } else {
        tx.prepare_cached(
            "DELETE FROM import_ranges WHERE import_no = ? AND session_no = ? AND from_seq = ?",
        )?
        .execute(key)?;
    }
    Ok(())
}

pub(super) fn delete_events(
    tx: &Connection,
    session: i64,
    (from, to): (EventSeq, EventSeq),
) -> Result<u64, Fault> {
    let mut delete = tx.prepare_cached(
        "DELETE FROM events WHERE event_no BETWEEN ? AND ? RETURNING event_no, place_no, origin",
    )?;
    let gone: Vec<(i64, Option<i64>, Origin)> = delete
        .query_map([event_no(session, from), event_no(session, to)], |row| {
            let origin = parse_column::<Origin>(row, "origin")?;
            Ok((row.get(0)?, row.get(1)?, origin))
        })?
        .collect::<Result<_, _>>()?;
    tx.prepare_cached("DELETE FROM root_remotes WHERE event_no BETWEEN ? AND ?")?
        .execute([event_no(session, from), event_no(session, to)])?;
    tx.prepare_cached("DELETE FROM event_retractions WHERE event_no BETWEEN ? AND ?")?
        .execute([event_no(session, from), event_no(session, to)])?;
    for (no, _, origin) in &gone {
        index_rows::forget_event(tx, *no, *origin)?;
    }
    let left: BTreeSet<i64> = gone.iter().filter_map(|(_, place, _)| *place).collect();
    for place in left {
        places::unlink_if_empty(tx, session, place)?;
    }
    Ok(gone.len() as u64)
}

/// Derives a session's row from its remaining events. True when there are none.
pub(super) fn rederive_session(tx: &Connection, row: &mut SessionRow) -> Result<bool, Fault> {
    let span = event_nos(row.no);
    let span = [span.0, span.1];
    let mut last = tx.prepare_cached(
        "SELECT event_no, line FROM events WHERE event_no BETWEEN ? AND ?
         ORDER BY event_no DESC LIMIT 1",
    )?;
    let last: Option<(i64, u32)> = last
        .query_row(span, |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((last, line)) = last else {
        return Ok(true);
    };
    let mut times = tx.prepare_cached(
        "SELECT ifnull(min(at), 0), ifnull(max(at), 0) FROM events
         WHERE event_no BETWEEN ? AND ? AND at <> 0",
    )?;
    let (first_at, last_at) = times.query_row(span, |row| Ok((row.get(0)?, row.get(1)?)))?;
    row.session.first_at = Timestamp(first_at);
    row.session.last_at = Timestamp(last_at);
    row.session.shorten(seq_of(last));
    row.last_line = line;
    save(tx, row)?;
    Ok(false)
}

pub(super) fn shorten_job(
    tx: &Connection,
    key: &JobKey,
    session: &Session,
    now: Timestamp,
) -> Result<(), Fault> {
    let Some(mut job) = job_rows::load(tx, key)? else {
        return Ok(());
    };
    job_rows::delete_gaps(tx, key)?;
    job.shorten(session.events.0, now);
    extractions::drop_unfinished_redo(tx, &job)?;
    job_rows::save(tx, &job)
}

/// Deletes a session without events. Its number stays, because other rows still cite it.
fn forget_session(tx: &Connection, session: i64) -> Result<(), Fault> {
    tx.prepare_cached(
        "UPDATE sessions SET known = 0, label = NULL, kind = 'root', memory_off = 0,
            switched_off = 0, kept_on = 0, pollution = NULL, forked_from = NULL, user = NULL,
            surface = NULL, room_id = NULL, thread_id = NULL, team = NULL, filed_in = NULL,
            first_at = 0, last_at = 0, events = 0, passed = '', last_line = 0,
            first_source = NULL, rules = 0, rescan = NULL
         WHERE session_no = ?",
    )?
    .execute([session])?;
    Ok(())
}

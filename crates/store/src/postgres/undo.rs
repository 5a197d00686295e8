//! Undoing an import, in steps that each leave the store consistent: a step deletes events together with
//! everything that rests on them. Files are restored last, so an interrupted undo can still find what is left to
//! delete.

use std::collections::BTreeSet;

use daybook_domain::eligibility::Switches;
use daybook_domain::source::{ImportNo, UndoneImport};
use daybook_domain::{EventSeq, JobKey, Origin, Session, SessionId, StoreError, Tenant, Timestamp};

use super::connection::{TenantAccess, Tx};
use super::fault::Fault;
use super::names::{lock_session_numbered, raise};
use super::pollution::rederive_learned;
use super::row_numbers::{event_no, event_nos, seq_of};
use super::sessions::save;
use super::values::{get, parse_column, values};
use super::{
    PostgresStore, evidence_rows, extractions, gaps, index_rows, job_rows, observation_rows,
    places, sources, threads, uses,
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

impl PostgresStore {
    pub(super) async fn undo(
        &self,
        tenant: &Tenant,
        import: ImportNo,
        now: Timestamp,
    ) -> Result<UndoneImport, StoreError> {
        let access = TenantAccess::Only(tenant);
        let check = |tx: Tx| async move { sources::lock_import(&tx, tenant, import).await };
        let number = self.write(access, check).await?;
        let mut undone = UndoneImport::default();
        let mut shortened = BTreeSet::new();
        let step = |tx: Tx| async move { step(&tx, import, now).await };
        while let Some(step) = self.write(access, step).await? {
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
        let restore =
            |tx: Tx| async move { sources::restore_step(&tx, number, import, STEP_ROWS).await };
        while self.write(access, restore).await? > 0 {}
        let delete = |tx: Tx| async move { sources::delete_import(&tx, import).await };
        self.write(access, delete).await?;
        Ok(undone)
    }
}

/// Deletes the last events that the import added to one session; `None` when nothing is left.
async fn step(tx: &Tx, import: ImportNo, now: Timestamp) -> Result<Option<UndoStep>, Fault> {
    // First, so that no append of this import adds a range meanwhile.
    let lock = "SELECT FROM imports WHERE import_no = $1 FOR UPDATE";
    tx.row(lock, values![import.0]).await?;
    let find = "SELECT session_no, from_seq, to_seq FROM import_ranges WHERE import_no = $1
        ORDER BY session_no DESC, from_seq DESC LIMIT 1";
    let Some(range) = tx.row(find, values![import.0]).await? else {
        return Ok(None);
    };
    let session: i64 = get(&range, "session_no")?;
    let (begin, end): (u64, u64) = (get(&range, "from_seq")?, get(&range, "to_seq")?);
    let from = begin.max((end + 1).saturating_sub(STEP_ROWS as u64));
    let Some(mut row) = lock_session_numbered(tx, session).await? else {
        return Err(Fault::corrupt(format!(
            "import {} names session {session}, which is gone",
            import.0
        )));
    };
    shrink_range(tx, import, session, (begin, from)).await?;
    let range = (EventSeq(from), EventSeq(end));
    let id = row.session.id.clone();
    let mut concerned = extractions::forget_windows(tx, (session, &id), range).await?;
    concerned.extend(uses::forget(tx, session, range).await?);
    let events = delete_events(tx, session, range).await?;
    threads::truncate(tx, session, EventSeq(from)).await?;
    let mut touched = TouchedObservations::default();
    let gone = (from..=end).map(EventSeq).collect();
    evidence_rows::cut(tx, session, &gone, &mut touched).await?;
    let was_polluted = row.session.pollution.is_some();
    let removed = rederive_session(tx, &mut row).await?;
    if was_polluted && (removed || row.session.pollution.is_none()) {
        row.session.pollution = None;
        save(tx, &row);
        rederive_learned(tx, &row, &Switches::default(), now).await?;
    }
    let key = JobKey::Extract(id.clone());
    if removed {
        job_rows::delete(tx, &key).await?;
    } else {
        shorten_job(tx, &key, &row.session, now).await?;
    }
    let settled = observation_rows::settle(tx, &touched).await?;
    concerned.extend(settled.scopes);
    raise(tx, &concerned, now).await?;
    if removed {
        forget_session(tx, session).await?;
        uses::forget_user(tx, session).await?;
    }
    Ok(Some(UndoStep {
        events,
        observations: settled.withdrawn,
        session: id,
        removed,
    }))
}

async fn shrink_range(
    tx: &Tx,
    import: ImportNo,
    session: i64,
    (begin, from): (u64, u64),
) -> Result<(), Fault> {
    if from > begin {
        let shrink = "UPDATE import_ranges SET to_seq = $4
            WHERE import_no = $1 AND session_no = $2 AND from_seq = $3";
        let values = values![import.0, session, begin, from - 1];
        tx.execute(shrink, values).await?;
    } else {
        let delete = "DELETE FROM import_ranges
            WHERE import_no = $1 AND session_no = $2 AND from_seq = $3";
        let values = values![import.0, session, begin];
        tx.execute(delete, values).await?;
    }
    Ok(())
}

pub(super) async fn delete_events(
    tx: &Tx,
    session: i64,
    (from, to): (EventSeq, EventSeq),
) -> Result<u64, Fault> {
    let delete = "DELETE FROM events WHERE event_no BETWEEN $1 AND $2
        RETURNING event_no, place_no, origin";
    let range = values![event_no(session, from), event_no(session, to)];
    let mut gone: Vec<(i64, Origin)> = Vec::new();
    let mut left: BTreeSet<i64> = BTreeSet::new();
    for row in tx.rows(delete, range).await? {
        gone.push((
            get(&row, "event_no")?,
            parse_column::<Origin>(&row, "origin")?,
        ));
        left.extend(get::<Option<i64>>(&row, "place_no")?);
    }
    let delete = "DELETE FROM root_remotes WHERE event_no BETWEEN $1 AND $2";
    tx.execute(delete, range).await?;
    let delete = "DELETE FROM event_retractions WHERE event_no BETWEEN $1 AND $2";
    tx.execute(delete, range).await?;
    index_rows::forget_events(tx, &gone).await?;
    places::unlink_if_empty(tx, session, left.into_iter().collect()).await?;
    Ok(gone.len() as u64)
}

/// Derives a session's row from its remaining events. True when there are none.
pub(super) async fn rederive_session(tx: &Tx, row: &mut SessionRow) -> Result<bool, Fault> {
    let (from, to) = event_nos(row.no);
    let find = "SELECT event_no, line, coalesce(first_at, 0) AS first_at,
            coalesce(last_at, 0) AS last_at
        FROM (SELECT event_no, line FROM events WHERE event_no BETWEEN $1 AND $2
            ORDER BY event_no DESC LIMIT 1) AS last,
            (SELECT min(at) AS first_at, max(at) AS last_at FROM events
            WHERE event_no BETWEEN $1 AND $2 AND at <> 0) AS times";
    let Some(last) = tx.row(find, values![from, to]).await? else {
        return Ok(true);
    };
    row.session.first_at = get(&last, "first_at")?;
    row.session.last_at = get(&last, "last_at")?;
    row.session.shorten(seq_of(get(&last, "event_no")?));
    row.last_line = get(&last, "line")?;
    save(tx, row);
    Ok(false)
}

pub(super) async fn shorten_job(
    tx: &Tx,
    key: &JobKey,
    session: &Session,
    now: Timestamp,
) -> Result<(), Fault> {
    let Some(mut job) = job_rows::load(tx, key).await? else {
        return Ok(());
    };
    gaps::delete(tx, key).await?;
    job.shorten(session.events.0, now);
    extractions::drop_unfinished_redo(tx, &job).await?;
    job_rows::save(tx, &job);
    Ok(())
}

/// Deletes a session without events. Its number stays, because other rows still cite it.
async fn forget_session(tx: &Tx, session: i64) -> Result<(), Fault> {
    let forget = "UPDATE sessions SET known = FALSE, label = NULL, kind = 'root',
            memory_off = FALSE, switched_off = FALSE, kept_on = FALSE,
            pollution = NULL, forked_from = NULL, \"user\" = NULL,
            surface = NULL, room_id = NULL, thread_id = NULL, team = NULL, filed_in = NULL,
            first_at = 0, last_at = 0, events = 0, passed = '', last_line = 0,
            first_source = NULL, rules = 0, rescan = NULL
        WHERE session_no = $1";
    tx.execute(forget, values![session]).await?;
    Ok(())
}

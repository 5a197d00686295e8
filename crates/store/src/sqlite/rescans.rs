//! Rescans: sessions that other rules redacted, and the replacement of their texts.
//!
//! A replaced text may remain in the file: in free pages, in segments of the full-text index, in the log. The session
//! is marked in the transaction that replaces it, and [`RescanStore::erase_replaced`] rewrites the file.
//!
//! Not here: which tables hold which texts (`crate::rescan`).

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::rescan::{
    EventRewrite, SessionRewrite, SessionTexts, StoredEvent, TextField, TextRewrite,
};
use daybook_domain::seams::RescanStore;
use daybook_domain::{
    EventSeq, FinishOutcome, JobKey, JobKind, LeaseToken, ObservationId, ObservationKind,
    RulesRevision, SessionId, StoreError, TallyKind, Timestamp,
};
use rusqlite::{Connection, params};
use strum::VariantArray;

use super::connection::Fault;
use super::names::{find_session, parse_column, scope_named, session_numbered};
use super::outlines::{NewDocument, Owner};
use super::revisions::raise;
use super::row_numbers::event_no;
use super::{SqliteStore, events, evidence_rows, index_rows, job_rows, places, sessions};
use crate::blocking::blocking;
use crate::bounds::STEP_JOBS;
use crate::evidence::TouchedObservations;
use crate::log::SessionRow;
use crate::rescan;

/// Pages of the full-text index that one transaction merges.
const MERGE_PAGES: i64 = 1_000;
/// Longest wait for readers of the log that is emptied.
const READERS_WAIT: Duration = Duration::from_secs(2);

#[async_trait]
impl RescanStore for SqliteStore {
    async fn raise_rescans(
        &self,
        rules: RulesRevision,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let mut raised = 0;
        loop {
            let lacking = self.read(|tx| lacking(tx, rules))?;
            if lacking.is_empty() {
                return Ok(raised);
            }
            raised += self.write(|tx| raise_all(tx, &lacking, rules, now))?;
        }
    }

    async fn raise_rescan(
        &self,
        session: &SessionId,
        rules: RulesRevision,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(|tx| {
            let row = find_session(tx, session)?.filter(|row| row.known);
            row.map(|row| raise_one(tx, row, rules, now))
                .transpose()
                .map(|raised| raised.is_some())
        })
    }

    async fn log_entries(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        self.read(|tx| {
            let Some(row) = find_session(tx, session)? else {
                return Ok(Vec::new());
            };
            let read = events::entries_between(tx, row.no, (after, upto), limit, bytes)?;
            Ok(rescan::stored_events(read))
        })
    }

    async fn rewrite_events(
        &self,
        lease: &LeaseToken,
        upto: EventSeq,
        rewrites: &[EventRewrite],
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let outcome = self.write(|tx| rewrite_events(tx, lease, upto, rewrites, now))?;
        self.tidy();
        Ok(outcome)
    }

    async fn session_texts(&self, session: &SessionId) -> Result<SessionTexts, StoreError> {
        self.read(|tx| session_texts(tx, session))
    }

    async fn rewrite_session(
        &self,
        lease: &LeaseToken,
        rewrite: &SessionRewrite,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let outcome = self.write(|tx| rewrite_session(tx, lease, rewrite, now))?;
        self.tidy();
        Ok(outcome)
    }

    async fn erase_replaced(&self) -> Result<bool, StoreError> {
        let marked = self.read(|tx| {
            let mut find = tx.prepare_cached("SELECT 1 FROM sessions WHERE erase <> 0 LIMIT 1")?;
            Ok(find.exists([])?)
        })?;
        match marked {
            true => blocking(|| self.erase()),
            false => Ok(true),
        }
    }
}

impl SqliteStore {
    /// Rewrites the whole file, and empties its log. Runs apart from other connections: the file that is written
    /// meanwhile must not be kept in memory.
    pub(super) fn erase(&self) -> Result<bool, StoreError> {
        // The first step has all of the index merged; the next ones go on with that.
        let mut pages = -MERGE_PAGES;
        while self.write(|tx| merge_step(tx, pages))? {
            pages = MERGE_PAGES;
        }
        let connection = self.file.connect()?;
        let shortly = |error: rusqlite::Error| Fault::from(error).into_error(self.file.path());
        connection.busy_timeout(READERS_WAIT).map_err(shortly)?;
        let erased = self.file.retry(|| {
            connection.execute_batch("PRAGMA temp_store = FILE; VACUUM")?;
            // The log holds pages of before.
            let blocked: bool =
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
            Ok(!blocked)
        })?;
        if erased {
            self.write(|tx| Ok(tx.execute("UPDATE sessions SET erase = 0 WHERE erase <> 0", [])?))?;
        }
        Ok(erased)
    }
}

/// Merges a part of the full-text index, which drops the words of deleted documents. False when nothing is left to
/// merge.
fn merge_step(tx: &Connection, pages: i64) -> Result<bool, Fault> {
    let before: i64 = tx.query_row("SELECT total_changes()", [], |row| row.get(0))?;
    tx.prepare_cached("INSERT INTO ix_text (ix_text, rank) VALUES ('merge', ?)")?
        .execute([pages])?;
    let after: i64 = tx.query_row("SELECT total_changes()", [], |row| row.get(0))?;
    // As FTS5 documents: fewer than two changes mean that the merge found nothing to do.
    Ok(after - before >= 2)
}

/// Some of the sessions that need a rescan by `rules`.
fn lacking(tx: &Connection, rules: RulesRevision) -> Result<Vec<i64>, Fault> {
    let mut lacking = Vec::new();
    for compare in ["<", ">"] {
        let mut find = tx.prepare_cached(&format!(
            "SELECT session_no FROM sessions
             WHERE known AND rules {compare} ?1 AND rescan IS NOT ?1 LIMIT ?2"
        ))?;
        let rows = find.query_map(params![rules.0, STEP_JOBS], |row| row.get(0))?;
        lacking.extend(rows.collect::<Result<Vec<i64>, _>>()?);
    }
    Ok(lacking)
}

fn raise_all(
    tx: &Connection,
    lacking: &[i64],
    rules: RulesRevision,
    now: Timestamp,
) -> Result<usize, Fault> {
    let mut raised = 0;
    for &no in lacking {
        let row = session_numbered(tx, no)?.filter(|row| row.known && row.scan.lacks(rules));
        let Some(row) = row else { continue };
        raise_one(tx, row, rules, now)?;
        raised += 1;
    }
    Ok(raised)
}

fn raise_one(
    tx: &Connection,
    mut row: SessionRow,
    rules: RulesRevision,
    now: Timestamp,
) -> Result<(), Fault> {
    let key = JobKey::Redact(row.session.id.clone());
    job_rows::delete_gaps(tx, &key)?;
    let input = row.session.events.0 + 1;
    let user = row.session.user.as_deref();
    job_rows::change_or_create(tx, &key, user, |job| job.start_over(input, now))?;
    row.scan.raise(rules);
    sessions::save(tx, &row)
}

/// Ends the claim of a rescan. The session is missing where an import was undone.
fn finish(
    tx: &Connection,
    lease: &LeaseToken,
    upto: Option<EventSeq>,
    now: Timestamp,
) -> Result<(FinishOutcome, Option<SessionRow>), Fault> {
    let (JobKey::Redact(id), Some(mut job)) = (lease.job(), job_rows::load(tx, lease.job())?)
    else {
        return Ok((FinishOutcome::LeaseLost, None));
    };
    let upto = upto.map_or(job.input, |upto| upto.0);
    let outcome = job.finish(lease, upto, now);
    job_rows::tally(tx, JobKind::Redact, TallyKind::finish(outcome))?;
    if outcome == FinishOutcome::LeaseLost {
        return Ok((outcome, None));
    }
    job_rows::save(tx, &job)?;
    Ok((outcome, find_session(tx, id)?.filter(|row| row.known)))
}

fn rewrite_events(
    tx: &Connection,
    lease: &LeaseToken,
    upto: EventSeq,
    rewrites: &[EventRewrite],
    now: Timestamp,
) -> Result<FinishOutcome, Fault> {
    let (outcome, row) = finish(tx, lease, Some(upto), now)?;
    let Some(row) = row.filter(|_| !rewrites.is_empty()) else {
        return Ok(outcome);
    };
    for rewrite in rewrites {
        rewrite_event(tx, &row, rewrite)?;
    }
    tx.prepare_cached("DELETE FROM thread_snapshots WHERE session_no = ?")?
        .execute([row.no])?;
    mark_for_erasure(tx, row.no)?;
    let extraction = JobKey::Extract(row.session.id);
    if let Some(mut job) = job_rows::load(tx, &extraction)? {
        job.interrupt();
        job_rows::save(tx, &job)?;
    }
    Ok(outcome)
}

fn rewrite_event(tx: &Connection, row: &SessionRow, rewrite: &EventRewrite) -> Result<(), Fault> {
    let EventRewrite {
        before,
        after,
        tokens,
    } = rewrite;
    let seq = before.event.seq;
    let range = (EventSeq(seq.0.saturating_sub(1)), seq);
    let found = rescan::stored_events(events::entries_between(tx, row.no, range, 1, 0)?);
    if found.first() != Some(before) {
        return Ok(());
    }
    let no = event_no(row.no, seq);
    let event = &after.event;
    let place = match &event.place {
        Some(place) => Some(places::place_no(tx, row.tenant, place)?),
        None => None,
    };
    index_rows::forget_event(tx, no, event.origin)?;
    let former: Option<i64> = tx
        .prepare_cached("SELECT place_no FROM events WHERE event_no = ?")?
        .query_row([no], |row| row.get(0))?;
    tx.prepare_cached(
        "UPDATE events SET text = ?, tool = ?, call = ?, place_no = ?, entry = ? WHERE event_no = ?",
    )?
    .execute(params![
        event.text,
        event.tool,
        event.call,
        place.map(|(place, _)| place),
        after.entry,
        no
    ])?;
    if let Some((place, root)) = place.filter(|(place, _)| Some(*place) != former) {
        places::note(tx, row.no, place)?;
        if let Some(former) = former {
            places::unlink_if_empty(tx, row.no, former)?;
            places::replace_unused(tx, former, root)?;
        }
    }
    let root = place.map(|(_, root)| root);
    let shared = row.session.venue.shared_scope(&row.session.id.tenant);
    let owner = Owner::of_event(tx, shared.as_ref(), root)?;
    let document = NewDocument::event(no, row.tenant, owner, (event.origin, event.at));
    index_rows::put(tx, &document, tokens)
}

fn mark_for_erasure(tx: &Connection, session: i64) -> Result<(), Fault> {
    tx.prepare_cached("UPDATE sessions SET erase = 1 WHERE session_no = ?")?
        .execute([session])?;
    Ok(())
}

fn session_texts(tx: &Connection, session: &SessionId) -> Result<SessionTexts, Fault> {
    let Some(row) = find_session(tx, session)?.filter(|row| row.known) else {
        return Ok(SessionTexts::default());
    };
    let mut texts = Vec::new();
    for &field in TextField::VARIANTS {
        let mut find = tx.prepare_cached(&rescan::select(field))?;
        let values = find.query_map([row.no], |row| row.get(0))?;
        for value in values {
            texts.push((field, value?));
        }
    }
    Ok(SessionTexts {
        evidence: evidence_rows::stored(tx, row.no)?,
        texts,
    })
}

fn rewrite_session(
    tx: &Connection,
    lease: &LeaseToken,
    rewrite: &SessionRewrite,
    now: Timestamp,
) -> Result<FinishOutcome, Fault> {
    let (outcome, row) = finish(tx, lease, None, now)?;
    let Some(row) = row else {
        return Ok(outcome);
    };
    let mut touched = TouchedObservations::default();
    let mut changed = false;
    for evidence in &rewrite.evidence {
        changed |= evidence_rows::rewrite(tx, row.no, evidence, &mut touched)?;
    }
    for text in &rewrite.texts {
        changed |= rewrite_text(tx, row.no, text)?;
    }
    let mut scopes = evidence_rows::settle(tx, &touched)?.scopes;
    if changed {
        mark_for_erasure(tx, row.no)?;
        scopes.extend(rewrite.concerns.iter().cloned());
    }
    raise(tx, &BTreeSet::from_iter(scopes), now)?;
    // Read again: its own texts are among those that were replaced.
    let again = session_numbered(tx, row.no)?;
    if let Some(mut row) = again.filter(|_| outcome == FinishOutcome::Complete) {
        row.scan.finish(rewrite.rules);
        sessions::save(tx, &row)?;
    }
    Ok(outcome)
}

fn rewrite_text(tx: &Connection, session: i64, text: &TextRewrite) -> Result<bool, Fault> {
    if text.field == TextField::Retraction {
        move_retractions(tx, session, text)?;
    }
    let mut changed = false;
    for statement in rescan::replace(text.field) {
        let values = params![session, text.before, text.after];
        let mut replace = tx.prepare_cached(&statement)?;
        changed |= replace.execute(values)? > 0;
    }
    Ok(changed)
}

/// Gives retractions of a replaced text the identity of the text that takes its place.
fn move_retractions(tx: &Connection, session: i64, text: &TextRewrite) -> Result<(), Fault> {
    let mut find = tx.prepare_cached(
        "SELECT scope_no, id, kind FROM retractions WHERE session_no = ? AND text = ?",
    )?;
    let rows = find.query_map(params![session, text.before], |row| {
        let kind = parse_column::<ObservationKind>(row, "kind")?;
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, kind))
    })?;
    let rows: BTreeSet<(i64, i64, ObservationKind)> = rows.collect::<Result<_, _>>()?;
    for (scope_no, id, kind) in rows {
        let scope = scope_named(tx, scope_no)?;
        if ObservationId::of(&scope, kind, &text.before)
            .0
            .cast_signed()
            != id
        {
            continue;
        }
        let after = ObservationId::of(&scope, kind, &text.after);
        tx.prepare_cached(
            "UPDATE OR REPLACE retractions SET id = ?
             WHERE scope_no = ? AND id = ? AND session_no = ?",
        )?
        .execute(params![after.0.cast_signed(), scope_no, id, session])?;
    }
    Ok(())
}

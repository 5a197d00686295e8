//! Rescans: sessions that other rules redacted, and the replacement of their texts.
//!
//! The server overwrites replaced rows by itself, when it vacuums their tables.
//!
//! Not here: which tables hold which texts (`crate::rescan`).

use std::collections::BTreeSet;

use async_trait::async_trait;
use daybook_domain::rescan::{
    EventRewrite, SessionRewrite, SessionTexts, StoredEvent, TextField, TextRewrite,
};
use daybook_domain::seams::RescanStore;
use daybook_domain::{
    EventSeq, FinishOutcome, JobKey, JobKind, LeaseToken, ObservationId, ObservationKind,
    RulesRevision, SessionId, StoreError, TallyKind, Tenant, Timestamp,
};
use strum::VariantArray;

use super::connection::{TenantAccess, Tx};
use super::fault::Fault;
use super::index_rows::{NewDocument, root_owner};
use super::names::{
    find_session, lock_session, lock_session_numbered, raise, scope_of, session_id_of, shared_no,
};
use super::row_numbers::event_no;
use super::values::{get, parse_column, values};
use super::{
    PostgresStore, events, evidence_rows, gaps, index_rows, job_rows, observation_rows, places,
    sessions,
};
use crate::bounds::STEP_JOBS;
use crate::evidence::TouchedObservations;
use crate::log::SessionRow;
use crate::rescan;

#[async_trait]
impl RescanStore for PostgresStore {
    async fn raise_rescans(
        &self,
        rules: RulesRevision,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let find = |tx: Tx| async move { lacking(&tx, rules).await };
        let mut raised = 0;
        loop {
            let lacking = self.read(TenantAccess::All, find).await?;
            if lacking.is_empty() {
                return Ok(raised);
            }
            for id in &lacking {
                let raise = |tx: Tx| async move { raise_one(&tx, id, (rules, true), now).await };
                let access = TenantAccess::Only(&id.tenant);
                raised += usize::from(self.write(access, raise).await?);
            }
        }
    }

    async fn raise_rescan(
        &self,
        session: &SessionId,
        rules: RulesRevision,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let raise = |tx: Tx| async move { raise_one(&tx, session, (rules, false), now).await };
        self.write(TenantAccess::Only(&session.tenant), raise).await
    }

    async fn log_entries(
        &self,
        session: &SessionId,
        after: EventSeq,
        upto: EventSeq,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let read = |tx: Tx| async move {
            let Some(row) = find_session(&tx, session).await? else {
                return Ok(Vec::new());
            };
            let range = (after, upto);
            let read = events::entries_between(&tx, row.no, range, limit, bytes).await?;
            Ok(rescan::stored_events(read))
        };
        self.read(TenantAccess::Only(&session.tenant), read).await
    }

    async fn rewrite_events(
        &self,
        lease: &LeaseToken,
        upto: EventSeq,
        rewrites: &[EventRewrite],
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let rewrite = |tx: Tx| async move { rewrite_events(&tx, lease, upto, rewrites, now).await };
        self.write(tenant_of(lease), rewrite).await
    }

    async fn session_texts(&self, session: &SessionId) -> Result<SessionTexts, StoreError> {
        let read = |tx: Tx| async move { session_texts(&tx, session).await };
        self.read(TenantAccess::Only(&session.tenant), read).await
    }

    async fn rewrite_session(
        &self,
        lease: &LeaseToken,
        rewrite: &SessionRewrite,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        let rewrite = |tx: Tx| async move { rewrite_session(&tx, lease, rewrite, now).await };
        self.write(tenant_of(lease), rewrite).await
    }

    async fn erase_replaced(&self) -> Result<bool, StoreError> {
        Ok(true)
    }
}

fn tenant_of(lease: &LeaseToken) -> TenantAccess<'_> {
    let tenant: &Tenant = lease.job().tenant();
    TenantAccess::Only(tenant)
}

/// Some of the sessions that need a rescan by `rules`.
async fn lacking(tx: &Tx, rules: RulesRevision) -> Result<Vec<SessionId>, Fault> {
    let mut lacking = Vec::new();
    for compare in ["<", ">"] {
        let find = format!(
            "SELECT tenant, agent, host_id FROM sessions JOIN tenants USING (tenant_no)
             WHERE known AND rules {compare} $1 AND rescan IS DISTINCT FROM $1 LIMIT $2"
        );
        let rows = tx.rows(&find, values![rules.0, STEP_JOBS]).await?;
        for row in &rows {
            lacking.push(session_id_of(row)?);
        }
    }
    Ok(lacking)
}

/// Raises a session's rescan; with `if_lacking`, only where other rules redacted it.
async fn raise_one(
    tx: &Tx,
    id: &SessionId,
    (rules, if_lacking): (RulesRevision, bool),
    now: Timestamp,
) -> Result<bool, Fault> {
    let key = JobKey::Redact(id.clone());
    // The job is locked before the session, as by the worker that ends it.
    let job = job_rows::load(tx, &key).await?;
    let row = lock_session(tx, id).await?;
    let Some(mut row) = row.filter(|row| row.known && (!if_lacking || row.scan.lacks(rules)))
    else {
        return Ok(false);
    };
    if job.is_some() {
        gaps::delete(tx, &key).await?;
    }
    let (user, input) = (row.session.user.as_deref(), row.session.events.0 + 1);
    job_rows::change_or_create(tx, &key, user, |job| job.start_over(input, now)).await?;
    row.scan.raise(rules);
    sessions::save(tx, &row);
    Ok(true)
}

/// Ends the claim of a rescan. The session is missing where an import was undone.
async fn finish(
    tx: &Tx,
    lease: &LeaseToken,
    upto: Option<EventSeq>,
    now: Timestamp,
) -> Result<(FinishOutcome, Option<SessionRow>), Fault> {
    let JobKey::Redact(id) = lease.job() else {
        return Ok((FinishOutcome::LeaseLost, None));
    };
    let Some(mut job) = job_rows::load(tx, lease.job()).await? else {
        return Ok((FinishOutcome::LeaseLost, None));
    };
    let upto = upto.map_or(job.input, |upto| upto.0);
    let outcome = job.finish(lease, upto, now);
    job_rows::tally(tx, JobKind::Redact, TallyKind::finish(outcome));
    if outcome == FinishOutcome::LeaseLost {
        return Ok((outcome, None));
    }
    job_rows::save(tx, &job);
    let row = lock_session(tx, id).await?;
    Ok((outcome, row.filter(|row| row.known)))
}

async fn rewrite_events(
    tx: &Tx,
    lease: &LeaseToken,
    upto: EventSeq,
    rewrites: &[EventRewrite],
    now: Timestamp,
) -> Result<FinishOutcome, Fault> {
    let (outcome, row) = finish(tx, lease, Some(upto), now).await?;
    let Some(row) = row.filter(|_| !rewrites.is_empty()) else {
        return Ok(outcome);
    };
    for rewrite in rewrites {
        rewrite_event(tx, &row, rewrite).await?;
    }
    let snapshot = "DELETE FROM thread_snapshots WHERE session_no = $1";
    tx.execute(snapshot, values![row.no]).await?;
    let extraction = JobKey::Extract(row.session.id);
    if let Some(mut job) = job_rows::load(tx, &extraction).await? {
        job.interrupt();
        job_rows::save(tx, &job);
    }
    Ok(outcome)
}

async fn rewrite_event(tx: &Tx, row: &SessionRow, rewrite: &EventRewrite) -> Result<(), Fault> {
    let EventRewrite {
        before,
        after,
        tokens,
    } = rewrite;
    let seq = before.event.seq;
    let range = (EventSeq(seq.0.saturating_sub(1)), seq);
    let found = events::entries_between(tx, row.no, range, 1, 0).await?;
    let found = rescan::stored_events(found);
    if found.first() != Some(before) {
        return Ok(());
    }
    let no = event_no(row.no, seq);
    let event = &after.event;
    let place = match &event.place {
        Some(place) => places::place_nos(tx, row.tenant, &[place]).await?.pop(),
        None => None,
    };
    let find = "SELECT place_no FROM events WHERE event_no = $1";
    let former: Option<i64> = get(&tx.one(find, values![no]).await?, "place_no")?;
    index_rows::forget_events(tx, &[(no, event.origin)]).await?;
    let update = "UPDATE events SET text = $2, tool = $3, call = $4, place_no = $5, entry = $6
        WHERE event_no = $1";
    let place_no = place.map(|(place, _)| place);
    let columns = values![
        no,
        &event.text,
        &event.tool,
        &event.call,
        place_no,
        &after.entry
    ];
    tx.execute(update, columns).await?;
    if let Some((place, root)) = place.filter(|(place, _)| Some(*place) != former) {
        let note = "INSERT INTO session_places (tenant_no, session_no, place_no)
            VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
        tx.execute(note, values![row.tenant, row.no, place]).await?;
        if let Some(former) = former {
            places::unlink_if_empty(tx, row.no, vec![former]).await?;
            places::replace_unused(tx, former, root).await?;
        }
    }
    let root = place.map(|(_, root)| root_owner(root));
    let owner = shared_no(tx, &row.session).await?.or(root);
    let document = NewDocument::event_with_tokens(no, owner, (event.origin, event.at), tokens);
    index_rows::put(tx, row.tenant, &[document]);
    Ok(())
}

async fn session_texts(tx: &Tx, session: &SessionId) -> Result<SessionTexts, Fault> {
    let row = find_session(tx, session).await?;
    let Some(row) = row.filter(|row| row.known) else {
        return Ok(SessionTexts::default());
    };
    let mut texts = Vec::new();
    for &field in TextField::VARIANTS {
        let select = rescan::with_dollars(&rescan::select(field));
        for value in tx.rows(&select, values![row.no]).await? {
            texts.push((field, get(&value, "value")?));
        }
    }
    Ok(SessionTexts {
        evidence: evidence_rows::stored(tx, row.no).await?,
        texts,
    })
}

async fn rewrite_session(
    tx: &Tx,
    lease: &LeaseToken,
    rewrite: &SessionRewrite,
    now: Timestamp,
) -> Result<FinishOutcome, Fault> {
    let (outcome, row) = finish(tx, lease, None, now).await?;
    let Some(row) = row else {
        return Ok(outcome);
    };
    let mut touched = TouchedObservations::default();
    let mut changed = false;
    if !rewrite.evidence.is_empty() {
        let locked = evidence_rows::lock(tx, &BTreeSet::new(), Some(row.no)).await?;
        let place = (row.no, &locked);
        changed |= evidence_rows::rewrite(tx, place, &rewrite.evidence, &mut touched).await?;
    }
    for text in &rewrite.texts {
        changed |= rewrite_text(tx, row.no, text).await?;
    }
    let mut scopes = observation_rows::settle(tx, &touched).await?.scopes;
    if changed {
        scopes.extend(rewrite.concerns.iter().cloned());
    }
    raise(tx, &scopes, now).await?;
    // Read again: its own texts are among those that were replaced.
    let again = lock_session_numbered(tx, row.no).await?;
    if let Some(mut row) = again.filter(|_| outcome == FinishOutcome::Complete) {
        row.scan.finish(rewrite.rules);
        sessions::save(tx, &row);
    }
    Ok(outcome)
}

async fn rewrite_text(tx: &Tx, session: i64, text: &TextRewrite) -> Result<bool, Fault> {
    if text.field == TextField::Retraction {
        move_retractions(tx, session, text).await?;
    }
    let mut changed = false;
    for statement in rescan::replace(text.field) {
        let statement = rescan::with_dollars(&statement);
        let values = values![session, &text.before, &text.after];
        changed |= tx.execute(&statement, values).await? > 0;
    }
    Ok(changed)
}

/// Gives retractions of a replaced text the identity of the text that takes its place.
async fn move_retractions(tx: &Tx, session: i64, text: &TextRewrite) -> Result<(), Fault> {
    let find =
        "SELECT DISTINCT scope_no, id, retractions.kind AS what, tenant, scopes.kind AS kind,
            name
        FROM retractions JOIN scopes USING (scope_no)
        JOIN tenants ON tenants.tenant_no = scopes.tenant_no
        WHERE session_no = $1 AND text = $2";
    for row in tx.rows(find, values![session, &text.before]).await? {
        let (scope_no, id): (i64, i64) = (get(&row, "scope_no")?, get(&row, "id")?);
        let (scope, kind) = (
            scope_of(&row)?,
            parse_column::<ObservationKind>(&row, "what")?,
        );
        if ObservationId::of(&scope, kind, &text.before)
            .0
            .cast_signed()
            != id
        {
            continue;
        }
        let after = ObservationId::of(&scope, kind, &text.after);
        let key = values![scope_no, id, session, after.0.cast_signed()];
        let known = "DELETE FROM retractions AS known
            WHERE scope_no = $1 AND id = $4 AND session_no = $3 AND EXISTS
                (SELECT FROM retractions AS moved WHERE moved.scope_no = $1 AND moved.id = $2
                    AND moved.session_no = $3 AND moved.seq = known.seq)";
        tx.execute(known, key).await?;
        let change = "UPDATE retractions SET id = $4
            WHERE scope_no = $1 AND id = $2 AND session_no = $3";
        tx.execute(change, key).await?;
    }
    Ok(())
}

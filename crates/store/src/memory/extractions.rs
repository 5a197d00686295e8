//! Results of extraction, and the generations of a redo.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::limits::LEARNED_EVIDENCE;
use daybook_domain::quarantine::{QuarantineDecision, QuarantinedObservation};
use daybook_domain::seams::{
    ExtractionStore, ObservationStore, QuarantineStore, RetractedText, ScopeState, ScopeStore,
    StagedWrites,
};
use daybook_domain::{
    Digest, EventSeq, Extraction, ExtractionRecord, FinishOutcome, Job, JobKey, JobKind,
    LeaseToken, Observation, ObservationId, ObservationKind, Page, PageRequest, Provenance, Scope,
    ScopeKind, SessionId, StagedEntityWrite, StoreError, TallyKind, Tenant, Timestamp, Yield,
};

use super::{ExtractionRow, MemoryState, MemoryStore, ObservationRow};
use crate::bounds::{check_extraction, check_observations};
use crate::evidence::{EvidencePiece, TouchedObservations, span_millis};
use crate::quarantine::decide_about;

#[async_trait]
impl ExtractionStore for MemoryStore {
    async fn finish_extraction(
        &self,
        lease: &LeaseToken,
        extraction: &Extraction,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        check_extraction(lease, extraction)?;
        Ok(self.lock_for_change().finish(lease, extraction, now))
    }

    async fn extractions_in_project(
        &self,
        tenant: &Tenant,
        project: &str,
    ) -> Result<Vec<ExtractionRecord>, StoreError> {
        let state = self.lock();
        Ok(state.live_records(|record| {
            &record.session.tenant == tenant
                && !state.is_polluted(&record.session)
                && state.has_worked_in(&record.session, project)
        }))
    }

    async fn extractions_without_root(
        &self,
        tenant: &Tenant,
    ) -> Result<Vec<ExtractionRecord>, StoreError> {
        let state = self.lock();
        let has_no_root = |record: &ExtractionRecord| {
            let digest = record.digest.as_ref();
            &record.session.tenant == tenant
                && !state.is_polluted(&record.session)
                && digest.is_some_and(|digest| digest.root.is_none())
        };
        Ok(state.live_records(has_no_root))
    }

    async fn extractions_of(
        &self,
        session: &SessionId,
    ) -> Result<Vec<ExtractionRecord>, StoreError> {
        let is_own = |record: &ExtractionRecord| &record.session == session;
        Ok(self.lock().live_records(is_own))
    }

    async fn extractors(
        &self,
        tenant: &Tenant,
    ) -> Result<Vec<(SessionId, Provenance)>, StoreError> {
        let state = self.lock();
        let live = state.extractions.iter().filter(|row| row.live);
        let pairs: BTreeSet<(SessionId, Provenance)> = live
            .map(|row| (row.record.session.clone(), row.record.provenance.clone()))
            .filter(|(session, _)| &session.tenant == tenant)
            .collect();
        Ok(pairs.into_iter().collect())
    }

    async fn digest_before(
        &self,
        session: &SessionId,
        redo: u32,
        before: EventSeq,
    ) -> Result<Option<Digest>, StoreError> {
        let state = self.lock();
        let rows = state.extractions.iter().filter(|row| {
            let record = &row.record;
            &record.session == session && row.generation == redo && record.to < before
        });
        let taught = rows.filter(|row| row.record.digest.is_some());
        let last = taught.max_by_key(|row| row.record.from);
        Ok(last.and_then(|row| row.record.digest.clone()))
    }
}

#[async_trait]
impl ObservationStore for MemoryStore {
    async fn observe(
        &self,
        observations: &[Observation],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        check_observations(observations)?;
        let mut state = self.lock_for_change();
        let mut touched = TouchedObservations::default();
        for observation in observations {
            state.add_all(observation, None, true, &mut touched);
        }
        let scopes = state.settle(&touched).scopes;
        state.raise(scopes, now);
        Ok(())
    }

    async fn retract(
        &self,
        scope: &Scope,
        id: ObservationId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock_for_change();
        let mut touched = TouchedObservations::default();
        let held = state.retract(scope, id, &mut touched);
        let scopes = state.settle(&touched).scopes;
        state.raise(scopes, now);
        Ok(held)
    }

    async fn retracted_texts(
        &self,
        tenant: &Tenant,
        sessions: &[SessionId],
    ) -> Result<Vec<RetractedText>, StoreError> {
        let state = self.lock();
        let of_them = state
            .retractions
            .iter()
            .filter(|((scope, _, session, _), _)| {
                &scope.tenant == tenant && sessions.contains(session)
            });
        let texts = of_them.map(|((_, _, session, seq), row)| RetractedText {
            session: session.clone(),
            seq: *seq,
            text: row.text.clone(),
        });
        let texts: BTreeSet<RetractedText> = texts.collect();
        Ok(texts.into_iter().collect())
    }

    async fn reinstate(&self, observation: &Observation, now: Timestamp) -> Result<(), StoreError> {
        check_observations(std::slice::from_ref(observation))?;
        let mut state = self.lock_for_change();
        let (of, id) = (&observation.scope, observation.id);
        state
            .retractions
            .retain(|(scope, took_back, _, _), _| (scope, *took_back) != (of, id));
        let mut touched = TouchedObservations::default();
        state.add_all(observation, None, true, &mut touched);
        let scopes = state.settle(&touched).scopes;
        state.raise(scopes, now);
        Ok(())
    }

    async fn observations(&self, scope: &Scope) -> Result<Vec<Observation>, StoreError> {
        Ok(self.lock().observations(scope))
    }

    async fn observations_of_kinds(
        &self,
        tenant: &Tenant,
        scopes: ScopeKind,
        kinds: &[ObservationKind],
    ) -> Result<Vec<Observation>, StoreError> {
        let is_wanted = |row: &ObservationRow| {
            let scope = &row.scope;
            &scope.tenant == tenant && scope.kind == scopes && kinds.contains(&row.kind)
        };
        Ok(self.lock().observations_where(is_wanted))
    }

    async fn learned_by_span(
        &self,
        tenant: &Tenant,
        from: Timestamp,
        span: Duration,
    ) -> Result<Vec<(Timestamp, u64)>, StoreError> {
        let state = self.lock();
        let live = state.evidence.values().filter(|row| {
            let evidence = &row.piece.evidence;
            row.live && evidence.session.tenant == *tenant && evidence.at >= from
        });
        let mut newest: Vec<(Timestamp, i64)> = live
            .map(|row| (row.piece.evidence.at, row.observation))
            .collect();
        newest.sort_by_key(|(at, _)| Reverse(*at));
        newest.truncate(LEARNED_EVIDENCE);
        let mut learned: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
        let length = span_millis(span);
        for (at, observation) in newest {
            learned
                .entry(at.0 / length)
                .or_default()
                .insert(observation);
        }
        let counted = learned.into_iter();
        let counted = counted.map(|(n, them)| (Timestamp(n * length), them.len() as u64));
        Ok(counted.collect())
    }
}

#[async_trait]
impl ScopeStore for MemoryStore {
    async fn touch_scope(&self, scope: &Scope, now: Timestamp) -> Result<u64, StoreError> {
        Ok(self.lock_for_change().raise_one(scope, now))
    }

    async fn scopes(
        &self,
        tenant: &Tenant,
        page: PageRequest<Scope>,
    ) -> Result<Page<ScopeState, Scope>, StoreError> {
        let state = self.lock();
        let is_behind = |scope: &Scope| page.after.as_ref().is_none_or(|after| scope > after);
        let raised = state.scopes.iter().filter(|(scope, revision)| {
            &scope.tenant == tenant && **revision > 0 && is_behind(scope)
        });
        let holding = |scope: &Scope| {
            let rows = state.observations.values();
            rows.filter(|o| &o.scope == scope && o.tokens.is_some())
                .count() as u64
        };
        let states = raised
            .take(page.most() + 1)
            .map(|(scope, &revision)| ScopeState {
                scope: scope.clone(),
                revision,
                observations: holding(scope),
            });
        let states = states.collect();
        Ok(Page::cut(states, page.most(), |state| state.scope.clone()))
    }
}

#[async_trait]
impl QuarantineStore for MemoryStore {
    async fn quarantined(
        &self,
        tenant: &Tenant,
    ) -> Result<Vec<QuarantinedObservation>, StoreError> {
        let state = self.lock();
        let rows = state.extractions.iter();
        let mut rows: Vec<_> = rows
            .filter(|row| row.live && &row.record.session.tenant == tenant)
            .collect();
        rows.sort_by_key(|row| {
            let record = &row.record;
            let session = &record.session;
            (record.at, &session.agent, &session.host_id, record.from)
        });
        let all = rows.into_iter().flat_map(|row| row.quarantined.clone());
        Ok(all.collect())
    }

    async fn decide(
        &self,
        scope: &Scope,
        id: ObservationId,
        decision: QuarantineDecision,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock_for_change();
        let mut found = false;
        for row in &mut state.extractions {
            found |= decide_about(&mut row.quarantined, (scope, id), decision);
        }
        Ok(found)
    }
}

#[async_trait]
impl StagedWrites for MemoryStore {
    async fn staged(&self, tenant: &Tenant) -> Result<Vec<StagedEntityWrite>, StoreError> {
        let state = self.lock();
        let rows = state.extractions.iter();
        let rows = rows.filter(|row| {
            let session = &row.record.session;
            !row.writes.is_empty() && &session.tenant == tenant && !state.is_polluted(session)
        });
        let mut all: Vec<(u32, StagedEntityWrite)> = rows
            .map(|row| {
                let record = state.labelled(&row.record);
                let staged = StagedEntityWrite {
                    session: record.session,
                    label: record.label,
                    from: record.from,
                    to: record.to,
                    at: record.at,
                    writes: row.writes.clone(),
                };
                (row.generation, staged)
            })
            .collect();
        let key = |(generation, s): &(u32, StagedEntityWrite)| {
            (s.at, s.session.clone(), s.from, *generation)
        };
        all.sort_by_key(key);
        Ok(all.into_iter().map(|(_, staged)| staged).collect())
    }

    async fn unstage(&self, staged: &[StagedEntityWrite]) -> Result<(), StoreError> {
        let mut state = self.lock_for_change();
        for row in &mut state.extractions {
            let record = &row.record;
            let is_it = |one: &&StagedEntityWrite| {
                (&one.session, one.from, one.to, one.at, &one.writes)
                    == (
                        &record.session,
                        record.from,
                        record.to,
                        record.at,
                        &row.writes,
                    )
            };
            if staged.iter().any(|one| is_it(&one)) {
                row.writes.clear();
            }
        }
        Ok(())
    }
}

impl MemoryState {
    /// Live extractions that `is_wanted` selects, by session and window.
    fn live_records(&self, is_wanted: impl Fn(&ExtractionRecord) -> bool) -> Vec<ExtractionRecord> {
        let rows = self.extractions.iter();
        let wanted = rows.filter(|row| row.live && is_wanted(&row.record));
        let mut records: Vec<ExtractionRecord> =
            wanted.map(|row| self.labelled(&row.record)).collect();
        records.sort_by(|a, b| (&a.session, a.from, a.to).cmp(&(&b.session, b.from, b.to)));
        records
    }

    /// A record with the present label of its session.
    fn labelled(&self, record: &ExtractionRecord) -> ExtractionRecord {
        let label = self
            .sessions
            .get(&record.session)
            .map(|row| row.session.label.clone());
        ExtractionRecord {
            label: label.unwrap_or_default(),
            ..record.clone()
        }
    }

    fn has_worked_in(&self, session: &SessionId, project: &str) -> bool {
        let Some(row) = self.sessions.get(session) else {
            return false;
        };
        let places = row.events.values().filter_map(|event| event.place.as_ref());
        places
            .into_iter()
            .any(|p| self.project_of_root(&session.tenant, &p.root).as_deref() == Some(project))
    }

    fn finish(
        &mut self,
        lease: &LeaseToken,
        extraction: &Extraction,
        now: Timestamp,
    ) -> FinishOutcome {
        let Some(mut job) = self.jobs.get(lease.job()).cloned() else {
            return FinishOutcome::LeaseLost;
        };
        let live = job.redo_until.is_none();
        let outcome = job.finish(lease, extraction.to.0, now);
        self.tally(
            JobKind::Extract,
            TallyKind::extraction(outcome, &extraction.yielded),
        );
        if outcome == FinishOutcome::LeaseLost {
            return outcome;
        }
        let session = &extraction.session;
        self.number(session);
        let mut touched = TouchedObservations::default();
        self.replace_window(job.redo, extraction, &mut touched);
        let mut scopes: BTreeSet<Scope> = extraction.concerns.iter().cloned().collect();
        let mut digested = None;
        if let Yield::Something {
            observations,
            digest,
        } = &extraction.yielded
        {
            for observation in observations {
                self.add_all(observation, Some(job.redo), live, &mut touched);
            }
            let root = digest.root.as_ref();
            scopes.extend(root.and_then(|root| self.scope_of_root(&session.tenant, root)));
            digested = Some(digest.as_ref().clone());
        }
        self.withdraw_staged(extraction);
        self.extractions.push(ExtractionRow {
            writes: extraction.writes.clone(),
            quarantined: extraction.quarantined.clone(),
            record: ExtractionRecord {
                session: session.clone(),
                label: String::new(),
                from: extraction.from,
                to: extraction.to,
                digest: digested,
                provenance: extraction.provenance.clone(),
                at: now,
            },
            generation: job.redo,
            live,
        });
        let retracted = extraction.retracted.iter().copied().collect();
        self.cut_evidence(session, &retracted, &mut touched);
        scopes.extend(self.swap_when_caught_up(&mut job, &mut touched));
        scopes.extend(self.settle(&touched).scopes);
        self.raise(scopes, now);
        self.jobs.insert(job.key.clone(), job);
        outcome
    }

    /// Deletes the staged writes and quarantined observations of windows with retracted events.
    fn withdraw_staged(&mut self, extraction: &Extraction) {
        for row in &mut self.extractions {
            let record = &row.record;
            let holds = |event: &EventSeq| (record.from..=record.to).contains(event);
            if record.session == extraction.session && extraction.retracted.iter().any(holds) {
                row.writes.clear();
                row.quarantined.clear();
            }
        }
    }

    /// Deletes what an earlier pass of the same generation stored inside the window.
    fn replace_window(
        &mut self,
        generation: u32,
        extraction: &Extraction,
        touched: &mut TouchedObservations,
    ) {
        let inside = |from: EventSeq, to: EventSeq| from >= extraction.from && to <= extraction.to;
        self.extractions.retain(|row| {
            let record = &row.record;
            record.session != extraction.session
                || row.generation != generation
                || !inside(record.from, record.to)
        });
        self.delete_pieces(
            |row| {
                let (first, last) = row.piece.span();
                row.piece.evidence.session == extraction.session
                    && row.piece.generation == Some(generation)
                    && inside(first, last)
            },
            touched,
        );
    }

    pub(super) fn add_all(
        &mut self,
        observation: &Observation,
        generation: Option<u32>,
        live: bool,
        touched: &mut TouchedObservations,
    ) {
        for evidence in &observation.evidence {
            let piece = EvidencePiece::of(observation, evidence, generation);
            let what = (observation.id, observation.kind);
            self.add_piece(&observation.scope, what, piece, live, touched);
        }
    }

    /// Makes the results of a job's redo visible once it has caught up, for jobs that end without results.
    pub(super) fn settle_redo(&mut self, job: &mut Job, now: Timestamp) {
        let mut touched = TouchedObservations::default();
        let mut scopes = self.swap_when_caught_up(job, &mut touched);
        scopes.extend(self.settle(&touched).scopes);
        self.raise(scopes, now);
    }

    /// Replaces the previous generation by the new one. Returns the projects whose digests changed.
    fn swap_when_caught_up(
        &mut self,
        job: &mut Job,
        touched: &mut TouchedObservations,
    ) -> BTreeSet<Scope> {
        let JobKey::Extract(id) = job.key.clone() else {
            job.take_caught_up();
            return BTreeSet::new();
        };
        if !job.take_caught_up() {
            return BTreeSet::new();
        }
        let scopes = self.projects_of(|row| row.record.session == id);
        let redo = job.redo;
        self.delete_pieces(
            |row| {
                row.piece.evidence.session == id
                    && row
                        .piece
                        .generation
                        .is_some_and(|generation| generation < redo)
            },
            touched,
        );
        self.make_evidence_live(&id, touched);
        self.extractions
            .retain(|row| row.record.session != id || row.generation >= redo);
        for row in self
            .extractions
            .iter_mut()
            .filter(|row| row.record.session == id)
        {
            row.live = true;
        }
        scopes
    }

    /// Deletes the results of a redo that a newer redo has replaced.
    pub(super) fn drop_unfinished_redo(&mut self, job: &Job) {
        let JobKey::Extract(id) = &job.key else {
            return;
        };
        let redo = job.redo;
        self.extractions
            .retain(|row| &row.record.session != id || row.live || row.generation >= redo);
        let mut touched = TouchedObservations::default();
        self.delete_pieces(
            |row| {
                &row.piece.evidence.session == id
                    && !row.live
                    && row
                        .piece
                        .generation
                        .is_some_and(|generation| generation < redo)
            },
            &mut touched,
        );
        self.settle(&touched);
    }

    /// Deletes the extractions whose windows overlap a range, and returns the projects that their digests ended
    /// in.
    pub(super) fn forget_windows(
        &mut self,
        id: &SessionId,
        (from, to): (EventSeq, EventSeq),
    ) -> BTreeSet<Scope> {
        let touches = |row: &ExtractionRow| {
            &row.record.session == id && row.record.from <= to && row.record.to >= from
        };
        let scopes = self.projects_of(touches);
        self.extractions.retain(|row| !touches(row));
        scopes
    }

    fn projects_of(&self, wanted: impl Fn(&ExtractionRow) -> bool) -> BTreeSet<Scope> {
        let rows = self.extractions.iter().filter(|row| wanted(row));
        rows.filter_map(|row| {
            let root = row.record.digest.as_ref()?.root.as_ref()?;
            self.scope_of_root(&row.record.session.tenant, root)
        })
        .collect()
    }
}

//! Observations and extractions: stored, replaced, retracted, and moved to another project.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{
    DueMark, EventSeq, Extraction, ExtractionRecord, FinishOutcome, Job, JobKey, JobKind,
    LeaseToken, Observation, ObservationId, Place, Priority, Project, Scope, ScopeKind, SessionId,
    TallyKind, Timestamp, Yield,
};

use super::{
    ExtractionPass, Retraction, Spec, SupportingEvidence, merge_evidence, positions, project_scope,
};

impl Spec {
    /// Removes events from evidence, and returns the scopes whose visible observations changed.
    pub(super) fn remove_events(
        &mut self,
        id: &SessionId,
        gone: &BTreeSet<u64>,
    ) -> BTreeSet<Scope> {
        let mut concerned = BTreeSet::new();
        let is_hit = |piece: &SupportingEvidence| {
            let evidence = &piece.evidence;
            &evidence.session == id && evidence.events.iter().any(|seq| gone.contains(&seq.0))
        };
        let (hit, kept) = std::mem::take(&mut self.pieces)
            .into_iter()
            .partition(is_hit);
        self.pieces = kept;
        let hit: Vec<SupportingEvidence> = hit;
        for mut piece in hit {
            if piece.live {
                concerned.insert(piece.observation.scope.clone());
            }
            let first = piece.evidence.events[0];
            let pairs = piece.evidence.events.iter().zip(&piece.evidence.lines);
            let left: Vec<(EventSeq, u32)> = pairs
                .map(|(&seq, &line)| (seq, line))
                .filter(|(seq, _)| !gone.contains(&seq.0))
                .collect();
            let Some(&(begins, _)) = left.first() else {
                continue;
            };
            let said = self
                .log_of(id)
                .find(|l| l.event.seq == begins)
                .map(|l| l.event.at);
            if begins != first && said.is_some_and(|at| at != Timestamp::ZERO) {
                piece.evidence.at = said.unwrap_or_default();
            }
            (piece.evidence.events, piece.evidence.lines) = left.into_iter().unzip();
            self.add(piece);
        }
        concerned
    }

    /// Adds a piece of evidence, unless it is known or retracted; true when it was added.
    pub(super) fn add(&mut self, piece: SupportingEvidence) -> bool {
        let same = |other: &SupportingEvidence| {
            other.observation.scope == piece.observation.scope
                && other.observation.id == piece.observation.id
                && other.evidence.session == piece.evidence.session
                && other.evidence.events == piece.evidence.events
                && other.generation == piece.generation
        };
        let is_new = !self.pieces.iter().any(same) && !self.is_retracted(&piece);
        if is_new {
            self.pieces.push(piece);
        }
        is_new
    }

    pub(super) fn is_retracted(&self, piece: &SupportingEvidence) -> bool {
        let positions = positions(&piece.evidence);
        positions.iter().all(|seq| {
            self.retractions.iter().any(|back| {
                back.observation.scope == piece.observation.scope
                    && back.observation.id == piece.observation.id
                    && back.session == piece.evidence.session
                    && back.seq == *seq
            })
        })
    }

    pub(super) fn raise(&mut self, scopes: BTreeSet<Scope>, now: Timestamp) {
        for scope in scopes {
            let revision = self.revisions.entry(scope.clone()).or_default();
            *revision += 1;
            let mark = DueMark::at_once(*revision, now, Priority::Normal);
            self.mark(&JobKey::Consolidate(scope), mark);
        }
    }

    /// Raises the revision of one scope.
    pub fn touch(&mut self, scope: &Scope, now: Timestamp) {
        self.raise(BTreeSet::from([scope.clone()]), now);
    }

    /// Replaces old results by a redo's when it has caught up; returns the scopes that this concerns.
    pub(super) fn replace_by_redo(&mut self, key: &JobKey) -> BTreeSet<Scope> {
        let mut concerned = BTreeSet::new();
        let caught_up = self.job_mut(key, Job::take_caught_up).unwrap_or(false);
        let JobKey::Extract(id) = key else {
            return concerned;
        };
        if !caught_up {
            return concerned;
        }
        let redo = self.job(key).map_or(0, |job| job.redo);
        for pass in self.passes.iter().filter(|pass| &pass.record.session == id) {
            concerned.extend(self.project_of_pass(pass));
        }
        self.passes
            .retain(|pass| &pass.record.session != id || pass.generation == redo);
        for pass in self
            .passes
            .iter_mut()
            .filter(|pass| &pass.record.session == id)
        {
            pass.live = true;
        }
        self.pieces.retain(|piece| {
            let old = &piece.evidence.session == id && piece.generation.is_some_and(|g| g < redo);
            if old && piece.live {
                concerned.insert(piece.observation.scope.clone());
            }
            !old
        });
        for piece in &mut self.pieces {
            if &piece.evidence.session == id && !piece.live {
                piece.live = true;
                concerned.insert(piece.observation.scope.clone());
            }
        }
        concerned
    }

    /// Shows the results of a redo that caught up with a step that yielded none, such as a gap.
    pub fn settle(&mut self, key: &JobKey, now: Timestamp) {
        let concerned = self.replace_by_redo(key);
        self.raise(concerned, now);
    }

    pub(super) fn project_of_pass(&self, pass: &ExtractionPass) -> Option<Scope> {
        let root = pass.record.digest.as_ref()?.root.as_ref()?;
        self.roots
            .get(root)
            .map(|project| project_scope(&project.key))
    }

    /// Ends an extraction.
    pub fn finish_extraction(
        &mut self,
        token: &LeaseToken,
        extraction: &Extraction,
        now: Timestamp,
    ) -> FinishOutcome {
        let key = token.job();
        let Some(before) = self.job(key).cloned() else {
            return FinishOutcome::LeaseLost;
        };
        let ended = self.job_mut(key, |job| job.finish(token, extraction.to.0, now));
        let ended = ended.unwrap_or(FinishOutcome::LeaseLost);
        self.tally(
            JobKind::Extract,
            TallyKind::extraction(ended, &extraction.yielded),
        );
        if ended == FinishOutcome::LeaseLost {
            return ended;
        }
        let id = &extraction.session;
        let (generation, live) = (before.redo, before.redo_until.is_none());
        let mut concerned: BTreeSet<Scope> = extraction.concerns.iter().cloned().collect();
        concerned.extend(self.replace_window(extraction, generation));
        let mut digest = None;
        if let Yield::Something {
            observations,
            digest: own,
        } = &extraction.yielded
        {
            concerned.extend(self.bring(observations, Some(generation), live));
            digest = Some(own.as_ref().clone());
        }
        let pass = ExtractionPass {
            record: ExtractionRecord {
                session: id.clone(),
                label: String::new(),
                from: extraction.from,
                to: extraction.to,
                digest,
                provenance: extraction.provenance.clone(),
                at: now,
            },
            generation,
            live,
        };
        concerned.extend(self.project_of_pass(&pass));
        self.passes.push(pass);
        let retracted = extraction.retracted.iter().map(|seq| seq.0).collect();
        concerned.extend(self.remove_events(id, &retracted));
        concerned.extend(self.replace_by_redo(key));
        self.raise(concerned, now);
        ended
    }

    pub(super) fn replace_window(
        &mut self,
        extraction: &Extraction,
        generation: u32,
    ) -> BTreeSet<Scope> {
        let mut concerned = BTreeSet::new();
        let id = &extraction.session;
        let inside = |from, to| from >= extraction.from && to <= extraction.to;
        self.passes.retain(|pass| {
            let same = &pass.record.session == id && pass.generation == generation;
            !(same && inside(pass.record.from, pass.record.to))
        });
        self.pieces.retain(|piece| {
            let positions = positions(&piece.evidence);
            let same = &piece.evidence.session == id && piece.generation == Some(generation);
            let replaced = same && inside(positions[0], positions[positions.len() - 1]);
            if replaced && piece.live {
                concerned.insert(piece.observation.scope.clone());
            }
            !replaced
        });
        concerned
    }

    pub(super) fn bring(
        &mut self,
        observations: &[Observation],
        generation: Option<u32>,
        live: bool,
    ) -> BTreeSet<Scope> {
        let mut concerned = BTreeSet::new();
        for observation in observations {
            for evidence in &observation.evidence {
                let added = self.add(SupportingEvidence {
                    observation: observation.clone(),
                    evidence: evidence.clone(),
                    generation,
                    live,
                });
                if added && live {
                    concerned.insert(observation.scope.clone());
                }
            }
        }
        concerned
    }

    /// Stores observations that a person asked for.
    pub fn observe(&mut self, observations: &[Observation], now: Timestamp) {
        let concerned = self.bring(observations, None, true);
        self.raise(concerned, now);
    }

    /// Retracts an observation; false when there is no such live one.
    pub fn retract(&mut self, scope: &Scope, id: ObservationId, now: Timestamp) -> bool {
        let is_meant =
            |c: &SupportingEvidence| &c.observation.scope == scope && c.observation.id == id;
        if !self
            .pieces
            .iter()
            .any(|piece| is_meant(piece) && self.is_visible(piece))
        {
            return false;
        }
        let (meant, kept) = std::mem::take(&mut self.pieces)
            .into_iter()
            .partition(is_meant);
        self.pieces = kept;
        let meant: Vec<SupportingEvidence> = meant;
        for piece in meant {
            for seq in positions(&piece.evidence) {
                let session = piece.evidence.session.clone();
                let root = piece.evidence.root.clone();
                self.retractions.retain(|back| {
                    back.observation.scope != *scope
                        || back.observation.id != id
                        || back.session != session
                        || back.seq != seq
                });
                self.retractions.push(Retraction {
                    observation: piece.observation.clone(),
                    session,
                    seq,
                    root,
                });
            }
        }
        self.touch(scope, now);
        true
    }

    /// Assigns a root to a project, and moves the observations that were made there.
    pub fn assign(&mut self, root: &str, project: &Project, now: Timestamp) {
        let before = self.roots.insert(root.to_owned(), project.clone());
        self.projects
            .insert(project.identity.clone(), project.clone());
        let here = |place: &Option<Place>| place.as_ref().is_some_and(|place| place.root == root);
        let mut concerned = BTreeSet::new();
        let changed = before
            .as_ref()
            .is_none_or(|before| before.key != project.key);
        if changed && self.log.iter().any(|logged| here(&logged.event.place)) {
            concerned.insert(project_scope(&project.key));
            concerned.extend(before.map(|before| project_scope(&before.key)));
        }
        let elsewhere =
            |scope: &Scope| scope.kind == ScopeKind::Project && scope.name != project.key;
        let to = project_scope(&project.key);
        let moved = |observation: &Observation| Observation {
            id: ObservationId::of(&to, observation.kind, &observation.text),
            scope: to.clone(),
            ..observation.clone()
        };
        for back in &mut self.retractions {
            if back.root.as_deref() == Some(root) && elsewhere(&back.observation.scope) {
                back.observation = moved(&back.observation);
            }
        }
        let misplaced = |piece: &SupportingEvidence| {
            piece.evidence.root.as_deref() == Some(root) && elsewhere(&piece.observation.scope)
        };
        let (misplaced, kept) = std::mem::take(&mut self.pieces)
            .into_iter()
            .partition(misplaced);
        self.pieces = kept;
        let misplaced: Vec<SupportingEvidence> = misplaced;
        for piece in misplaced {
            let from = piece.observation.scope.clone();
            let observation = moved(&piece.observation);
            let live = piece.live;
            let added = self.add(SupportingEvidence {
                observation,
                ..piece
            });
            concerned.extend(live.then_some(from));
            concerned.extend((live && added).then(|| to.clone()));
        }
        self.raise(concerned, now);
    }

    /// Whether a session is polluted.
    pub(super) fn is_polluted(&self, id: &SessionId) -> bool {
        let known = self.known_session(id);
        known.is_some_and(|known| known.session.pollution.is_some())
    }

    /// Whether evidence gives an observation: a polluted session's does not, unless a person asked to remember it.
    fn is_visible(&self, piece: &SupportingEvidence) -> bool {
        piece.live && (piece.generation.is_none() || !self.is_polluted(&piece.evidence.session))
    }

    pub(super) fn observations(&self, scope: &Scope) -> Vec<Observation> {
        let live = self
            .pieces
            .iter()
            .filter(|c| self.is_visible(c) && &c.observation.scope == scope);
        let mut by_id: BTreeMap<ObservationId, Vec<&SupportingEvidence>> = BTreeMap::new();
        for piece in live {
            by_id.entry(piece.observation.id).or_default().push(piece);
        }
        let mut observations: Vec<Observation> = by_id.into_values().map(merge_evidence).collect();
        observations.sort_by_key(|observation| (observation.first_at(), observation.id));
        observations
    }
}

//! Evidence, and the observations derived from it. Each change of evidence records the observation as touched
//! and derives it again before the call ends.

use std::collections::BTreeSet;

use daybook_domain::rescan::{EvidenceRewrite, StoredEvidence};
use daybook_domain::{
    EventSeq, Observation, ObservationId, ObservationKind, Scope, SessionId, Timestamp,
};

use super::{MemoryEvidenceRow, MemoryState, ObservationRow, RetractionRow};
use crate::documents::observation_doc;
use crate::evidence::{
    CutOutcome, EvidencePiece, SettleOutcome, TouchedObservations, assemble, sort_observations,
};

impl MemoryState {
    /// Adds one piece of evidence for an observation in `scope`, unless a person retracted it.
    pub(super) fn add_piece(
        &mut self,
        scope: &Scope,
        (id, kind): (ObservationId, ObservationKind),
        piece: EvidencePiece,
        live: bool,
        touched: &mut TouchedObservations,
    ) {
        let session = piece.evidence.session.clone();
        self.number(&session);
        let took_back = |&seq: &EventSeq| {
            let key = (scope.clone(), id, session.clone(), seq);
            self.retractions.contains_key(&key)
        };
        if positions(&piece.evidence.events).iter().all(took_back) {
            return;
        }
        let observation = self.observation_no(scope, id, kind);
        let same = |row: &MemoryEvidenceRow| {
            row.observation == observation
                && row.piece.generation == piece.generation
                && row.piece.evidence.session == session
                && row.piece.evidence.events == piece.evidence.events
        };
        let known = self.evidence.values().any(same);
        touched.note(observation, live && !known);
        if !known {
            self.last_evidence += 1;
            let row = MemoryEvidenceRow {
                observation,
                live,
                piece,
            };
            self.evidence.insert(self.last_evidence, row);
        }
    }

    fn observation_no(&mut self, scope: &Scope, id: ObservationId, kind: ObservationKind) -> i64 {
        self.scopes.entry(scope.clone()).or_default();
        let known = self
            .observations
            .iter()
            .find(|(_, o)| &o.scope == scope && o.id == id);
        if let Some((&no, _)) = known {
            return no;
        }
        self.last_observation += 1;
        let row = ObservationRow {
            scope: scope.clone(),
            id,
            kind,
            tokens: None,
            ended: None,
        };
        self.observations.insert(self.last_observation, row);
        self.last_observation
    }

    /// Removes events from all evidence of a session.
    pub(super) fn cut_evidence(
        &mut self,
        session: &SessionId,
        gone: &BTreeSet<EventSeq>,
        touched: &mut TouchedObservations,
    ) {
        let rows = self
            .evidence
            .iter()
            .filter(|(_, row)| &row.piece.evidence.session == session);
        let rows: Vec<(i64, MemoryEvidenceRow)> =
            rows.map(|(&no, row)| (no, row.clone())).collect();
        for (no, mut row) in rows {
            let began = row.piece.span().0;
            let cut = row.piece.cut(|seq| gone.contains(&seq));
            if cut == CutOutcome::Untouched {
                continue;
            }
            self.delete_piece(no, touched);
            if cut == CutOutcome::Shortened {
                let begins = row.piece.span().0;
                if begins != began
                    && let Some(at) = self.time_of(session, begins)
                {
                    row.piece.evidence.at = at;
                }
                let observation = &self.observations[&row.observation];
                let (scope, what) = (
                    observation.scope.clone(),
                    (observation.id, observation.kind),
                );
                self.add_piece(&scope, what, row.piece, row.live, touched);
            }
        }
    }

    fn time_of(&self, session: &SessionId, seq: EventSeq) -> Option<Timestamp> {
        let event = self.sessions.get(session)?.events.get(&seq)?;
        Some(event.at).filter(|&at| at != Timestamp::ZERO)
    }

    fn delete_piece(&mut self, no: i64, touched: &mut TouchedObservations) {
        if let Some(row) = self.evidence.remove(&no) {
            touched.note(row.observation, row.live);
        }
    }

    /// Deletes the evidence that `wanted` selects.
    pub(super) fn delete_pieces(
        &mut self,
        wanted: impl Fn(&MemoryEvidenceRow) -> bool,
        touched: &mut TouchedObservations,
    ) {
        let rows = self.evidence.iter().filter(|(_, row)| wanted(row));
        let numbers: Vec<i64> = rows.map(|(&no, _)| no).collect();
        for no in numbers {
            self.delete_piece(no, touched);
        }
    }

    /// Makes the evidence visible that a session's redo wrote.
    pub(super) fn make_evidence_live(
        &mut self,
        session: &SessionId,
        touched: &mut TouchedObservations,
    ) {
        for row in self.evidence.values_mut() {
            if &row.piece.evidence.session == session && !row.live {
                row.live = true;
                touched.note(row.observation, true);
            }
        }
    }

    /// Moves one piece of evidence to another scope, where its observation has another identity.
    pub(super) fn move_piece(&mut self, no: i64, to: &Scope, touched: &mut TouchedObservations) {
        let row = self.evidence[&no].clone();
        let kind = self.observations[&row.observation].kind;
        let id = ObservationId::of(to, kind, &row.piece.text);
        self.delete_piece(no, touched);
        self.add_piece(to, (id, kind), row.piece, row.live, touched);
    }

    /// The evidence of a session, with the words of its observations.
    pub(super) fn stored_evidence(&self, session: &SessionId) -> Vec<StoredEvidence> {
        let rows = self.evidence.iter();
        let own = rows.filter(|(_, row)| &row.piece.evidence.session == session);
        own.map(|(&no, row)| {
            let observation = &self.observations[&row.observation];
            let what = (observation.id, observation.kind);
            row.piece.stored(no, observation.scope.clone(), what)
        })
        .collect()
    }

    /// Replaces the words of one piece of evidence, which may make it evidence of another observation. False when it
    /// has other words by now.
    pub(super) fn rewrite_piece(
        &mut self,
        session: &SessionId,
        rewrite: &EvidenceRewrite,
        touched: &mut TouchedObservations,
    ) -> bool {
        let before = &rewrite.before;
        if !self.stored_evidence(session).contains(before) {
            return false;
        }
        let row = self.evidence[&before.no].clone();
        self.delete_piece(before.no, touched);
        let what = (rewrite.after.id, before.kind);
        let piece = row.piece.rewritten(rewrite);
        self.add_piece(&before.scope, what, piece, row.live, touched);
        true
    }

    /// Retracts an observation for good, for the events of its evidence. False when it does not hold.
    pub(super) fn retract(
        &mut self,
        scope: &Scope,
        id: ObservationId,
        touched: &mut TouchedObservations,
    ) -> bool {
        let held = |o: &ObservationRow| &o.scope == scope && o.id == id && o.tokens.is_some();
        let found = self.observations.iter().find(|(_, o)| held(o));
        let Some((&observation, kind)) = found.map(|(no, o)| (no, o.kind)) else {
            return false;
        };
        for row in self
            .evidence
            .values()
            .filter(|row| row.observation == observation)
        {
            for seq in positions(&row.piece.evidence.events) {
                let key = (scope.clone(), id, row.piece.evidence.session.clone(), seq);
                let what = RetractionRow {
                    kind,
                    text: row.piece.text.clone(),
                    root: row.piece.evidence.root.clone(),
                };
                self.retractions.insert(key, what);
            }
        }
        self.delete_pieces(|row| row.observation == observation, touched);
        true
    }

    /// Derives the touched observations from their remaining evidence.
    pub(super) fn settle(&mut self, touched: &TouchedObservations) -> SettleOutcome {
        let mut settled = SettleOutcome::default();
        for (&no, &visible) in &touched.0 {
            let pieces = self.pieces(no);
            let Some(row) = self.observations.get_mut(&no) else {
                continue;
            };
            let scope = row.scope.clone();
            let shown = pieces.into_iter().min_by(|a, b| a.rank().cmp(&b.rank()));
            let holds = shown.map(|piece| piece.tokens);
            let held = std::mem::replace(&mut row.tokens, holds.clone());
            settled.withdrawn += u64::from(held.is_some() && holds.is_none());
            if visible {
                settled.scopes.insert(scope);
            }
            if held != holds {
                self.forget_document(observation_doc(no));
                self.put_document(observation_doc(no), holds.as_deref().unwrap_or_default());
            }
            if !self.evidence.values().any(|row| row.observation == no) {
                self.observations.remove(&no);
            }
        }
        settled
    }

    /// The evidence that gives an observation: live, and of no polluted session unless a person asked to remember it.
    pub(super) fn pieces(&self, observation: i64) -> Vec<EvidencePiece> {
        let rows = self.evidence.values();
        let is_hidden = |piece: &EvidencePiece| {
            piece.generation.is_some() && self.is_polluted(&piece.evidence.session)
        };
        rows.filter(|row| row.observation == observation && row.live && !is_hidden(&row.piece))
            .map(|row| row.piece.clone())
            .collect()
    }

    /// Observations that hold in a scope.
    pub(super) fn observations(&self, scope: &Scope) -> Vec<Observation> {
        self.observations_where(|row| &row.scope == scope)
    }

    /// Observations that hold and `is_wanted` selects, ordered by scope, first time and id.
    pub(super) fn observations_where(
        &self,
        is_wanted: impl Fn(&ObservationRow) -> bool,
    ) -> Vec<Observation> {
        let rows = self.observations.iter();
        let wanted = rows.filter(|(_, row)| is_wanted(row));
        let mut observations: Vec<Observation> = wanted
            .filter_map(|(&no, row)| assemble(row.scope.clone(), row.id, row.kind, self.pieces(no)))
            .collect();
        sort_observations(&mut observations);
        observations
    }
}

/// The positions that a retraction stores for evidence; evidence without events has position 0.
fn positions(events: &[EventSeq]) -> Vec<EventSeq> {
    match events {
        [] => vec![EventSeq(0)],
        events => events.to_vec(),
    }
}

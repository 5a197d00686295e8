//! Combines pieces of evidence into one observation, independent of the order in which they were stored.
//!
//! Each piece keeps the words that it came with; the earliest piece's words are the observation's.
//! Taking a piece away therefore leaves what the others would have made.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use daybook_domain::rescan::{EvidenceRewrite, StoredEvidence};
use daybook_domain::{
    EventSeq, Evidence, Observation, ObservationId, ObservationKind, ObservationOrigin, Scope,
    SessionId, Timestamp,
};

/// Observations whose evidence changed, by number; true where the change is visible to readers.
#[derive(Debug, Default)]
pub(crate) struct TouchedObservations(pub(crate) BTreeMap<i64, bool>);

impl TouchedObservations {
    pub(crate) fn note(&mut self, observation: i64, visible: bool) {
        *self.0.entry(observation).or_default() |= visible;
    }
}

/// The result of deriving observations again.
#[derive(Debug, Default)]
pub(crate) struct SettleOutcome {
    /// Scopes whose files must show a change.
    pub(crate) scopes: BTreeSet<Scope>,
    /// Observations that no longer hold.
    pub(crate) withdrawn: u64,
}

/// One piece of evidence with the words that it came with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EvidencePiece {
    pub(crate) evidence: Evidence,
    /// The redo that wrote it; `None` for what a person asked to remember.
    pub(crate) generation: Option<u32>,
    pub(crate) text: String,
    pub(crate) context: Option<String>,
    pub(crate) subject: Option<String>,
    pub(crate) stated: bool,
    pub(crate) origin: ObservationOrigin,
    pub(crate) quoted: bool,
    pub(crate) tokens: String,
}

/// Evidence as a row of a database, with the numbers of its related rows.
pub(crate) struct EvidenceRow {
    pub(crate) no: i64,
    pub(crate) observation: i64,
    pub(crate) live: bool,
    pub(crate) piece: EvidencePiece,
}

/// What is left of a piece after events were cut out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CutOutcome {
    /// It rests on none of them.
    Untouched,
    /// It rests on fewer events now.
    Shortened,
    /// It rested on nothing else.
    Emptied,
}

impl EvidencePiece {
    /// The `evidence` of `observation`, as a piece of its own.
    pub(crate) fn of(
        observation: &Observation,
        evidence: &Evidence,
        generation: Option<u32>,
    ) -> Self {
        Self {
            evidence: evidence.clone(),
            generation,
            text: observation.text.clone(),
            context: observation.context.clone(),
            subject: observation.subject.clone(),
            stated: observation.stated,
            origin: observation.origin,
            quoted: observation.quoted,
            tokens: observation.tokens.clone(),
        }
    }

    /// The piece with number `no` as a rescan reads it.
    pub(crate) fn stored(
        &self,
        no: i64,
        scope: Scope,
        (id, kind): (ObservationId, ObservationKind),
    ) -> StoredEvidence {
        StoredEvidence {
            no,
            scope,
            kind,
            id,
            text: self.text.clone(),
            context: self.context.clone(),
            subject: self.subject.clone(),
            branch: self.evidence.branch.clone(),
            root: self.evidence.root.clone(),
        }
    }

    /// The piece with the words of a rewrite.
    pub(crate) fn rewritten(&self, rewrite: &EvidenceRewrite) -> Self {
        let after = &rewrite.after;
        Self {
            evidence: Evidence {
                branch: after.branch.clone(),
                root: after.root.clone(),
                ..self.evidence.clone()
            },
            text: after.text.clone(),
            context: after.context.clone(),
            subject: after.subject.clone(),
            tokens: rewrite.tokens.clone(),
            ..self.clone()
        }
    }

    /// The order of pieces: the smallest, which is the earliest, provides the observation's words.
    pub(crate) fn rank(&self) -> (Timestamp, &SessionId, &[EventSeq], Option<u32>) {
        let evidence = &self.evidence;
        let events = evidence.events.as_slice();
        (evidence.at, &evidence.session, events, self.generation)
    }

    /// First and last event; zeros when there is none.
    pub(crate) fn span(&self) -> (EventSeq, EventSeq) {
        let events = &self.evidence.events;
        let first = events.first().copied().unwrap_or_default();
        (first, events.last().copied().unwrap_or_default())
    }

    /// Removes the events that are `gone`, with their lines. Leaves `at` as it is: only the caller can look up
    /// the time of the event that is now the first.
    pub(crate) fn cut(&mut self, gone: impl Fn(EventSeq) -> bool) -> CutOutcome {
        let evidence = &mut self.evidence;
        if !evidence.events.iter().any(|&seq| gone(seq)) {
            return CutOutcome::Untouched;
        }
        let events = std::mem::take(&mut evidence.events);
        let lines = std::mem::take(&mut evidence.lines);
        for (n, seq) in events.into_iter().enumerate() {
            if !gone(seq) {
                evidence.events.push(seq);
                evidence.lines.extend(lines.get(n));
            }
        }
        if evidence.events.is_empty() {
            CutOutcome::Emptied
        } else {
            CutOutcome::Shortened
        }
    }
}

/// The origin of an observation that evidence of these origins states.
pub(crate) fn most_trusted(origins: impl Iterator<Item = ObservationOrigin>) -> ObservationOrigin {
    origins.max().unwrap_or_default()
}

/// The column's text; `None` for evidence of an earlier version.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn origin_text(origin: ObservationOrigin) -> Option<&'static str> {
    (origin != ObservationOrigin::Unknown).then(|| origin.as_str())
}

/// The origin in the columns `origin` and `stated`.
#[cfg(feature = "postgres")]
pub(crate) fn origin_of(text: Option<&str>, stated: bool) -> Result<ObservationOrigin, String> {
    match text {
        None => Ok(ObservationOrigin::unrecorded(stated)),
        Some(text) => text
            .parse()
            .map_err(|_| format!("column origin holds the unknown word {text:?}")),
    }
}

/// Combines `pieces` into their observation; `None` when there are none.
pub(crate) fn assemble(
    scope: Scope,
    id: ObservationId,
    kind: ObservationKind,
    mut pieces: Vec<EvidencePiece>,
) -> Option<Observation> {
    pieces.sort_by(|a, b| a.rank().cmp(&b.rank()));
    let stated = pieces.iter().any(|piece| piece.stated);
    let origin = most_trusted(pieces.iter().map(|piece| piece.origin));
    let mut evidence: Vec<Evidence> = Vec::with_capacity(pieces.len());
    let mut pieces = pieces.into_iter();
    let shown = pieces.next()?;
    evidence.push(shown.evidence);
    for piece in pieces {
        let same =
            |e: &Evidence| e.session == piece.evidence.session && e.events == piece.evidence.events;
        if !evidence.iter().any(same) {
            evidence.push(piece.evidence);
        }
    }
    Some(Observation {
        id,
        scope,
        kind,
        text: shown.text,
        context: shown.context,
        subject: shown.subject,
        stated,
        origin,
        quoted: shown.quoted,
        evidence,
        tokens: shown.tokens,
    })
}

/// Sorts observations by scope, first time and id.
pub(crate) fn sort_observations(observations: &mut [Observation]) {
    let are_of_one_scope = observations
        .windows(2)
        .all(|two| two[0].scope == two[1].scope);
    match are_of_one_scope {
        true => observations.sort_by_cached_key(|o| (o.first_at(), o.id)),
        false => observations.sort_by_cached_key(|o| (o.scope.clone(), o.first_at(), o.id)),
    }
}

/// Numbers as text for a column.
pub(crate) fn join_numbers(numbers: impl Iterator<Item = u64>) -> String {
    let words: Vec<String> = numbers.map(|number| number.to_string()).collect();
    words.join(",")
}

/// Parses the numbers in a column.
pub(crate) fn parse_numbers(column: &str) -> impl Iterator<Item = u64> {
    column.split(',').filter_map(|number| number.parse().ok())
}

/// The length of a span of time that evidence is counted by, in milliseconds.
pub(crate) fn span_millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX).max(1)
}

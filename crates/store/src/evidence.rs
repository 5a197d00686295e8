//! How pieces of evidence make one observation, whatever the order in which they came in.
//!
//! Each piece keeps the words that it came with; the earliest piece's words are the observation's.
//! Taking a piece away therefore leaves what the others would have made.

use daybook_domain::{
    EventSeq, Evidence, Observation, ObservationId, ObservationKind, Scope, SessionId, Timestamp,
};

/// One piece of evidence with the words that it came with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Piece {
    pub(crate) evidence: Evidence,
    /// The redo that wrote it; `None` for what a person asked to remember.
    pub(crate) generation: Option<u32>,
    pub(crate) text: String,
    pub(crate) context: Option<String>,
    pub(crate) subject: Option<String>,
    pub(crate) stated: bool,
    pub(crate) quoted: bool,
    pub(crate) tokens: String,
}

/// What cutting events out of a piece left of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// It rests on none of them.
    Untouched,
    /// It rests on fewer events now.
    Shortened,
    /// It rested on nothing else.
    Emptied,
}

impl Piece {
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
            quoted: observation.quoted,
            tokens: observation.tokens.clone(),
        }
    }

    /// Earlier is smaller; the smallest lends its words.
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

    /// Takes out the events that are `gone`, with their lines. `at` stays: the caller knows when
    /// the event that is now the first was said.
    pub(crate) fn cut(&mut self, gone: impl Fn(EventSeq) -> bool) -> Cut {
        let evidence = &mut self.evidence;
        if !evidence.events.iter().any(|&seq| gone(seq)) {
            return Cut::Untouched;
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
            Cut::Emptied
        } else {
            Cut::Shortened
        }
    }
}

/// The observation that `pieces` make; `None` when there are none.
pub(crate) fn assemble(
    scope: Scope,
    id: ObservationId,
    kind: ObservationKind,
    mut pieces: Vec<Piece>,
) -> Option<Observation> {
    pieces.sort_by(|a, b| a.rank().cmp(&b.rank()));
    let shown = pieces.first()?.clone();
    let stated = pieces.iter().any(|piece| piece.stated);
    let mut evidence: Vec<Evidence> = Vec::with_capacity(pieces.len());
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
        quoted: shown.quoted,
        evidence,
        tokens: shown.tokens,
    })
}

/// Numbers as they stand in a column.
pub(crate) fn joined(numbers: impl Iterator<Item = u64>) -> String {
    let words: Vec<String> = numbers.map(|number| number.to_string()).collect();
    words.join(",")
}

/// The numbers that stand in a column.
pub(crate) fn split(column: &str) -> impl Iterator<Item = u64> {
    column.split(',').filter_map(|number| number.parse().ok())
}

//! Drafts with scores, and the choice of the best of each turn.
//!
//! Every rule gives its drafts a score, so that rules can be compared: 50 is the least that is
//! kept, 100 the most that words alone can reach. The cap of a turn keeps the best.
//!
//! Not here: the rules themselves.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{Event, EventSeq, ObservationKind};

use super::clauses::shorten;
use super::sentences::{MAX_QUOTE, one_line};
use crate::extract::ObservationDraft;

/// Lowest score that is kept.
pub(super) const MIN_SCORE: i32 = 50;
/// Most drafts of one turn, values excluded: that many things people dictate at once. The bound is per turn, since a window may
/// hold one turn or a hundred.
pub(super) const MAX_DRAFTS_PER_TURN: usize = 6;
/// Most issues that one turn filed. A tracker's answer leaves no doubt, so they take no room from other drafts.
const MAX_FILED_PER_TURN: usize = 6;
/// Most subjects whose values one turn yields, besides its other drafts.
const MAX_SUBJECTS_PER_TURN: usize = 2;
/// Most values that one turn yields.
const MAX_VALUES_PER_TURN: usize = 6;
/// Most characters of a text that is composed rather than quoted.
pub(super) const MAX_COMPOSED: usize = 280;

/// A draft with its score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScoredDraft {
    pub(super) score: i32,
    pub(super) draft: ObservationDraft,
    /// Its words are an outsider's, although a person accepted them: it waits in quarantine.
    pub(super) from_outside: bool,
}

impl ScoredDraft {
    /// A draft that quotes a person.
    pub(super) fn from_quote(
        kind: ObservationKind,
        score: i32,
        on: &[&Event],
        words: &str,
    ) -> Self {
        Self::of(kind, score, on, quote(words), true)
    }

    /// A draft composed from events.
    pub(super) fn composed(kind: ObservationKind, score: i32, on: &[&Event], text: &str) -> Self {
        Self::of(
            kind,
            score,
            on,
            shorten(&one_line(text), MAX_COMPOSED),
            false,
        )
    }

    fn of(kind: ObservationKind, score: i32, on: &[&Event], text: String, stated: bool) -> Self {
        let mut on: Vec<&Event> = on.to_vec();
        on.sort_by_key(|e| e.seq);
        on.dedup_by_key(|e| e.seq);
        let draft = ObservationDraft {
            kind,
            general: false,
            text,
            quoted: stated,
            context: None,
            subject: None,
            stated,
            events: on.iter().map(|e| e.seq).collect(),
            lines: on.iter().map(|e| e.line).collect(),
            at: on.first().map(|e| e.at).unwrap_or_default(),
        };
        Self {
            score,
            draft,
            from_outside: false,
        }
    }

    /// Adds the evidence of `other`.
    fn add_evidence(&mut self, other: &ObservationDraft) {
        let own = self
            .draft
            .events
            .iter()
            .copied()
            .zip(self.draft.lines.iter().copied());
        let more = other
            .events
            .iter()
            .copied()
            .zip(other.lines.iter().copied());
        let mut all: Vec<_> = own.chain(more).collect();
        all.sort_unstable();
        all.dedup_by_key(|(seq, _)| *seq);
        (self.draft.events, self.draft.lines) = all.into_iter().unzip();
        self.draft.at = self.draft.at.min(other.at);
    }

    /// Sets a context that is composed from events, and not a quotation.
    pub(super) fn with_long_context(mut self, context: &str) -> Self {
        self.draft.context = Some(shorten(&one_line(context), MAX_COMPOSED));
        self
    }

    /// Sets the context that makes the draft understandable.
    pub(super) fn with_context(mut self, context: Option<String>) -> Self {
        self.draft.context = context
            .map(|c| shorten(&one_line(&c), MAX_QUOTE))
            .filter(|c| !c.is_empty());
        self
    }
}

/// A person's words on one line, shortened.
pub(super) fn quote(words: &str) -> String {
    let line = one_line(words);
    let line = line.strip_prefix("but ").unwrap_or(&line);
    shorten(line.trim_end_matches(':'), MAX_QUOTE)
}

/// The best drafts of each turn, all of them best first. `turn_of` maps an event to its turn: a
/// draft belongs to the turn of the last event that it rests on.
pub(super) fn best_of_each_turn(
    mut finds: Vec<ScoredDraft>,
    turn_of: impl Fn(EventSeq) -> usize,
) -> Vec<ScoredDraft> {
    finds.retain(|f| f.score >= MIN_SCORE && !f.draft.events.is_empty());
    finds.retain(|f| f.draft.text.chars().any(char::is_alphanumeric));
    let mut by_turn: BTreeMap<usize, Vec<ScoredDraft>> = BTreeMap::new();
    for find in finds {
        let turn = find.draft.events.last().map_or(0, |last| turn_of(*last));
        by_turn.entry(turn).or_default().push(find);
    }
    let mut best: Vec<ScoredDraft> = by_turn.into_values().flat_map(best_of_turn).collect();
    sort(&mut best);
    best
}

fn sort(finds: &mut [ScoredDraft]) {
    finds.sort_by(|a, b| {
        let key = |f: &ScoredDraft| (-f.score, f.draft.events.clone(), f.draft.kind);
        key(a)
            .cmp(&key(b))
            .then_with(|| a.draft.text.cmp(&b.draft.text))
    });
}

/// The best drafts of one turn. Equal texts become one draft with the evidence of both.
fn best_of_turn(mut finds: Vec<ScoredDraft>) -> Vec<ScoredDraft> {
    sort(&mut finds);
    let mut kept: Vec<ScoredDraft> = Vec::new();
    for find in finds {
        let draft = &find.draft;
        if let Some(first) = kept.iter_mut().find(|k| has_same_content(&k.draft, draft)) {
            first.add_evidence(draft);
        } else if has_room(&kept, draft) {
            kept.push(find);
        }
    }
    kept
}

fn has_room(kept: &[ScoredDraft], draft: &ObservationDraft) -> bool {
    let filed = kept.iter().filter(|k| is_filed_issue(&k.draft));
    if is_filed_issue(draft) {
        return filed.count() < MAX_FILED_PER_TURN;
    }
    let values = kept
        .iter()
        .filter(|k| k.draft.kind == ObservationKind::Value);
    if draft.kind != ObservationKind::Value {
        return kept.len() - values.count() - filed.count() < MAX_DRAFTS_PER_TURN;
    }
    let subjects: BTreeSet<&Option<String>> = values.clone().map(|k| &k.draft.subject).collect();
    let known = subjects.contains(&draft.subject);
    values.count() < MAX_VALUES_PER_TURN && (known || subjects.len() < MAX_SUBJECTS_PER_TURN)
}

/// Whether a draft is an issue that was filed, and no words of a person about what to do later.
fn is_filed_issue(draft: &ObservationDraft) -> bool {
    draft.kind == ObservationKind::OpenEnd && !draft.stated
}

fn has_same_content(a: &ObservationDraft, b: &ObservationDraft) -> bool {
    let said = |d: &ObservationDraft| {
        d.text
            .to_lowercase()
            .trim_end_matches(['.', '!'])
            .to_owned()
    };
    let values = a.kind == ObservationKind::Value;
    // What refuses a call is found as a correction and as a wish.
    let wishes = |d: &ObservationDraft| {
        matches!(
            d.kind,
            ObservationKind::Correction | ObservationKind::Preference
        )
    };
    (a.kind == b.kind || wishes(a) && wishes(b))
        && a.subject == b.subject
        && said(a) == said(b)
        && (!values || a.events == b.events)
}

//! What was found, before the best of it is chosen.
//!
//! Every rule that finds something gives it a score, so that rules can be compared: 50 is just
//! sure enough, 100 is as sure as words can be. The cap of a turn takes the best of it.
//!
//! Not here: the rules themselves.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{Event, EventSeq, ObservationKind};

use super::clauses::shortened;
use super::sentences::{QUOTE, one_line};
use crate::extract::Draft;

/// Lowest score that is kept.
pub(super) const SURE: i32 = 50;
/// Most drafts that one turn yields, values apart: two sure lines are better than five doubtful ones. It
/// is the turn's and not the window's, which may hold one turn or a hundred.
pub(super) const DRAFTS: usize = 2;
/// Most things whose values one turn yields, beside its other drafts.
const SUBJECTS: usize = 2;
/// Most values that one turn yields.
const VALUES: usize = 6;
/// Most characters of a text that is composed rather than quoted.
pub(super) const COMPOSED: usize = 280;

/// A draft with its score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Find {
    pub(super) score: i32,
    pub(super) draft: Draft,
}

impl Find {
    /// What a person said, in their words.
    pub(super) fn said(kind: ObservationKind, score: i32, on: &[&Event], words: &str) -> Self {
        Self::of(kind, score, on, quote(words), true)
    }

    /// What follows from what happened.
    pub(super) fn shown(kind: ObservationKind, score: i32, on: &[&Event], text: &str) -> Self {
        Self::of(kind, score, on, shortened(&one_line(text), COMPOSED), false)
    }

    fn of(kind: ObservationKind, score: i32, on: &[&Event], text: String, stated: bool) -> Self {
        let mut on: Vec<&Event> = on.to_vec();
        on.sort_by_key(|e| e.seq);
        on.dedup_by_key(|e| e.seq);
        let draft = Draft {
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
        Self { score, draft }
    }

    /// Also rests on the evidence of `other`.
    fn add_evidence(&mut self, other: &Draft) {
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

    /// With what makes it understandable.
    pub(super) fn in_context(mut self, context: Option<String>) -> Self {
        self.draft.context = context
            .map(|c| shortened(&one_line(&c), QUOTE))
            .filter(|c| !c.is_empty());
        self
    }
}

/// A person's words, fit for one line.
pub(super) fn quote(words: &str) -> String {
    let line = one_line(words);
    let line = line.strip_prefix("but ").unwrap_or(&line);
    shortened(line.trim_end_matches(':'), QUOTE)
}

/// The best of what was found in each turn, all of it best first. `turn_of` is the turn of an event: a
/// find belongs to that of the last event that it rests on.
pub(super) fn best(mut finds: Vec<Find>, turn_of: impl Fn(EventSeq) -> usize) -> Vec<Find> {
    finds.retain(|f| f.score >= SURE && !f.draft.events.is_empty());
    finds.retain(|f| f.draft.text.chars().any(char::is_alphanumeric));
    let mut by_turn: BTreeMap<usize, Vec<Find>> = BTreeMap::new();
    for find in finds {
        let turn = find.draft.events.last().map_or(0, |last| turn_of(*last));
        by_turn.entry(turn).or_default().push(find);
    }
    let mut best: Vec<Find> = by_turn.into_values().flat_map(best_of_turn).collect();
    sort(&mut best);
    best
}

fn sort(finds: &mut [Find]) {
    finds.sort_by(|a, b| {
        let key = |f: &Find| (-f.score, f.draft.events.clone(), f.draft.kind);
        key(a)
            .cmp(&key(b))
            .then_with(|| a.draft.text.cmp(&b.draft.text))
    });
}

/// What was said twice in the same words is one find with both as its evidence.
fn best_of_turn(mut finds: Vec<Find>) -> Vec<Find> {
    sort(&mut finds);
    let mut kept: Vec<Find> = Vec::new();
    for find in finds {
        let draft = &find.draft;
        if let Some(first) = kept.iter_mut().find(|k| says_the_same(&k.draft, draft)) {
            first.add_evidence(draft);
        } else if has_room(&kept, draft) {
            kept.push(find);
        }
    }
    kept
}

fn has_room(kept: &[Find], draft: &Draft) -> bool {
    let values = kept
        .iter()
        .filter(|k| k.draft.kind == ObservationKind::Value);
    if draft.kind != ObservationKind::Value {
        return kept.len() - values.count() < DRAFTS;
    }
    let subjects: BTreeSet<&Option<String>> = values.clone().map(|k| &k.draft.subject).collect();
    let known = subjects.contains(&draft.subject);
    values.count() < VALUES && (known || subjects.len() < SUBJECTS)
}

fn says_the_same(a: &Draft, b: &Draft) -> bool {
    let said = |d: &Draft| {
        d.text
            .to_lowercase()
            .trim_end_matches(['.', '!'])
            .to_owned()
    };
    let values = a.kind == ObservationKind::Value;
    a.kind == b.kind
        && a.subject == b.subject
        && said(a) == said(b)
        && (!values || a.events == b.events)
}

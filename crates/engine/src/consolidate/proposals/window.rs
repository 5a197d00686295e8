//! Selects the statements of one question to a model: some that are new to it, and those that they may concern.
//!
//! A statement is new until a model was asked about it with exactly its present content. With the new ones go statements
//! that share rare words with them, within a bound of tokens: never a whole memory. What a person pinned or worded, what
//! no longer holds, notes, values and fixes are not shown.
//!
//! Not here: the wording of the question (`question`).

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{
    Observation, ObservationId, ObservationKind, ProposalRecord, SessionId, StatementRef,
};
use daybook_text::fence::one_line;

use super::{CurrentProposals, has_words_of, is_persons};
use crate::consolidate::MemoryInput;
use crate::consolidate::content::{Content, ContentWord, ContentWords, WordMap};
use crate::consolidate::merge::{MergedObservation, merge_observations};
use crate::consolidate::note_changes::note_validity;
use crate::consolidate::parsed_texts::ParsedTexts;
use crate::consolidate::phrase::date;
use crate::consolidate::supersede::statement_changes;
use crate::extract::model::MAX_TEXT;

/// Most statements that one question shows, for short ones.
const SHOWN: usize = 48;
/// Most new ones among them.
const NEW: usize = 24;

/// Bounds of one question.
#[derive(Clone, Copy)]
pub struct WindowLimits<'a> {
    /// Most tokens of the statements. New ones take at most half of them.
    pub tokens: u32,
    /// The model's count of a text's tokens.
    pub count: &'a (dyn Fn(&str) -> u32 + Sync),
    /// Only statements with evidence in one of these sessions; `None`: all.
    pub sessions: Option<&'a BTreeSet<SessionId>>,
}

/// Statements to ask a model about, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalWindow {
    pub(super) statements: Vec<WindowStatement>,
    /// Other statements are new, too: they wait for another window.
    pub(super) is_last: bool,
}

/// A statement of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WindowStatement {
    pub(super) statement: StatementRef,
    pub(super) merged: MergedObservation,
    pub(super) is_new: bool,
    /// What stands before its words.
    label: String,
}

impl WindowStatement {
    /// Its line, with its number.
    pub(super) fn line(&self, number: usize) -> String {
        let MergedObservation { text, context, .. } = &self.merged;
        let context = context.as_ref().map(|context| format!(" ({context})"));
        let words = one_line(&format!("{text}{}", context.unwrap_or_default()));
        format!("[{number} {}] {words}", self.label)
    }
}

impl ProposalWindow {
    /// The next window of a memory; `None` when nothing in it is new to the model. `texts` are its parsed texts.
    #[must_use]
    pub fn next(
        input: &MemoryInput,
        record: &ProposalRecord,
        limits: WindowLimits<'_>,
        texts: &mut ParsedTexts,
    ) -> Option<Self> {
        let mut statements = statements(input, record, limits.sessions, texts);
        let words: Vec<ContentWords> = statements
            .iter()
            .map(|one| Content::of(&one.merged.text).words)
            .collect();
        let mut window = WindowBuilder::new(limits);
        let new: Vec<usize> = positions(&statements, |one| one.is_new);
        for at in &new {
            if window.chosen.len() == NEW || !window.add(*at, &statements[*at], limits.tokens / 2) {
                break;
            }
        }
        let is_last = window.chosen.len() == new.len();
        let known = positions(&statements, |one| !one.is_new);
        for at in by_shared_words(&words, &window.chosen, known) {
            if window.chosen.len() == SHOWN || !window.add(at, &statements[at], limits.tokens) {
                break;
            }
        }
        let chosen = window.chosen;
        let mut at = 0..;
        statements.retain(|_| at.next().is_some_and(|at: usize| chosen.contains(&at)));
        let has_new = statements.iter().any(|one| one.is_new);
        has_new.then_some(Self {
            statements,
            is_last,
        })
    }

    /// Records that a model was asked about the window, whatever it answered.
    pub fn record(&self, record: &mut ProposalRecord) {
        let new = self.statements.iter().filter(|one| one.is_new);
        record
            .examined
            .extend(new.map(|one| (one.statement.id, one.statement.digest)));
        record.unfinished = !self.is_last;
    }
}

fn positions(
    statements: &[WindowStatement],
    is_meant: impl Fn(&WindowStatement) -> bool,
) -> Vec<usize> {
    let all = statements.iter().enumerate();
    all.filter(|(_, one)| is_meant(one))
        .map(|(at, _)| at)
        .collect()
}

/// The statements chosen so far, and their tokens.
struct WindowBuilder<'a> {
    limits: WindowLimits<'a>,
    tokens: u32,
    chosen: BTreeSet<usize>,
}

impl<'a> WindowBuilder<'a> {
    fn new(limits: WindowLimits<'a>) -> Self {
        Self {
            limits,
            tokens: 0,
            chosen: BTreeSet::new(),
        }
    }

    /// Adds a statement if all of them then fit `most` tokens; the first one always does.
    fn add(&mut self, at: usize, statement: &WindowStatement, most: u32) -> bool {
        let tokens = (self.limits.count)(&statement.line(SHOWN)).saturating_add(1);
        let sum = self.tokens.saturating_add(tokens);
        let fits = sum <= most || self.chosen.is_empty();
        if fits {
            self.tokens = sum;
            self.chosen.insert(at);
        }
        fits
    }
}

/// The `known` statements that share words with chosen ones, those that share most and the rarest first.
fn by_shared_words(
    words: &[ContentWords],
    chosen: &BTreeSet<usize>,
    known: Vec<usize>,
) -> Vec<usize> {
    let mut frequencies: WordMap<ContentWord, usize> = WordMap::default();
    for word in words.iter().flat_map(ContentWords::iter) {
        *frequencies.entry(word).or_default() += 1;
    }
    let of_chosen: ContentWords = chosen.iter().flat_map(|at| words[*at].iter()).collect();
    let score = |at: &usize| -> f64 {
        let shared = words[*at].shared(&of_chosen);
        shared.map(|word| 1.0 / frequencies[&word] as f64).sum()
    };
    let mut scored: Vec<(f64, usize)> = known.into_iter().map(|at| (score(&at), at)).collect();
    scored.retain(|(score, _)| *score > 0.0);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.into_iter().map(|(_, at)| at).collect()
}

/// All statements that a model may be asked about, the oldest first.
fn statements(
    input: &MemoryInput,
    record: &ProposalRecord,
    sessions: Option<&BTreeSet<SessionId>>,
    texts: &mut ParsedTexts,
) -> Vec<WindowStatement> {
    let proposals = CurrentProposals::of(input);
    let mut merged = merge_observations(input.observations.clone(), &[], texts);
    proposals.merge(&mut merged);
    let observations = input.observations.iter().map(|one| (one.id, one));
    let observations: BTreeMap<ObservationId, &Observation> = observations.collect();
    // Mostly nothing is new, and then no statements need to be compared.
    let mut asked_about = merged.iter().filter(|one| is_asked_about(one.kind));
    if !asked_about.any(|one| is_new(record, &observations, one)) {
        return Vec::new();
    }
    let mut changes = statement_changes(&merged, texts);
    proposals.supersede(&merged, &mut changes);
    note_validity(&mut merged, &changes);
    let is_selected = |one: &MergedObservation| {
        let mut own = one.evidence.iter();
        sessions.is_none_or(|chosen| own.any(|it| chosen.contains(&it.session)))
    };
    let eligible = merged.into_iter().filter(|one| {
        let is_asked_about = one.validity.holds() && is_asked_about(one.kind);
        is_asked_about && is_selected(one) && !is_persons(&input.persons, one)
    });
    let statements = eligible.filter_map(|one| statement(input, record, &observations, one));
    let mut statements: Vec<WindowStatement> = statements.collect();
    statements.sort_by_key(|one| (one.merged.last_at(), one.statement.id));
    statements
}

/// Whether a model may be asked about statements of a kind. Notes keep a person's words, values and fixes their parts.
fn is_asked_about(kind: ObservationKind) -> bool {
    use ObservationKind as Kind;
    match kind {
        Kind::Correction | Kind::Preference | Kind::Fact | Kind::Decision | Kind::OpenEnd => true,
        Kind::Value | Kind::Fix | Kind::Note => false,
    }
}

fn statement(
    input: &MemoryInput,
    record: &ProposalRecord,
    observations: &BTreeMap<ObservationId, &Observation>,
    merged: MergedObservation,
) -> Option<WindowStatement> {
    let mut own = merged.observations.iter();
    let shown = own.find_map(|id| {
        let observation = observations.get(id)?;
        has_words_of(&merged, observation).then_some(*observation)
    })?;
    // A longer text is not shown whole, so that nothing can be proposed about it.
    if merged.text.chars().nth(MAX_TEXT).is_some() {
        return None;
    }
    let is_new = is_new(record, observations, &merged);
    let label = [
        if is_new { "new" } else { "" },
        merged.kind.as_str(),
        &date(merged.last_at(), &input.zone),
        merged.origin.as_str(),
    ];
    let label: Vec<&str> = label.into_iter().filter(|part| !part.is_empty()).collect();
    Some(WindowStatement {
        statement: StatementRef::of(shown),
        label: label.join(" "),
        is_new,
        merged,
    })
}

/// Whether no model was asked about any of the observations with its present content.
fn is_new(
    record: &ProposalRecord,
    observations: &BTreeMap<ObservationId, &Observation>,
    merged: &MergedObservation,
) -> bool {
    let own = merged.observations.iter();
    let mut own = own.filter_map(|id| observations.get(id));
    !own.any(|one| record.has_examined(StatementRef::of(one)))
}

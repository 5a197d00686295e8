//! Which texts a store fetches for a question, and in which order.
//!
//! Rare terms are fetched completely, for they are few; common terms only together, and alone at
//! the very end. The steps of a plan never add up to more than [`CANDIDATES`] texts, so a question
//! of common words costs no more than any other.
//!
//! Not here: SQL; what the texts are worth (`rank`).

use std::collections::HashMap;

use daybook_domain::index::Step;

use super::query::{Query, TermIx};

/// Texts fetched for one question. More find more of what only common words lead to, and cost
/// their reading and tokenising: about 5 µs for a text of 300 bytes.
pub const CANDIDATES: u64 = 400;
/// Kept back for common terms, so that rare ones, which may be beside the point, do not use up all.
const COMMON_RESERVE: u64 = 100;
/// Common clues that are combined with each other.
const COMMON_CLUES: usize = 4;

/// How to fetch the candidates for a question: every step in order, each text once.
///
/// `document_frequency` says in how many texts each of the question's terms occurs; a term that is missing
/// occurs in none. No step means that no text has any of its words.
pub fn plan(query: &Query, document_frequency: &HashMap<String, u64>) -> Vec<Step> {
    planned(query, document_frequency, true)
}

/// As [`plan`], but only what rare terms lead to: looking through what has common ones takes most of a
/// search, and finds what is merely alike.
pub fn plan_rare(query: &Query, document_frequency: &HashMap<String, u64>) -> Vec<Step> {
    planned(query, document_frequency, false)
}

fn planned(
    query: &Query,
    document_frequency: &HashMap<String, u64>,
    with_common: bool,
) -> Vec<Step> {
    let count = |term: &TermIx| {
        document_frequency
            .get(query.term(*term))
            .copied()
            .unwrap_or(0)
    };
    let required = Clue::of(required_terms(query), count);
    let mut clues = match &required {
        Some(required) if required.matches == 0 => return Vec::new(),
        // Everything that has the phrase is fetched; nothing else is an answer.
        Some(required) if required.matches <= CANDIDATES => vec![required.clone()],
        Some(required) => clues(query, count)
            .iter()
            .map(|clue| clue.with(required, count))
            .collect(),
        None => clues(query, count),
    };
    // Clues that the phrase makes equal are one.
    clues.sort_by(|a, b| (a.matches, &a.terms).cmp(&(b.matches, &b.terms)));
    clues.dedup();
    let mut draft = Draft {
        query,
        steps: Vec::new(),
        left: CANDIDATES,
    };
    let common = draft.fetch_rare(clues);
    if with_common {
        draft.fetch_common(&common, count);
    }
    draft.steps
}

/// Terms that lead to texts only together.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Clue {
    /// The rarest first.
    terms: Vec<TermIx>,
    /// At most so many texts have them all.
    matches: u64,
}

impl Clue {
    fn of(mut terms: Vec<TermIx>, count: impl Fn(&TermIx) -> u64) -> Option<Self> {
        terms.sort_by_key(|term| (count(term), *term));
        terms.dedup();
        let matches = count(terms.first()?);
        Some(Self { terms, matches })
    }

    fn with(&self, other: &Self, count: impl Fn(&TermIx) -> u64) -> Self {
        let terms = self.terms.iter().chain(&other.terms).copied().collect();
        Self::of(terms, count).unwrap_or_else(|| self.clone())
    }
}

fn required_terms(query: &Query) -> Vec<TermIx> {
    let phrases = query.phrases().iter();
    phrases
        .flat_map(|phrase| phrase.terms.iter().map(|(term, _)| *term))
        .collect()
}

/// What leads to each concept: its whole, its known parts together, and for a run without spaces
/// each pair, since neither of its pairs is certain to be a word.
fn clues(query: &Query, count: impl Fn(&TermIx) -> u64 + Copy) -> Vec<Clue> {
    let mut clues: Vec<Clue> = Vec::new();
    let mut add = |terms: Vec<TermIx>| {
        if let Some(clue) = Clue::of(terms, count).filter(|clue| !clues.contains(clue)) {
            clues.push(clue);
        }
    };
    for concept in query.concepts() {
        let known = |term: &TermIx| count(term) > 0;
        let parts: Vec<TermIx> = concept.parts.iter().copied().filter(known).collect();
        add(concept.whole.into_iter().filter(known).collect());
        if concept.is_run {
            parts.iter().for_each(|part| add(vec![*part]));
        }
        add(parts);
    }
    clues
}

struct Draft<'a> {
    query: &'a Query,
    steps: Vec<Step>,
    left: u64,
}

impl Draft<'_> {
    /// Fetches all texts of every clue that fits, and returns the clues that do not.
    fn fetch_rare(&mut self, clues: Vec<Clue>) -> Vec<Clue> {
        let mut common = Vec::new();
        let last = clues.len().saturating_sub(1);
        for (at, clue) in clues.into_iter().enumerate() {
            let reserve = if at < last || !common.is_empty() {
                COMMON_RESERVE
            } else {
                0
            };
            if clue.matches + reserve <= self.left {
                self.fetch(&clue, clue.matches);
            } else {
                common.push(clue);
            }
        }
        common
    }

    /// Shares what is left between all common clues together, the pairs, and the rarest alone.
    fn fetch_common(&mut self, common: &[Clue], count: impl Fn(&TermIx) -> u64 + Copy) {
        let common = &common[..common.len().min(COMMON_CLUES)];
        let mut requests: Vec<Clue> = Vec::new();
        if common.len() > 2 {
            requests.extend(
                common
                    .iter()
                    .cloned()
                    .reduce(|all, clue| all.with(&clue, count)),
            );
        }
        for (at, clue) in common.iter().enumerate() {
            requests.extend(common[..at].iter().map(|rarer| rarer.with(clue, count)));
        }
        requests.extend(common.first().cloned());
        let mut waiting = requests.len() as u64;
        for request in requests {
            let share = self.left / waiting;
            self.fetch(&request, request.matches.min(share));
            waiting -= 1;
        }
    }

    fn fetch(&mut self, clue: &Clue, limit: u64) {
        if limit > 0 {
            let all_of = clue
                .terms
                .iter()
                .map(|term| self.query.term(*term).to_owned())
                .collect();
            self.steps.push(Step {
                all_of,
                limit: usize::try_from(limit).unwrap_or(usize::MAX),
            });
            self.left -= limit;
        }
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;

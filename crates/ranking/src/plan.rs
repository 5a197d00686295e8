//! Plans which texts the store fetches for a question, and in which order.
//!
//! All texts with a rare term are fetched, for they are few. Common terms are fetched in conjunctions, and the rarest
//! of them alone at the end. The steps of a plan never add up to more than [`CANDIDATES`] texts, so a question of
//! common words costs no more than any other.
//!
//! Not here: SQL; what the texts are worth (`rank`).

use std::collections::HashMap;

use daybook_domain::index::CandidateQuery;

use crate::query::{Query, TermIx};

/// Texts fetched for one question. More find more of what only common words lead to, and cost
/// their reading and tokenising: about 5 µs for a text of 300 bytes.
pub const CANDIDATES: u64 = 400;
/// Texts reserved for common terms, so that rare but irrelevant terms do not use up all candidates.
const COMMON_RESERVE: u64 = 100;
/// Most common groups that are combined with each other.
const COMMON_GROUPS: usize = 4;

/// How to fetch the candidates for a question: every step in order, each text once.
///
/// `document_frequency` says in how many texts each of the question's terms occurs; a term that is missing
/// occurs in none. No step means that no text has any of its words.
pub fn plan(query: &Query, document_frequency: &HashMap<String, u64>) -> Vec<CandidateQuery> {
    planned(query, document_frequency, true)
}

/// As [`plan`], but for rare terms alone: texts with common terms take most of a search's time, and match only
/// loosely.
pub fn plan_rare(query: &Query, document_frequency: &HashMap<String, u64>) -> Vec<CandidateQuery> {
    planned(query, document_frequency, false)
}

fn planned(
    query: &Query,
    document_frequency: &HashMap<String, u64>,
    with_common: bool,
) -> Vec<CandidateQuery> {
    let count = |term: &TermIx| {
        document_frequency
            .get(query.term(*term))
            .copied()
            .unwrap_or(0)
    };
    let required = TermGroup::of(required_terms(query), count);
    let mut term_groups = match &required {
        Some(required) if required.matches == 0 => return Vec::new(),
        // Every text with the phrase is fetched; no other text can be an answer.
        Some(required) if required.matches <= CANDIDATES => vec![required.clone()],
        Some(required) => term_groups(query, count)
            .iter()
            .map(|group| group.with(required, count))
            .collect(),
        None => term_groups(query, count),
    };
    // Adding the phrase makes some groups equal.
    term_groups.sort_by(|a, b| (a.matches, &a.terms).cmp(&(b.matches, &b.terms)));
    term_groups.dedup();
    let mut builder = PlanBuilder {
        query,
        steps: Vec::new(),
        left: CANDIDATES,
    };
    let common = builder.fetch_rare(term_groups);
    if with_common {
        builder.fetch_common(&common, count);
    }
    builder.steps
}

/// Terms that a text must contain all of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TermGroup {
    /// The rarest first.
    terms: Vec<TermIx>,
    /// An upper bound on the texts that contain them all.
    matches: u64,
}

impl TermGroup {
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

/// The groups of each concept: its whole, its known parts together, and each pair of a run without spaces, because no
/// pair is certain to be a word.
fn term_groups(query: &Query, count: impl Fn(&TermIx) -> u64 + Copy) -> Vec<TermGroup> {
    let mut term_groups: Vec<TermGroup> = Vec::new();
    let mut add = |terms: Vec<TermIx>| {
        if let Some(group) =
            TermGroup::of(terms, count).filter(|group| !term_groups.contains(group))
        {
            term_groups.push(group);
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
    term_groups
}

struct PlanBuilder<'a> {
    query: &'a Query,
    steps: Vec<CandidateQuery>,
    left: u64,
}

impl PlanBuilder<'_> {
    /// Fetches all texts of every group that fits, and returns the groups that do not.
    fn fetch_rare(&mut self, term_groups: Vec<TermGroup>) -> Vec<TermGroup> {
        let mut common = Vec::new();
        let last = term_groups.len().saturating_sub(1);
        for (at, group) in term_groups.into_iter().enumerate() {
            let reserve = if at < last || !common.is_empty() {
                COMMON_RESERVE
            } else {
                0
            };
            if group.matches + reserve <= self.left {
                self.fetch(&group, group.matches);
            } else {
                common.push(group);
            }
        }
        common
    }

    /// Splits the remaining texts between all common groups together, the pairs of them, and the rarest alone.
    fn fetch_common(&mut self, common: &[TermGroup], count: impl Fn(&TermIx) -> u64 + Copy) {
        let common = &common[..common.len().min(COMMON_GROUPS)];
        let mut requests: Vec<TermGroup> = Vec::new();
        if common.len() > 2 {
            requests.extend(
                common
                    .iter()
                    .cloned()
                    .reduce(|all, group| all.with(&group, count)),
            );
        }
        for (at, group) in common.iter().enumerate() {
            requests.extend(common[..at].iter().map(|rarer| rarer.with(group, count)));
        }
        requests.extend(common.first().cloned());
        let mut waiting = requests.len() as u64;
        for request in requests {
            let share = self.left / waiting;
            self.fetch(&request, request.matches.min(share));
            waiting -= 1;
        }
    }

    fn fetch(&mut self, group: &TermGroup, limit: u64) {
        if limit > 0 {
            let all_of = group
                .terms
                .iter()
                .map(|term| self.query.term(*term).to_owned())
                .collect();
            self.steps.push(CandidateQuery {
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

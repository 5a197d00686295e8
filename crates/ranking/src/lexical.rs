//! Scores a text by a question's words (BM25), from the numbers of its tokens.
//!
//! Each text is scanned once, to count the question's terms in the whole text and in each passage. Counts of a window
//! are sums of its texts' counts. A score is a share of the question's weight, so scores of different questions
//! compare.
//!
//! Not here: weights of terms (`relevance`), neighbours and vectors (`rank`).

use std::ops::AddAssign;
use std::sync::LazyLock;

use daybook_domain::index::Terms;

use crate::akin::{AkinWords, TermSet};
use crate::query::{Concept, QUERY_TERMS, Query, TermIx};
use crate::relevance::{QueryWeights, TermPresence};
use crate::stopwords::instructive_terms;

/// BM25's k1: the smaller, the sooner repetition adds nothing. Low, because short memories repeat little.
const K1: f64 = 1.2;

/// Length in tokens at which an akin word counts half: the longer the text, the less one word means.
const AKIN_LENGTH: f64 = 80.0;

/// BM25's length normalisation: an average length in tokens, and `b`, from 0 (none) to 1 (proportional).
///
/// The average is a constant, so that a text scores the same in every store, whatever its size.
#[derive(Debug, Clone, Copy)]
pub struct LengthNorm {
    /// An average length in tokens.
    pub average: f64,
    /// How much a text's length counts, from 0 to 1.
    pub b: f64,
}

/// A question prepared for counting its terms in texts.
pub struct LexicalQuery<'a> {
    query: &'a Query,
    weights: &'a QueryWeights,
    /// The terms as numbers, in the order of [`TermIx`].
    terms: Vec<u32>,
    /// One bit for the last six bits of each number, which rejects most tokens before a comparison.
    prefilter: u64,
    akin: AkinWords,
}

/// Counts of a question's terms in a text, and the text's length in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueryTermCounts {
    length: u32,
    of: [u16; QUERY_TERMS],
}

/// Statistics of a passage for one question.
#[derive(Debug, Clone, Copy)]
pub struct PassageStats {
    /// Counts of the question's terms in it.
    pub counts: QueryTermCounts,
    /// Tokens in open sentences.
    pub open: u32,
}

/// Statistics of one text for one question.
#[derive(Debug, Clone, Default)]
pub struct TextStats {
    /// The term of the speaker's name that the text begins with.
    pub speaker: Option<u32>,
    /// Counts of the question's terms in the whole text.
    pub whole: QueryTermCounts,
    /// Each passage; empty for a text of one passage.
    pub passages: Vec<PassageStats>,
    /// Tokens in open sentences.
    pub open: u32,
    /// Whether it holds a word of standing instructions or of the speaker's preferences.
    pub is_instruction: bool,
    /// The share of the question that it contains in akin words only.
    pub akin: f64,
}

static INSTRUCTIVE: LazyLock<TermSet> =
    LazyLock::new(|| TermSet::of(instructive_terms().into_iter()));

impl<'a> LexicalQuery<'a> {
    /// A question with the weights of its words, and no akin words yet.
    #[must_use]
    pub fn new(query: &'a Query, weights: &'a QueryWeights) -> Self {
        let terms: Vec<u32> = query
            .terms()
            .iter()
            .map(|term| Terms::of_token(term))
            .collect();
        let prefilter = terms
            .iter()
            .fold(0, |prefilter, term| prefilter | 1 << (term & 63));
        Self {
            query,
            weights,
            terms,
            prefilter,
            akin: AkinWords::default(),
        }
    }

    /// Adds words that are akin to the question's.
    pub fn with_akin(self, akin: AkinWords) -> Self {
        Self { akin, ..self }
    }

    /// Whether the question has this term.
    pub fn contains_term(&self, term: u32) -> bool {
        self.terms.contains(&term)
    }

    /// Counts the question's terms in a text.
    #[must_use]
    pub fn text_stats(&self, terms: &Terms) -> TextStats {
        let mut stats = TextStats::default();
        let mut spoken = &*terms.0;
        if let Some(end) = spoken.iter().position(|term| *term == Terms::SPEAKER) {
            stats.speaker = spoken.first().copied();
            self.count(&spoken[..end], &mut stats.whole);
            spoken = &spoken[end + 1..];
        }
        let passages: Vec<&[u32]> = spoken.split(|term| *term == Terms::PASSAGE).collect();
        for passage in &passages {
            let mut counts = QueryTermCounts::default();
            stats.is_instruction |= self.count(passage, &mut counts);
            let open = count_open_tokens(passage);
            stats.open += open;
            stats.whole += counts;
            if passages.len() > 1 {
                stats.passages.push(PassageStats { counts, open });
            }
        }
        stats.akin = self.akin_share(spoken, &stats.whole);
        stats
    }

    /// The share of the question that a text contains in akin words only.
    fn akin_share(&self, terms: &[u32], counts: &QueryTermCounts) -> f64 {
        if self.akin.is_empty() {
            return 0.0;
        }
        let mut best = [0.0_f32; QUERY_TERMS];
        for (concept, angle) in self.akin.in_terms(terms) {
            best[concept] = best[concept].max(angle);
        }
        let mut share = 0.0;
        for (at, concept) in self.query.concepts().iter().enumerate() {
            if best[at] > 0.0 && counts.of_concept(concept) == 0.0 {
                let light = if concept.is_light { 0.5 } else { 1.0 };
                share += self.weights.concept(at) * light * f64::from(best[at]);
            }
        }
        share / self.weights.total() / (1.0 + f64::from(counts.length) / AKIN_LENGTH)
    }

    /// Adds terms to `counts`. Returns whether one of them marks a standing instruction.
    fn count(&self, terms: &[u32], counts: &mut QueryTermCounts) -> bool {
        let mut is_instruction = false;
        for &term in terms.iter().filter(|term| **term != Terms::OPEN) {
            counts.length += 1;
            is_instruction |= INSTRUCTIVE.has(term);
            if self.prefilter >> (term & 63) & 1 == 1
                && let Some(at) = self.terms.iter().position(|own| *own == term)
            {
                counts.of[at] = counts.of[at].saturating_add(1);
            }
        }
        is_instruction
    }

    /// The BM25 score of a text as a share of the question's weight, below 1.
    pub fn score(&self, counts: &QueryTermCounts, norm: LengthNorm) -> f64 {
        let relative = f64::from(counts.length) / norm.average;
        let damping = K1 * (1.0 - norm.b + norm.b * relative);
        let total = self.weights.total();
        let mut score = 0.0;
        for (at, concept) in self.query.concepts().iter().enumerate() {
            let count = counts.of_concept(concept);
            if count > 0.0 {
                let coverage = self.weights.coverage(concept, counts);
                score += coverage * self.weights.concept(at) / total * count / (count + damping);
            }
        }
        score
    }

    /// The share of the question's weight that a text contains at all, without the concepts for which `is_excluded`.
    pub fn share(&self, counts: &QueryTermCounts, is_excluded: impl Fn(&Concept) -> bool) -> f64 {
        let (mut had, mut all) = (0.0, 0.0);
        for (at, concept) in self.query.concepts().iter().enumerate() {
            if !is_excluded(concept) {
                let weight = self.weights.concept(at);
                all += weight;
                had += weight * self.weights.coverage(concept, counts);
            }
        }
        if all > 0.0 { had / all } else { 0.0 }
    }

    /// The share of the question's weight that both texts contain, without the concepts for which `is_excluded`.
    pub fn common_share(
        &self,
        one: &QueryTermCounts,
        other: &QueryTermCounts,
        is_excluded: impl Fn(&Concept) -> bool,
    ) -> f64 {
        let mut common = *one;
        for (count, of_other) in common.of.iter_mut().zip(other.of) {
            *count = (*count).min(of_other);
        }
        self.share(&common, is_excluded)
    }

    /// Whether a concept's whole is this term.
    pub fn is_term(&self, concept: &Concept, term: u32) -> bool {
        concept
            .whole
            .is_some_and(|whole| self.terms[whole.0] == term)
    }

    /// The question.
    #[must_use]
    pub fn query(&self) -> &'a Query {
        self.query
    }
}

impl TextStats {
    /// The share of the text's tokens in open sentences.
    pub fn open_share(&self) -> f64 {
        f64::from(self.open) / f64::from(self.whole.length.max(1))
    }
}

/// Counts the tokens of a passage in its open sentences.
fn count_open_tokens(passage: &[u32]) -> u32 {
    let parts = passage.split(|term| *term == Terms::OPEN);
    // An open sentence lies between one mark and the next.
    let open: usize = parts.skip(1).step_by(2).map(<[u32]>::len).sum();
    u32::try_from(open).unwrap_or(u32::MAX)
}

impl QueryTermCounts {
    /// The text's length in tokens.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Occurrences of a concept: those of its whole, else the mean over the parts that occur.
    fn of_concept(&self, concept: &Concept) -> f64 {
        let count = |term: &TermIx| f64::from(self.of[term.0]);
        if let Some(whole) = concept.whole.filter(|whole| self.has(*whole)) {
            return count(&whole);
        }
        let parts = concept.parts.iter().filter(|part| self.has(**part));
        let (sum, parts) = parts.fold((0.0, 0), |(sum, parts), part| {
            (sum + count(part), parts + 1)
        });
        sum / f64::from(parts.max(1))
    }
}

impl AddAssign for QueryTermCounts {
    fn add_assign(&mut self, other: Self) {
        self.length += other.length;
        for (count, more) in self.of.iter_mut().zip(other.of) {
            *count = count.saturating_add(more);
        }
    }
}

impl TermPresence for QueryTermCounts {
    fn has(&self, term: TermIx) -> bool {
        self.of[term.0] > 0
    }

    /// Terms that occur in one passage occur together.
    fn has_together(&self, terms: &[TermIx]) -> bool {
        !terms.is_empty() && terms.iter().all(|term| self.has(*term))
    }
}

#[cfg(test)]
#[path = "lexical_tests.rs"]
mod tests;

//! Scores a text by a question's words (BM25), from the numbers of its tokens.
//!
//! Each text is scanned once, to count the question's terms in the whole text and in each passage. Counts of a window
//! are sums of its texts' counts. A score is a share of the question's weight, so scores of different questions
//! compare.
//!
//! Not here: weights of terms (`relevance`), neighbours and vectors (`rank`).

use std::collections::{HashMap, HashSet};
use std::ops::AddAssign;
use std::sync::LazyLock;

use daybook_domain::index::Terms;
use daybook_domain::seams::Embedder;

use super::query::{Concept, QUERY_TERMS, Query, TermIx};
use super::relevance::{QueryWeights, TermPresence};
use super::stopwords::instructive_terms;
use daybook_text::tokens::index_text;

/// BM25's k1: the smaller, the sooner repetition adds nothing. Low, because short memories repeat little.
const K1: f64 = 1.2;

/// Least cosine between the vectors of akin words.
const AKIN_FLOOR: f32 = 0.3;
/// Length in tokens at which an akin word counts half: the longer the text, the less one word means.
const AKIN_LENGTH: f64 = 80.0;

/// BM25's length normalisation: an average length in tokens, and `b`, from 0 (none) to 1 (proportional).
///
/// The average is a constant, so that a text scores the same in every store, whatever its size.
#[derive(Debug, Clone, Copy)]
pub(super) struct LengthNorm {
    pub(super) average: f64,
    pub(super) b: f64,
}

/// A question prepared for counting its terms in texts.
pub(super) struct LexicalQuery<'a> {
    query: &'a Query,
    weights: &'a QueryWeights,
    /// The terms as numbers, in the order of [`TermIx`].
    terms: Vec<u32>,
    /// One bit for the last six bits of each number, which rejects most tokens before a comparison.
    prefilter: u64,
    akin: AkinWords,
}

/// Words whose vectors lie near those of a question's words.
#[derive(Default)]
pub(super) struct AkinWords {
    /// For each term, the concepts that it is akin to, with the cosine between their vectors.
    of: HashMap<u32, Vec<(usize, f32)>>,
    prefilter: TermSet,
}

impl AkinWords {
    /// Looks up the akin words of each concept in a model. Numbers and names have none.
    pub(super) fn of(query: &Query, embedder: &dyn Embedder) -> Self {
        let mut of: HashMap<u32, Vec<(usize, f32)>> = HashMap::new();
        for (at, concept) in query.concepts().iter().enumerate() {
            let word = concept.word.as_deref().filter(|word| is_ordinary(word));
            let own: Vec<u32> = concept
                .terms()
                .map(|t| Terms::of_token(query.term(t)))
                .collect();
            for (near, angle) in word.map_or_else(Vec::new, |word| embedder.near(word, AKIN_FLOOR))
            {
                let terms = Terms::of(&index_text(&near)).0;
                let [term] = &*terms else {
                    continue;
                };
                if !own.contains(term) {
                    of.entry(*term).or_default().push((at, angle));
                }
            }
        }
        let prefilter = TermSet::of(of.keys().copied().collect());
        Self { of, prefilter }
    }
}

fn is_ordinary(word: &str) -> bool {
    word.chars().count() >= 3 && word.chars().all(char::is_alphabetic)
}

/// Counts of a question's terms in a text, and the text's length in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct QueryTermCounts {
    length: u32,
    of: [u16; QUERY_TERMS],
}

/// Statistics of a passage for one question.
#[derive(Debug, Clone, Copy)]
pub(super) struct PassageStats {
    pub(super) counts: QueryTermCounts,
    /// Tokens in open sentences.
    pub(super) open: u32,
}

/// Statistics of one text for one question.
#[derive(Debug, Clone, Default)]
pub(super) struct TextStats {
    /// The term of the speaker's name that the text begins with.
    pub(super) speaker: Option<u32>,
    pub(super) whole: QueryTermCounts,
    /// Each passage; empty for a text of one passage.
    pub(super) passages: Vec<PassageStats>,
    /// Tokens in open sentences.
    pub(super) open: u32,
    /// Whether it holds a word of standing instructions or of the speaker's preferences.
    pub(super) is_instruction: bool,
    /// The share of the question that it contains in akin words only.
    pub(super) akin: f64,
}

static INSTRUCTIVE: LazyLock<TermSet> = LazyLock::new(|| TermSet::of(instructive_terms()));

/// A set of terms with a bit map in front, for lookups that nearly always miss.
#[derive(Default)]
struct TermSet {
    bits: Vec<u64>,
    terms: HashSet<u32>,
}

impl TermSet {
    fn of(terms: HashSet<u32>) -> Self {
        let mut bits = vec![0; 1 << 10];
        for term in &terms {
            bits[(term >> 6 & 0x3ff) as usize] |= 1_u64 << (term & 63);
        }
        Self { bits, terms }
    }

    fn has(&self, term: u32) -> bool {
        let word = self.bits.get((term >> 6 & 0x3ff) as usize);
        word.is_some_and(|word| word >> (term & 63) & 1 == 1) && self.terms.contains(&term)
    }
}

impl<'a> LexicalQuery<'a> {
    pub(super) fn new(query: &'a Query, weights: &'a QueryWeights) -> Self {
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
    pub(super) fn with_akin(self, akin: AkinWords) -> Self {
        Self { akin, ..self }
    }

    /// Whether the question has this term.
    pub(super) fn contains_term(&self, term: u32) -> bool {
        self.terms.contains(&term)
    }

    pub(super) fn text_stats(&self, terms: &Terms) -> TextStats {
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
        if self.akin.of.is_empty() {
            return 0.0;
        }
        let mut best = [0.0_f32; QUERY_TERMS];
        for term in terms.iter().filter(|term| self.akin.prefilter.has(**term)) {
            for (concept, angle) in self.akin.of.get(term).into_iter().flatten() {
                best[*concept] = best[*concept].max(*angle);
            }
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
    pub(super) fn score(&self, counts: &QueryTermCounts, norm: LengthNorm) -> f64 {
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
    pub(super) fn share(
        &self,
        counts: &QueryTermCounts,
        is_excluded: impl Fn(&Concept) -> bool,
    ) -> f64 {
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
    pub(super) fn common_share(
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
    pub(super) fn is_term(&self, concept: &Concept, term: u32) -> bool {
        concept
            .whole
            .is_some_and(|whole| self.terms[whole.0] == term)
    }

    pub(super) fn query(&self) -> &'a Query {
        self.query
    }
}

impl TextStats {
    /// The share of the text's tokens in open sentences.
    pub(super) fn open_share(&self) -> f64 {
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
    pub(super) fn length(&self) -> u32 {
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

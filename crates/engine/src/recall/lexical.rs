//! What a text has of a question's words (BM25), from the numbers of its tokens.
//!
//! A text is read once: how often each term of the question stands in the whole of it and in each passage.
//! Windows of several texts are sums of what was read. Scores are shares of what the question asks for, so
//! texts compare with each other across questions.
//!
//! Not here: what a term weighs (`relevance`), neighbours and vectors (`rank`).

use std::collections::{HashMap, HashSet};
use std::ops::AddAssign;
use std::sync::LazyLock;

use daybook_domain::index::Terms;
use daybook_domain::seams::Embedder;

use super::query::{Concept, QUERY_TERMS, Query, TermIx};
use super::relevance::{Evidence, Weights};
use super::stopwords::instructive_terms;
use super::tokens::index_text;

/// How soon repeating a word adds nothing; short memories repeat little.
const K1: f64 = 1.2;

/// Words whose vectors are further from a question's word have nothing to do with it.
const AKIN_FLOOR: f32 = 0.3;
/// Tokens after which a text that has a word akin to one of the question's is half as likely to mean it.
const AKIN_LENGTH: f64 = 80.0;

/// A length that a text is measured against, in tokens, and how much longer ones must have more: 0 not at
/// all, 1 in proportion. Constant, so that the same text scores the same in every store and at every size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    pub(super) average: f64,
    pub(super) b: f64,
}

/// A question, ready to be looked for.
pub(super) struct Asked<'a> {
    query: &'a Query,
    weights: &'a Weights,
    /// The terms as numbers, each at its place.
    terms: Vec<u32>,
    /// One bit for the last six bits of each number: most tokens are none of the terms.
    sieve: u64,
    akin: Akin,
}

/// Words that mean nearly what a question asks for.
#[derive(Default)]
pub(super) struct Akin {
    /// Of each term, the concepts that it is akin to, with the cosine of the angle between their vectors.
    of: HashMap<u32, Vec<(usize, f32)>>,
    sieve: Sieve,
}

impl Akin {
    /// The words that a model knows to be akin to the question's. Numbers and names stand for themselves.
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
                let [term] = terms.as_slice() else {
                    continue;
                };
                if !own.contains(term) {
                    of.entry(*term).or_default().push((at, angle));
                }
            }
        }
        let sieve = Sieve::of(of.keys().copied().collect());
        Self { of, sieve }
    }
}

fn is_ordinary(word: &str) -> bool {
    word.chars().count() >= 3 && word.chars().all(char::is_alphabetic)
}

/// How often the terms of a question stand in a text, and how long it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    length: u32,
    of: [u16; QUERY_TERMS],
}

/// What was read of a text.
#[derive(Debug, Clone, Default)]
pub(super) struct Read {
    /// The speaker that it begins with.
    pub(super) speaker: Option<u32>,
    pub(super) whole: Counts,
    /// Of each passage; empty when there is only one.
    pub(super) passages: Vec<Counts>,
    /// Whether it says how things are always to be done, or what its speaker likes.
    pub(super) is_instruction: bool,
    /// What share of the question stands in it in other words.
    pub(super) akin: f64,
}

static INSTRUCTIVE: LazyLock<Sieve> = LazyLock::new(|| Sieve::of(instructive_terms()));

/// A set of terms that hardly any token is in.
#[derive(Default)]
struct Sieve {
    bits: Vec<u64>,
    terms: HashSet<u32>,
}

impl Sieve {
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

impl<'a> Asked<'a> {
    pub(super) fn new(query: &'a Query, weights: &'a Weights) -> Self {
        let terms: Vec<u32> = query
            .terms()
            .iter()
            .map(|term| Terms::of_token(term))
            .collect();
        let sieve = terms.iter().fold(0, |sieve, term| sieve | 1 << (term & 63));
        Self {
            query,
            weights,
            terms,
            sieve,
            akin: Akin::default(),
        }
    }

    /// With words that are akin to the question's.
    pub(super) fn with_akin(self, akin: Akin) -> Self {
        Self { akin, ..self }
    }

    /// Whether the question has this term.
    pub(super) fn has(&self, term: u32) -> bool {
        self.terms.contains(&term)
    }

    pub(super) fn read(&self, terms: &Terms) -> Read {
        let mut read = Read::default();
        let mut said = terms.0.as_slice();
        if let Some(end) = said.iter().position(|term| *term == Terms::SPEAKER) {
            read.speaker = said.first().copied();
            self.count(&said[..end], &mut read.whole);
            said = &said[end + 1..];
        }
        let passages: Vec<&[u32]> = said.split(|term| *term == Terms::PASSAGE).collect();
        for passage in &passages {
            let mut counts = Counts::default();
            read.is_instruction |= self.count(passage, &mut counts);
            read.whole += counts;
            if passages.len() > 1 {
                read.passages.push(counts);
            }
        }
        read.akin = self.akin_share(said, &read.whole);
        read
    }

    /// What share of the question stands in a text in other words than its own.
    fn akin_share(&self, terms: &[u32], counts: &Counts) -> f64 {
        if self.akin.of.is_empty() {
            return 0.0;
        }
        let mut best = [0.0_f32; QUERY_TERMS];
        for term in terms.iter().filter(|term| self.akin.sieve.has(**term)) {
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

    /// Counts terms; whether one says how things are always to be done.
    fn count(&self, terms: &[u32], counts: &mut Counts) -> bool {
        let mut is_instruction = false;
        for &term in terms {
            counts.length += 1;
            is_instruction |= INSTRUCTIVE.has(term);
            if self.sieve >> (term & 63) & 1 == 1
                && let Some(at) = self.terms.iter().position(|asked| *asked == term)
            {
                counts.of[at] = counts.of[at].saturating_add(1);
            }
        }
        is_instruction
    }

    /// What share of the question a text has, and how densely, below 1.
    pub(super) fn score(&self, counts: &Counts, measure: Measure) -> f64 {
        let relative = f64::from(counts.length) / measure.average;
        let damping = K1 * (1.0 - measure.b + measure.b * relative);
        let total = self.weights.total();
        let mut score = 0.0;
        for (at, concept) in self.query.concepts().iter().enumerate() {
            let count = counts.of_concept(concept);
            if count > 0.0 {
                let degree = self.weights.degree(concept, counts);
                score += degree * self.weights.concept(at) / total * count / (count + damping);
            }
        }
        score
    }

    /// What share of the question's weight a text has at all, without the concepts in `but`.
    pub(super) fn share(&self, counts: &Counts, but: impl Fn(&Concept) -> bool) -> f64 {
        let (mut had, mut all) = (0.0, 0.0);
        for (at, concept) in self.query.concepts().iter().enumerate() {
            if !but(concept) {
                let weight = self.weights.concept(at);
                all += weight;
                had += weight * self.weights.degree(concept, counts);
            }
        }
        if all > 0.0 { had / all } else { 0.0 }
    }

    /// Whether a concept is one term, and it is this one.
    pub(super) fn is_term(&self, concept: &Concept, term: u32) -> bool {
        concept
            .whole
            .is_some_and(|whole| self.terms[whole.0] == term)
    }

    pub(super) fn query(&self) -> &'a Query {
        self.query
    }
}

impl Counts {
    /// How many tokens.
    pub(super) fn length(&self) -> u32 {
        self.length
    }

    /// Occurrences of the concept: of its whole, else the mean of the parts that occur.
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

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.length += other.length;
        for (count, more) in self.of.iter_mut().zip(other.of) {
            *count = count.saturating_add(more);
        }
    }
}

impl Evidence for Counts {
    fn has(&self, term: TermIx) -> bool {
        self.of[term.0] > 0
    }

    /// What stands in one passage stands together.
    fn gathers(&self, terms: &[TermIx]) -> bool {
        !terms.is_empty() && terms.iter().all(|term| self.has(*term))
    }
}

#[cfg(test)]
#[path = "lexical_tests.rs"]
mod tests;

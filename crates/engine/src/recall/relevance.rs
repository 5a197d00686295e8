//! What a concept of a question weighs, and when a text is about the question at all.
//!
//! A concept weighs what its rarity in the corpus says. One that occurs nowhere weighs most: it
//! is what the question is about and what was never discussed, and no number of common words
//! makes up for it. So a question about an unknown thing finds nothing instead of something.
//!
//! Not here: the order of the texts that pass (`rank`), how they are fetched (`plan`).

use std::collections::HashMap;

use super::query::{Concept, Query, TermIx};

/// Share of the weight of a question of one concept that the best text must carry. The longer a
/// question, the more of its words need not stand in the answer: the share falls with the square
/// root of the number of concepts (0.44 for two equal ones, 0.28 for five). A fixed share that
/// loses as few answers lets through a tenth more questions about what was never discussed.
pub const DISCUSSED_SHARE: f64 = 0.62;
/// Share of the question's weight that every further text must carry once the best one has shown
/// that the question was discussed. It keeps out texts that share one everyday word.
pub const RELEVANT_SHARE: f64 = 0.1;
/// What a light word proves, compared to another word as rare.
const LIGHT_PROOF: f64 = 0.3;
/// What all parts of a name are worth where the name itself does not stand.
const SCATTERED_PARTS: f64 = 0.7;
/// The same if they stand together: `rewind points` for `getRewindPoints` is nearly the name.
const GATHERED_PARTS: f64 = 0.9;

/// What ranking knows of all texts that could have been found.
#[derive(Debug, Clone, Copy)]
pub struct Corpus<'a> {
    /// How many texts there are.
    pub total: u64,
    /// Mean number of tokens in a text, all its fields together.
    pub average_length: f64,
    /// In how many texts each term of the question occurs; a term that is missing occurs in none.
    pub document_frequency: &'a HashMap<String, u64>,
}

/// What every term and concept of one question weighs in one corpus.
#[derive(Debug)]
pub(super) struct Weights {
    terms: Vec<f64>,
    concepts: Vec<Weight>,
    total: Weight,
    /// Share of the proof that the best text must carry.
    discussed_share: f64,
    /// Share of the proof that all texts carry between them.
    known_share: f64,
}

/// Light words help to order texts as much as any others, but hardly prove that one is relevant.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weight {
    /// For the order.
    pub(super) rank: f64,
    /// For relevance.
    pub(super) proof: f64,
}

/// Which terms of a question a text has.
pub(super) trait Evidence {
    fn has(&self, term: TermIx) -> bool;
    /// Whether the terms stand close to each other somewhere.
    fn gathers(&self, terms: &[TermIx]) -> bool;
}

impl Weights {
    pub(super) fn of(query: &Query, total: u64, frequency: &HashMap<String, u64>) -> Self {
        let count = |term: &String| frequency.get(term).copied().unwrap_or(0);
        let counts: Vec<u64> = query.terms().iter().map(count).collect();
        let corpus = KnownTerms(&counts);
        let mut weights = Self {
            terms: counts.iter().map(|count| rarity(total, *count)).collect(),
            concepts: Vec::with_capacity(query.concepts().len()),
            total: Weight::default(),
            discussed_share: 0.0,
            known_share: 0.0,
        };
        let mut known = 0.0;
        let mut squares = 0.0;
        for concept in query.concepts() {
            let weight = weights.weigh(concept, &corpus, rarity(total, 0));
            weights.total.rank += weight.rank;
            weights.total.proof += weight.proof;
            weights.concepts.push(weight);
            known += weight.proof * weights.degree(concept, &corpus);
            squares += weight.proof * weight.proof;
        }
        if squares > 0.0 {
            // How many concepts of equal weight would be as much: one heavy and four slight ones
            // are hardly more than one.
            let breadth = weights.total.proof * weights.total.proof / squares;
            weights.discussed_share = DISCUSSED_SHARE / breadth.sqrt();
            weights.known_share = known / weights.total.proof;
        }
        weights
    }

    /// The weight of one concept, by its place in the question.
    pub(super) fn concept(&self, at: usize) -> Weight {
        self.concepts[at]
    }

    /// The weight of all concepts together.
    pub(super) fn total(&self) -> Weight {
        self.total
    }

    /// Whether there is a question, and the corpus knows enough of it for any text to be an answer.
    pub(super) fn may_be_answered(&self) -> bool {
        self.total.proof > 0.0 && self.is_discussed(self.known_share)
    }

    /// Whether a best text that carries `share` of the proof shows that the question was discussed.
    pub(super) fn is_discussed(&self, share: f64) -> bool {
        share >= self.discussed_share
    }

    /// How much of a concept a text has, from nothing (0) to all (1).
    pub(super) fn degree(&self, concept: &Concept, text: &impl Evidence) -> f64 {
        if concept.whole.is_some_and(|whole| text.has(whole)) {
            return 1.0;
        }
        let all: f64 = concept.parts.iter().map(|part| self.terms[part.0]).sum();
        let had = concept.parts.iter().filter(|part| text.has(**part));
        let had: f64 = had.map(|part| self.terms[part.0]).sum();
        if had == 0.0 {
            0.0
        } else if concept.is_run {
            had / all
        } else if text.gathers(&concept.parts) {
            GATHERED_PARTS
        } else {
            had / all * SCATTERED_PARTS
        }
    }

    fn weigh(&self, concept: &Concept, corpus: &KnownTerms<'_>, unknown: f64) -> Weight {
        let parts = concept.parts.iter().map(|part| self.terms[part.0]);
        let rank = match concept.whole {
            // A pair is half a word, and neighbouring pairs share a character.
            None => parts.sum::<f64>() * (1.0 + 1.0 / concept.parts.len() as f64) / 2.0,
            Some(whole) if corpus.has(whole) => self.terms[whole.0],
            // Another way to write it must not make a known name the rarest of all.
            Some(_) if corpus.gathers(&concept.parts) => parts.fold(0.0, f64::max),
            Some(_) => unknown,
        };
        let proof = if concept.is_light {
            rank * LIGHT_PROOF
        } else {
            rank
        };
        Weight { rank, proof }
    }
}

/// A corpus has what occurs in any of its texts.
struct KnownTerms<'a>(&'a [u64]);

impl Evidence for KnownTerms<'_> {
    fn has(&self, term: TermIx) -> bool {
        self.0[term.0] > 0
    }

    fn gathers(&self, terms: &[TermIx]) -> bool {
        !terms.is_empty() && terms.iter().all(|term| self.has(*term))
    }
}

/// Inverse document frequency, smoothed so that it is above zero even for a word of every text.
fn rarity(total: u64, count: u64) -> f64 {
    let (total, count) = (total as f64, count.min(total) as f64);
    ((total - count + 0.5) / (count + 0.5)).ln_1p()
}

//! Weighs the concepts of a question, and measures how much of a concept a text contains.
//!
//! A concept's weight is its rarity in the corpus. A concept that occurs nowhere weighs most: it is the subject of the
//! question, was never discussed, and no number of common words makes up for it. So every text matches only a small
//! share of a question about an unknown thing.
//!
//! Not here: the order of texts (`rank`), how they are fetched (`plan`).

use std::collections::HashMap;

use crate::query::{Concept, Query, TermIx};

/// Least share of a question's weight that a text must match in a search by rare terms. It keeps out texts that share
/// one everyday word.
pub const RELEVANT_SHARE: f64 = 0.1;
/// Least corpus size that rarity assumes. In a corpus of a few texts nearly all contain any known word, which would
/// leave that word without weight beside an unknown one.
const FEW_TEXTS: u64 = 200;
/// Coverage of a name whose parts all occur, but apart from each other.
const SCATTERED_PARTS: f64 = 0.7;
/// Coverage of a name whose parts occur together: `rewind points` for `getRewindPoints` is nearly the name.
const GATHERED_PARTS: f64 = 0.9;

/// The weights of one question's terms and concepts in one corpus.
#[derive(Debug)]
pub struct QueryWeights {
    terms: Vec<f64>,
    concepts: Vec<f64>,
    total: f64,
}

/// Reports which terms of a question a text contains.
pub trait TermPresence {
    /// Whether it has a term.
    fn has(&self, term: TermIx) -> bool;
    /// Whether all these terms occur together: in one passage, or in the same corpus.
    fn has_together(&self, terms: &[TermIx]) -> bool;
}

impl QueryWeights {
    /// The weights of a question's words in a corpus of `total` texts, from the number of texts that contain each term.
    #[must_use]
    #[inline(never)]
    pub fn of(query: &Query, total: u64, frequency: &HashMap<String, u64>) -> Self {
        let count = |term: &String| frequency.get(term).copied().unwrap_or(0);
        let counts: Vec<u64> = query.terms().iter().map(count).collect();
        let corpus = KnownTerms(&counts);
        let mut weights = Self {
            terms: counts.iter().map(|count| rarity(total, *count)).collect(),
            concepts: Vec::with_capacity(query.concepts().len()),
            total: 0.0,
        };
        for concept in query.concepts() {
            let weight = weights.weigh(concept, &corpus, rarity(total, 0));
            weights.total += weight;
            weights.concepts.push(weight);
        }
        weights
    }

    /// The weight of one concept, by its index in the question.
    pub fn concept(&self, at: usize) -> f64 {
        self.concepts[at]
    }

    /// The sum of the concepts' weights.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// How much of a concept a text contains, from 0 to 1.
    pub fn coverage(&self, concept: &Concept, text: &impl TermPresence) -> f64 {
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
        } else if text.has_together(&concept.parts) {
            GATHERED_PARTS
        } else {
            had / all * SCATTERED_PARTS
        }
    }

    fn weigh(&self, concept: &Concept, corpus: &KnownTerms<'_>, unknown: f64) -> f64 {
        let parts = concept.parts.iter().map(|part| self.terms[part.0]);
        match concept.whole {
            // A pair is half a word, and neighbouring pairs share a character.
            None => parts.sum::<f64>() * (1.0 + 1.0 / concept.parts.len() as f64) / 2.0,
            Some(whole) if corpus.has(whole) => self.terms[whole.0],
            // Another way to write it must not make a known name the rarest of all.
            Some(_) if corpus.has_together(&concept.parts) => parts.fold(0.0, f64::max),
            Some(_) => unknown,
        }
    }
}

/// A corpus contains each term that any of its texts contains.
struct KnownTerms<'a>(&'a [u64]);

impl TermPresence for KnownTerms<'_> {
    fn has(&self, term: TermIx) -> bool {
        self.0[term.0] > 0
    }

    fn has_together(&self, terms: &[TermIx]) -> bool {
        !terms.is_empty() && terms.iter().all(|term| self.has(*term))
    }
}

/// Inverse document frequency, smoothed so that it is above zero even for a word of every text.
fn rarity(total: u64, count: u64) -> f64 {
    let total = total.max(FEW_TEXTS);
    let (total, count) = (total as f64, count.min(total) as f64);
    ((total - count + 0.5) / (count + 0.5)).ln_1p()
}

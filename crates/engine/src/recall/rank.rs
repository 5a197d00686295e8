//! The order of what was found.
//!
//! Every text is scored by what it has of the question, concept by concept (BM25), by how much is
//! missing, by whether the concepts stand together, and by the layer of memory it comes from. Texts
//! that are not about the question are left out ([`relevance`](super::relevance)). The order is
//! total and depends on values alone, so every database gives the same answer.
//!
//! Not here: fetching candidates (`plan`), the clock, vectors.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::found::Found;
use super::query::{Query, TermIx};
use super::relevance::{Corpus, RELEVANT_SHARE, Weights};

/// How soon repeating a word adds nothing; short memories repeat little.
const K1: f64 = 1.2;
/// How much longer texts must have more: 0 not at all, 1 in proportion.
const B: f64 = 0.5;
/// What part of the score depends on concepts standing together.
const PROXIMITY_SHARE: f64 = 0.1;
/// What part of the score is lost where concepts are missing: having all of them is better than
/// having the rarest one many times.
const COVERAGE_SHARE: f64 = 0.3;
/// Scores are multiples of this. What differs by less is equally good, and the newer comes first.
const SCORE_STEP: f64 = 0.001;

/// A question of which the best text scores less, in the best layer, is only touched on: a word of
/// it stands once somewhere in a long text about something else. A text of average length that has
/// a third of the question scores more.
const IN_PASSING: f64 = 0.21;

/// A text that may be an answer.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Decides between texts that are equal in all else.
    pub id: &'a str,
    /// What is remembered.
    pub text: &'a str,
    /// What it was about or said next to.
    pub context: Option<&'a str>,
    /// What it is called.
    pub title: Option<&'a str>,
    /// How much its layer of memory is preferred.
    pub layer: LayerWeight,
    /// When it was said, in milliseconds.
    pub time: i64,
}

/// How much a layer of memory is preferred, in percent of the best: curated before raw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LayerWeight(u8);

impl LayerWeight {
    /// The layer that answers are best taken from.
    pub const BEST: Self = Self(100);

    /// A weight in percent; more than a hundred is a hundred.
    pub fn percent(percent: u8) -> Self {
        Self(percent.min(100))
    }

    fn factor(self) -> f64 {
        f64::from(self.0) / 100.0
    }
}

/// One answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Index of the candidate.
    pub candidate: usize,
    /// From 0 to 1: how much of the question the text carries, and how densely. A text of average
    /// length that has everything once, side by side and in the best layer, gets about one half;
    /// 1 is never reached. Comparable within one question only.
    pub score: f64,
}

/// The candidates that are about the question, best first: by score, then time, then id.
/// Nothing if the best of them shows that the question was never discussed.
pub fn rank(query: &Query, corpus: &Corpus<'_>, candidates: &[Candidate<'_>]) -> Vec<Ranked> {
    let weights = Weights::of(query, corpus.total, corpus.document_frequency);
    if !weights.may_be_answered() {
        return Vec::new();
    }
    let terms = query
        .terms()
        .iter()
        .enumerate()
        .map(|(at, term)| (term.as_str(), TermIx(at)));
    let scorer = Scorer {
        query,
        weights,
        terms: terms.collect(),
        average: corpus.average_length,
    };
    let mut best_share: f64 = 0.0;
    let mut best_score: f64 = 0.0;
    let mut ranked = Vec::new();
    for (at, candidate) in candidates.iter().enumerate() {
        if let Some(judged) = scorer.judge(candidate) {
            best_share = best_share.max(judged.share);
            best_score = best_score.max(judged.score / candidate.layer.factor());
            ranked.push(Ranked {
                candidate: at,
                score: judged.score,
            });
        }
    }
    if !scorer.weights.is_discussed(best_share) || best_score < IN_PASSING {
        return Vec::new();
    }
    ranked.sort_by(|a, b| order(candidates, a, b));
    ranked
}

fn order(candidates: &[Candidate<'_>], a: &Ranked, b: &Ranked) -> Ordering {
    let (first, second) = (&candidates[a.candidate], &candidates[b.candidate]);
    b.score
        .total_cmp(&a.score)
        .then_with(|| second.time.cmp(&first.time))
        .then_with(|| first.id.cmp(second.id))
}

struct Judged {
    /// Share of the question's proof that the text carries.
    share: f64,
    score: f64,
}

struct Scorer<'a> {
    query: &'a Query,
    weights: Weights,
    terms: HashMap<&'a str, TermIx>,
    average: f64,
}

impl Scorer<'_> {
    /// Nothing if the text is not about the question.
    fn judge(&self, candidate: &Candidate<'_>) -> Option<Judged> {
        let found = Found::in_text(candidate, &self.terms);
        if !self
            .query
            .phrases()
            .iter()
            .all(|phrase| found.has_phrase(phrase))
        {
            return None;
        }
        let total = self.weights.total();
        let (mut share, mut density) = (0.0, 0.0);
        for (at, concept) in self.query.concepts().iter().enumerate() {
            let degree = self.weights.degree(concept, &found);
            let weight = self.weights.concept(at);
            share += degree * weight.proof / total.proof;
            let count = found.concept_count(concept);
            density += degree * weight.rank / total.rank * self.saturated(count, found.length());
        }
        if share < RELEVANT_SHARE {
            return None;
        }
        let closeness = self.closeness(&found).unwrap_or(density);
        let quality = density + PROXIMITY_SHARE * (closeness - density);
        let coverage = 1.0 - COVERAGE_SHARE * (1.0 - share);
        let score = quality * coverage * candidate.layer.factor();
        Some(Judged {
            share,
            score: (score / SCORE_STEP).floor() * SCORE_STEP,
        })
    }

    /// What `count` occurrences are worth in a text of this length, below 1.
    fn saturated(&self, count: f64, length: u32) -> f64 {
        let relative = f64::from(length) / self.average.max(1.0);
        count / (count + K1 * (1.0 - B + B * relative))
    }

    /// How close concepts that follow each other in the question stand in the text, from 0 to 1.
    /// A single concept has nothing to be close to.
    fn closeness(&self, found: &Found) -> Option<f64> {
        let concepts = self.query.concepts();
        let (mut close, mut all) = (0.0, 0.0);
        for at in 1..concepts.len() {
            let (before, after) = (self.weights.concept(at - 1), self.weights.concept(at));
            let weight = before.rank.min(after.rank);
            all += weight;
            if let Some(gap) = found.gap(&concepts[at - 1], &concepts[at]) {
                close += weight / f64::from(gap);
            }
        }
        (all > 0.0).then(|| close / all)
    }
}

#[cfg(test)]
#[path = "rank_tests.rs"]
mod tests;

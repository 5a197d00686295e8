//! Computes metrics of results: recall, order, size and time, as pure functions of ranks.
//!
//! A rank is the position, counted from 1, of the first result that covers a piece of evidence. A result with several
//! events counts for each of them, so the length of results is reported beside recall.

use std::collections::HashSet;

use serde::Serialize;

use crate::ask::RetrievedText;
use crate::bm25::stems;
use crate::dataset::EvidencePiece;

/// The first results: their tokens are counted, and a model answers from them.
pub(crate) const SHOWN: usize = 10;

/// One system's outcome for one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RetrievalOutcome {
    /// The rank of each piece of evidence; `None` where no result covers it.
    pub ranks: Vec<Option<usize>>,
    /// Number of results.
    pub results: usize,
    /// Estimated tokens of the first ten results.
    pub tokens: u64,
    /// The share of the expected answer's words in what is shown of the first result that covers evidence; `None`
    /// without such a result among the first three, or without an expected answer.
    pub shown: Option<f64>,
    /// Time of the call in milliseconds.
    pub milliseconds: f64,
}

/// How many of a question's words its evidence contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SharedWords {
    /// The most words that one turn of the evidence shares with the question. Words of one stem count once, stop
    /// words do not count.
    pub shared: usize,
    /// Words of the question.
    pub of: usize,
}

/// Metrics over some questions. Shares are from 0 to 1.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RetrievalMetrics {
    /// Number of questions.
    pub questions: usize,
    /// Mean share of the evidence among the first 5 results.
    pub recall_5: f64,
    /// Mean share of the evidence among the first 10 results.
    pub recall_10: f64,
    /// Mean share of the evidence among the first 20 results.
    pub recall_20: f64,
    /// Share of questions whose first result covers any of their evidence.
    pub hit_1: f64,
    /// Share of questions with any of their evidence among the first 3 results.
    pub hit_3: f64,
    /// Share of questions with any of their evidence among the first 10 results.
    pub hit_10: f64,
    /// Share of questions with all of their evidence among the first 10 results.
    pub all_10: f64,
    /// Mean of 1 / rank of the first result that covers evidence.
    pub mrr: f64,
    /// Mean discounted gain of the first 10 results, as a share of the best possible one.
    pub ndcg_10: f64,
    /// Mean share of the expected answer's words in what is shown of the first result that covers evidence, where one
    /// of the first 3 does.
    pub shown: f64,
    /// Median of the estimated tokens of the first 10 results.
    pub tokens: u64,
    /// Median time of a call in milliseconds.
    pub p50_ms: f64,
    /// Time that 95 % of calls stay within, in milliseconds.
    pub p95_ms: f64,
    /// Number of questions without results.
    pub empty: usize,
}

impl RetrievalMetrics {
    /// Computes the metrics over `outcomes`.
    pub(crate) fn of(outcomes: &[&RetrievalOutcome]) -> Self {
        let mean = |value: fn(&[Option<usize>]) -> f64| {
            let all: f64 = outcomes.iter().map(|outcome| value(&outcome.ranks)).sum();
            all / outcomes.len().max(1) as f64
        };
        let times = || outcomes.iter().map(|outcome| outcome.milliseconds);
        let tokens = outcomes.iter().map(|outcome| outcome.tokens as f64);
        Self {
            questions: outcomes.len(),
            recall_5: mean(|ranks| recall(ranks, 5)),
            recall_10: mean(|ranks| recall(ranks, 10)),
            recall_20: mean(|ranks| recall(ranks, 20)),
            hit_1: mean(|ranks| f64::from(u8::from(recall(ranks, 1) > 0.0))),
            hit_3: mean(|ranks| f64::from(u8::from(recall(ranks, 3) > 0.0))),
            hit_10: mean(|ranks| f64::from(u8::from(recall(ranks, 10) > 0.0))),
            all_10: mean(|ranks| f64::from(u8::from(recall(ranks, 10) == 1.0))),
            mrr: mean(reciprocal_rank),
            ndcg_10: mean(|ranks| ndcg(ranks, 10)),
            shown: {
                let shown = outcomes.iter().filter_map(|outcome| outcome.shown);
                let (sum, of) = shown.fold((0.0, 0), |(sum, of), share| (sum + share, of + 1));
                sum / f64::from(of.max(1))
            },
            tokens: quantile(tokens, 0.5) as u64,
            p50_ms: quantile(times(), 0.5),
            p95_ms: quantile(times(), 0.95),
            empty: outcomes
                .iter()
                .filter(|outcome| outcome.results == 0)
                .count(),
        }
    }
}

/// The rank of each piece of evidence in the results.
pub(crate) fn ranks(evidence: &[EvidencePiece], results: &[RetrievedText]) -> Vec<Option<usize>> {
    let rank = |piece: &EvidencePiece| {
        let is_of = |hit: &RetrievedText| {
            let first = piece.events.first();
            hit.session.is_some() && hit.session.as_ref() == first.map(|event| &event.session)
        };
        let shows = |hit: &RetrievedText| {
            let names = hit.events.iter().any(|event| piece.events.contains(event));
            names || piece.is_session && is_of(hit)
        };
        results.iter().position(shows).map(|index| index + 1)
    };
    evidence.iter().map(rank).collect()
}

/// The share of `answer`'s words in what is shown of the first of three results that covers evidence.
pub(crate) fn shown_share(
    answer: &str,
    ranks: &[Option<usize>],
    results: &[RetrievedText],
) -> Option<f64> {
    let best = ranks.iter().flatten().min().filter(|rank| **rank <= 3)?;
    let shown: HashSet<String> = stems(&results[best - 1].excerpt).into_iter().collect();
    let words: HashSet<String> = stems(answer).into_iter().collect();
    let share = words.intersection(&shown).count() as f64 / words.len() as f64;
    (!words.is_empty()).then_some(share)
}

/// The share of the evidence among the first `k` results.
pub(crate) fn recall(ranks: &[Option<usize>], k: usize) -> f64 {
    if ranks.is_empty() {
        return 0.0;
    }
    let within = ranks.iter().flatten().filter(|rank| **rank <= k);
    within.count() as f64 / ranks.len() as f64
}

fn reciprocal_rank(ranks: &[Option<usize>]) -> f64 {
    let first = ranks.iter().flatten().min();
    first.map_or(0.0, |rank| 1.0 / *rank as f64)
}

/// Normalised discounted cumulative gain, with a gain of 1 for each piece of evidence. The ideal order has one piece in
/// each result; results with several pieces exceed it, and are capped at 1.
fn ndcg(ranks: &[Option<usize>], k: usize) -> f64 {
    let gain = |rank: usize| 1.0 / (rank as f64 + 1.0).log2();
    let within = ranks.iter().flatten().filter(|rank| **rank <= k);
    let gained = within.fold(0.0, |gained, rank| gained + gain(*rank));
    let best = (1..=ranks.len().min(k)).fold(0.0, |best, rank| best + gain(rank));
    if best == 0.0 {
        return 0.0;
    }
    (gained / best).min(1.0)
}

/// The smallest value that a share `q` of all values does not exceed; 0 without values.
pub(crate) fn quantile(values: impl Iterator<Item = f64>, q: f64) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let rank = (q * values.len() as f64).ceil() as usize;
    values.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;

//! Which of the scored candidates are gone on with: those that may be answers, and the messages whose neighbours are fetched; and
//! how confident all of them make.
//!
//! Not here: scores (`rank`).

use daybook_domain::index::DocumentNo;

use crate::confidence::{ConfidenceSignals, RecallConfidence};
use crate::rank::{Documents, REACH, RankingQuery, RecallCandidate, speakers};

/// Most concepts of a question that count for its confidence: further ones only make a question longer.
const CONCEPTS: usize = 8;

/// The candidates that may be answers, best first, and the newest of equals first.
#[must_use]
#[inline(never)]
pub fn best_first(candidates: &[RecallCandidate]) -> Vec<&RecallCandidate> {
    let ranked = candidates.iter().filter(|c| c.is_ranked);
    let mut scored: Vec<(f64, i64, &RecallCandidate)> = ranked
        .map(|c| (c.stepped_score(), c.outline.doc.age(), c))
        .collect();
    scored.sort_by(|(one, age, _), (other, other_age, _)| {
        let newest = || other_age.cmp(age);
        other.total_cmp(one).then_with(newest)
    });
    scored
        .into_iter()
        .map(|(_, _, candidate)| candidate)
        .collect()
}

/// The messages with the best scores of their own, at most `most`, in the order of their numbers.
#[must_use]
#[inline(never)]
pub fn best_messages(candidates: &[RecallCandidate], most: usize) -> Vec<DocumentNo> {
    let said = candidates.iter().filter(|c| c.outline.doc.is_said());
    let mut scored: Vec<(f64, DocumentNo)> = said.map(|c| (c.own_score(), c.outline.doc)).collect();
    let better = |(one, doc): &(f64, DocumentNo), (other, other_doc): &(f64, DocumentNo)| {
        other.total_cmp(one).then(other_doc.cmp(doc))
    };
    if scored.len() > most {
        scored.select_nth_unstable_by(most, better);
        scored.truncate(most);
    }
    let mut best: Vec<DocumentNo> = scored.into_iter().map(|(_, doc)| doc).collect();
    best.sort_unstable();
    best
}

/// The messages of `around` whose neighbours up to [`REACH`] are all in it, and which are neighbours of `best`. `around`
/// holds the neighbours of `best` up to twice that distance; both are in the order of their numbers.
#[must_use]
#[inline(never)]
pub fn surrounded(around: &[DocumentNo], best: &[DocumentNo]) -> Documents {
    let mut surrounded = Documents::default();
    for (at, doc) in around.iter().enumerate() {
        if best.binary_search(doc).is_ok() {
            let from = at.saturating_sub(REACH);
            let to = (at + REACH + 1).min(around.len());
            let own = around[from..to]
                .iter()
                .filter(|beside| beside.session() == doc.session());
            surrounded.extend(own.copied());
        }
    }
    surrounded
}

/// How confident these candidates make that the question was discussed.
#[must_use]
#[inline(never)]
pub fn confidence(ranking: &RankingQuery<'_>, candidates: &[RecallCandidate]) -> RecallConfidence {
    let lexical = &ranking.lexical;
    let names = speakers(candidates);
    let is_name = |concept: &_| names.iter().any(|name| lexical.is_term(concept, *name));
    let ranked = || candidates.iter().filter(|candidate| candidate.is_ranked);
    let most = |scores: &mut dyn Iterator<Item = f64>| scores.fold(0.0, f64::max);
    RecallConfidence::of(ConfidenceSignals {
        share: most(&mut ranked().map(|c| lexical.share(&c.window_counts, is_name))),
        score: most(&mut ranked().map(|c| c.parts.all_but_session())),
        angle: (!ranking.vector.is_none())
            .then(|| most(&mut ranked().map(RecallCandidate::best_cosine))),
        concepts: lexical.query().concepts().len().min(CONCEPTS),
    })
}

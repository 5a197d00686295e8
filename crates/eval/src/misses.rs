//! Finds questions whose evidence is not among the first results, and the reason for each.

use serde::Serialize;
use strum::VariantArray;

use crate::metrics::SHOWN;
use crate::report::{DAYBOOK, EvalReport, QuestionRecord};

/// Shared words up to which evidence counts as differently worded: nearly every turn shares one with a question.
const FEW_WORDS: usize = 1;

/// Why the evidence is not among the first ten results; variants are in the order in which they are tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[derive(VariantArray)]
pub enum MissReason {
    /// It is among the results after the first ten.
    RankedLow,
    /// It uses other words than the question.
    OtherWords,
    /// It has words of the question, and so do many other texts.
    OthersFit,
}

/// A question without any evidence among the first ten results.
#[derive(Debug, Clone, Copy)]
pub struct Miss<'a> {
    /// The question.
    pub record: &'a QuestionRecord,
    /// The rank of the first result that covers evidence, counted from 1.
    pub rank: Option<usize>,
    /// Why the evidence is not among the first results.
    pub reason: MissReason,
}

/// Daybook's misses among the counted questions, in their order.
#[must_use]
pub fn misses(report: &EvalReport) -> Vec<Miss<'_>> {
    let counted = report.questions.iter().filter(|record| record.counts());
    counted.filter_map(miss).collect()
}

fn miss(record: &QuestionRecord) -> Option<Miss<'_>> {
    let outcome = record.outcome(DAYBOOK)?;
    let rank = outcome.ranks.iter().flatten().min().copied();
    let reason = match rank {
        Some(rank) if rank <= SHOWN => return None,
        Some(_) => MissReason::RankedLow,
        None if record.words.shared <= FEW_WORDS => MissReason::OtherWords,
        None => MissReason::OthersFit,
    };
    Some(Miss {
        record,
        rank,
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Counting;
    use crate::metrics::{RetrievalOutcome, SharedWords};
    use crate::report::SystemOutcome;

    fn record(ranks: &[Option<usize>], shared: usize) -> QuestionRecord {
        let outcome = RetrievalOutcome {
            ranks: ranks.to_vec(),
            results: 20,
            tokens: 0,
            shown: None,
            milliseconds: 0.0,
        };
        QuestionRecord {
            conversation: "one".into(),
            id: "1".into(),
            class: "fact".into(),
            question: "Which harbour?".into(),
            answer: "Oban".into(),
            counting: Counting::Counted,
            split: None,
            first: String::new(),
            evidence: Vec::new(),
            words: SharedWords { shared, of: 4 },
            confidence: 0.0,
            is_likely: false,
            signals: None,
            systems: vec![SystemOutcome {
                system: DAYBOOK,
                outcome,
            }],
            answered: None,
        }
    }

    #[test]
    fn a_miss_is_explained_by_its_rank_and_then_by_its_words() {
        let reason = |ranks: &[Option<usize>], shared| {
            miss(&record(ranks, shared)).map(|miss| (miss.rank, miss.reason))
        };
        assert_eq!(reason(&[None, Some(10)], 0), None);
        assert_eq!(
            reason(&[Some(14), None, Some(11)], 0),
            Some((Some(11), MissReason::RankedLow))
        );
        assert_eq!(reason(&[None], 1), Some((None, MissReason::OtherWords)));
        assert_eq!(reason(&[None], 2), Some((None, MissReason::OthersFit)));
    }
}

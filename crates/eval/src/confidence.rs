//! Measures how well confidence separates answerable questions from others. Each conversation's questions are also asked
//! in another conversation's memory, with the participants' names exchanged, where nothing answers them.

use regex::{Captures, Regex};
use serde::Serialize;

use crate::metrics::quantile;

/// The share of right answers that the threshold of [`ConfidenceReport::foreign_rejected_at_95`] keeps.
const KEPT: f64 = 0.95;

/// How well confidence separates rightly answered questions from foreign ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfidenceReport {
    /// Number of own questions with evidence among the first ten results.
    pub right: usize,
    /// The kind of the foreign questions.
    pub kind: Unanswerable,
    /// Number of foreign questions.
    pub foreign: usize,
    /// The chance that a right answer has more confidence than a foreign question; 0.5 is guessing.
    pub auc: f64,
    /// Share of foreign questions whose results are not presented as likely.
    pub foreign_below_likely: f64,
    /// Share of right answers that are presented as likely.
    pub right_likely: f64,
    /// Share of foreign questions below the confidence that 95 % of right answers reach.
    pub foreign_rejected_at_95: f64,
}

/// Questions that a memory cannot answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unanswerable {
    /// About another conversation, with the names exchanged.
    OtherConversation,
    /// Marked as never discussed.
    NeverDiscussed,
}

/// A system's confidence in its answer, and whether it presents it as likely.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StatedConfidence {
    pub(crate) value: f64,
    pub(crate) is_likely: bool,
}

impl ConfidenceReport {
    /// Compares both sides; `None` if one of them is empty.
    pub(crate) fn of(
        right: &[StatedConfidence],
        foreign: &[StatedConfidence],
        kind: Unanswerable,
    ) -> Option<Self> {
        if right.is_empty() || foreign.is_empty() {
            return None;
        }
        let share = |all: &[StatedConfidence], wanted: &dyn Fn(&StatedConfidence) -> bool| {
            all.iter().filter(|one| wanted(one)).count() as f64 / all.len() as f64
        };
        // All but 5 % of the right answers reach this confidence.
        let values = right.iter().map(|one| -one.value);
        let threshold = -quantile(values, KEPT);
        Some(Self {
            right: right.len(),
            kind,
            foreign: foreign.len(),
            auc: auc(right, foreign),
            foreign_below_likely: share(foreign, &|one| !one.is_likely),
            right_likely: share(right, &|one| one.is_likely),
            foreign_rejected_at_95: share(foreign, &|one| one.value < threshold),
        })
    }
}

/// The area under the curve: the share of pairs that are in order, ties counting half.
fn auc(right: &[StatedConfidence], foreign: &[StatedConfidence]) -> f64 {
    let mut foreign: Vec<f64> = foreign.iter().map(|one| one.value).collect();
    foreign.sort_by(f64::total_cmp);
    let below = |value: f64| {
        let less = foreign.partition_point(|other| *other < value);
        let not_more = foreign.partition_point(|other| *other <= value);
        (less + not_more) as f64 / 2.0
    };
    let ordered: f64 = right.iter().map(|one| below(one.value)).sum();
    ordered / (right.len() as f64 * foreign.len() as f64)
}

/// Rewrites a question about `from` as one about `to`, name by name.
pub(crate) fn exchange_names(text: &str, from: &[String], to: &[String]) -> String {
    let names: Vec<String> = from.iter().map(|name| regex::escape(name)).collect();
    if names.is_empty() || to.is_empty() {
        return text.to_owned();
    }
    let Ok(pattern) = Regex::new(&format!(r"\b(?:{})\b", names.join("|"))) else {
        return text.to_owned();
    };
    let other = |found: &Captures<'_>| {
        let place = from.iter().position(|name| *name == found[0]).unwrap_or(0);
        to[place.min(to.len() - 1)].clone()
    };
    pattern.replace_all(text, other).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confidences(values: &[f64]) -> Vec<StatedConfidence> {
        let confidence = |value: &f64| StatedConfidence {
            value: *value,
            is_likely: *value >= 0.5,
        };
        values.iter().map(confidence).collect()
    }

    #[test]
    fn pairs_in_order_make_the_area_and_ties_count_half() {
        let report = ConfidenceReport::of(
            &confidences(&[0.9, 0.6, 0.4]),
            &confidences(&[0.6, 0.3, 0.0, 0.0]),
            Unanswerable::OtherConversation,
        );
        // 0.9 is above four, 0.6 above three and equal to one, 0.4 above three.
        let expected = ConfidenceReport {
            right: 3,
            kind: Unanswerable::OtherConversation,
            foreign: 4,
            auc: 10.5 / 12.0,
            foreign_below_likely: 0.75,
            right_likely: 2.0 / 3.0,
            foreign_rejected_at_95: 0.75,
        };
        assert_eq!(report, Some(expected));
    }

    #[test]
    fn names_are_exchanged_as_whole_words_and_at_once() {
        let (from, to) = (["Ada", "Ben"], ["Ben", "Cleo"]);
        let [from, to] = [from, to].map(|names| names.map(str::to_owned));
        let asked = exchange_names("Did Ada sell Ben's boat Adamant?", &from, &to);
        assert_eq!(asked, "Did Ben sell Cleo's boat Adamant?");
    }
}

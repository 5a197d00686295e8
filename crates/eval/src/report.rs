//! The report of an evaluation: one record for each question, and metrics over them.

use std::collections::{BTreeMap, BTreeSet};

use daybook_engine::recall::confidence::ConfidenceSignals;
use serde::Serialize;

use crate::ask::RecallOptions;
use crate::confidence::{ConfidenceReport, StatedConfidence, Unanswerable};
use crate::dataset::{Counting, SkippedItem, Split};
use crate::end_to_end::{AnswerRecord, AnswerReport};
use crate::metrics::{RetrievalMetrics, RetrievalOutcome, SHOWN, SharedWords, recall};

/// The name of Daybook's own recall among the systems.
pub(crate) const DAYBOOK: &str = "daybook";

/// The report of one evaluation.
#[derive(Debug, Clone, Serialize)]
pub struct EvalReport {
    /// The benchmark.
    pub benchmark: &'static str,
    /// The options of every question.
    #[serde(rename = "asking")]
    pub options: RecallOptions,
    /// Number of conversations.
    pub conversations: usize,
    /// Number of turns in all conversations.
    pub turns: usize,
    /// Figures of Daybook, then of the baselines.
    pub systems: Vec<SystemReport>,
    /// How well confidence separates answerable questions from others; `None` without any others.
    pub confidence: Option<ConfidenceReport>,
    /// Results for questions that were never discussed.
    pub abstention: Option<AbstentionReport>,
    /// A model's answers from the results, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_to_end: Option<AnswerReport>,
    /// Questions and evidence that were skipped.
    pub left_out: Vec<SkippedItem>,
    /// Every question.
    pub questions: Vec<QuestionRecord>,
    /// Every question that was asked of another conversation.
    pub foreign: Vec<ForeignRecord>,
}

/// Figures of one system.
#[derive(Debug, Clone, Serialize)]
pub struct SystemReport {
    /// Its name.
    pub system: String,
    /// Over the questions that are counted.
    pub total: RetrievalMetrics,
    /// By class, of counted questions.
    pub classes: BTreeMap<String, RetrievalMetrics>,
    /// By class, of questions that the total leaves out.
    pub apart: BTreeMap<String, RetrievalMetrics>,
}

/// Daybook's results for questions that were never discussed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AbstentionReport {
    /// Questions.
    pub questions: usize,
    /// Of these, without any result.
    pub empty: usize,
    /// Of these, with results that are not presented as likely, or none.
    pub below_likely: usize,
    /// Mean confidence.
    pub confidence: f64,
}

/// One question, with the outcome of each system.
#[derive(Debug, Clone, Serialize)]
pub struct QuestionRecord {
    /// The conversation.
    pub conversation: String,
    /// The question, within its conversation.
    pub id: String,
    /// The benchmark's class.
    pub class: String,
    /// The question's words.
    pub question: String,
    /// The expected answer.
    pub answer: String,
    /// How it enters the figures.
    pub counting: Counting,
    /// What it may be used for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// The text of Daybook's first result; empty without one.
    pub first: String,
    /// Labels of its evidence, in the order of the ranks.
    pub evidence: Vec<String>,
    /// How many of its words the evidence contains.
    pub words: SharedWords,
    /// Confidence of Daybook in its results.
    pub confidence: f64,
    /// Whether Daybook presents its results as likely.
    pub is_likely: bool,
    /// The signals of Daybook's confidence.
    #[serde(rename = "signs")]
    pub signals: Option<ConfidenceSignals>,
    /// By system.
    pub systems: Vec<SystemOutcome>,
    /// A model's answer from Daybook's results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<AnswerRecord>,
}

/// One system's outcome for a question.
#[derive(Debug, Clone, Serialize)]
pub struct SystemOutcome {
    /// The system.
    pub system: &'static str,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: RetrievalOutcome,
}

/// A question asked in the memory of another conversation.
#[derive(Debug, Clone, Serialize)]
pub struct ForeignRecord {
    /// The conversation whose memory was asked.
    pub asked_of: String,
    /// The conversation that the question is about.
    pub conversation: String,
    /// The question, within its conversation.
    pub id: String,
    /// As it was asked, with names exchanged.
    pub question: String,
    /// Results.
    pub results: usize,
    /// Confidence of Daybook in its results.
    pub confidence: f64,
    /// Whether Daybook presents its results as likely.
    pub is_likely: bool,
    /// The signals of Daybook's confidence.
    #[serde(rename = "signs")]
    pub signals: Option<ConfidenceSignals>,
}

impl QuestionRecord {
    /// The outcome of `system`.
    pub(crate) fn outcome(&self, system: &str) -> Option<&RetrievalOutcome> {
        let mut systems = self.systems.iter();
        let outcome = systems.find(|outcome| outcome.system == system)?;
        Some(&outcome.outcome)
    }

    fn confidence_value(&self) -> StatedConfidence {
        StatedConfidence {
            value: self.confidence,
            is_likely: self.is_likely,
        }
    }

    /// Whether it counts in the total.
    pub(crate) fn counts(&self) -> bool {
        self.counting == Counting::Counted
    }

    /// Whether abstaining is right.
    pub(crate) fn is_unanswerable(&self) -> bool {
        self.counting == Counting::Abstain
    }

    /// Whether Daybook showed evidence among its first results.
    pub(crate) fn is_right(&self) -> bool {
        let outcome = self.outcome(DAYBOOK);
        outcome.is_some_and(|outcome| recall(&outcome.ranks, SHOWN) > 0.0)
    }
}

impl ForeignRecord {
    fn confidence_value(&self) -> StatedConfidence {
        StatedConfidence {
            value: self.confidence,
            is_likely: self.is_likely,
        }
    }
}

/// The figures of one system over all questions that have evidence.
pub(crate) fn system_report(system: &str, questions: &[QuestionRecord]) -> SystemReport {
    let counted = select(questions, Counting::Counted);
    let apart = select(questions, Counting::Apart);
    SystemReport {
        system: system.to_owned(),
        total: figures(system, &counted),
        classes: by_class(system, &counted),
        apart: by_class(system, &apart),
    }
}

fn select(questions: &[QuestionRecord], counting: Counting) -> Vec<&QuestionRecord> {
    let selected = questions
        .iter()
        .filter(|record| record.counting == counting);
    selected.collect()
}

fn by_class(system: &str, questions: &[&QuestionRecord]) -> BTreeMap<String, RetrievalMetrics> {
    let classes: BTreeSet<&String> = questions.iter().map(|record| &record.class).collect();
    let of_class = |class: &String| {
        let within = questions.iter().filter(|record| record.class == *class);
        let within: Vec<&QuestionRecord> = within.copied().collect();
        (class.clone(), figures(system, &within))
    };
    classes.into_iter().map(of_class).collect()
}

fn figures(system: &str, questions: &[&QuestionRecord]) -> RetrievalMetrics {
    let outcomes = questions.iter().filter_map(|record| record.outcome(system));
    RetrievalMetrics::of(&outcomes.collect::<Vec<_>>())
}

/// Compares the confidence in rightly answered questions with that in foreign questions, or, without any, in questions
/// that were never discussed.
pub(crate) fn confidence_report(
    questions: &[QuestionRecord],
    foreign: &[ForeignRecord],
) -> Option<ConfidenceReport> {
    let counted = select(questions, Counting::Counted);
    let right = counted.iter().filter(|record| record.is_right());
    let right: Vec<StatedConfidence> = right.map(|record| record.confidence_value()).collect();
    let (unanswerable, kind): (Vec<StatedConfidence>, _) = if foreign.is_empty() {
        let never = select(questions, Counting::Abstain);
        let never = never.iter().map(|record| record.confidence_value());
        (never.collect(), Unanswerable::NeverDiscussed)
    } else {
        let foreign = foreign.iter().map(ForeignRecord::confidence_value);
        (foreign.collect(), Unanswerable::OtherConversation)
    };
    ConfidenceReport::of(&right, &unanswerable, kind)
}

/// The report on questions that were never discussed; `None` without any.
pub(crate) fn abstention_report(questions: &[QuestionRecord]) -> Option<AbstentionReport> {
    let asked = select(questions, Counting::Abstain);
    if asked.is_empty() {
        return None;
    }
    let is_empty = |record: &&&QuestionRecord| {
        let outcome = record.outcome(DAYBOOK);
        outcome.is_none_or(|outcome| outcome.results == 0)
    };
    let confidence: f64 = asked.iter().map(|record| record.confidence).sum();
    Some(AbstentionReport {
        questions: asked.len(),
        empty: asked.iter().filter(is_empty).count(),
        below_likely: asked.iter().filter(|record| !record.is_likely).count(),
        confidence: confidence / asked.len() as f64,
    })
}

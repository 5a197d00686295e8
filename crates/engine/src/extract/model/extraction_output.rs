//! Turns a model's answer, or the lack of one, into an extractor's output or a classified error.
//!
//! Not here: the validation of drafts (`validation`).

use std::collections::HashSet;

use daybook_domain::limits::BACKOFF_MOST;
use daybook_domain::model::{ModelError, ModelFailure};
use daybook_domain::spend::CapReached;
use daybook_domain::{Digest, FailureClass, RetryWait, Timestamp};

use super::answer::ModelAnswer;
use super::evidence::{EvidenceIndex, EvidenceSet, EvidenceText};
use super::guidance::Guidance;
use super::prose_form::claim_of;
use super::transcript::RenderedTranscript;
use super::truncate::keep_ends;
use super::validation::{is_persons, validate_all};
use crate::extract::extractive::text_analysis::{Permanence, permanence, significant_words};
use crate::extract::{DropCounts, DropReason, ExtractError, ExtractorOutput, Window, extractive};
use crate::spend::{at_cap, unknown_price};
use daybook_text::redact::Redactor;

/// Most bytes of a summary, as in Codex.
const SUMMARY: usize = 9_000;
/// Most bytes of a window's raw memory.
const RAW_MEMORY: usize = 16 * 1024;
/// Most characters of a slug.
const SLUG: usize = 60;
/// Most characters of a provider's message about a failure.
const PROVIDER_MESSAGE: usize = 200;

/// Validates an answer and builds the extractor's output. Summary and raw memory lose the lines that name something
/// without evidence, in the forms of other systems, too; a slug that does is left out.
pub(super) fn build_output(
    answer: ModelAnswer,
    window: Window<'_>,
    shown: &RenderedTranscript,
    guidance: &Guidance,
) -> ExtractorOutput {
    let mut dropped = answer.dropped;
    let index = EvidenceIndex::of(window);
    let validated = validate_all(answer.suggestions, window, &shown.shown, &index, guidance);
    dropped.merge(&validated.dropped);
    let drafts = validated.drafts;
    let checker = ProseChecker::of(window, &index, &shown.shown);
    let mut text =
        |text: Option<String>, most| sanitize_prose(&text?, most, &checker, &mut dropped);
    let summary = text(answer.summary, SUMMARY);
    let raw_memory = text(answer.raw_memory, RAW_MEMORY);
    let slug = answer.slug.and_then(|words| slug(&words));
    let slug = slug.filter(|slug| {
        let is_grounded = checker.names_all(&slug.replace('-', " "));
        dropped.add(DropReason::Invented, u32::from(!is_grounded));
        is_grounded
    });
    let is_useful = !drafts.is_empty() || summary.is_some() || raw_memory.is_some();
    let digest = is_useful.then(|| Digest {
        summary,
        slug,
        raw_memory,
        ..extractive::digest_of_events(window).unwrap_or_else(|| place_and_time_digest(window))
    });
    ExtractorOutput {
        drafts,
        quarantined: validated.quarantined,
        digest,
        writes: Vec::new(),
        dropped,
        left_out: shown.left_out,
        provenance: None,
    }
}

/// The result for a window whose rendering is empty: Nothing if it holds no messages, an error if
/// none of them fits the model's context.
pub(super) fn empty_window_result(
    model: &str,
    shown: &RenderedTranscript,
) -> Result<ExtractorOutput, ExtractError> {
    match shown.left_out {
        0 => Ok(ExtractorOutput::default()),
        _ => Err(ExtractError {
            class: FailureClass::Content,
            message: format!(
                "the context of {model} has no room for this part of the session; choose a model that reads more"
            ),
            wait: RetryWait::Unspecified,
        }),
    }
}

/// The error for an answer that cannot be parsed.
pub(super) fn unusable_answer_error(model: &str, what: &str) -> ExtractError {
    ExtractError {
        class: FailureClass::Content,
        message: format!("the answer of {model} {what}; nothing was kept of it"),
        wait: RetryWait::Unspecified,
    }
}

/// The error for a request without an answer. Its message leaves out whatever the model wrote about the content;
/// a provider's message about itself is shortened and redacted.
pub(crate) fn model_failure_error(failure: &ModelFailure) -> ExtractError {
    let of = |class| {
        move |message: String| ExtractError {
            class,
            message,
            wait: RetryWait::Unspecified,
        }
    };
    let (outage, content) = (of(FailureClass::Outage), of(FailureClass::Content));
    if let Some(error) = budget_error(failure) {
        return error;
    }
    match &failure.error {
        ModelError::Unavailable {
            model,
            message,
            retry_after,
        } => ExtractError {
            wait: retry_after.map_or(RetryWait::Unspecified, RetryWait::For),
            ..outage(format!(
                "{model} could not be reached: {}",
                sanitized(message)
            ))
        },
        ModelError::Denied { model, message } => outage(format!(
            "{model} refuses access: {}; check its key and account",
            sanitized(message)
        )),
        ModelError::BadRequest { model, message } => outage(format!(
            "{model} finds fault with the request: {}; check the model's settings",
            sanitized(message)
        )),
        ModelError::Cancelled { model } => outage(format!("the question to {model} was cancelled")),
        ModelError::Other { model, .. } => outage(format!("{model} could not be asked")),
        ModelError::TooLong { model, .. } => {
            content(format!("this part of the session is too long for {model}"))
        }
        ModelError::Refused { model, .. } => content(format!(
            "{model} refuses to answer about this part of the session"
        )),
        ModelError::Malformed { model, .. } => unusable_answer_error(model, "cannot be understood"),
    }
}

/// The error for a request that was not sent because of a cap or an unknown price. Where the end of the cap's
/// period does not help, a person or another run must act, so the next try waits for `BACKOFF_MOST`.
fn budget_error(failure: &ModelFailure) -> Option<ExtractError> {
    let cured = |at: &CapReached| at.until.filter(|_| at.is_cured_by_waiting());
    let at_cap = at_cap(failure).map(|at| (at.to_string(), cured(at)));
    let (message, until) = at_cap.or_else(|| Some((unknown_price(failure)?.to_string(), None)))?;
    Some(ExtractError {
        class: FailureClass::AtCap,
        message,
        wait: until.map_or(RetryWait::For(BACKOFF_MOST), RetryWait::Until),
    })
}

fn sanitized(message: &str) -> String {
    let redacted = Redactor::current().redact(message).text.into_owned();
    redacted
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(PROVIDER_MESSAGE)
        .collect()
}

/// Checks free text against the evidence of a window, line by line.
pub(super) struct ProseChecker<'a> {
    all: EvidenceSet<'a>,
    persons: EvidenceSet<'a>,
}

impl<'a> ProseChecker<'a> {
    pub(super) fn of(window: Window<'_>, index: &'a EvidenceIndex<'_>, shown: &[usize]) -> Self {
        let persons = shown.iter().copied();
        let persons = persons.filter(|at| is_persons(&window.events[*at]));
        Self {
            all: index.evidence_with_summary(shown),
            persons: index.evidence_with_summary(&persons.collect::<Vec<_>>()),
        }
    }

    /// Adds known text: it supports names, but no instruction.
    pub(super) fn with_text(self, more: &'a EvidenceText) -> Self {
        let all = self.all.with_text(more);
        Self { all, ..self }
    }

    /// Whether enough of these words occur in the evidence.
    pub(super) fn overlaps(&self, significant_words: &HashSet<String>) -> bool {
        self.all.overlaps(significant_words)
    }

    /// Whether the evidence names everything that a text names.
    fn names_all(&self, text: &str) -> bool {
        self.all.supports(text)
    }

    /// Why a line is left out: it names something without evidence, or gives an instruction that no person gave.
    pub(super) fn rejection_reason(&self, line: &str) -> Option<DropReason> {
        if !self.all.supports(line) {
            return Some(DropReason::Invented);
        }
        let demands = permanence(line) == Permanence::Lasting;
        let is_foreign = demands && !self.persons.overlaps(&significant_words(line));
        is_foreign.then_some(DropReason::Instruction)
    }
}

/// A free text without secrets and without the lines that the checker rejects.
fn sanitize_prose(
    text: &str,
    most: usize,
    checker: &ProseChecker<'_>,
    dropped: &mut DropCounts,
) -> Option<String> {
    let redacted = Redactor::current().redact(text.trim()).text.into_owned();
    let text = keep_ends(&redacted, most, 0);
    let sound = |line: &&str| {
        let rejection = checker.rejection_reason(claim_of(line));
        rejection
            .inspect(|reason| dropped.increment(*reason))
            .is_none()
    };
    let lines: Vec<&str> = text.lines().filter(sound).collect();
    let text = lines.join("\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// The words in lower case, letters and digits only, joined by `-`.
fn slug(words: &str) -> Option<String> {
    let words: Vec<String> = words
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let slug: String = words.join("-").chars().take(SLUG).collect();
    let slug = slug.trim_matches('-').to_owned();
    (!slug.is_empty()).then_some(slug)
}

/// The digest of a window without any request: its place and time alone.
fn place_and_time_digest(window: Window<'_>) -> Digest {
    let dated = || {
        window
            .events
            .iter()
            .map(|e| e.at)
            .filter(|at| *at != Timestamp::ZERO)
    };
    let place = window
        .events
        .iter()
        .rev()
        .find_map(|event| event.place.as_ref());
    Digest {
        branch: place.and_then(|place| place.branch.clone()),
        root: place.map(|place| place.root.clone()),
        from_at: dated().min().unwrap_or_default(),
        to_at: dated().max().unwrap_or_default(),
        ..Digest::default()
    }
}

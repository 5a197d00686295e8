//! What comes of asking: an extraction, Nothing, or a failure of its class.
//!
//! Not here: which drafts are believed (`validation`).

use std::collections::HashSet;

use daybook_domain::limits::BACKOFF_MOST;
use daybook_domain::model::{ModelError, ModelFailure};
use daybook_domain::spend::AtCap;
use daybook_domain::{Digest, FailureClass, Timestamp, Wait};

use super::answer::Answer;
use super::cut::ends;
use super::grounds::{Grounds, Saying, Sayings};
use super::guidance::Guidance;
use super::transcript::Rendered;
use super::validation::{believed, is_persons};
use crate::extract::extractive::bearing::{Bearing, bearing, telling_words};
use crate::extract::{DropReason, Dropped, ExtractError, Extracted, Window, extractive};
use crate::ingest::redact::Redactor;
use crate::spend::{at_cap, unknown_price};

/// Most bytes of a summary (two-phase 2.5).
const SUMMARY: usize = 9_000;
/// Most bytes of a window's raw memory.
const RAW_MEMORY: usize = 16 * 1024;
/// Most characters of a slug.
const SLUG: usize = 60;
/// Most characters of what a provider says about a failure.
const SAID: usize = 200;

/// What an answer comes to. With `is_checked`, lines of summary and raw memory that name what the window
/// does not are left out, too; the seeds' own forms are free text, and stay so.
pub(super) fn extracted(
    answer: Answer,
    window: Window<'_>,
    shown: &Rendered,
    guidance: &Guidance,
    is_checked: bool,
) -> Extracted {
    let mut dropped = answer.dropped;
    let sayings = Sayings::of(window);
    let (drafts, doubted) = believed(answer.suggestions, window, &shown.shown, &sayings, guidance);
    dropped.join(&doubted);
    let story = is_checked.then(|| Story::of(window, &sayings, &shown.shown));
    let mut text = |text: Option<String>, most| prose(&text?, most, story.as_ref(), &mut dropped);
    let summary = text(answer.summary, SUMMARY);
    let raw_memory = text(answer.raw_memory, RAW_MEMORY);
    let taught = !drafts.is_empty() || summary.is_some() || raw_memory.is_some();
    let digest = taught.then(|| Digest {
        summary,
        slug: answer.slug.and_then(|words| slug(&words)),
        raw_memory,
        ..extractive::account(window).unwrap_or_else(|| place_and_time(window))
    });
    Extracted {
        drafts,
        digest,
        writes: Vec::new(),
        dropped,
        left_out: shown.left_out,
        made_by: None,
    }
}

/// What comes of a window in which there was nothing to show: Nothing if nobody spoke, a failure if
/// there was no room for what was said.
pub(super) fn unasked(model: &str, shown: &Rendered) -> Result<Extracted, ExtractError> {
    match shown.left_out {
        0 => Ok(Extracted::default()),
        _ => Err(ExtractError {
            class: FailureClass::Content,
            message: format!(
                "the context of {model} has no room for this part of the session; choose a model that reads more"
            ),
            wait: Wait::Unsaid,
        }),
    }
}

/// An answer that cannot be read.
pub(super) fn unusable(model: &str, what: &str) -> ExtractError {
    ExtractError {
        class: FailureClass::Content,
        message: format!("the answer of {model} {what}; nothing was kept of it"),
        wait: Wait::Unsaid,
    }
}

/// Why there is no answer. What a model says about the content stays out of the message; what a provider
/// says about itself is shortened and looked through for secrets.
pub(super) fn failed(failure: &ModelFailure) -> ExtractError {
    let of = |class| {
        move |message: String| ExtractError {
            class,
            message,
            wait: Wait::Unsaid,
        }
    };
    let (outage, content) = (of(FailureClass::Outage), of(FailureClass::Content));
    if let Some(unasked) = unaffordable(failure) {
        return unasked;
    }
    match &failure.error {
        ModelError::Unavailable {
            model,
            message,
            retry_after,
        } => ExtractError {
            wait: retry_after.map_or(Wait::Unsaid, Wait::For),
            ..outage(format!("{model} could not be reached: {}", said(message)))
        },
        ModelError::Denied { model, message } => outage(format!(
            "{model} refuses access: {}; check its key and account",
            said(message)
        )),
        ModelError::BadRequest { model, message } => outage(format!(
            "{model} finds fault with the request: {}; check the model's settings",
            said(message)
        )),
        ModelError::Cancelled { model } => outage(format!("the question to {model} was cancelled")),
        ModelError::Other { model, .. } => outage(format!("{model} could not be asked")),
        ModelError::TooLong { model, .. } => {
            content(format!("this part of the session is too long for {model}"))
        }
        ModelError::Refused { model, .. } => content(format!(
            "{model} refuses to answer about this part of the session"
        )),
        ModelError::Malformed { model, .. } => unusable(model, "cannot be understood"),
    }
}

/// Why no model was asked, if a cap is the reason. What the end of its period does not cure is for a person
/// or another run to change, so it is not looked at again for a while.
fn unaffordable(failure: &ModelFailure) -> Option<ExtractError> {
    let cured = |at: &AtCap| at.until.filter(|_| at.is_cured_by_waiting());
    let at_cap = at_cap(failure).map(|at| (at.to_string(), cured(at)));
    let (message, until) = at_cap.or_else(|| Some((unknown_price(failure)?.to_string(), None)))?;
    Some(ExtractError {
        class: FailureClass::AtCap,
        message,
        wait: until.map_or(Wait::For(BACKOFF_MOST), Wait::Until),
    })
}

fn said(message: &str) -> String {
    let redacted = Redactor::standard().redact(message).text.into_owned();
    redacted
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(SAID)
        .collect()
}

/// What a free text is checked by, line by line.
pub(super) struct Story<'a> {
    all: Grounds<'a>,
    persons: Grounds<'a>,
}

impl<'a> Story<'a> {
    pub(super) fn of(window: Window<'_>, sayings: &'a Sayings<'_>, shown: &[usize]) -> Self {
        let persons = shown.iter().copied();
        let persons = persons.filter(|at| is_persons(&window.events[*at]));
        Self {
            all: sayings.story(shown),
            persons: sayings.story(&persons.collect::<Vec<_>>()),
        }
    }

    /// What is known besides counts as named, but as nobody's wish.
    pub(super) fn knowing(self, more: &'a Saying) -> Self {
        let all = self.all.knowing(more);
        Self { all, ..self }
    }

    /// Whether enough of these words were said.
    pub(super) fn says(&self, telling: &HashSet<String>) -> bool {
        self.all.say(telling)
    }

    /// Why a line is left out: it names what nobody named, or it demands what no person did.
    pub(super) fn doubt(&self, line: &str) -> Option<DropReason> {
        if !self.all.hold(line) {
            return Some(DropReason::Invented);
        }
        let demands = bearing(line) == Bearing::Lasting;
        let foreign = demands && !self.persons.say(&telling_words(line));
        foreign.then_some(DropReason::Instruction)
    }
}

/// A free text without secrets and, where it is checked, without the lines that are doubted.
fn prose(
    text: &str,
    most: usize,
    story: Option<&Story<'_>>,
    dropped: &mut Dropped,
) -> Option<String> {
    let redacted = Redactor::standard().redact(text.trim()).text.into_owned();
    let text = ends(&redacted, most, 0);
    let sound = |line: &&str| {
        let doubt = story.and_then(|story| story.doubt(line));
        doubt.inspect(|reason| dropped.count(*reason)).is_none()
    };
    let lines: Vec<&str> = text.lines().filter(sound).collect();
    let text = lines.join("\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Lower case, letters and digits, joined by `-`.
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

/// What a digest says of a window in which nobody asked for anything.
fn place_and_time(window: Window<'_>) -> Digest {
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

//! What one pass over one window of a session yields.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use crate::entity::EntityWrite;
use crate::ids::{EventSeq, Scope, SessionId};
use crate::observation::Observation;
use crate::quarantine::QuarantinedObservation;
use crate::time::Timestamp;

/// How a session's work ended, as far as its window shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// The person confirmed it, or the last checks passed and the work was committed.
    Success,
    /// Some of it was done.
    Partial,
    /// It was given up, or what was last tried failed.
    Fail,
    /// Nothing shows which.
    Uncertain,
}

impl Outcome {
    /// The variant's name in memory files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One thing in a digest that cites its events.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CitedText {
    /// The words.
    pub text: String,
    /// The events it rests on, ascending.
    pub events: Vec<EventSeq>,
    /// Their numbers in citations.
    pub lines: Vec<u32>,
}

/// A request for something that people ask for out of habit, such as tests. One says little; the same in many sessions
/// shows how a person works.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HabitualRequest {
    /// What it asks for, such as `tests`.
    pub habit: String,
    /// The sentence.
    pub said: CitedText,
}

/// A window's own account, which the session's summary is folded from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// What the person wanted.
    pub task: Option<CitedText>,
    /// What the work is called: the title of a plan that a person accepted, or of the pull request for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<CitedText>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// The person's last words that ask for something.
    pub last_words: Option<CitedText>,
    /// The last words were answered.
    pub answered: bool,
    /// The agent's last question that got no answer.
    #[serde(rename = "asked", default, skip_serializing_if = "Option::is_none")]
    pub open_question: Option<CitedText>,
    /// Commits that were made.
    pub commits: u32,
    /// How many of them were pushed.
    pub pushed: u32,
    /// The subjects of those that have one, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub committed: Vec<CitedText>,
    /// What happened, in order: a handful of lines.
    pub highlights: Vec<CitedText>,
    /// Requests for something habitual, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub habits: Vec<HabitualRequest>,
    /// Human messages in the window.
    pub human_messages: u32,
    /// Branch at the window's end.
    pub branch: Option<String>,
    /// Root of the place at the window's end.
    pub root: Option<String>,
    /// First and last dated event.
    pub from_at: Timestamp,
    /// Last dated event.
    pub to_at: Timestamp,
    /// The session up to the window's end, in a model's words; the newest window's counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// A few words for a file name, in a model's words: lower case, joined by `-`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// The window's notes for consolidation, in a model's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_memory: Option<String>,
    /// Facts of the window that the outcome follows from, where an extractor notes them; those of
    /// several windows are joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<OutcomeFacts>,
}

impl Digest {
    /// Takes out what rests on these events alone.
    pub fn leave_out(&mut self, events: &BTreeSet<EventSeq>) {
        let stays = |item: &CitedText| {
            item.events.is_empty() || item.events.iter().any(|it| !events.contains(it))
        };
        for one in [
            &mut self.task,
            &mut self.title,
            &mut self.last_words,
            &mut self.open_question,
        ] {
            one.take_if(|item| !stays(item));
        }
        self.committed.retain(stays);
        self.highlights.retain(stays);
    }
}

/// Facts that the outcome of a stretch of work follows from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OutcomeFacts {
    /// The person's last verdict: whether it works.
    pub verdict: Option<bool>,
    /// No event makes an earlier verdict obsolete.
    pub is_open: bool,
    /// A person wrote something.
    pub spoken: bool,
    /// Whether the last check passed.
    pub check: Option<bool>,
    /// Files were changed after the last commit.
    pub changed: bool,
    /// Something was pushed.
    pub pushes: bool,
    /// A person had stopped the agent at the end.
    pub broken_off: bool,
}

impl OutcomeFacts {
    /// The facts of this stretch and of the next, in which `commits` were made, as one.
    #[must_use]
    pub fn then(&self, next: &Self, commits: u32) -> Self {
        let earlier = self.verdict.filter(|_| next.is_open);
        Self {
            verdict: next.verdict.or(earlier),
            is_open: self.is_open && next.is_open,
            spoken: self.spoken || next.spoken,
            check: next.check.or(self.check),
            changed: next.changed || (self.changed && commits == 0),
            pushes: self.pushes || next.pushes,
            broken_off: next.broken_off,
        }
    }

    /// The outcome of work that made `commits` commits.
    #[must_use]
    pub fn outcome(&self, commits: u32) -> Outcome {
        let some = commits > 0;
        match (self.verdict, some, self.check) {
            (Some(true), _, _) => Outcome::Success,
            (Some(false), true, _) => Outcome::Partial,
            (Some(false), false, _) | (None, false, Some(false)) => Outcome::Fail,
            (None, false, _) => Outcome::Uncertain,
            (None, true, Some(false)) => Outcome::Partial,
            (None, true, _) if self.changed || self.broken_off => Outcome::Partial,
            (None, true, _) => Outcome::Success,
        }
    }
}

/// The result of a pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Yield {
    /// The window holds nothing worth keeping. Affects this window alone.
    Nothing,
    /// It taught something.
    Something {
        /// What is to be known. Their evidence lies in the window.
        observations: Vec<Observation>,
        /// The window's own account.
        digest: Box<Digest>,
    },
}

/// Which extractor made an extraction, and for which one it filled in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Provenance {
    /// Name and version of the extractor, with the model that it asks: `extractive/1`, `extract/3 openai/x`.
    pub extractor: String,
    /// Set if the extractor filled in for another one, because a cap had no room for that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_for: Option<FallbackFor>,
}

/// The extractor for which a cap had no room, and until when.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FallbackFor {
    /// Its name and version, as in [`Provenance::extractor`].
    pub extractor: String,
    /// When the cap has room again: the first moment of a day in UTC, since periods of caps end with days.
    pub until: Timestamp,
}

impl Provenance {
    /// An extraction by the extractor that was to make it.
    #[must_use]
    pub fn of(extractor: impl Into<String>) -> Self {
        Self {
            extractor: extractor.into(),
            fallback_for: None,
        }
    }

    /// The model that the extraction asked; `None` if it asked none or another extractor filled in.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        let (_, model) = self.extractor.split_once(' ')?;
        self.fallback_for.is_none().then_some(model)
    }
}

impl FallbackFor {
    /// Whether the cap has room again at `now`.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.until <= now
    }
}

/// What one pass over one window yields, as the finish stores it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extraction {
    /// The session.
    pub session: SessionId,
    /// First event of the window.
    pub from: EventSeq,
    /// Last event actually read; a pass that read none has no extraction to store.
    pub to: EventSeq,
    /// What the pass yielded.
    pub yielded: Yield,
    /// Events that this window takes back: observations resting only on them are withdrawn.
    pub retracted: Vec<EventSeq>,
    /// Scopes to raise beside those that observations are filed in.
    pub concerns: Vec<Scope>,
    /// What its tools would write of the person's entities, each place once; the files get it later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<EntityWrite>,
    /// Observations that wait for a person's decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quarantined: Vec<QuarantinedObservation>,
    /// Which extractor made it.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// An extraction as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractionRecord {
    /// The session.
    pub session: SessionId,
    /// The session's label in citations.
    pub label: String,
    /// First event of the window.
    pub from: EventSeq,
    /// Last event of the window.
    pub to: EventSeq,
    /// `None` when it yielded Nothing.
    pub digest: Option<Digest>,
    /// Which extractor made it.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// When it was stored.
    pub at: Timestamp,
}

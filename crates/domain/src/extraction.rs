//! What one pass over one window of a session yields.

use serde::{Deserialize, Serialize};

use crate::entity::EntityWrite;
use crate::ids::{EventSeq, Scope, SessionId};
use crate::observation::Observation;
use crate::time::Timestamp;

/// How a session's work ended, as far as its window shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The person said so, or the last checks passed and the work was committed.
    Success,
    /// Some of it was done.
    Partial,
    /// It was given up, or what was last tried failed.
    Fail,
    /// Nothing shows which.
    Uncertain,
}

impl Outcome {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Partial => "partial",
            Self::Fail => "fail",
            Self::Uncertain => "uncertain",
        }
    }
}

/// One thing in a digest that cites its events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The words.
    pub text: String,
    /// The events it rests on, ascending.
    pub events: Vec<EventSeq>,
    /// Their numbers in citations.
    pub lines: Vec<u32>,
}

/// A window's own account, which the session's summary is folded from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// What the person wanted.
    pub task: Option<Said>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// The person's last words that ask for something.
    pub last_words: Option<Said>,
    /// The last words were answered.
    pub answered: bool,
    /// What the agent asked back last, and was not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Said>,
    /// Commits that were made.
    pub commits: u32,
    /// How many of them were pushed.
    pub pushed: u32,
    /// What happened, in order: a handful of lines.
    pub highlights: Vec<Said>,
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
    /// What the window shows of how the work stands, where the outcome follows from such facts: those of
    /// several windows are joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<Course>,
}

/// Facts that the outcome of a stretch of work follows from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Course {
    /// The person's last verdict: whether it works.
    pub verdict: Option<bool>,
    /// Nothing was said that makes an earlier verdict a thing of the past.
    pub is_open: bool,
    /// A person said something.
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

impl Course {
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

    /// How work ended that `commits` came of.
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

/// What a pass came to.
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

/// What one pass over one window yields, as the finish stores it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extraction {
    /// The session.
    pub session: SessionId,
    /// First event of the window.
    pub from: EventSeq,
    /// Last event actually read; a pass that read none has no extraction to store.
    pub to: EventSeq,
    /// What it came to.
    pub yielded: Yield,
    /// Events that this window takes back: observations resting only on them are withdrawn.
    pub retracted: Vec<EventSeq>,
    /// Scopes to raise beside those that observations are filed in.
    pub concerns: Vec<Scope>,
    /// What its tools would write of the person's entities, each place once; the files get it later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<EntityWrite>,
    /// Which extractor wrote it, with its version: `extractive/1`.
    pub extractor: String,
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
    /// Which extractor wrote it.
    pub extractor: String,
    /// When it was stored.
    pub at: Timestamp,
}

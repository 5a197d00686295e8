//! A model's parsed answer, before validation.

use daybook_domain::ObservationKind;

use crate::extract::DropCounts;

/// An observation that a model suggests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Suggestion {
    /// Its kind; a fact where the model gives none.
    pub(super) kind: ObservationKind,
    /// Its text.
    pub(super) text: String,
    /// What makes it understandable.
    pub(super) context: Option<String>,
    /// The thing whose value it is, of a value.
    pub(super) subject: Option<String>,
    /// Numbers of the transcript's events that it cites.
    pub(super) events: Vec<usize>,
    /// Whether the model claims that a person stated it; `None` if it makes no claim.
    pub(super) stated: Option<bool>,
    /// Whether the model claims that it holds beyond the project.
    pub(super) general: bool,
}

impl Suggestion {
    /// A fact with this text and nothing else.
    pub(super) fn fact(text: impl Into<String>) -> Self {
        Self {
            kind: ObservationKind::Fact,
            text: text.into(),
            context: None,
            subject: None,
            events: Vec::new(),
            stated: None,
            general: false,
        }
    }
}

/// A parsed answer. An empty one means that nothing is worth keeping.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ModelAnswer {
    /// The suggested observations.
    pub(super) suggestions: Vec<Suggestion>,
    /// Counts of observations that could not be parsed, or exceeded a bound.
    pub(super) dropped: DropCounts,
    /// The session so far, for people.
    pub(super) summary: Option<String>,
    /// A few words for a file name.
    pub(super) slug: Option<String>,
    /// Notes on the window for consolidation.
    pub(super) raw_memory: Option<String>,
}

/// Why an answer cannot be parsed, in words that complete "the answer …".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnusableAnswer(pub(super) &'static str);

//! What a model answered, before any of it is believed.

use daybook_domain::ObservationKind;

use crate::extract::Dropped;

/// Something that a model says is worth keeping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Suggestion {
    /// What sort of thing; a fact where the model does not say.
    pub(super) kind: ObservationKind,
    /// What is to be known.
    pub(super) text: String,
    /// What makes it understandable.
    pub(super) context: Option<String>,
    /// What a value is of.
    pub(super) subject: Option<String>,
    /// Numbers of the transcript's events that it is said to rest on.
    pub(super) events: Vec<usize>,
    /// Whether the model says that a person said it.
    pub(super) stated: Option<bool>,
    /// Whether it is said to hold beyond the project.
    pub(super) general: bool,
}

impl Suggestion {
    /// A fact of these words alone.
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

/// A readable answer. With nothing in it, it says that nothing is worth keeping.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// What is worth keeping.
    pub(super) suggestions: Vec<Suggestion>,
    /// What of the answer could not be read, or was too much.
    pub(super) dropped: Dropped,
    /// The session so far, for people.
    pub(super) summary: Option<String>,
    /// A few words for a file name.
    pub(super) slug: Option<String>,
    /// What the window holds for later work, for consolidation.
    pub(super) raw_memory: Option<String>,
}

/// What is wrong with an answer that cannot be read; goes on from "the answer".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unusable(pub(super) &'static str);

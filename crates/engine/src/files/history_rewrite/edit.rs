//! What a rewrite of a history does to each text in it.

use daybook_text::redact::Redactor;

use crate::files::own_secrets::{FileOwner, hide_own};

/// What becomes of a file in a past state.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::files) enum FileEdit {
    /// It stays.
    Keep,
    /// It has this text in its place.
    Replace(String),
    /// The state is without it.
    Remove,
}

/// Decides about every text of a history.
pub(in crate::files) trait HistoryEdit {
    /// A file at `path`, whose text `owner` wrote.
    fn file(&self, path: &str, owner: FileOwner, text: &str) -> FileEdit;

    /// The message of a commit; `is_ours` is true for one that the engine made by itself.
    fn message(&self, message: &str, is_ours: bool) -> String;

    /// The message of a line in a reflog.
    fn log_message(&self, message: &str) -> String;

    /// Whether an object that nothing refers to is deleted. `text` is a blob's; `None` for a tree or a commit.
    fn is_unwanted(&self, text: Option<&str>) -> bool;
}

/// Hides the secrets in the engine's own text.
pub(super) struct HideSecrets<'a>(pub(super) &'a Redactor);

impl HistoryEdit for HideSecrets<'_> {
    fn file(&self, _: &str, owner: FileOwner, text: &str) -> FileEdit {
        match hide_own(self.0, owner, text) {
            Some(hidden) => FileEdit::Replace(hidden),
            None => FileEdit::Keep,
        }
    }

    fn message(&self, message: &str, is_ours: bool) -> String {
        match is_ours {
            true => self.0.redact(message).text.into_owned(),
            false => message.to_owned(),
        }
    }

    fn log_message(&self, message: &str) -> String {
        self.0.redact(message).text.into_owned()
    }

    fn is_unwanted(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| !self.0.redact(text).findings.is_empty())
    }
}

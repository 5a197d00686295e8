//! Errors of an evaluation.

use std::path::{Path, PathBuf};

use daybook_domain::{BoxError, StoreError};
use daybook_engine::recall::embedding::EmbeddingError;

/// An error of an evaluation.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// A file or folder cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file is damaged, or of another format than expected.
    #[error("{} is no {format} file that can be read: {place}: {problem}", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// The format that was expected.
        format: &'static str,
        /// Where in the file: a line and column, or the name of a conversation or question.
        place: String,
        /// The fault there.
        problem: String,
    },
    /// A file or folder holds no question.
    #[error("{} holds no question (format: {format}); {advice}", path.display())]
    Empty {
        /// Which one.
        path: PathBuf,
        /// The format that was expected.
        format: &'static str,
        /// What the user can do.
        advice: &'static str,
    },
    /// A folder holds no transcript.
    #[error("{} holds no transcript; name a folder with sessions of an agent", .0.display())]
    NoTranscript(PathBuf),
    /// No fresh memory could be created.
    #[error("cannot make a memory for the evaluation")]
    NoMemory(#[source] BoxError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Messages could not be embedded.
    #[error(transparent)]
    Vectors(#[from] EmbeddingError),
}

impl EvalError {
    /// A file that is not JSON, or JSON of another shape: serde names line and column.
    pub(crate) fn json(path: &Path, format: &'static str, error: &serde_json::Error) -> Self {
        let message = error.to_string();
        let at = format!(" at line {} column {}", error.line(), error.column());
        Self::Malformed {
            path: path.to_owned(),
            format,
            place: format!("line {}, column {}", error.line(), error.column()),
            problem: message.strip_suffix(&at).unwrap_or(&message).to_owned(),
        }
    }

    /// A value that does not fit its place.
    pub(crate) fn malformed(
        path: &Path,
        format: &'static str,
        place: impl Into<String>,
        problem: impl Into<String>,
    ) -> Self {
        Self::Malformed {
            path: path.to_owned(),
            format,
            place: place.into(),
            problem: problem.into(),
        }
    }
}

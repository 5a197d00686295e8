//! Insisted things as files hold them.

use std::path::Path;

use serde::Deserialize;

use crate::dataset::Split;
use crate::error::EvalError;
use crate::load::read;

const FORMAT: &str = "insisted";

/// A file of insisted things.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InsistedCases {
    #[serde(default, rename = "session")]
    pub(super) sessions: Vec<InsistedSession>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InsistedSession {
    /// The transcript, below the folder of transcripts.
    pub(super) file: String,
    pub(super) split: Split,
    pub(super) insisted: Vec<Insisted>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Insisted {
    /// The line of the transcript.
    pub(super) line: u32,
    /// What it is, in the words of the file's author.
    pub(super) about: String,
    /// A few words of the line.
    pub(super) words: String,
    /// A question that it answers.
    pub(super) question: String,
}

impl InsistedCases {
    /// How many sessions it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }
}

/// Loads a file of insisted things.
///
/// # Errors
/// When it cannot be read, or is no such file.
pub fn load_insisted(path: &Path) -> Result<InsistedCases, EvalError> {
    let bytes = read(path)?;
    let malformed =
        |place: &str, problem: String| EvalError::malformed(path, FORMAT, place, &problem);
    let text = String::from_utf8(bytes).map_err(|error| malformed("text", error.to_string()))?;
    let cases: InsistedCases =
        toml::from_str(&text).map_err(|error| malformed("toml", error.to_string()))?;
    if cases.sessions.iter().all(|it| it.insisted.is_empty()) {
        return Err(EvalError::Empty {
            path: path.to_owned(),
            format: FORMAT,
            advice: "write [[session]] tables with [[session.insisted]] tables",
        });
    }
    Ok(cases)
}

//! Statements as files hold them.

use std::path::Path;

use serde::Deserialize;

use crate::dataset::Split;
use crate::error::EvalError;
use crate::load::read;

const FORMAT: &str = "statements";

/// A file of statements.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatementCases {
    /// Whether people talk, and no work is done.
    #[serde(default)]
    pub(super) in_chat: bool,
    #[serde(default, rename = "statement")]
    pub(super) statements: Vec<StatementCase>,
}

impl StatementCases {
    /// The statements of both.
    #[must_use]
    pub fn with(mut self, others: Self) -> Self {
        self.statements.extend(others.statements);
        self
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatementCase {
    pub(super) split: Split,
    /// As a tag, such as `en`.
    pub(super) language: String,
    pub(super) text: String,
    /// Words of each thing that is worth keeping.
    pub(super) keep: Vec<String>,
}

/// Loads a file of statements.
///
/// # Errors
/// When it cannot be read, is no such file, or names words to keep that are not in their message.
pub fn load_statements(path: &Path) -> Result<StatementCases, EvalError> {
    let bytes = read(path)?;
    let malformed =
        |place: &str, problem: String| EvalError::malformed(path, FORMAT, place, &problem);
    let text = String::from_utf8(bytes).map_err(|error| malformed("text", error.to_string()))?;
    let cases: StatementCases =
        toml::from_str(&text).map_err(|error| malformed("toml", error.to_string()))?;
    for case in &cases.statements {
        if let Some(words) = case.keep.iter().find(|words| !case.text.contains(*words)) {
            let problem = format!("\"{words}\" is to be kept, and is not in the message");
            return Err(malformed(&case.text, problem));
        }
    }
    Ok(cases)
}

//! Loads benchmarks from their published files, oddities included. A loader decides which turns are evidence, and reports
//! what it skips.
//!
//! Not here: asking the questions.

mod beam;
mod locomo;
mod longmemeval;
mod questions;

use std::path::Path;

use serde_json::Value;

use crate::error::EvalError;

pub use beam::load_beam;
pub use locomo::{NotedTurn, load_locomo, load_noted_turns};
pub use longmemeval::load_longmemeval;
pub use questions::{WrittenQuestions, load_questions};

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, EvalError> {
    std::fs::read(path).map_err(|source| EvalError::Unreadable {
        path: path.to_owned(),
        source,
    })
}

/// An answer as text: files hold strings, numbers and lists.
pub(crate) fn in_words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(in_words).collect::<Vec<_>>().join("; "),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

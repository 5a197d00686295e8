//! Cases as files hold them.

use std::path::Path;

use serde::Deserialize;

use crate::dataset::Split;
use crate::error::EvalError;
use crate::load::read;

const FORMAT: &str = "cases of change";

/// A file of cases.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeCases {
    /// Something stopped holding.
    #[serde(default, rename = "change")]
    pub(super) changes: Vec<ChangeCase>,
    /// Two statements that both hold.
    #[serde(default, rename = "keep")]
    pub(super) keeps: Vec<KeepCase>,
    /// Two statements that are the same, or are not.
    #[serde(default, rename = "pair")]
    pub(super) pairs: Vec<PairCase>,
    /// Two statements, and what the later one does to the earlier one.
    #[serde(default, rename = "relation")]
    pub(super) relations: Vec<RelationCase>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeCase {
    pub(super) name: String,
    pub(super) split: Split,
    /// Where the case was seen: a file and a line.
    #[serde(default)]
    source: Option<String>,
    /// Each a day and messages.
    pub(super) sessions: Vec<Vec<String>>,
    pub(super) question: String,
    pub(super) current: String,
    pub(super) outdated: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeepCase {
    pub(super) name: String,
    pub(super) split: Split,
    #[serde(default)]
    source: Option<String>,
    pub(super) sessions: Vec<Vec<String>>,
    /// Words of each.
    pub(super) both: [String; 2],
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PairCase {
    pub(super) split: Split,
    pub(super) one: String,
    pub(super) other: String,
    pub(super) same: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RelationCase {
    pub(super) split: Split,
    /// As a tag, such as `en`.
    #[serde(default, rename = "language")]
    _language: String,
    pub(super) earlier: String,
    pub(super) later: String,
    pub(super) relation: Relation,
}

/// What a later statement does to an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Relation {
    /// The earlier one no longer holds.
    Ends,
    /// Both hold, of the same thing.
    Holds,
    /// Both say the same.
    Same,
    /// They are about different things.
    Other,
}

/// Loads a file of cases.
///
/// # Errors
/// When it cannot be read or is no such file.
pub fn load_changes(path: &Path) -> Result<ChangeCases, EvalError> {
    let bytes = read(path)?;
    let malformed =
        |place: String, problem: String| EvalError::malformed(path, FORMAT, &place, &problem);
    let text = String::from_utf8(bytes)
        .map_err(|error| malformed("text".to_owned(), error.to_string()))?;
    let cases: ChangeCases =
        toml::from_str(&text).map_err(|error| malformed("toml".to_owned(), error.to_string()))?;
    let of_keeps = cases.keeps.iter().map(|case| (&case.name, &case.sessions));
    let sessions = cases
        .changes
        .iter()
        .map(|case| (&case.name, &case.sessions));
    for (name, sessions) in sessions.chain(of_keeps) {
        let is_dated = |session: &Vec<String>| {
            let day = session.first().map(|day| day.parse::<jiff::civil::Date>());
            day.is_some_and(|day| day.is_ok()) && session.len() > 1
        };
        if sessions.len() < 2 && sessions.iter().all(|session| session.len() < 3)
            || !sessions.iter().all(is_dated)
        {
            let problem = "a session is a day and messages, and a case has two messages".to_owned();
            return Err(malformed(name.clone(), problem));
        }
    }
    Ok(cases)
}

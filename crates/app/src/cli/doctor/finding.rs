//! What one check reports: one thing, whether it is sound, and what to do about it.
//!
//! Not here: how anything is checked, and how findings are printed.

use serde::Serialize;

use crate::terminal::suggest;

/// The result of checking one thing.
#[derive(Debug, Serialize)]
pub(crate) struct CheckFinding {
    /// What was checked, in a word or two.
    pub(crate) what: String,
    /// The place that it concerns, if it is narrower than `what`: a file, or a table with key and column.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<String>,
    /// Whether it is sound.
    pub(crate) fine: bool,
    /// What was found, and what to do about it.
    pub(crate) says: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) advice: Option<String>,
    /// Whether `daybook doctor --repair` can repair it.
    pub(crate) repairable: bool,
}

impl CheckFinding {
    /// A thing that is sound.
    pub(crate) fn fine(what: &str, says: impl Into<String>) -> Self {
        Self {
            what: what.to_owned(),
            place: None,
            fine: true,
            says: says.into(),
            advice: None,
            repairable: false,
        }
    }

    /// A thing that is damaged, or needs the person.
    pub(crate) fn wrong(what: &str, says: impl Into<String>) -> Self {
        Self {
            fine: false,
            ..Self::fine(what, says)
        }
    }

    /// The same, at a narrower place.
    pub(crate) fn at(self, place: impl Into<String>) -> Self {
        Self {
            place: Some(place.into()),
            ..self
        }
    }

    /// The same, with what a person can do about it.
    pub(crate) fn with_advice(self, advice: impl Into<String>) -> Self {
        let advice = advice.into();
        Self {
            says: format!("{}; {advice}", self.says),
            advice: Some(advice),
            ..self
        }
    }

    /// The same, which `daybook doctor --repair` can repair.
    pub(crate) fn with_repair(self) -> Self {
        Self {
            repairable: true,
            ..self.with_advice(format!(
                "`{}` repairs it",
                suggest::command("doctor --repair")
            ))
        }
    }

    /// The finding for a check that gives one text, or one reason.
    pub(crate) fn of(what: &str, result: anyhow::Result<String>) -> Self {
        match result {
            Ok(says) => Self::fine(what, says),
            Err(error) => Self::wrong(what, format!("{error:#}")),
        }
    }
}

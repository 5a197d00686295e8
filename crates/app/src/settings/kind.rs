//! The kinds of values: how each is parsed, which values are allowed, how it is shown.
//!
//! Values are never clamped: a value that is not allowed is refused with a message about what is allowed.

use std::time::Duration;

use daybook_engine::profile::UNBOUNDED;
use serde_json::{Value, json};

use super::choices::SettingChoices;
use super::duration::{parse_duration, spelled};
use crate::toml_text::parse_table;

/// A kind of value, its bounds, and the field of [`SettingChoices`] that holds it.
#[derive(Clone, Copy)]
pub(crate) enum ValueKind {
    Duration {
        least: Duration,
        most: Duration,
        at: fn(&mut SettingChoices) -> &mut Duration,
    },
    Count {
        least: usize,
        most: usize,
        /// Whether `none`, for no bound, is allowed.
        or_none: bool,
        at: fn(&mut SettingChoices) -> &mut usize,
    },
    Decimal {
        least: f64,
        most: f64,
        at: fn(&mut SettingChoices) -> &mut f64,
    },
    Switch {
        at: fn(&mut SettingChoices) -> &mut bool,
    },
    Word {
        words: &'static [&'static str],
        at: fn(&mut SettingChoices) -> &mut &'static str,
    },
    Text {
        /// The allowed values, as the end of "write …".
        allowed: &'static str,
        fits: fn(&str) -> bool,
        at: fn(&mut SettingChoices) -> &mut String,
    },
    List {
        /// The allowed entries, as the end of "write …".
        allowed: &'static str,
        fits: fn(&str) -> bool,
        at: fn(&mut SettingChoices) -> &mut Vec<String>,
    },
    /// Tables within the file, parsed as a whole.
    Tables {
        /// The allowed values, as the end of "write …".
        allowed: &'static str,
        /// The fault of a value, if any.
        fits: fn(&Value) -> Result<(), String>,
        schema: fn() -> Value,
        at: fn(&mut SettingChoices) -> &mut Value,
    },
}

/// The unit of a value under one of a setting's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameUnit {
    /// The setting's own unit.
    Own,
    Seconds,
    Hours,
    Days,
    /// MindRoom's word for where memory is kept: `file`, `none`, `mem0`.
    Backend,
    /// MindRoom's word for how memory is searched: `keyword`, `semantic`.
    SearchMode,
}

/// Longest list of a setting.
const MOST_ENTRIES: usize = 1_000;

impl ValueKind {
    /// Whether its values are numbers, switches or words of a fixed set, and never texts of a person.
    pub(crate) fn is_closed(self) -> bool {
        match self {
            Self::Duration { .. }
            | Self::Count { .. }
            | Self::Decimal { .. }
            | Self::Switch { .. }
            | Self::Word { .. } => true,
            Self::Text { .. } | Self::List { .. } | Self::Tables { .. } => false,
        }
    }

    /// Parses `given` and stores it in its field.
    ///
    /// # Errors
    /// The fault, and what is allowed, as the end of "idle = 5: …".
    pub(super) fn put(
        self,
        given: &Value,
        unit: NameUnit,
        into: &mut SettingChoices,
    ) -> Result<(), String> {
        let given = &convert_to_own_unit(given, unit)?;
        match self {
            Self::Duration { least, most, at } => {
                let duration = given.as_str().and_then(parse_duration);
                let duration = duration.ok_or(
                    "not a duration; write for example \"90s\", \"10m\", \"2h\" or \"30d\"",
                )?;
                if duration < least || duration > most {
                    return Err(self.out_of_range());
                }
                *at(into) = duration;
            }
            Self::Count {
                least,
                most,
                or_none,
                at,
            } => {
                if or_none && given.as_str().is_some_and(|text| text.trim() == "none") {
                    *at(into) = UNBOUNDED;
                    return Ok(());
                }
                let count = parse_whole(given).ok_or_else(|| format!("not {}", self.allowed()))?;
                let count = usize::try_from(count).map_err(|_| self.out_of_range())?;
                if count < least || count > most {
                    return Err(self.out_of_range());
                }
                *at(into) = count;
            }
            Self::Decimal { least, most, at } => {
                let number =
                    parse_decimal(given).ok_or_else(|| format!("not {}", self.allowed()))?;
                if !(least..=most).contains(&number) {
                    return Err(self.out_of_range());
                }
                *at(into) = number;
            }
            Self::Switch { at } => {
                *at(into) = parse_switch(given).ok_or("neither \"on\" nor \"off\"")?;
            }
            Self::Word { words, at } => {
                let found = words.iter().find(|word| given.as_str() == Some(word));
                *at(into) = found.ok_or_else(|| format!("not {}", self.allowed()))?;
            }
            Self::Text { allowed, fits, at } => {
                let text = given.as_str().filter(|text| fits(text));
                *at(into) = text.ok_or_else(|| format!("write {allowed}"))?.to_owned();
            }
            Self::List { allowed, fits, at } => {
                let entries =
                    parse_entries(given).filter(|list| list.iter().all(|entry| fits(entry)));
                let entries = entries.ok_or_else(|| format!("write {allowed}"))?;
                if entries.len() > MOST_ENTRIES {
                    return Err(format!("longer than {MOST_ENTRIES} entries"));
                }
                *at(into) = entries;
            }
            Self::Tables {
                allowed, fits, at, ..
            } => {
                let tables = parse_tables(given).ok_or_else(|| format!("write {allowed}"))?;
                fits(&tables)?;
                *at(into) = tables;
            }
        }
        Ok(())
    }

    /// The value of `choices`, in the form that the setting is written in.
    pub(super) fn value(self, choices: &SettingChoices) -> Value {
        let choices = &mut choices.clone();
        match self {
            Self::Duration { at, .. } => spelled(*at(choices)).into(),
            Self::Count { at, .. } if *at(choices) == UNBOUNDED => "none".into(),
            Self::Count { at, .. } => json!(*at(choices)),
            Self::Decimal { at, .. } => json!(*at(choices)),
            Self::Switch { at } if *at(choices) => "on".into(),
            Self::Switch { .. } => "off".into(),
            Self::Word { at, .. } => (*at(choices)).into(),
            Self::Text { at, .. } => super::masked(at(choices)).into(),
            Self::List { at, .. } => at(choices).clone().into(),
            Self::Tables { at, .. } => at(choices).clone(),
        }
    }

    /// Which values are allowed, for people.
    pub(crate) fn allowed(self) -> String {
        match self {
            Self::Duration { least, most, .. } => {
                format!("a duration from {} to {}", spelled(least), spelled(most))
            }
            Self::Count {
                least,
                most,
                or_none,
                ..
            } => {
                let none = if or_none { ", or \"none\"" } else { "" };
                format!("a whole number from {least} to {most}{none}")
            }
            Self::Decimal { least, most, .. } => format!("a number from {least} to {most}"),
            Self::Switch { .. } => "\"on\" or \"off\"".to_owned(),
            Self::Word { words, .. } => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                match words.split_last() {
                    Some((last, [])) => last.clone(),
                    Some((last, before)) => format!("{} or {last}", before.join(", ")),
                    None => String::new(),
                }
            }
            Self::Text { allowed, .. } | Self::Tables { allowed, .. } => allowed.to_owned(),
            Self::List { allowed, .. } => format!("a list: {allowed}"),
        }
    }

    /// A JSON Schema of the values that a name with this unit may have.
    pub(super) fn schema(self, unit: NameUnit) -> Value {
        match self {
            Self::Duration { least, most, .. } => match seconds_per(unit) {
                Some(unit) => json!({
                    "type": "integer",
                    "minimum": least.as_secs().div_ceil(unit),
                    "maximum": most.as_secs() / unit,
                }),
                None => {
                    json!({"type": "string", "pattern": r"^\s*[0-9]+\s*(ms|s|m|min|h|d|w)\s*$"})
                }
            },
            Self::Count {
                least,
                most,
                or_none,
                ..
            } => {
                let number = json!({"type": "integer", "minimum": least, "maximum": most});
                match or_none {
                    true => json!({"anyOf": [number, {"const": "none"}]}),
                    false => number,
                }
            }
            Self::Decimal { least, most, .. } => {
                json!({"type": "number", "minimum": least, "maximum": most})
            }
            Self::Switch { .. } if unit == NameUnit::Backend => json!({"enum": ["file", "none"]}),
            Self::Switch { .. } => json!({"enum": ["on", "off", true, false]}),
            Self::Word { words, .. } => json!({"enum": words}),
            Self::Text { .. } if unit == NameUnit::SearchMode => {
                json!({"enum": ["keyword", "semantic"]})
            }
            Self::Text { .. } => json!({"type": "string", "minLength": 1}),
            Self::List { .. } => {
                json!({"type": "array", "items": {"type": "string"}, "maxItems": MOST_ENTRIES})
            }
            Self::Tables { schema, .. } => schema(),
        }
    }

    fn out_of_range(self) -> String {
        format!("out of range; allowed is {}", self.allowed())
    }
}

fn seconds_per(unit: NameUnit) -> Option<u64> {
    match unit {
        NameUnit::Own | NameUnit::Backend | NameUnit::SearchMode => None,
        NameUnit::Seconds => Some(1),
        NameUnit::Hours => Some(3_600),
        NameUnit::Days => Some(86_400),
    }
}

/// Converts a value under another system's name to the setting's own form.
fn convert_to_own_unit(given: &Value, unit: NameUnit) -> Result<Value, String> {
    let suffix = match unit {
        NameUnit::Own => return Ok(given.clone()),
        NameUnit::Backend => return parse_backend(given),
        NameUnit::SearchMode => return parse_search_mode(given),
        NameUnit::Seconds => "s",
        NameUnit::Hours => "h",
        NameUnit::Days => "d",
    };
    match parse_whole(given) {
        Some(number) => Ok(format!("{number}{suffix}").into()),
        None => Err(format!(
            "not a whole number of {}",
            format!("{unit:?}").to_lowercase()
        )),
    }
}

/// Searching by keywords does without vectors; Daybook's own model makes them otherwise.
fn parse_search_mode(given: &Value) -> Result<Value, String> {
    match given.as_str() {
        Some("keyword") => Ok(super::vectors::OFF.into()),
        Some("semantic") => Ok(super::vectors::BUILT_IN.into()),
        _ => Err("neither \"keyword\" nor \"semantic\"".to_owned()),
    }
}

pub(super) fn parse_backend(given: &Value) -> Result<Value, String> {
    match given.as_str() {
        Some("file") => Ok("on".into()),
        Some("none") => Ok("off".into()),
        Some("mem0") => Err(
            "a mem0 server keeps the memory of single agents: name it in `mem0`, and write memory = \"mem0\" for \
             each of them below `agents`; write \"file\" here, or \"none\" to switch memory off"
                .to_owned(),
        ),
        _ => Err("neither \"file\" nor \"none\"".to_owned()),
    }
}

/// Parses a whole number that is not negative, also from text.
fn parse_whole(given: &Value) -> Option<u64> {
    match given {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64(),
    }
}

/// Parses a number, also from text.
fn parse_decimal(given: &Value) -> Option<f64> {
    match given {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    }
}

pub(super) fn parse_switch(given: &Value) -> Option<bool> {
    match given {
        Value::Bool(on) => Some(*on),
        Value::String(text) => match text.trim() {
            "on" | "true" => Some(true),
            "off" | "false" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Parses a list, or text with commas, as flags and variables have it.
fn parse_entries(given: &Value) -> Option<Vec<String>> {
    match given {
        Value::Array(list) => list
            .iter()
            .map(|entry| Some(entry.as_str()?.to_owned()))
            .collect(),
        Value::String(text) => Some(
            text.split(',')
                .map(str::trim)
                .filter(|entry| !entry.is_empty())
                .map(str::to_owned)
                .collect(),
        ),
        _ => None,
    }
}

/// Parses tables, or TOML text, as flags and variables have it.
fn parse_tables(given: &Value) -> Option<Value> {
    match given {
        Value::Object(_) => Some(given.clone()),
        Value::String(text) => {
            let line = parse_table(&format!("it = {text}")).ok()?;
            let it = serde_json::to_value(line.get("it")?).ok()?;
            it.is_object().then_some(it)
        }
        _ => None,
    }
}

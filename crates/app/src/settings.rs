//! Settings: where each value comes from, what it means, and whether it makes sense.
//!
//! A value comes from the command line, else the environment (`DAYBOOK_…`), else `daybook.toml` in
//! the data folder, else its default. Nothing below the binary reads the environment.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use jiff::tz::TimeZone;
use serde::Serialize;

/// One setting: its name, what it does, and its default.
struct Known {
    name: &'static str,
    about: &'static str,
    default: &'static str,
}

const KNOWN: [Known; 7] = [
    Known {
        name: "person",
        about: "what you are called in memory files; also the name of your own scope",
        default: "",
    },
    Known {
        name: "timezone",
        about: "whose days and hours memory files show: an IANA name, or `local`",
        default: "local",
    },
    Known {
        name: "durability",
        about: "`process`: an acknowledged event survives a killed process; `power`: a power cut too",
        default: "process",
    },
    Known {
        name: "idle",
        about: "how long a session rests before it is extracted; longer means fewer passes",
        default: "2m",
    },
    Known {
        name: "max_dirty_age",
        about: "longest wait of an unprocessed event, however busy its session is",
        default: "10m",
    },
    Known {
        name: "lease",
        about: "how long a job may run before another worker may take it over",
        default: "5m",
    },
    Known {
        name: "context_tokens",
        about: "most tokens that `context` prints; more tells an agent more and costs it more",
        default: "1500",
    },
];

/// Where a value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    Environment,
    File,
    Default,
}

/// A setting with its value, for people.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Explained {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) source: Source,
    pub(crate) about: &'static str,
}

/// How durable an acknowledged event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    Process,
    Power,
}

/// All settings, checked.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) person: String,
    pub(crate) zone: TimeZone,
    pub(crate) durability: Durability,
    pub(crate) idle: Duration,
    pub(crate) max_dirty_age: Duration,
    pub(crate) lease: Duration,
    pub(crate) context_tokens: usize,
    pub(crate) explained: Vec<Explained>,
}

/// Name of the settings file in the data folder.
pub(crate) const FILE: &str = "daybook.toml";

impl Settings {
    /// Reads the settings of the data folder at `root`.
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let file = read_file(&root.join(FILE))?;
        let explained: Vec<Explained> = KNOWN.iter().map(|known| explain(known, &file)).collect();
        let value = |name: &str| {
            let found = explained.iter().find(|setting| setting.name == name);
            found
                .map(|setting| setting.value.clone())
                .unwrap_or_default()
        };
        let duration = |name: &str| -> Result<Duration> {
            let text = value(name);
            parse_duration(&text).with_context(|| {
                format!(
                    "{name} = \"{text}\" is not a duration; write for example \"90s\" or \"10m\""
                )
            })
        };
        let durability = match value("durability").as_str() {
            "process" => Durability::Process,
            "power" => Durability::Power,
            other => bail!("durability = \"{other}\" is neither \"process\" nor \"power\""),
        };
        let tokens = value("context_tokens");
        let context_tokens = tokens
            .parse()
            .with_context(|| format!("context_tokens = \"{tokens}\" is not a whole number"))?;
        Ok(Self {
            person: value("person"),
            zone: zone(&value("timezone"))?,
            durability,
            idle: duration("idle")?,
            max_dirty_age: duration("max_dirty_age")?,
            lease: duration("lease")?,
            context_tokens,
            explained,
        })
    }
}

fn explain(known: &Known, file: &BTreeMap<String, String>) -> Explained {
    let variable = format!("DAYBOOK_{}", known.name.to_uppercase());
    let (value, source) = if let Ok(value) = std::env::var(variable) {
        (value, Source::Environment)
    } else if let Some(value) = file.get(known.name) {
        (value.clone(), Source::File)
    } else if known.name == "person" {
        (login_name(), Source::Default)
    } else {
        (known.default.to_owned(), Source::Default)
    };
    Explained {
        name: known.name,
        value,
        source,
        about: known.about,
    }
}

fn login_name() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok());
    named
        .filter(|name| !name.trim().is_empty())
        .unwrap_or_else(|| "you".to_owned())
}

fn read_file(path: &Path) -> Result<BTreeMap<String, String>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let table: toml::Table = text
        .parse()
        .with_context(|| format!("{} is not valid TOML", path.display()))?;
    let mut values = BTreeMap::new();
    for (name, value) in table {
        if !KNOWN.iter().any(|known| known.name == name) {
            bail!(
                "{} sets `{name}`, which is not a setting; `daybook config` lists them",
                path.display()
            );
        }
        let value = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            other => bail!(
                "{} sets `{name}` to {other}, which is not a text or a number",
                path.display()
            ),
        };
        values.insert(name, value);
    }
    Ok(values)
}

fn zone(name: &str) -> Result<TimeZone> {
    match name {
        "local" => Ok(TimeZone::try_system().unwrap_or(TimeZone::UTC)),
        name => TimeZone::get(name).with_context(|| {
            format!("timezone = \"{name}\" is not known; write an IANA name such as \"Europe/Berlin\", or \"local\"")
        }),
    }
}

/// `90s`, `10m`, `2h`, `30d`, `500ms`.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let amount: u64 = text[..digits].parse().ok()?;
    let milliseconds = match text[digits..].trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 604_800_000,
        _ => return None,
    };
    Some(Duration::from_millis(amount.checked_mul(milliseconds)?))
}

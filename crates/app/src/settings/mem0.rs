//! The table `mem0`: the mem0 server that keeps the memory of those agents for which settings choose it.
//!
//! Not here: which agents these are (`agents`), what is sent there (`mem0_server`).

use std::time::Duration;

use serde_json::{Value, json};

use super::duration::parse_duration;
use super::providers::{KeyLocation, TableEntry, key, key_schema};
use super::spend::{check_keys, table};

/// How long one answer may take where settings say nothing: mem0 asks a model before it answers.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Longest wait for an answer.
const LONGEST: Duration = Duration::from_secs(600);

/// The mem0 server of settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mem0Settings {
    pub(crate) url: String,
    pub(crate) key: KeyLocation,
    pub(crate) plain_http: bool,
    pub(crate) timeout: Duration,
    /// Whether what is sent there is also kept here.
    pub(crate) also_here: bool,
}

/// Parses `{ url = "http://127.0.0.1:8888", key = { env = "MEM0_KEY" } }`; `None` where the table is empty.
pub(super) fn mem0(given: &Value) -> Result<Option<Mem0Settings>, String> {
    let entry = TableEntry {
        name: "mem0",
        fields: table("mem0", given)?,
    };
    if entry.fields.is_empty() {
        return Ok(None);
    }
    let names = ["url", "key", "plain_http", "timeout", "also_here"];
    check_keys("mem0", entry.fields, &names)?;
    let url = entry.text("url")?;
    let url = url.ok_or_else(|| {
        entry.wrong(
            "url",
            "where the server is, such as \"http://127.0.0.1:8888\"",
        )
    })?;
    let timeout = entry.text("timeout")?.map(|text| {
        let timeout = parse_duration(&text);
        let timeout = timeout.filter(|it| (Duration::from_secs(1)..=LONGEST).contains(it));
        timeout.ok_or_else(|| entry.wrong("timeout", "a duration from 1s to 10m"))
    });
    Ok(Some(Mem0Settings {
        url,
        key: key(&entry)?,
        plain_http: entry.switch("plain_http")?,
        timeout: timeout.transpose()?.unwrap_or(TIMEOUT),
        also_here: entry.switch("also_here")?,
    }))
}

/// A JSON Schema of `mem0`.
pub(super) fn mem0_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "url": {"type": "string", "minLength": 1},
            "key": key_schema(),
            "plain_http": {"type": "boolean"},
            "timeout": {"type": "string"},
            "also_here": {"type": "boolean"},
        },
        "additionalProperties": false,
    })
}

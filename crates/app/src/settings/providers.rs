//! The table `providers`: the servers that answer for models.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use daybook_llm::{ANSWER_TIMEOUT, CONCURRENCY, RetryConfig, TokenVocabulary, Wire};
use serde_json::{Map, Value, json};

use super::duration::parse_duration;
use super::spend::{check_keys, table};

/// Most providers.
const MOST: usize = 100;
/// Longest name of a provider or a model, in bytes.
pub(super) const NAME: usize = 200;
/// Context of a model without a setting of its own: most models can read it, and a small machine has room for it.
const CONTEXT: u32 = 32_768;
/// Fewest tokens that a context may have: a prompt and a few events.
const LEAST_CONTEXT: u32 = 4_096;
/// Longest wait for an answer, in seconds.
const LONGEST_ANSWER: u64 = 3_600;

const WIRES: [(&str, Wire); 3] = [
    ("openai", Wire::OpenAi),
    ("anthropic", Wire::Anthropic),
    ("ollama", Wire::Ollama),
];
const VOCABULARIES: [(&str, TokenVocabulary); 3] = [
    ("o200k", TokenVocabulary::O200k),
    ("cl100k", TokenVocabulary::Cl100k),
    ("other", TokenVocabulary::Other),
];

/// One entry of `providers`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProviderSettings {
    pub(crate) name: String,
    pub(crate) wire: Wire,
    pub(crate) base_url: String,
    pub(crate) key: KeyLocation,
    pub(crate) plain_http: bool,
    pub(crate) concurrency: NonZeroU32,
    pub(crate) timeout: Duration,
    /// Most attempts at one request.
    pub(crate) tries: NonZeroU32,
    /// The share of its rate limits that is left to other clients.
    pub(crate) min_remaining_percent: u8,
    context_tokens: u32,
    models: BTreeMap<String, ModelSettings>,
}

/// Settings of one model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ModelSettings {
    context_tokens: Option<u32>,
    vocabulary: Option<TokenVocabulary>,
}

/// Where the key is read from. The settings never hold the key itself: they are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyLocation {
    Nowhere,
    Environment(String),
    File(PathBuf),
    /// Printed by a program, which is started without a shell.
    Command(Vec<String>),
}

impl ProviderSettings {
    /// Most tokens of question and answer together, of one of its models.
    pub(super) fn context_tokens(&self, model: &str) -> u32 {
        let own = self.models.get(model).and_then(|own| own.context_tokens);
        own.unwrap_or(self.context_tokens)
    }

    /// The vocabulary that the tokens of one of its models are counted by, where the settings name one.
    pub(super) fn vocabulary(&self, model: &str) -> Option<TokenVocabulary> {
        self.models.get(model)?.vocabulary
    }
}

/// [`providers`], with the share of rate limits that is left to others where a provider's entry names none.
pub(super) fn providers_with(
    tables: &Value,
    min_remaining_percent: u8,
) -> Result<Vec<ProviderSettings>, String> {
    let mut all = providers(tables)?;
    for provider in &mut all {
        let own = tables.get(&provider.name);
        if own
            .and_then(|own| own.get("min_remaining_percent"))
            .is_none()
        {
            provider.min_remaining_percent = min_remaining_percent;
        }
    }
    Ok(all)
}

/// Parses entries such as `home = { wire = "ollama", base_url = "http://127.0.0.1:11434" }`.
pub(super) fn providers(tables: &Value) -> Result<Vec<ProviderSettings>, String> {
    let tables = table("providers", tables)?;
    if tables.len() > MOST {
        return Err(format!("more than {MOST} providers"));
    }
    tables
        .iter()
        .map(|(name, given)| provider(name, given))
        .collect()
}

fn provider(name: &str, given: &Value) -> Result<ProviderSettings, String> {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.';
    if name.is_empty() || name.len() > NAME || !name.chars().all(letters) {
        return Err(format!(
            "{name}: a provider's name has letters, digits, -, _ and ."
        ));
    }
    let entry = TableEntry {
        name,
        fields: table(name, given)?,
    };
    let names = [
        "wire",
        "base_url",
        "key",
        "plain_http",
        "concurrency",
        "timeout",
        "tries",
        "min_remaining_percent",
        "context_tokens",
        "models",
    ];
    check_keys(name, entry.fields, &names)?;
    let base_url = entry.text("base_url")?;
    let base_url = base_url.ok_or_else(|| {
        entry.wrong(
            "base_url",
            "where it is asked, such as \"https://llm.example/v1\"",
        )
    })?;
    let concurrency = entry.count("concurrency", 1..=1_000)?;
    let tries = entry.count("tries", 1..=10)?;
    let remaining = entry.count("min_remaining_percent", 0..=100)?;
    Ok(ProviderSettings {
        name: name.to_owned(),
        wire: entry.word("wire", &WIRES)?.unwrap_or(Wire::OpenAi),
        base_url,
        key: key(&entry)?,
        plain_http: entry.switch("plain_http")?,
        concurrency: concurrency.and_then(NonZeroU32::new).unwrap_or(CONCURRENCY),
        timeout: timeout(&entry)?,
        tries: tries
            .and_then(NonZeroU32::new)
            .unwrap_or(RetryConfig::default().tries),
        min_remaining_percent: remaining.map_or(0, |percent| u8::try_from(percent).unwrap_or(100)),
        context_tokens: entry.context()?.unwrap_or(CONTEXT),
        models: models(&entry)?,
    })
}

fn timeout(entry: &TableEntry<'_>) -> Result<Duration, String> {
    let Some(text) = entry.text("timeout")? else {
        return Ok(ANSWER_TIMEOUT);
    };
    let bounds = Duration::from_secs(1)..=Duration::from_secs(LONGEST_ANSWER);
    let timeout = parse_duration(&text).filter(|timeout| bounds.contains(timeout));
    timeout.ok_or_else(|| entry.wrong("timeout", "a duration from 1s to 1h"))
}

fn models(entry: &TableEntry<'_>) -> Result<BTreeMap<String, ModelSettings>, String> {
    let Some(given) = entry.fields.get("models") else {
        return Ok(BTreeMap::new());
    };
    let models = table("models", given)?.iter().map(|(model, given)| {
        let entry_of_model = TableEntry {
            name: model,
            fields: table(model, given)?,
        };
        check_keys(
            model,
            entry_of_model.fields,
            &["context_tokens", "vocabulary"],
        )?;
        let settings = ModelSettings {
            context_tokens: entry_of_model.context()?,
            vocabulary: entry_of_model.word("vocabulary", &VOCABULARIES)?,
        };
        Ok((model.clone(), settings))
    });
    models.collect()
}

/// Parses `{ env = "HOME_KEY" }`, `{ file = "…" }` or `{ command = ["pass", "show", "home"] }`.
pub(super) fn key(entry: &TableEntry<'_>) -> Result<KeyLocation, String> {
    let Some(given) = entry.fields.get("key") else {
        return Ok(KeyLocation::Nowhere);
    };
    // The value may be a key by mistake, so the message does not repeat it.
    let wrong = || {
        entry.wrong("key", "where it is, never the key itself: { env = \"NAME\" }, { file = \"path\" } or { command = [\"program\", \"argument\"] }")
    };
    let one = given.as_object().filter(|table| table.len() == 1);
    let (how, at) = one
        .and_then(|table| table.iter().next())
        .ok_or_else(wrong)?;
    let text = at.as_str().filter(|text| !text.trim().is_empty());
    match (how.as_str(), text) {
        ("env", Some(name)) => Ok(KeyLocation::Environment(name.to_owned())),
        ("file", Some(path)) => Ok(KeyLocation::File(path.into())),
        ("command", None) => {
            let words = at.as_array().into_iter().flatten();
            let words: Option<Vec<String>> =
                words.map(|word| Some(word.as_str()?.to_owned())).collect();
            let words =
                words.filter(|words| words.first().is_some_and(|program| !program.is_empty()));
            words.map(KeyLocation::Command).ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}

/// One entry of a table, with the name that errors begin with.
pub(super) struct TableEntry<'a> {
    pub(super) name: &'a str,
    pub(super) fields: &'a Map<String, Value>,
}

impl TableEntry<'_> {
    pub(super) fn wrong(&self, key: &str, allowed: &str) -> String {
        format!("{}: {key}: write {allowed}", self.name)
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<String>, String> {
        let text = |given: &Value| {
            let text = given
                .as_str()
                .map(str::trim)
                .filter(|text| !text.is_empty());
            text.map(str::to_owned)
                .ok_or_else(|| self.wrong(key, "some text"))
        };
        self.fields.get(key).map(text).transpose()
    }

    pub(super) fn switch(&self, key: &str) -> Result<bool, String> {
        match self.fields.get(key) {
            None => Ok(false),
            Some(given) => given
                .as_bool()
                .ok_or_else(|| self.wrong(key, "true or false")),
        }
    }

    fn count(
        &self,
        key: &str,
        bounds: std::ops::RangeInclusive<u32>,
    ) -> Result<Option<u32>, String> {
        let count = |given: &Value| {
            let count = given.as_u64().and_then(|count| u32::try_from(count).ok());
            let allowed = format!("a whole number from {} to {}", bounds.start(), bounds.end());
            count
                .filter(|count| bounds.contains(count))
                .ok_or_else(|| self.wrong(key, &allowed))
        };
        self.fields.get(key).map(count).transpose()
    }

    fn context(&self) -> Result<Option<u32>, String> {
        self.count("context_tokens", LEAST_CONTEXT..=10_000_000)
    }

    fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<T>, String> {
        let Some(given) = self.text(key)? else {
            return Ok(None);
        };
        let found = words.iter().find(|(word, _)| *word == given);
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        found
            .map(|(_, it)| Some(*it))
            .ok_or_else(|| self.wrong(key, &names.join(", ")))
    }
}

/// A JSON Schema of the place of a key.
pub(super) fn key_schema() -> Value {
    let text = json!({"type": "string", "minLength": 1});
    let key = |name: &str, value: Value| json!({"type": "object", "properties": {name: value}, "required": [name], "additionalProperties": false});
    json!({"oneOf": [
        key("env", text.clone()),
        key("file", text),
        key("command", json!({"type": "array", "items": {"type": "string"}, "minItems": 1})),
    ]})
}

/// A JSON Schema of `providers`.
pub(super) fn providers_schema() -> Value {
    let text = json!({"type": "string", "minLength": 1});
    let context = json!({"type": "integer", "minimum": LEAST_CONTEXT, "maximum": 10_000_000});
    let model = json!({
        "type": "object",
        "properties": {
            "context_tokens": context,
            "vocabulary": {"enum": VOCABULARIES.map(|(word, _)| word)},
        },
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "maxProperties": MOST,
        "additionalProperties": {
            "type": "object",
            "properties": {
                "wire": {"enum": WIRES.map(|(word, _)| word)},
                "base_url": text,
                "key": key_schema(),
                "plain_http": {"type": "boolean"},
                "concurrency": {"type": "integer", "minimum": 1, "maximum": 1_000},
                "timeout": {"type": "string"},
                "tries": {"type": "integer", "minimum": 1, "maximum": 10},
                "min_remaining_percent": {"type": "integer", "minimum": 0, "maximum": 100},
                "context_tokens": context,
                "models": {"type": "object", "additionalProperties": model},
            },
            "required": ["base_url"],
            "additionalProperties": false,
        },
    })
}

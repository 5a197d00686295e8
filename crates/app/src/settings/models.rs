//! The table `providers`, and the settings that name a model or a provider.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use daybook_domain::{ObservationKind, Tenant};
use daybook_engine::extract::model::{Guidance, ModelLimits};
use daybook_llm::{ANSWER_TIMEOUT, CONCURRENCY, RetryConfig, Vocabulary, Wire};
use serde_json::{Map, Value, json};

use super::choices::Choices;
use super::kind::parse_duration;
use super::spend::{known, table};

/// The word for asking none.
pub(super) const NONE: &str = "none";
/// The words of `at_cap`.
pub(super) const AT_CAP: [&str; 2] = ["stand_in", "wait"];

/// Most providers.
const MOST: usize = 100;
/// Longest name of a provider or a model, in bytes.
const NAME: usize = 200;
/// Context of a model of which nothing is said: what most can read, and what a small machine has room for.
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
const VOCABULARIES: [(&str, Vocabulary); 3] = [
    ("o200k", Vocabulary::O200k),
    ("cl100k", Vocabulary::Cl100k),
    ("other", Vocabulary::Other),
];

/// Which models are asked, and how.
#[derive(Debug, Clone)]
pub(crate) struct Models {
    /// Who tells what is worth keeping; nobody: it is quoted.
    pub(crate) extract: Option<Chosen>,
    /// What happens at a cap: the extractor that asks no model stands in, or work waits.
    pub(crate) stand_in: bool,
    /// What to keep, and what never.
    pub(crate) guidance: Guidance,
    pub(crate) limits: ModelLimits,
}

/// A model with everything that is needed to ask it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) provider: ProviderSettings,
    /// As the provider calls it.
    pub(crate) model: String,
    /// Tenants that may not ask this provider.
    pub(crate) forbidden: Vec<Tenant>,
}

/// One entry of `providers`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProviderSettings {
    pub(crate) name: String,
    pub(crate) wire: Wire,
    pub(crate) base_url: String,
    pub(crate) key: KeyAt,
    pub(crate) plain_http: bool,
    pub(crate) concurrency: NonZeroU32,
    pub(crate) timeout: Duration,
    /// Sendings of one question that may fail.
    pub(crate) tries: NonZeroU32,
    /// The share of its rate limits that is left to others.
    pub(crate) min_remaining_percent: u8,
    context_tokens: u32,
    models: BTreeMap<String, ModelSettings>,
}

/// What is said of one model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ModelSettings {
    context_tokens: Option<u32>,
    vocabulary: Option<Vocabulary>,
}

/// Where a key is to be found. It never stands in settings itself: those are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyAt {
    Nowhere,
    Environment(String),
    File(PathBuf),
    /// Printed by a program, which is started without a shell.
    Command(Vec<String>),
}

impl Chosen {
    /// Most tokens of question and answer together.
    pub(crate) fn context_tokens(&self) -> u32 {
        let said = self.provider.models.get(&self.model);
        said.and_then(|said| said.context_tokens)
            .unwrap_or(self.provider.context_tokens)
    }

    /// What its tokens are counted by, where it was said.
    pub(crate) fn vocabulary(&self) -> Option<Vocabulary> {
        self.provider.models.get(&self.model)?.vocabulary
    }
}

impl Models {
    /// What `choices` come to.
    ///
    /// # Errors
    /// When a model is named that nobody provides, or that nobody may ask.
    pub(super) fn of(choices: &Choices) -> Result<Self> {
        let providers = providers(&choices.providers).map_err(anyhow::Error::msg)?;
        Ok(Self {
            extract: chosen(
                "extract_model",
                &choices.extract_model,
                &providers,
                &choices.forbid,
            )?,
            stand_in: choices.at_cap == AT_CAP[0],
            guidance: Guidance {
                keep: choices.keep.clone(),
                never: choices.never_keep.clone(),
                never_kinds: choices
                    .never_keep_kinds
                    .iter()
                    .filter_map(|word| kind(word))
                    .collect(),
            },
            limits: ModelLimits {
                transcript_tokens: u32::try_from(choices.window_tokens).unwrap_or(u32::MAX),
                answer_tokens: u32::try_from(choices.answer_tokens).unwrap_or(u32::MAX),
            },
        })
    }
}

/// The model that a setting names as `provider/model`. What comes before the first slash is the
/// provider: models' own names have slashes, too.
fn chosen(
    setting: &str,
    named: &str,
    providers: &[ProviderSettings],
    forbidden: &[String],
) -> Result<Option<Chosen>> {
    if named == NONE {
        return Ok(None);
    }
    let (provider, model) = named.split_once('/').unwrap_or((named, ""));
    let found = providers.iter().find(|known| known.name == provider);
    let Some(found) = found.filter(|_| !model.is_empty()) else {
        let names: Vec<&str> = providers.iter().map(|known| known.name.as_str()).collect();
        let there = match names.as_slice() {
            [] => {
                "there is none yet: add [providers.<name>] with wire and base_url to daybook.toml"
                    .to_owned()
            }
            names => format!("there are {}", names.join(", ")),
        };
        bail!("{setting} = \"{named}\": write provider/model; of providers {there}");
    };
    let mut tenants = Vec::new();
    for entry in forbidden {
        match entry.split_once('/') {
            None if entry == provider => {
                bail!(
                    "{setting} = \"{named}\": forbid_providers names {provider}; choose another, or none"
                )
            }
            Some((tenant, of)) if of == provider => {
                tenants.push(Tenant(tenant.to_owned()));
            }
            _ => {}
        }
    }
    Ok(Some(Chosen {
        provider: found.clone(),
        model: model.to_owned(),
        forbidden: tenants,
    }))
}

/// `home = { wire = "ollama", base_url = "http://127.0.0.1:11434" }`, each.
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
    let entry = Entry {
        name,
        given: table(name, given)?,
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
    known(name, entry.given, &names)?;
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

fn timeout(entry: &Entry<'_>) -> Result<Duration, String> {
    let Some(text) = entry.text("timeout")? else {
        return Ok(ANSWER_TIMEOUT);
    };
    let bounds = Duration::from_secs(1)..=Duration::from_secs(LONGEST_ANSWER);
    let timeout = parse_duration(&text).filter(|timeout| bounds.contains(timeout));
    timeout.ok_or_else(|| entry.wrong("timeout", "a duration from 1s to 1h"))
}

fn models(entry: &Entry<'_>) -> Result<BTreeMap<String, ModelSettings>, String> {
    let Some(given) = entry.given.get("models") else {
        return Ok(BTreeMap::new());
    };
    let models = table("models", given)?.iter().map(|(model, given)| {
        let said = Entry {
            name: model,
            given: table(model, given)?,
        };
        known(model, said.given, &["context_tokens", "vocabulary"])?;
        let settings = ModelSettings {
            context_tokens: said.context()?,
            vocabulary: said.word("vocabulary", &VOCABULARIES)?,
        };
        Ok((model.clone(), settings))
    });
    models.collect()
}

/// `{ env = "HOME_KEY" }`, `{ file = "…" }` or `{ command = ["pass", "show", "home"] }`.
fn key(entry: &Entry<'_>) -> Result<KeyAt, String> {
    let Some(given) = entry.given.get("key") else {
        return Ok(KeyAt::Nowhere);
    };
    // A key that stands here by mistake is not repeated.
    let wrong = || {
        entry.wrong("key", "where it is, never the key itself: { env = \"NAME\" }, { file = \"path\" } or { command = [\"program\", \"argument\"] }")
    };
    let one = given.as_object().filter(|table| table.len() == 1);
    let (how, at) = one
        .and_then(|table| table.iter().next())
        .ok_or_else(wrong)?;
    let text = at.as_str().filter(|text| !text.trim().is_empty());
    match (how.as_str(), text) {
        ("env", Some(name)) => Ok(KeyAt::Environment(name.to_owned())),
        ("file", Some(path)) => Ok(KeyAt::File(path.into())),
        ("command", None) => {
            let words = at.as_array().into_iter().flatten();
            let words: Option<Vec<String>> =
                words.map(|word| Some(word.as_str()?.to_owned())).collect();
            let words =
                words.filter(|words| words.first().is_some_and(|program| !program.is_empty()));
            words.map(KeyAt::Command).ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}

/// One entry of a table, which errors name.
struct Entry<'a> {
    name: &'a str,
    given: &'a Map<String, Value>,
}

impl Entry<'_> {
    fn wrong(&self, key: &str, allowed: &str) -> String {
        format!("{}: {key}: write {allowed}", self.name)
    }

    fn text(&self, key: &str) -> Result<Option<String>, String> {
        let text = |given: &Value| {
            let text = given
                .as_str()
                .map(str::trim)
                .filter(|text| !text.is_empty());
            text.map(str::to_owned)
                .ok_or_else(|| self.wrong(key, "some text"))
        };
        self.given.get(key).map(text).transpose()
    }

    fn switch(&self, key: &str) -> Result<bool, String> {
        match self.given.get(key) {
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
        self.given.get(key).map(count).transpose()
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

/// Whether a text names a model, or none.
pub(super) fn is_model(text: &str) -> bool {
    text == NONE || (text.contains('/') && text.len() <= 2 * NAME)
}

/// Whether a text names a provider, or a tenant and a provider.
pub(super) fn is_forbidden(text: &str) -> bool {
    !text.is_empty() && text.split('/').all(|part| !part.is_empty()) && text.split('/').count() <= 2
}

/// The kind of observation that a word is for.
pub(super) fn kind(word: &str) -> Option<ObservationKind> {
    ObservationKind::ALL
        .into_iter()
        .find(|kind| kind.word() == word)
}

/// A JSON Schema of `providers`.
pub(super) fn providers_schema() -> Value {
    let text = json!({"type": "string", "minLength": 1});
    let context = json!({"type": "integer", "minimum": LEAST_CONTEXT, "maximum": 10_000_000});
    let key = |name: &str, value: Value| json!({"type": "object", "properties": {name: value}, "required": [name], "additionalProperties": false});
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
                "key": {"oneOf": [
                    key("env", text.clone()),
                    key("file", text.clone()),
                    key("command", json!({"type": "array", "items": {"type": "string"}, "minItems": 1})),
                ]},
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

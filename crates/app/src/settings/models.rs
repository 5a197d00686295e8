//! Settings that name a model, and what it is asked about.
//!
//! Not here: the table of providers (`providers`).

use anyhow::{Result, bail};
use daybook_domain::{ObservationKind, Tenant};
use daybook_engine::extract::model::{Guidance, ModelLimits};
use daybook_engine::profile::UNBOUNDED;
use daybook_engine::working::compact::LlmConfig;
use daybook_llm::Vocabulary;

use super::choices::{AT_CAP, Choices, NONE};
use super::providers::{NAME, ProviderSettings, providers};

/// Which models are asked, and how.
#[derive(Debug, Clone)]
pub(crate) struct Models {
    /// Who tells what is worth keeping; nobody: it is quoted.
    pub(crate) extract: Option<Chosen>,
    /// Who condenses what threads hold; nobody: what plainly happened is written down.
    pub(crate) compact: Option<Chosen>,
    pub(crate) compacting: Compacting,
    /// What happens at a cap: the extractor that asks no model stands in, or work waits.
    pub(crate) stand_in: bool,
    /// What to keep, and what never.
    pub(crate) guidance: Guidance,
    pub(crate) limits: ModelLimits,
}

/// When threads are compacted, and how a model is asked to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compacting {
    pub(crate) llm: LlmConfig,
    /// Whether they are without being asked.
    pub(crate) auto: bool,
    /// Compactable chunks with which they are.
    pub(crate) threshold: usize,
    /// Tokens with which they are; nothing for never.
    pub(crate) tokens: Option<u64>,
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

impl Chosen {
    /// Provider and model, as settings, prices and failures name it.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.provider.name, self.model)
    }

    /// Most tokens of question and answer together.
    pub(crate) fn context_tokens(&self) -> u32 {
        self.provider.context_tokens(&self.model)
    }

    /// What its tokens are counted by, where it was said.
    pub(crate) fn vocabulary(&self) -> Option<Vocabulary> {
        self.provider.vocabulary(&self.model)
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
            compact: chosen(
                "compact_model",
                &choices.compact_model,
                &providers,
                &choices.forbid,
            )?,
            compacting: Compacting {
                llm: LlmConfig {
                    compact_temperature: choices.compact_temperature as f32,
                    compact_max_tokens: u32::try_from(choices.compact_max_tokens)
                        .unwrap_or(u32::MAX),
                },
                auto: choices.auto_compact,
                threshold: choices.auto_compact_threshold,
                tokens: match choices.auto_compact_tokens {
                    UNBOUNDED => None,
                    tokens => Some(tokens as u64),
                },
            },
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

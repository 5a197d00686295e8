//! Settings that choose models, and the limits and guidance of their requests.
//!
//! Not here: the table of providers (`providers`).

use std::collections::BTreeMap;

use anyhow::Result;
use daybook_domain::ObservationKind;
use daybook_engine::extract::model::{Guidance, ModelLimits};
use daybook_engine::profile::UNBOUNDED;
use daybook_working::compact::LlmConfig;

use super::agents::AgentSettings;
use super::choices::{AT_CAP, SettingChoices};
use super::chosen_model::{ChosenModel, resolve_model};
use super::providers::providers_with;
use super::vectors::VectorChoice;

/// The models that the settings choose, and how they are used.
#[derive(Debug, Clone)]
pub(crate) struct ModelChoices {
    /// Extracts observations. Without a model, the extractor that asks none quotes.
    pub(crate) extract: Option<ChosenModel>,
    /// The same for the sessions of single agents; `None` for one that is quoted.
    pub(crate) extract_for: BTreeMap<String, Option<ChosenModel>>,
    /// Proposes changes of memory where its files are written. Without a model, words alone decide.
    pub(crate) consolidate: Option<ChosenModel>,
    /// Compacts threads. Without a model, compactions list what happened.
    pub(crate) compact: Option<ChosenModel>,
    pub(crate) compacting: CompactionSettings,
    /// Embeds texts.
    pub(crate) vectors: VectorChoice,
    /// At a cap, the extractor that asks no model reads instead; otherwise work waits.
    pub(crate) stand_in: bool,
    /// What extraction keeps, and what it never keeps.
    pub(crate) guidance: Guidance,
    pub(crate) limits: ModelLimits,
    /// The answer of a silent turn that means that nothing is worth keeping.
    pub(crate) no_reply: String,
}

/// When threads are compacted, and the parameters of the model's request.
#[derive(Debug, Clone)]
pub(crate) struct CompactionSettings {
    pub(crate) llm: LlmConfig,
    /// Whether threads are compacted automatically.
    pub(crate) auto: bool,
    /// Compactable chunks that start an automatic compaction.
    pub(crate) threshold: usize,
    /// Tokens that start an automatic compaction; none for never.
    pub(crate) tokens: Option<u64>,
}

impl ModelChoices {
    /// The models that `choices` name.
    ///
    /// # Errors
    /// When a setting names a model of an unknown provider, or of a provider that no tenant may use.
    pub(super) fn of(
        choices: &SettingChoices,
        agents: &BTreeMap<String, AgentSettings>,
    ) -> Result<Self> {
        let remaining = u8::try_from(choices.min_remaining_percent).unwrap_or(100);
        let providers =
            providers_with(&choices.providers, remaining).map_err(anyhow::Error::msg)?;
        let own_models = agents.iter().filter_map(|(agent, own)| {
            let named = own.extract_model.as_deref()?;
            let setting = format!("agents.{agent}.extract_model");
            let model = resolve_model(&setting, named, &providers, &choices.forbid);
            Some(model.map(|model| (agent.clone(), model)))
        });
        let extract_for = own_models.collect::<Result<_>>()?;
        Ok(Self {
            extract: resolve_model(
                "extract_model",
                &choices.extract_model,
                &providers,
                &choices.forbid,
            )?,
            extract_for,
            consolidate: resolve_model(
                "consolidation_model",
                &choices.consolidation_model,
                &providers,
                &choices.forbid,
            )?,
            compact: resolve_model(
                "compact_model",
                &choices.compact_model,
                &providers,
                &choices.forbid,
            )?,
            compacting: CompactionSettings {
                llm: LlmConfig {
                    compact_model: None,
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
            vectors: VectorChoice::of(&choices.vectors, &providers, &choices.forbid)?,
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
            no_reply: choices.no_reply_token.clone(),
        })
    }
}

/// Whether a text names a provider, or a tenant and a provider.
pub(super) fn is_forbidden(text: &str) -> bool {
    !text.is_empty() && text.split('/').all(|part| !part.is_empty()) && text.split('/').count() <= 2
}

/// The kind of observation that a word is for.
pub(super) fn kind(word: &str) -> Option<ObservationKind> {
    word.parse().ok()
}

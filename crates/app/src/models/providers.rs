//! Makes clients of providers from their settings.
//!
//! Not here: prompts, and limits on spending.

use std::num::NonZeroU32;

use anyhow::{Context, Result};
use daybook_llm::{ChatModel, ModelConfig, Provider, ProviderConfig};

use super::keys::key_source;
use crate::settings::chosen_model::ChosenModel;
use crate::settings::providers::ProviderSettings;

/// Makes the chosen chat model. Sends no request.
///
/// # Errors
/// When the configuration of its provider is invalid.
pub(super) fn chat_model(chosen: &ChosenModel) -> Result<ChatModel> {
    let provider = provider(&chosen.provider, chosen.provider.tries)?;
    Ok(provider.model(config(chosen)))
}

/// Makes the chosen model of vectors, which sends each request at most `tries` times. Sends no request.
///
/// # Errors
/// When the configuration of its provider is invalid, or its wire has no vectors.
pub(super) fn embedding_model(chosen: &ChosenModel, tries: NonZeroU32) -> Result<ChatModel> {
    let provider = provider(&chosen.provider, tries)?;
    let model = provider.embedding_model(config(chosen));
    model.context("daybook.toml, vectors")
}

fn provider(settings: &ProviderSettings, tries: NonZeroU32) -> Result<Provider> {
    let mut config = ProviderConfig::new(&settings.name, settings.wire, &settings.base_url);
    config.key = key_source(&settings.name, &settings.key);
    config.plain_http = settings.plain_http;
    config.concurrency = settings.concurrency;
    config.answer_timeout = settings.timeout;
    config.retries.tries = tries;
    config.least_remaining_percent = settings.min_remaining_percent;
    Provider::new(config).context("daybook.toml, providers")
}

fn config(chosen: &ChosenModel) -> ModelConfig {
    let mut model = ModelConfig::new(&chosen.model, chosen.context_tokens());
    if let Some(vocabulary) = chosen.vocabulary() {
        model.vocabulary = vocabulary;
    }
    model
}

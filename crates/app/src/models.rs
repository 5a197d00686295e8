//! Reaching models: what settings say of a provider, made into something that can be asked.
//!
//! Not here: what is asked, and what may be spent.

use anyhow::{Context, Result};
use daybook_llm::{ChatModel, ModelConfig, Provider, ProviderConfig};

use crate::keys::key_source;
use crate::settings::models::Chosen;

/// The model that settings name. Sends nothing.
///
/// # Errors
/// When its provider cannot be asked as it is configured.
pub(crate) fn model(chosen: &Chosen) -> Result<ChatModel> {
    let settings = &chosen.provider;
    let mut config = ProviderConfig::new(&settings.name, settings.wire, &settings.base_url);
    config.key = key_source(&settings.name, &settings.key);
    config.plain_http = settings.plain_http;
    config.concurrency = settings.concurrency;
    config.answer_timeout = settings.timeout;
    config.retries.tries = settings.tries;
    config.least_remaining_percent = settings.min_remaining_percent;
    let provider = Provider::new(config).context("daybook.toml, providers")?;
    let mut model = ModelConfig::new(&chosen.model, chosen.context_tokens());
    if let Some(vocabulary) = chosen.vocabulary() {
        model.vocabulary = vocabulary;
    }
    Ok(provider.model(model))
}

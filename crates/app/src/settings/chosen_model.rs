//! The model of a provider that a setting names as `provider/model`.
//!
//! Not here: which settings name models (`models`, `vectors`).

use anyhow::{Result, bail};
use daybook_domain::Tenant;
use daybook_llm::TokenVocabulary;

use super::providers::{NAME, ProviderSettings};

/// A chosen model, with the settings of its provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChosenModel {
    pub(crate) provider: ProviderSettings,
    /// The provider's name of the model.
    pub(crate) model: String,
    /// Tenants that may not ask this provider.
    pub(crate) forbidden: Vec<Tenant>,
}

impl ChosenModel {
    /// Provider and model, as settings, prices and failures name it.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.provider.name, self.model)
    }

    /// Most tokens of question and answer together.
    pub(crate) fn context_tokens(&self) -> u32 {
        self.provider.context_tokens(&self.model)
    }

    /// The vocabulary that its tokens are counted by, where the settings name one.
    pub(crate) fn vocabulary(&self) -> Option<TokenVocabulary> {
        self.provider.vocabulary(&self.model)
    }
}

/// The model that a setting names as `provider/model`. What comes before the first slash is the
/// provider: models' own names have slashes, too.
pub(super) fn resolve_model(
    setting: &str,
    named: &str,
    providers: &[ProviderSettings],
    forbidden: &[String],
) -> Result<Option<ChosenModel>> {
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
    Ok(Some(ChosenModel {
        provider: found.clone(),
        model: model.to_owned(),
        forbidden: tenants,
    }))
}

/// Whether a text names a model, or none.
pub(super) fn is_model(text: &str) -> bool {
    text == NONE || (text.contains('/') && text.len() <= 2 * NAME)
}

/// The value of a setting that names no model.
pub(super) const NONE: &str = "none";

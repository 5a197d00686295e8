//! The setting `vectors`: which model turns texts into vectors.
//!
//! Not here: opening a model, asking it (`embedding`).

use std::path::PathBuf;

use anyhow::{Result, bail};
use daybook_llm::Wire;

use super::chosen_model::{ChosenModel, is_model, resolve_model};
use super::providers::ProviderSettings;

/// The word for the model in the binary.
pub(super) const BUILT_IN: &str = "built-in";
/// The word for no vectors.
pub(super) const OFF: &str = "off";
/// Prefix of the path of a model's folder. No name of a provider has a colon.
const FOLDER: &str = "folder:";

/// What turns texts into vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum VectorChoice {
    /// Nothing: recall goes by words alone.
    Off,
    /// The model in the binary.
    BuiltIn,
    /// The sentence model in a folder. A relative path begins at the data folder.
    Folder(PathBuf),
    /// A model of a provider.
    Provider(Box<ChosenModel>),
}

impl VectorChoice {
    /// Parses the value of the setting.
    ///
    /// # Errors
    /// When this build cannot read a model from a folder, or a provider's model is named that cannot be
    /// asked for vectors.
    pub(super) fn of(
        named: &str,
        providers: &[ProviderSettings],
        forbidden: &[String],
    ) -> Result<Self> {
        if named == OFF {
            return Ok(Self::Off);
        }
        if let Some(folder) = named.strip_prefix(FOLDER) {
            if cfg!(not(feature = "folder-model")) {
                bail!(
                    "vectors = \"{named}\": this daybook was built without the feature \
                     `folder-model`, which reads models from folders; build it with \
                     `cargo install --path crates/app --features folder-model`, or choose \
                     \"{BUILT_IN}\", \"{OFF}\" or a provider's model"
                );
            }
            return Ok(Self::Folder(folder.into()));
        }
        match named == BUILT_IN {
            true => Ok(Self::BuiltIn),
            false => Self::of_provider(named, providers, forbidden),
        }
    }

    fn of_provider(
        named: &str,
        providers: &[ProviderSettings],
        forbidden: &[String],
    ) -> Result<Self> {
        let Some(chosen) = resolve_model("vectors", named, providers, forbidden)? else {
            return Ok(Self::Off);
        };
        match chosen.provider.wire {
            Wire::OpenAi | Wire::Ollama => Ok(Self::Provider(Box::new(chosen))),
            Wire::Anthropic => bail!(
                "vectors = \"{named}\": the wire anthropic has no vectors; name a model of a provider \
                 with wire openai or ollama, or choose \"{BUILT_IN}\""
            ),
        }
    }
}

/// Whether a text names what turns texts into vectors.
pub(super) fn is_vectors(text: &str) -> bool {
    match text.strip_prefix(FOLDER) {
        Some(folder) => !folder.trim().is_empty(),
        None => [BUILT_IN, OFF].contains(&text) || (text.contains('/') && is_model(text)),
    }
}

//! Builds the models that turn texts into vectors, as settings choose them.
//!
//! Not here: when texts are embedded (`embedding`), and the models themselves.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use async_trait::async_trait;
use daybook_domain::seams::Embedder;
use daybook_embed::StaticModel;
use daybook_engine::spend::Attribution;
use daybook_llm::Embeddings;

use super::ModelContext;
use super::providers::embedding_model;
use crate::settings::Settings;
use crate::settings::chosen_model::ChosenModel;
use crate::settings::vectors::VectorChoice;

/// The stage that calls for a provider's vectors are charged to.
const EMBED: &str = "embed";

/// One model of vectors, set up for each of its two uses.
pub(crate) struct Embedders {
    /// For documents, which are embedded in the background.
    pub(crate) documents: Arc<dyn Embedder>,
    /// For questions, which leave no time for a second try.
    pub(crate) questions: Arc<dyn Embedder>,
}

impl Settings {
    /// The provider's model that makes the tenant's vectors; `None` where no provider does.
    pub(crate) fn vector_provider_model(&self) -> Option<&ChosenModel> {
        match &self.models.vectors {
            VectorChoice::Provider(chosen) => {
                Some(&**chosen).filter(|chosen| !chosen.forbidden.contains(&self.tenant))
            }
            VectorChoice::Off | VectorChoice::BuiltIn | VectorChoice::Folder(_) => None,
        }
    }
}

impl Embedders {
    /// Makes what settings choose; `None` for no vectors. Sends no request.
    ///
    /// # Errors
    /// When the folder holds no usable model, or the configuration of the provider is invalid.
    pub(super) fn from_settings(models: &ModelContext<'_>) -> Result<Option<Self>> {
        match &models.settings.models.vectors {
            VectorChoice::Off => Ok(None),
            VectorChoice::BuiltIn => Ok(Some(Self::one_for_both(built_in()))),
            VectorChoice::Folder(folder) => {
                let model = in_folder(&models.root.join(folder))?;
                Ok(Some(Self::one_for_both(model)))
            }
            VectorChoice::Provider(_) => match models.settings.vector_provider_model() {
                None => Ok(Some(Self::one_for_both(built_in()))),
                Some(chosen) => Self::from_provider(models, chosen).map(Some),
            },
        }
    }

    fn from_provider(models: &ModelContext<'_>, chosen: &ChosenModel) -> Result<Self> {
        Ok(Self {
            documents: provider_model(models, chosen, chosen.provider.tries)?,
            questions: provider_model(models, chosen, NonZeroU32::MIN)?,
        })
    }

    fn one_for_both(model: Arc<dyn Embedder>) -> Self {
        Self {
            documents: Arc::clone(&model),
            questions: model,
        }
    }
}

/// The model in the binary.
pub(crate) fn built_in() -> Arc<dyn Embedder> {
    struct BuiltIn;
    #[async_trait]
    impl Embedder for BuiltIn {
        fn id(&self) -> &str {
            StaticModel::built_in().id()
        }

        fn is_instant(&self) -> bool {
            true
        }

        fn near(&self, word: &str, floor: f32) -> Vec<(String, f32)> {
            StaticModel::built_in().near(word, floor)
        }

        async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
            Embedder::embed(StaticModel::built_in(), texts).await
        }
    }
    Arc::new(BuiltIn)
}

/// Loads the sentence model in a folder.
///
/// # Errors
/// When the folder holds no usable model, or this build has no support for such models.
pub(crate) fn in_folder(folder: &Path) -> Result<Arc<dyn Embedder>> {
    folder_model(folder).map(WithNearWords::around)
}

/// A slower model, with the near words of the built-in one: those are needed at once, and are never compared with
/// vectors of the slower model.
struct WithNearWords(Box<dyn Embedder>);

impl WithNearWords {
    fn around(model: Box<dyn Embedder>) -> Arc<dyn Embedder> {
        Arc::new(Self(model))
    }
}

#[async_trait]
impl Embedder for WithNearWords {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn is_instant(&self) -> bool {
        self.0.is_instant()
    }

    fn near(&self, word: &str, floor: f32) -> Vec<(String, f32)> {
        StaticModel::built_in().near(word, floor)
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        self.0.embed(texts).await
    }
}

#[cfg(feature = "folder-model")]
fn folder_model(folder: &Path) -> Result<Box<dyn Embedder>> {
    let model = daybook_embed::FolderModel::open(folder)?;
    Ok(Box::new(model))
}

#[cfg(not(feature = "folder-model"))]
fn folder_model(folder: &Path) -> Result<Box<dyn Embedder>> {
    anyhow::bail!(
        "{} cannot be read: this daybook was built without the feature `folder-model`",
        folder.display()
    )
}

/// Makes a provider's model, whose calls are charged to the person.
fn provider_model(
    models: &ModelContext<'_>,
    chosen: &ChosenModel,
    tries: NonZeroU32,
) -> Result<Arc<dyn Embedder>> {
    let model = models.limit_concurrency(chosen, embedding_model(chosen, tries)?);
    let run = format!("{EMBED}-{}-{}", std::process::id(), models.clock.now().0);
    let attribution = Attribution {
        tenant: models.tenant.clone(),
        user: models.settings.person.clone(),
        stage: EMBED,
        session: None,
        scope: None,
    };
    let metered = models.meter(&run).budgeted(model, attribution);
    Ok(WithNearWords::around(Box::new(Embeddings::of(Arc::new(
        metered,
    )))))
}

//! Which model turns texts into vectors, and when what is remembered gets them.
//!
//! Appends do not wait for it: background work does it, and a recall embeds the few documents that still wait.

use std::sync::Arc;

use anyhow::Result;
use daybook_domain::seams::Embedder;
use daybook_embed::StaticModel;
use daybook_engine::recall::embedding::{EmbeddingError, embed_some};
use daybook_engine::stop::Stop;

use crate::settings::Vectors;
use crate::wiring::Daybook;

/// Documents that a recall embeds before it answers; the built-in model takes about 20 µs for each.
const BEFORE_ANSWERING: usize = 512;
/// Documents between two looks at whether work shall end.
const STEP: usize = 256;

/// The model in the binary.
pub(crate) fn built_in() -> Arc<dyn Embedder> {
    struct BuiltIn;
    #[async_trait::async_trait]
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

/// The model that settings name; `None` for none.
pub(crate) fn embedder(daybook: &Daybook) -> Option<Arc<dyn Embedder>> {
    match daybook.settings.vectors {
        Vectors::Off => None,
        Vectors::BuiltIn => Some(built_in()),
    }
}

/// Gives vectors to what little is left without, where that takes a moment.
pub(crate) async fn embed_before_answering(daybook: &Daybook, model: &dyn Embedder) -> Result<()> {
    if model.is_instant() {
        let (store, tenant) = (&*daybook.store, &daybook.tenant);
        complained(embed_some(store, tenant, model, BEFORE_ANSWERING).await)?;
    }
    Ok(())
}

/// Gives vectors to everything that is left without, until `stop` is asked.
pub(crate) async fn embed_waiting(daybook: &Daybook, stop: &Stop) -> Result<()> {
    let Some(model) = embedder(daybook) else {
        return Ok(());
    };
    let (store, tenant) = (&*daybook.store, &daybook.tenant);
    while !stop.asked() && complained(embed_some(store, tenant, &*model, STEP).await)? == STEP {}
    Ok(())
}

/// Documents that got vectors. A model that fails costs nothing but them: words find everything meanwhile.
fn complained(done: Result<usize, EmbeddingError>) -> Result<usize> {
    match done {
        Ok(done) => Ok(done),
        Err(EmbeddingError::Store(error)) => Err(error.into()),
        Err(error @ (EmbeddingError::Model { .. } | EmbeddingError::Unkept(_))) => {
            tracing::warn!(%error, outcome = "without_vectors");
            Ok(0)
        }
    }
}

//! Schedules the embedding of documents, and pauses a model that fails.
//!
//! Appends do not wait for vectors: background work makes them, and a recall embeds the few documents that still lack
//! them where the model is in the binary. A model that fails is not called for [`PAUSE`]. Only its vectors are
//! missing then: recall still finds everything by words.
//!
//! Not here: making the models that settings name (`embedders`).

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use daybook_domain::seams::Embedder;
use daybook_engine::files::layout::run_folder;
use daybook_engine::hook_events::update_lock::UpdateLock;
use daybook_engine::recall::embedding::{EmbeddingError, embed_some};
use daybook_engine::stop::Stop;

use super::ModelContext;
use super::embedders::Embedders;
use crate::terminal::messages::print_error;

/// Most documents that a recall embeds before it answers; the built-in model takes about 20 µs for each.
const MAX_BEFORE_ANSWER: usize = 512;
/// Documents that are embedded between two checks of the stop.
const STEP: usize = 256;
/// The same for a slow model: a step is a few requests, or a few seconds of computing.
const SLOW_STEP: usize = 32;
/// Longest that a process with other work embeds at a time.
const SHARE: Duration = Duration::from_secs(5);
/// How long a model is not called after it failed.
const PAUSE: Duration = Duration::from_secs(60);

/// A tenant's embedders, made at the first use, and the time of their last failure.
#[derive(Default)]
pub(super) struct EmbeddingState {
    embedders: OnceLock<Result<Option<Embedders>, String>>,
    failure: Mutex<Option<Instant>>,
}

impl EmbeddingState {
    fn is_paused(&self) -> bool {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.is_some_and(|at| at.elapsed() < PAUSE)
    }

    /// Records whether the model failed. Returns true for the first failure after a success.
    fn record(&self, has_failed: bool) -> bool {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = has_failed && failure.is_none();
        *failure = has_failed.then(Instant::now);
        is_new
    }
}

/// Whether documents without vectors are left after a share of embedding.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backlog {
    /// None, or none that this process can embed now.
    Nothing,
    /// Some, for the next share.
    More,
}

impl<'a> ModelContext<'a> {
    /// The embedders that settings name, made at the first call; `None` for no vectors.
    ///
    /// # Errors
    /// The reason for which the model cannot be used.
    pub(crate) fn embedders(&self) -> Result<Option<&'a Embedders>, String> {
        let make = || Embedders::from_settings(self).map_err(|error| format!("{error:#}"));
        let embedders = self.cache.embedding.embedders.get_or_init(make);
        embedders.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }
}

/// Embeds the few documents that still lack vectors, if the model is fast enough for a caller to wait.
pub(crate) async fn embed_before_answering(
    models: &ModelContext<'_>,
    model: &dyn Embedder,
) -> Result<()> {
    if model.is_instant() {
        embed(models, model, MAX_BEFORE_ANSWER).await?;
    }
    Ok(())
}

/// Embeds all documents that lack vectors, until `stop` is requested.
pub(crate) async fn embed_waiting(models: &ModelContext<'_>, stop: &Stop) -> Result<()> {
    embed_for(models, stop, Duration::MAX).await.map(drop)
}

/// [`embed_waiting`] for a few seconds, in a process that repeats it.
pub(crate) async fn embed_share(models: &ModelContext<'_>, stop: &Stop) -> Result<Backlog> {
    embed_for(models, stop, SHARE).await
}

async fn embed_for(models: &ModelContext<'_>, stop: &Stop, longest: Duration) -> Result<Backlog> {
    if models.cache.embedding.is_paused() {
        return Ok(Backlog::Nothing);
    }
    let documents = match models.embedders() {
        Ok(Some(embedders)) => &*embedders.documents,
        Ok(None) => return Ok(Backlog::Nothing),
        Err(why) => {
            if models.cache.embedding.record(true) {
                print_error(&format!(
                    "no vectors are made: {why}; until they are, recall searches by words alone"
                ));
            }
            return Ok(Backlog::Nothing);
        }
    };
    let _lock;
    let step = if documents.is_instant() {
        STEP
    } else {
        // Without the lock two processes would make, and perhaps pay for, the same vectors.
        let folder = run_folder(models.root, models.tenant);
        match UpdateLock::try_acquire_for_embedding(&folder)? {
            Some(lock) => _lock = lock,
            None => return Ok(Backlog::Nothing),
        }
        SLOW_STEP
    };
    let began = Instant::now();
    while !stop.is_requested() {
        if began.elapsed() >= longest {
            return Ok(Backlog::More);
        }
        let embedded = tokio::select! {
            () = stop.wait_for_end() => break,
            embedded = embed(models, documents, step) => embedded?,
        };
        if embedded < step {
            break;
        }
    }
    Ok(Backlog::Nothing)
}

/// Embeds at most `most` documents. Returns how many it embedded; 0 when the model failed.
async fn embed(models: &ModelContext<'_>, model: &dyn Embedder, most: usize) -> Result<usize> {
    let embedded = embed_some(&**models.store, models.tenant, model, most).await;
    let error = match embedded {
        Ok(embedded) => {
            models.cache.embedding.record(false);
            return Ok(embedded);
        }
        Err(EmbeddingError::Store(error)) => return Err(error.into()),
        Err(error @ (EmbeddingError::Model { .. } | EmbeddingError::NotStored(_))) => error,
    };
    tracing::warn!(%error, outcome = "without_vectors");
    let is_new = models.cache.embedding.record(true);
    // The built-in model fails only with the store, whose failures are reported elsewhere.
    if is_new && !model.is_instant() {
        print_error(&error.to_string());
    }
    Ok(0)
}

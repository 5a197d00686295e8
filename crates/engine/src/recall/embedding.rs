//! Embeds documents in batches, after they were stored, so that appends do not wait for a model. A recall
//! embeds the few documents that still wait.
//!
//! Not here: models, and where vectors are kept.

use daybook_domain::index::{DocumentNo, Embedded, Layer, Unembedded};
use daybook_domain::seams::{Embedder, Store};
use daybook_domain::{Origin, StoreError, Tenant, vector};

use super::tokens::outlined_text;
use super::tokens::passages::{passages, said};
use crate::ingest::indexed::indexed_tokens;

/// Documents that get their vectors in one transaction.
const BATCH: usize = 256;
/// Passages of a document that have vectors of their own; of a longer one those of its head and its tail.
const PASSAGES: usize = 16;
/// How many of them are of the tail.
const PASSAGES_OF_TAIL: usize = 4;

/// Why documents are without vectors.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddingError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Vectors could not be kept, though the store can be read.
    #[error("vectors cannot be kept: {0}; what is remembered is found by words alone meanwhile")]
    Unkept(#[source] StoreError),
    /// The model failed.
    #[error("{model} gave no vectors: {why}; what is remembered is found by words alone meanwhile")]
    Model {
        /// Which.
        model: String,
        /// What it said.
        why: String,
    },
}

/// Gives vectors to at most about `most` documents that have none, the newest first; how many it were.
/// Nothing is left when it were fewer. A model that is not the one that the index has replaces it.
///
/// # Errors
/// When the store or the model fails; what was done stays.
pub async fn embed_some(
    store: &dyn Store,
    tenant: &Tenant,
    embedder: &dyn Embedder,
    most: usize,
) -> Result<usize, EmbeddingError> {
    let mut done = 0;
    while done < most {
        let limit = BATCH.min(most - done);
        // Read first: when the store is out, a recall fails here after one limit of time and not two.
        let mut waiting = store.unembedded(tenant, limit).await?;
        let chosen = store.choose_model(tenant, embedder.id()).await;
        if chosen.map_err(EmbeddingError::Unkept)? {
            waiting = store.unembedded(tenant, limit).await?;
        }
        let embedded = embed(embedder, &waiting).await?;
        if !embedded.is_empty() {
            let kept = store.put_vectors(tenant, embedder.id(), &embedded).await;
            kept.map_err(EmbeddingError::Unkept)?;
        }
        done += waiting.len();
        if waiting.len() < limit {
            break;
        }
    }
    Ok(done)
}

/// Gives vectors to all documents that have none, and says after each step how many it were.
///
/// # Errors
/// As [`embed_some`]; what was done stays, and it goes on from there.
pub async fn embed_all(
    store: &dyn Store,
    tenant: &Tenant,
    embedder: &dyn Embedder,
    mut progress: impl FnMut(usize),
) -> Result<usize, EmbeddingError> {
    let mut done = 0;
    loop {
        let step = embed_some(store, tenant, embedder, BATCH).await?;
        done += step;
        progress(done);
        if step < BATCH {
            return Ok(done);
        }
    }
}

async fn embed(
    embedder: &dyn Embedder,
    waiting: &[Unembedded],
) -> Result<Vec<Embedded>, EmbeddingError> {
    let texts: Vec<Vec<String>> = waiting.iter().map(texts).collect();
    let all: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
    let answered = embedder.embed(&all).await;
    let vectors = answered.map_err(|why| EmbeddingError::Model {
        model: embedder.id().to_owned(),
        why,
    })?;
    let mut vectors = vectors.iter().map(|vector| vector::quantise(vector));
    let documents = waiting.iter().zip(&texts);
    Ok(documents
        .map(|(waiting, texts)| {
            let own: Vec<Vec<i8>> = vectors.by_ref().take(texts.len()).collect();
            document(waiting, own)
        })
        .collect())
}

/// The vectors of a document: of the whole, then of each passage. A passage of nothing known has the vector
/// of the whole, so that each keeps its place.
fn document(waiting: &Unembedded, mut own: Vec<Vec<i8>>) -> Embedded {
    let whole = own.first().cloned().unwrap_or_default();
    for passage in own.iter_mut().filter(|passage| passage.is_empty()) {
        passage.clone_from(&whole);
    }
    Embedded {
        doc: waiting.doc,
        signs: vector::signs(&whole),
        vectors: own.concat(),
        tokens: tokens(waiting),
    }
}

/// The texts that a document's vectors are of. What tools did has none.
fn texts(waiting: &Unembedded) -> Vec<String> {
    if waiting.doc.0 < DocumentNo::SAID {
        return Vec::new();
    }
    let said = said(&waiting.text);
    let whole = match &waiting.context {
        Some(context) => format!("{said}\n{context}"),
        None => said.to_owned(),
    };
    let passages = passages(said);
    let mut texts = vec![whole];
    if passages.len() > PASSAGES {
        let head = &passages[..PASSAGES - PASSAGES_OF_TAIL];
        let tail = &passages[passages.len() - PASSAGES_OF_TAIL..];
        texts.extend([head, tail].concat().into_iter().map(str::to_owned));
    } else if passages.len() > 1 {
        texts.extend(passages.into_iter().map(str::to_owned));
    }
    texts
}

/// The tokens of a document that was indexed before there were outlines.
fn tokens(waiting: &Unembedded) -> String {
    match (waiting.doc.layer(), &waiting.context) {
        (Layer::Event, _) if waiting.doc.is_said() => indexed_tokens(Origin::Human, &waiting.text),
        (Layer::Event, _) => indexed_tokens(Origin::ToolCall, &waiting.text),
        (_, Some(context)) => outlined_text(&format!("{} {context}", waiting.text)),
        (_, None) => outlined_text(&waiting.text),
    }
}

#[cfg(test)]
#[path = "embedding_tests.rs"]
mod tests;

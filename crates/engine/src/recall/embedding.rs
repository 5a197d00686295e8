//! Embeds documents in batches after they are stored, so that appends do not wait for a model. A recall embeds the few
//! documents that still wait.
//!
//! Not here: models, and storage of vectors.

use daybook_domain::index::{DocumentNo, DocumentVectors, EmbeddingInput, MemoryLayer};
use daybook_domain::seams::{Embedder, VectorStore};
use daybook_domain::{Origin, StoreError, Tenant, vector};

use daybook_text::indexed::indexed_tokens;
use daybook_text::tokens::outlined_text;
use daybook_text::tokens::passages::{passages, without_speaker};

/// Documents whose vectors are stored in one transaction.
const BATCH: usize = 256;
/// Most passages of a document with vectors of their own; a longer one has those of its head and its tail.
const PASSAGES: usize = 16;
/// How many of them are from the tail.
const PASSAGES_OF_TAIL: usize = 4;

/// Why documents have no vectors.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddingError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Vectors could not be stored, though the store can be read.
    #[error("vectors cannot be stored: {0}; until they can, recall searches by words alone")]
    NotStored(#[source] StoreError),
    /// The model failed.
    #[error("{model} gave no vectors: {why}; until it does, recall searches by words alone")]
    Model {
        /// The model's name.
        model: String,
        /// The model's error.
        why: String,
    },
}

/// Embeds at most about `most` documents without vectors, newest first, and returns how many it embedded.
///
/// A result below `most` means that no document waits any more. A model other than the index's replaces that one, and
/// all its vectors.
///
/// # Errors
/// When the store or the model fails. Vectors that are stored by then stay.
pub async fn embed_some(
    store: &dyn VectorStore,
    tenant: &Tenant,
    embedder: &dyn Embedder,
    most: usize,
) -> Result<usize, EmbeddingError> {
    let mut done = 0;
    while done < most {
        let limit = BATCH.min(most - done);
        // Read first: with the store down, a recall then fails after one time limit instead of two.
        let mut waiting = store.unembedded(tenant, limit).await?;
        let chosen = store.choose_model(tenant, embedder.id()).await;
        if chosen.map_err(EmbeddingError::NotStored)? {
            waiting = store.unembedded(tenant, limit).await?;
        }
        let embedded = embed(embedder, &waiting).await?;
        if !embedded.is_empty() {
            let stored = store.put_vectors(tenant, embedder.id(), &embedded).await;
            stored.map_err(EmbeddingError::NotStored)?;
        }
        done += waiting.len();
        if waiting.len() < limit {
            break;
        }
    }
    Ok(done)
}

/// Embeds all documents without vectors, and reports the total after each batch.
///
/// # Errors
/// As [`embed_some`]. The next call continues with the documents that are left.
pub async fn embed_all(
    store: &dyn VectorStore,
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
    waiting: &[EmbeddingInput],
) -> Result<Vec<DocumentVectors>, EmbeddingError> {
    let texts: Vec<Vec<String>> = waiting.iter().map(texts).collect();
    let all: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
    let embedded = embedder.embed(&all).await;
    let vectors = embedded.map_err(|why| EmbeddingError::Model {
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

/// The vectors of a document: of the whole, then of each passage. A passage without any word that the model knows gets
/// the vector of the whole, so that positions stay aligned.
fn document(waiting: &EmbeddingInput, mut own: Vec<Vec<i8>>) -> DocumentVectors {
    let whole = own.first().cloned().unwrap_or_default();
    for passage in own.iter_mut().filter(|passage| passage.is_empty()) {
        passage.clone_from(&whole);
    }
    DocumentVectors {
        doc: waiting.doc,
        digest: waiting.digest(),
        signs: vector::signs(&whole),
        vectors: own.concat(),
        tokens: tokens(waiting),
    }
}

/// The texts to embed for a document. Events of tools have none.
fn texts(waiting: &EmbeddingInput) -> Vec<String> {
    if waiting.doc.0 < DocumentNo::SAID {
        return Vec::new();
    }
    let spoken = without_speaker(&waiting.text);
    let whole = match &waiting.context {
        Some(context) => format!("{spoken}\n{context}"),
        None => spoken.to_owned(),
    };
    let passages = passages(spoken);
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

/// The tokens for the outline of a document; older documents were indexed without one.
fn tokens(waiting: &EmbeddingInput) -> String {
    match (waiting.doc.layer(), &waiting.context) {
        (MemoryLayer::Event, _) if waiting.doc.is_said() => {
            indexed_tokens(Origin::Human, &waiting.text)
        }
        (MemoryLayer::Event, _) => indexed_tokens(Origin::ToolCall, &waiting.text),
        (_, Some(context)) => outlined_text(&format!("{} {context}", waiting.text)),
        (_, None) => outlined_text(&waiting.text),
    }
}

#[cfg(test)]
#[path = "embedding_tests.rs"]
mod tests;

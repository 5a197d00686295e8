//! Sentence models from a folder: BERT's shape, as all-MiniLM-L6-v2 and its kin have it.
//!
//! A text's vector is the mean of its tokens' outputs, of length 1. Texts are cut after
//! [`LONGEST_TEXT`] tokens and run in batches of at most [`BATCH_TOKENS`], one batch at a time, so that
//! memory is bounded whatever is asked. A future that is dropped ends with its batch.
//!
//! Not here: downloading, other pooling, graphics processors.

mod bert;
mod files;
mod matrix;
mod read;
mod vocabulary;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::seams::Embedder;

use crate::wordpiece::for_each_token;
use bert::Bert;
use files::FolderFiles;
pub use read::FolderError;
use vocabulary::FolderVocabulary;

/// Most tokens of a text, the two that enclose it included; what comes later is left out. These models
/// were trained on texts of this length.
const LONGEST_TEXT: usize = 256;
/// Most tokens of one batch: its matrices fit the processor's cache.
const BATCH_TOKENS: usize = 512;
/// Most bytes of a text that are cut into tokens. No text of words fills its tokens with more.
const TEXT_BYTES: usize = 16 * 1024;

/// A sentence model that was read from a folder.
///
/// ```no_run
/// # fn main() -> Result<(), daybook_embed::FolderError> {
/// let model = daybook_embed::FolderModel::open("models/all-MiniLM-L6-v2".as_ref())?;
/// let vectors = model.embed(&["We moved to a bigger flat in May."]);
/// assert_eq!(vectors[0].len(), model.dimensions());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FolderModel {
    id: String,
    parts: Arc<LoadedModel>,
}

#[derive(Debug)]
struct LoadedModel {
    vocabulary: FolderVocabulary,
    bert: Bert,
    longest: usize,
}

impl FolderModel {
    /// Reads `config.json`, `model.safetensors` and `vocab.txt` or `tokenizer.json` of a folder.
    ///
    /// # Errors
    /// When a file is missing, damaged, or describes a model of another kind.
    pub fn open(folder: &Path) -> Result<Self, FolderError> {
        let files = FolderFiles::open(folder)?;
        let bert = Bert::new(&files.config, &files.weights()?)?;
        let (layers, width) = (files.config.num_hidden_layers, bert.width());
        Ok(Self {
            id: format!("bert-{layers}x{width}-{}", files.fingerprint()),
            parts: Arc::new(LoadedModel {
                longest: LONGEST_TEXT.min(files.config.max_position_embeddings),
                vocabulary: files.vocabulary,
                bert,
            }),
        })
    }

    /// Shape and fingerprint; the folder's name does not matter. Vectors of models with different ids must
    /// not be compared.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Length of each vector.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.parts.bert.width()
    }

    /// The vector of each text, of length 1; the zero vector for a text without words. Computes on the
    /// calling thread.
    #[must_use]
    pub fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let batches = self.parts.batches(texts);
        batches
            .flat_map(|batch| self.parts.vectors(&batch))
            .collect()
    }
}

impl LoadedModel {
    /// The tokens of the texts, in batches; none for a text without words.
    fn batches(&self, texts: &[&str]) -> impl Iterator<Item = Vec<Vec<usize>>> {
        let mut texts = texts.iter().map(|text| self.tokens(text)).peekable();
        std::iter::from_fn(move || {
            let mut batch = vec![texts.next()?];
            let mut tokens = batch[0].len();
            while let Some(next) = texts.next_if(|next| tokens + next.len() <= BATCH_TOKENS) {
                tokens += next.len();
                batch.push(next);
            }
            Some(batch)
        })
    }

    fn tokens(&self, text: &str) -> Vec<usize> {
        let text = &text[..text.floor_char_boundary(TEXT_BYTES)];
        let mut tokens = vec![self.vocabulary.opening];
        for_each_token(&self.vocabulary, text, |token| {
            if tokens.len() + 1 < self.longest {
                tokens.push(token);
            }
        });
        match tokens.len() {
            1 => Vec::new(),
            _ => {
                tokens.push(self.vocabulary.ending);
                tokens
            }
        }
    }

    fn vectors(&self, batch: &[Vec<usize>]) -> Vec<Vec<f32>> {
        let has_words = |tokens: &&Vec<usize>| !tokens.is_empty();
        let with_words: Vec<Vec<usize>> = batch.iter().filter(has_words).cloned().collect();
        let mut vectors = self.bert.vectors(&with_words).into_iter();
        let of = |tokens: &Vec<usize>| match tokens.is_empty() {
            true => vec![0.0; self.bert.width()],
            false => vectors.next().expect("each text has a vector"),
        };
        batch.iter().map(of).collect()
    }
}

#[async_trait]
impl Embedder for FolderModel {
    fn id(&self) -> &str {
        Self::id(self)
    }

    fn is_instant(&self) -> bool {
        false
    }

    /// Computes on a thread of tokio for blocking work.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        let batches: Vec<_> = self.parts.batches(texts).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in batches {
            let parts = Arc::clone(&self.parts);
            let run = tokio::task::spawn_blocking(move || parts.vectors(&batch));
            vectors.extend(run.await.map_err(|error| error.to_string())?);
        }
        Ok(vectors)
    }
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;

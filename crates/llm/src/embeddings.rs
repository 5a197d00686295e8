//! Vectors of texts from a provider, as recall's [`Embedder`].
//!
//! The model is called as any other is, so wrappers that meter, bound or record models work here too.
//!
//! Not here: how vectors travel (`wire`), where they are kept.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use daybook_domain::model::{Message, Model, ModelError, ModelReply, ModelRequest, Role};
use daybook_domain::seams::Embedder;

/// Most texts of one request.
const BATCH_TEXTS: usize = 64;
/// Most bytes of the texts of one request.
const BATCH_BYTES: usize = 64 * 1024;
/// Most bytes of a text; what comes later is left out. No more than the 8,191 tokens that OpenAI's models
/// read, since a token takes a byte at the least.
const TEXT_BYTES: usize = 8_000;
/// Fewest bytes that a text is cut to for a model that reads less. One that refuses this, too, is not asked again.
const LEAST_TEXT_BYTES: usize = 500;

/// Turns texts into vectors by asking a model of
/// [`Provider::embedding_model`](crate::Provider::embedding_model).
///
/// ```
/// use std::sync::Arc;
///
/// use daybook_llm::{Embeddings, ModelConfig, Provider, ProviderConfig, Wire};
///
/// # fn main() -> Result<(), daybook_llm::ConfigError> {
/// let config = ProviderConfig::new("home", Wire::OpenAi, "http://127.0.0.1:8080/v1");
/// let model = Provider::new(config)?.embedding_model(ModelConfig::new("bge-m3", 8_192))?;
/// let embeddings = Embeddings::of(Arc::new(model));
/// # let _: &dyn daybook_domain::seams::Embedder = &embeddings;
/// # Ok(())
/// # }
/// ```
pub struct Embeddings {
    model: Arc<dyn Model>,
    /// Of the first vector.
    dimensions: OnceLock<usize>,
    /// Most bytes of a text that the model has not refused as too long.
    text_bytes: AtomicUsize,
}

impl Embeddings {
    /// By asking `model`, which may be metered. Sends nothing.
    #[must_use]
    pub fn of(model: Arc<dyn Model>) -> Self {
        Self {
            model,
            dimensions: OnceLock::new(),
            text_bytes: AtomicUsize::new(TEXT_BYTES),
        }
    }

    async fn vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        let reply = self.ask(texts).await.map_err(|error| error.to_string())?;
        let vectors: Vec<Vec<f32>> = serde_json::from_str(&reply.text).map_err(|_| {
            let model = self.model.name();
            format!("{model} answered without vectors: name a model of embeddings")
        })?;
        if vectors.len() != texts.len() {
            let (found, asked) = (vectors.len(), texts.len());
            return Err(format!("it gave {found} vectors for {asked} texts"));
        }
        for vector in &vectors {
            self.check(vector.len())?;
        }
        Ok(vectors)
    }

    /// Asks for vectors of texts, and once more of half as much of each while they are too long for the model:
    /// one text that is refused would keep all others from their vectors.
    async fn ask(&self, texts: &[&str]) -> Result<ModelReply, ModelError> {
        loop {
            let most = self.text_bytes.load(Ordering::Relaxed);
            let cut = texts
                .iter()
                .map(|text| &text[..text.floor_char_boundary(most)]);
            let messages = cut.map(|text| Message::new(Role::User, text)).collect();
            match self.model.ask(&ModelRequest::new(messages, 0)).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => match failure.error {
                    ModelError::TooLong { .. } if most > LEAST_TEXT_BYTES => {
                        let half = LEAST_TEXT_BYTES.max(most / 2);
                        self.text_bytes.fetch_min(half, Ordering::Relaxed);
                    }
                    error => return Err(error),
                },
            }
        }
    }

    /// Vectors of different lengths cannot be compared, so the first decides.
    fn check(&self, found: usize) -> Result<(), String> {
        let first = *self.dimensions.get_or_init(|| found);
        match found == first {
            true => Ok(()),
            false => Err(format!(
                "it gave a vector of {found} dimensions after one of {first}"
            )),
        }
    }
}

#[async_trait]
impl Embedder for Embeddings {
    fn id(&self) -> &str {
        self.model.name()
    }

    fn is_instant(&self) -> bool {
        false
    }

    /// A blank text is not sent, and has an empty vector.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        let mut vectors = vec![Vec::new(); texts.len()];
        let most = self.text_bytes.load(Ordering::Relaxed);
        let cut = texts
            .iter()
            .map(|text| &text[..text.floor_char_boundary(most)]);
        let with_words: Vec<(usize, &str)> = cut
            .enumerate()
            .filter(|(_, text)| !text.trim().is_empty())
            .collect();
        let mut rest = with_words.as_slice();
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(batch_size(rest));
            let texts: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
            for ((place, _), vector) in batch.iter().zip(self.vectors(&texts).await?) {
                vectors[*place] = vector;
            }
            rest = later;
        }
        Ok(vectors)
    }
}

/// How many texts go into the next request: at least one.
fn batch_size(texts: &[(usize, &str)]) -> usize {
    let mut bytes = 0;
    let fits = texts.iter().take(BATCH_TEXTS).take_while(|(_, text)| {
        bytes += text.len();
        bytes <= BATCH_BYTES
    });
    fits.count().max(1)
}

//! Models that turn texts into vectors.

use async_trait::async_trait;

/// Turns texts into vectors of one space.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// The model's identity: vectors of two identities are never compared.
    fn id(&self) -> &str;

    /// Whether it answers within a millisecond, so that a question may wait for it.
    fn is_instant(&self) -> bool;

    /// Words whose vectors lie near a word's, each with the cosine of the angle between them, where that is at
    /// least `floor`; always the same ones, so that they may be kept. None from a model that would have to be asked.
    fn near(&self, word: &str, floor: f32) -> Vec<(String, f32)> {
        let _ = (word, floor);
        Vec::new()
    }

    /// The vector of each text; the zero vector, or an empty one, where it makes nothing of it.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String>;
}

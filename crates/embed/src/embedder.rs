//! The static model as one of those that recall can be given.

use async_trait::async_trait;
use daybook_domain::seams::Embedder;

use crate::StaticModel;

#[async_trait]
impl Embedder for StaticModel {
    fn id(&self) -> &str {
        Self::id(self)
    }

    fn is_instant(&self) -> bool {
        true
    }

    fn near(&self, word: &str, floor: f32) -> Vec<(String, f32)> {
        Self::near(self, word, floor)
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        Ok(texts.iter().map(|text| Self::embed(self, text)).collect())
    }
}

//! The model whose vectors are measured. [`embedder`] is the one place that chooses it.

use async_trait::async_trait;
use daybook_domain::seams::Embedder;

use crate::transcripts::SeededNumbers;

/// Components of a vector, as many as the built-in model's have.
const DIMENSIONS: usize = 256;

/// The model.
pub(super) fn embedder() -> Box<dyn Embedder> {
    Box::new(HashedWords::new())
}

/// Adds a vector for each word, which its letters choose: it means nothing, and takes as long as a table
/// of word vectors.
struct HashedWords(Vec<[f32; DIMENSIONS]>);

impl HashedWords {
    fn new() -> Self {
        let mut numbers = SeededNumbers(5);
        let mut vector = || {
            let mut component = || (numbers.next() >> 40) as f32 / (1_u32 << 23) as f32 - 1.0;
            std::array::from_fn(|_| component())
        };
        Self((0..4096).map(|_| vector()).collect())
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; DIMENSIONS];
        for word in text.split_whitespace() {
            let hash = word.bytes().fold(17_usize, |hash, byte| {
                hash.wrapping_mul(31).wrapping_add(byte.into())
            });
            for (sum, part) in sum.iter_mut().zip(&self.0[hash % self.0.len()]) {
                *sum += part;
            }
        }
        sum
    }
}

#[async_trait]
impl Embedder for HashedWords {
    fn id(&self) -> &str {
        "hashed-words"
    }

    fn is_instant(&self) -> bool {
        true
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

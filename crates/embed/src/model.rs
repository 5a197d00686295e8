//! The static model: what a text's vector is.
//!
//! Sums run in the order of the text and of the dimensions, so that every machine computes the
//! same bits.

use std::sync::{LazyLock, OnceLock};

use crate::file::{ModelFile, ModelFileError};
use crate::neighbours::WordNeighbours;
use crate::wordpiece::for_each_token;

static BUILT_IN: LazyLock<StaticModel> = LazyLock::new(|| {
    let bytes = include_bytes!("../model/daybook-static-1.bin");
    StaticModel::from_bytes("daybook-static-1", bytes).expect("the built-in model is tested")
});

/// A vector per token of a fixed vocabulary, and from them a vector per text.
///
/// ```
/// let model = daybook_embed::StaticModel::built_in();
/// let vector = model.embed("We moved to a bigger flat in May.");
/// assert_eq!(vector.len(), model.dimensions());
/// ```
#[derive(Debug)]
pub struct StaticModel {
    id: String,
    file: ModelFile<'static>,
    /// Made when words are first compared.
    words: OnceLock<WordNeighbours>,
}

impl StaticModel {
    /// The model inside the binary. Nothing is read or copied for it.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// A model from the bytes of a file that `crates/embed/train` wrote. `name` opens its id.
    pub fn from_bytes(name: &str, bytes: &'static [u8]) -> Result<Self, ModelFileError> {
        let file = ModelFile::open(bytes)?;
        let hex: String = file.fingerprint[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Ok(Self {
            id: format!("{name}-{hex}"),
            file,
            words: OnceLock::new(),
        })
    }

    /// Name and fingerprint. Vectors of models with different ids must not be compared.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Length of each vector.
    pub fn dimensions(&self) -> usize {
        self.file.dimensions
    }

    /// The vector of a text, of length 1. A text without known words gives the zero vector.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        self.embed_parts(&[text])
    }

    /// The vector of parts, as if they were one text with spaces between them.
    ///
    /// ```
    /// let model = daybook_embed::StaticModel::built_in();
    /// assert_eq!(model.embed_parts(&["a new", "garden"]), model.embed("a new garden"));
    /// ```
    pub fn embed_parts(&self, parts: &[&str]) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimensions()];
        for part in parts {
            self.add(part, &mut sum);
        }
        normalise(&mut sum);
        sum
    }

    /// The vector of a single word, of length 1; `None` if it is unknown.
    ///
    /// A word that the vocabulary holds only in pieces is the sum of them.
    ///
    /// ```
    /// let model = daybook_embed::StaticModel::built_in();
    /// assert!(model.word("garden").is_some());
    /// assert!(model.word("").is_none());
    /// ```
    pub fn word(&self, word: &str) -> Option<Vec<f32>> {
        let mut sum = vec![0.0; self.dimensions()];
        (self.add(word, &mut sum) > 0).then(|| {
            normalise(&mut sum);
            sum
        })
    }

    /// The words of the vocabulary whose vectors lie near a word's, with the cosine of the angle between them,
    /// where that is at least `floor`; in the order of the vocabulary. None for an unknown word. A few that
    /// are hardly near enough may be missed. It takes some tens of microseconds: callers keep what they ask for often.
    ///
    /// ```
    /// let model = daybook_embed::StaticModel::built_in();
    /// let near = model.near("physician", 0.5);
    /// assert!(near.iter().any(|(word, _)| word == "doctor"));
    /// ```
    pub fn near(&self, word: &str, floor: f32) -> Vec<(String, f32)> {
        let words = self.words.get_or_init(|| WordNeighbours::of(&self.file));
        let vector = self.word(word);
        vector.map_or_else(Vec::new, |vector| words.near(&self.file, &vector, floor))
    }

    #[cfg(test)]
    pub(crate) fn vocabulary(&self) -> &crate::file::ModelVocabulary<'static> {
        &self.file.vocabulary
    }

    /// Adds the vectors of a text's tokens to `sum`, and returns how many there are.
    fn add(&self, text: &str, sum: &mut [f32]) -> usize {
        let mut tokens = 0;
        for_each_token(&self.file.vocabulary, text, |token| {
            self.file.add_row(token, sum);
            tokens += 1;
        });
        tokens
    }
}

pub(crate) fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;

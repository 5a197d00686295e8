//! Words of the vocabulary that mean nearly what another does.
//!
//! The signs of two vectors differ in about as many places as the angle between them is wide. So they are
//! compared first, and whole vectors only where they may be near enough.

use std::f64::consts::PI;

use daybook_domain::vector::{cosine, quantise, signs};

use crate::StaticModel;
use crate::file::ModelFile;

/// Signs that may differ beyond what the angle says, in standard deviations of as many fair coins.
const SLACK: f64 = 1.0;
/// Shorter words mean too much.
const SHORTEST: usize = 3;

/// The rows that are whole words, with their signs.
#[derive(Debug)]
pub(crate) struct Words {
    rows: Vec<u16>,
    signs: Vec<u64>,
}

impl Words {
    pub(crate) fn of(file: &ModelFile<'_>) -> Self {
        let mut words = Self {
            rows: Vec::new(),
            signs: Vec::new(),
        };
        for row in 0..file.rows() {
            let name = str::from_utf8(file.vocabulary.name(row)).unwrap_or_default();
            let is_word = name.chars().count() >= SHORTEST && name.chars().all(char::is_alphabetic);
            if let (true, Ok(row)) = (is_word, u16::try_from(row)) {
                words.rows.push(row);
                words.signs.extend(signs(&codes(file.row(row.into()))));
            }
        }
        words
    }
}

fn codes(bytes: &[u8]) -> Vec<i8> {
    bytes.iter().map(|byte| byte.cast_signed()).collect()
}

impl StaticModel {
    /// The words of the vocabulary whose vectors lie near a word's, with the cosine of the angle between them,
    /// where that is at least `floor`; in the order of the vocabulary. None for an unknown word. A few that
    /// are hardly near enough may be missed.
    ///
    /// ```
    /// let model = daybook_embed::StaticModel::built_in();
    /// let near = model.near("physician", 0.5);
    /// assert!(near.iter().any(|(word, _)| word == "doctor"));
    /// ```
    pub fn near(&self, word: &str, floor: f32) -> Vec<(String, f32)> {
        let Some(vector) = self.word(word) else {
            return Vec::new();
        };
        let asked = quantise(&vector);
        let asked_signs = signs(&asked);
        let most = most_apart(floor, self.dimensions());
        let words = self.words();
        let mut near = Vec::new();
        for (row, signs) in words
            .rows
            .iter()
            .zip(words.signs.chunks_exact(asked_signs.len()))
        {
            let apart: u32 = signs
                .iter()
                .zip(&asked_signs)
                .map(|(a, b)| (a ^ b).count_ones())
                .sum();
            if apart > most {
                continue;
            }
            let row = usize::from(*row);
            let angle = cosine(&asked, &codes(self.file().row(row))) as f32;
            if angle >= floor {
                let name = String::from_utf8_lossy(self.file().vocabulary.name(row));
                near.push((name.into_owned(), angle));
            }
        }
        near
    }
}

/// Most signs in which vectors differ that are as near as `floor` says.
fn most_apart(floor: f32, dimensions: usize) -> u32 {
    let dimensions = dimensions as f64;
    let share = f64::from(floor).clamp(-1.0, 1.0).acos() / PI;
    (dimensions * share + SLACK * dimensions.sqrt() / 2.0) as u32
}

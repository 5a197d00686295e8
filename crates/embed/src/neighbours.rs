//! Words of the vocabulary that mean nearly what another does.
//!
//! The signs of two vectors differ in about as many places as the angle between them is wide. So they are
//! compared first, and whole vectors only where they may be near enough.

use std::f64::consts::PI;

use daybook_domain::packed_signs::PackedSigns;
use daybook_domain::vector::{Direction, add_signs, quantise, signs};

use crate::file::ModelFile;

/// Signs that may differ beyond those of the angle, in standard deviations of as many fair coins.
const SLACK: f64 = 1.0;
/// Shorter words are too ambiguous.
const SHORTEST: usize = 3;

/// Words, each with the cosine of the angle between its vector and another's.
pub(crate) type Neighbours = Vec<(String, f32)>;

/// The rows that are whole words, with their signs.
#[derive(Debug, Default)]
pub(crate) struct WordNeighbours {
    rows: Vec<u16>,
    signs: PackedSigns,
}

impl WordNeighbours {
    pub(crate) fn of(file: &ModelFile<'_>) -> Self {
        let mut words = Self {
            signs: PackedSigns::new(file.dimensions.div_ceil(64)),
            ..Self::default()
        };
        words.rows.reserve(file.rows());
        words.signs.reserve(file.rows());
        let mut signs = Vec::new();
        for row in 0..file.rows() {
            let name = str::from_utf8(file.vocabulary.name(row)).unwrap_or_default();
            let is_word = name.chars().count() >= SHORTEST && name.chars().all(char::is_alphabetic);
            if let (true, Ok(row)) = (is_word, u16::try_from(row)) {
                words.rows.push(row);
                signs.clear();
                add_signs(file.row(row.into()), &mut signs);
                words.signs.push(signs.drain(..));
            }
        }
        words
    }

    /// The words whose vectors lie near another, with the cosine of the angle between them, where that is at least `floor`; in
    /// the order of the vocabulary.
    pub(crate) fn near(&self, file: &ModelFile<'_>, vector: &[f32], floor: f32) -> Neighbours {
        let asked = quantise(vector);
        let (asked, asked_signs) = (Direction::of(&asked), signs(&asked));
        let most = most_apart(floor, file.dimensions);
        let mut near = Vec::new();
        self.signs.visit_near(&asked_signs, most, |at, _| {
            let Some(row) = self.rows.get(at) else {
                return most;
            };
            let row = usize::from(*row);
            let angle = asked.cosine(&Direction::of(&codes(file.row(row)))) as f32;
            if angle >= floor {
                let name = String::from_utf8_lossy(file.vocabulary.name(row));
                near.push((name.into_owned(), angle));
            }
            most
        });
        near
    }
}

fn codes(bytes: &[u8]) -> Vec<i8> {
    bytes.iter().map(|byte| byte.cast_signed()).collect()
}

/// Most signs in which two vectors differ whose cosine is at least `floor`.
fn most_apart(floor: f32, dimensions: usize) -> u32 {
    let dimensions = dimensions as f64;
    let share = f64::from(floor).clamp(-1.0, 1.0).acos() / PI;
    (dimensions * share + SLACK * dimensions.sqrt() / 2.0) as u32
}

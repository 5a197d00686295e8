//! Vectors of texts as small whole numbers: every machine and every store comes to the same angle.

use crate::dot::dot;

/// A vector as codes: the largest component becomes 127, so its length is lost and its direction kept.
/// Nothing of the zero vector.
///
/// ```
/// use daybook_domain::vector::quantise;
/// assert_eq!(quantise(&[0.5, -1.0]), [64, -127]);
/// assert!(quantise(&[0.0, 0.0]).is_empty());
/// ```
#[must_use]
pub fn quantise(vector: &[f32]) -> Vec<i8> {
    let most = vector
        .iter()
        .fold(0.0_f32, |most, part| most.max(part.abs()));
    if most == 0.0 || !most.is_finite() {
        return Vec::new();
    }
    let scale = 127.0 / most;
    vector
        .iter()
        .map(|part| (part * scale).round() as i8)
        .collect()
}

/// A vector of codes with its length, which is compared with many others.
///
/// ```
/// use daybook_domain::vector::Direction;
/// assert_eq!(Direction::of(&[3, 4]).cosine(&Direction::of(&[3, 4])), 1.0);
/// assert_eq!(Direction::of(&[1, 0]).cosine(&Direction::of(&[0, 1])), 0.0);
/// assert_eq!(Direction::of(&[]).cosine(&Direction::of(&[0, 1])), 0.0);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Direction<'a> {
    codes: &'a [i8],
    length: f64,
}

impl<'a> Direction<'a> {
    /// The direction of these codes.
    #[must_use]
    pub fn of(codes: &'a [i8]) -> Self {
        let length = f64::from(dot(codes, codes)).sqrt();
        Self { codes, length }
    }

    /// The direction of codes whose [`Direction::length`] is known.
    #[must_use]
    pub fn with_length(codes: &'a [i8], length: f64) -> Self {
        Self { codes, length }
    }

    /// How long it is; 0 where it is none.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.length
    }

    /// Its codes.
    #[must_use]
    pub fn codes(&self) -> &'a [i8] {
        self.codes
    }

    /// Whether it has none: there are no codes, or all are 0.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.length == 0.0
    }

    /// The cosine of the angle between two, from -1 to 1; 0 where one is none.
    #[must_use]
    pub fn cosine(&self, other: &Direction<'_>) -> f64 {
        if self.is_none() || other.is_none() {
            return 0.0;
        }
        f64::from(dot(self.codes, other.codes)) / (self.length * other.length)
    }
}

/// One bit for each component that is above zero, the first lowest in the first word.
///
/// ```
/// use daybook_domain::vector::signs;
/// assert_eq!(signs(&[1, -1, 0, 5]), [0b1001]);
/// ```
#[must_use]
pub fn signs(codes: &[i8]) -> Vec<u64> {
    let bytes: Vec<u8> = codes.iter().map(|code| code.cast_unsigned()).collect();
    let mut words = Vec::with_capacity(codes.len().div_ceil(64));
    add_signs(&bytes, &mut words);
    words
}

/// Appends the [`signs`] of a vector, whose codes are these bytes, to those of others.
pub fn add_signs(bytes: &[u8], words: &mut Vec<u64>) {
    for word in bytes.chunks(64) {
        let (eights, rest) = word.as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let eights = eights.iter().chain([&last]).take(8).enumerate();
        words.push(eights.fold(0, |word, (at, eight)| {
            word | signs_of_eight(u64::from_le_bytes(*eight)) << (8 * at)
        }));
    }
}

/// A bit for each of eight bytes: whether it is positive.
fn signs_of_eight(codes: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // A product moves the lowest bits of eight bytes into the highest byte.
    const TO_HIGHEST: u64 = 0x0102_0408_1020_4080;
    let positive = ((codes & LOW) + LOW) & !codes & !LOW;
    (positive >> 7).wrapping_mul(TO_HIGHEST) >> 56
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_sign_stands_at_its_place(codes in vec(any::<i8>(), 0..300)) {
            let words = signs(&codes);
            prop_assert_eq!(words.len(), codes.len().div_ceil(64));
            for at in 0..64 * words.len() {
                let is_positive = codes.get(at).is_some_and(|code| *code > 0);
                prop_assert_eq!(words[at / 64] >> (at % 64) & 1 == 1, is_positive);
            }
        }
    }
}

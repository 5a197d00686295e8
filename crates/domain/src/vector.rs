//! Vectors of texts as small whole numbers: every machine and every store comes to the same angle.

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

/// The cosine of the angle between two vectors of codes, from -1 to 1; 0 where one has none.
///
/// ```
/// use daybook_domain::vector::cosine;
/// assert_eq!(cosine(&[3, 4], &[3, 4]), 1.0);
/// assert_eq!(cosine(&[1, 0], &[0, 1]), 0.0);
/// ```
#[must_use]
pub fn cosine(one: &[i8], other: &[i8]) -> f64 {
    let (mut dot, mut one_square, mut other_square) = (0_i32, 0_i32, 0_i32);
    for (a, b) in one.iter().zip(other) {
        dot += product(*a, *b);
        one_square += product(*a, *a);
        other_square += product(*b, *b);
    }
    if one_square == 0 || other_square == 0 {
        return 0.0;
    }
    f64::from(dot) / (f64::from(one_square).sqrt() * f64::from(other_square).sqrt())
}

/// A product in 16 bits, of which processors multiply twice as many at once as of 32.
fn product(a: i8, b: i8) -> i32 {
    i32::from(i16::from(a) * i16::from(b))
}

/// The length of a vector of codes.
#[must_use]
pub fn length(codes: &[i8]) -> f64 {
    let square: i32 = codes.iter().map(|&code| product(code, code)).sum();
    f64::from(square).sqrt()
}

/// Adds the direction of a vector of codes to `sum`, with a weight; nothing where it has none.
///
/// ```
/// use daybook_domain::vector::add_direction;
/// let mut sum = [1.0, 0.0];
/// add_direction(&mut sum, &[3, 4], 5.0);
/// assert_eq!(sum, [4.0, 4.0]);
/// ```
pub fn add_direction(sum: &mut [f64], codes: &[i8], weight: f64) {
    let length = length(codes);
    if length > 0.0 {
        for (sum, &code) in sum.iter_mut().zip(codes) {
            *sum += weight / length * f64::from(code);
        }
    }
}

/// The cosine of the angle between such a sum and a vector of codes; 0 where one has none.
///
/// ```
/// use daybook_domain::vector::cosine_of_sum;
/// assert_eq!(cosine_of_sum(&[6.0, 8.0], &[3, 4]), 1.0);
/// assert_eq!(cosine_of_sum(&[0.0, 0.0], &[3, 4]), 0.0);
/// ```
#[must_use]
pub fn cosine_of_sum(sum: &[f64], codes: &[i8]) -> f64 {
    let square: f64 = sum.iter().map(|part| part * part).sum();
    let pairs = sum.iter().zip(codes);
    let dot: f64 = pairs.map(|(part, &code)| part * f64::from(code)).sum();
    let length = square.sqrt() * length(codes);
    if length > 0.0 { dot / length } else { 0.0 }
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

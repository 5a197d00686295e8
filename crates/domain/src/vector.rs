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
        let (a, b) = (i32::from(*a), i32::from(*b));
        dot += a * b;
        one_square += a * a;
        other_square += b * b;
    }
    if one_square == 0 || other_square == 0 {
        return 0.0;
    }
    f64::from(dot) / (f64::from(one_square).sqrt() * f64::from(other_square).sqrt())
}

/// The length of a vector of codes.
#[must_use]
pub fn length(codes: &[i8]) -> f64 {
    let square: i32 = codes
        .iter()
        .map(|&code| i32::from(code) * i32::from(code))
        .sum();
    f64::from(square).sqrt()
}

/// One bit for each component that is above zero, the first lowest in the first word.
///
/// ```
/// use daybook_domain::vector::signs;
/// assert_eq!(signs(&[1, -1, 0, 5]), [0b1001]);
/// ```
#[must_use]
pub fn signs(codes: &[i8]) -> Vec<u64> {
    let word = |codes: &[i8]| {
        let bits = codes.iter().enumerate();
        bits.fold(0, |word, (at, &code)| word | u64::from(code > 0) << at)
    };
    codes.chunks(64).map(word).collect()
}

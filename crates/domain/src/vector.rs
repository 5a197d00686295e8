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
    let word = |codes: &[i8]| {
        let bits = codes.iter().enumerate();
        bits.fold(0, |word, (at, &code)| word | u64::from(code > 0) << at)
    };
    codes.chunks(64).map(word).collect()
}

//! Vectors in a byte or a bit per dimension, compared without rounding differences.
//!
//! Floating-point sums depend on their order, and compilers choose it by machine. Codes are
//! compared in whole numbers, so two machines order the same results the same way.

/// The largest value of a component of a code. -128 is never used, so that codes are symmetric.
const LARGEST: f32 = 127.0;

/// One byte per dimension, scaled so that the largest component becomes 127.
///
/// The length of the vector is lost; its direction is kept to about one part in a hundred. The
/// zero vector gives zeros.
///
/// ```
/// use daybook_embed::codes::quantise;
///
/// assert_eq!(quantise(&[0.5, -0.25, 0.0]), [127, -64, 0]);
/// ```
pub fn quantise(vector: &[f32]) -> Vec<i8> {
    let largest = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return vec![0; vector.len()];
    }
    vector
        .iter()
        .map(|x| (x / largest * LARGEST).round() as i8)
        .collect()
}

/// Cosine between a vector and a code: 1 for the same direction, 0 where either is zero.
///
/// The vector is quantised first. To compare one vector to many codes, quantise it once and use
/// [`code_cosine`].
///
/// ```
/// use daybook_embed::codes::{cosine, quantise};
///
/// let code = quantise(&[3.0, 4.0]);
/// assert!(cosine(&[3.0, 4.0], &code) > 0.999);
/// assert!(cosine(&[-4.0, 3.0], &code).abs() < 0.01);
/// ```
pub fn cosine(query: &[f32], code: &[i8]) -> f32 {
    code_cosine(&quantise(query), code)
}

/// Cosine between two codes of the same model; 0 where either is zero.
///
/// ```
/// use daybook_embed::codes::code_cosine;
///
/// assert_eq!(code_cosine(&[127, 0], &[127, 0]), 1.0);
/// assert_eq!(code_cosine(&[127, 0], &[0, 0]), 0.0);
/// ```
///
/// # Panics
/// If the codes differ in length: they then come from different models.
pub fn code_cosine(left: &[i8], right: &[i8]) -> f32 {
    assert_eq!(left.len(), right.len(), "codes of different models");
    let lengths = f64::from(dot(left, left)) * f64::from(dot(right, right));
    if lengths == 0.0 {
        return 0.0;
    }
    (f64::from(dot(left, right)) / lengths.sqrt()) as f32
}

/// The sign of each dimension, one bit each: set where the component is positive.
///
/// ```
/// use daybook_embed::codes::signs;
///
/// assert_eq!(signs(&[0.1, -0.2, 0.3]), [0b101]);
/// ```
pub fn signs(vector: &[f32]) -> Vec<u64> {
    vector
        .chunks(64)
        .map(|part| {
            let bit = |(at, x): (usize, &f32)| u64::from(*x > 0.0) << at;
            part.iter().enumerate().map(bit).sum()
        })
        .collect()
}

/// Number of dimensions whose signs differ: about `dimensions * angle / 180°`.
///
/// ```
/// use daybook_embed::codes::{hamming, signs};
///
/// assert_eq!(hamming(&signs(&[1.0, 1.0]), &signs(&[1.0, -1.0])), 1);
/// ```
///
/// # Panics
/// If the sign codes differ in length: they then come from different models.
pub fn hamming(left: &[u64], right: &[u64]) -> u32 {
    assert_eq!(left.len(), right.len(), "codes of different models");
    left.iter()
        .zip(right)
        .map(|(a, b)| (a ^ b).count_ones())
        .sum()
}

// 127² times 100,000 dimensions still fits an i32.
fn dot(left: &[i8], right: &[i8]) -> i32 {
    left.iter()
        .zip(right)
        .map(|(a, b)| i32::from(*a) * i32::from(*b))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_component_becomes_127_whatever_the_scale() {
        assert_eq!(quantise(&[0.001, -0.002]), quantise(&[10.0, -20.0]));
        assert_eq!(quantise(&[-2.0, 1.0]), [-127, 64]);
    }

    #[test]
    fn a_zero_or_unusable_vector_gives_zeros_and_no_likeness() {
        assert_eq!(quantise(&[0.0, 0.0]), [0, 0]);
        assert_eq!(quantise(&[f32::INFINITY, 1.0]), [0, 0]);
        assert_eq!(quantise(&[f32::NAN, 1.0]), [0, 127]);
        assert_eq!(cosine(&[0.0, 0.0], &[1, 2]), 0.0);
        assert_eq!(quantise(&[]), [0_i8; 0]);
    }

    #[test]
    fn a_code_keeps_the_cosine_to_a_hundredth() {
        let wave = |step: f32| -> Vec<f32> { (0..256).map(|i| (i as f32 * step).sin()).collect() };
        let exact = |a: &[f32], b: &[f32]| {
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
            dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
        };
        for step in [0.31, 0.32, 0.4, 0.7] {
            let (a, b) = (wave(0.3), wave(step));
            assert!((cosine(&a, &quantise(&b)) - exact(&a, &b)).abs() < 0.01);
        }
    }

    #[test]
    fn signs_fill_words_of_64_from_the_lowest_bit() {
        let mut vector = vec![-1.0; 70];
        vector[0] = 1.0;
        vector[63] = 1.0;
        vector[69] = 1.0;
        assert_eq!(signs(&vector), [1 | 1 << 63, 1 << 5]);
    }

    #[test]
    fn hamming_counts_the_dimensions_that_differ() {
        assert_eq!(hamming(&[0b1011, 0], &[0b0010, 1]), 3);
    }
}

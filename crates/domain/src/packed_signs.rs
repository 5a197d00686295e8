//! The signs of many vectors, compared with those of a question.
//!
//! Signs lie bit by bit: a plane has one bit of each of 256 vectors. Whole planes are added with a few
//! operations on words, so a million vectors take about two milliseconds on any processor; counting the bits of
//! each vector takes several times that where the processor has no instruction for it.
//!
//! Not here: which documents the vectors belong to.

use crate::nearest::Nearest;

/// Vectors whose signs lie side by side in one block.
const BLOCK: usize = 64 * LANES;
/// Words of one plane.
const LANES: usize = 4;
/// Bits of the greatest distance that is counted.
const COUNTER_BITS: usize = 16;
/// Planes that are added up before their sum is added to the counters.
const TOGETHER: usize = 8;

/// One bit of each vector of a block.
type Plane = [u64; LANES];

/// Signs of vectors of one width, in the order in which they came.
#[derive(Debug, Default)]
pub struct PackedSigns {
    /// Words of one vector.
    width: usize,
    /// The planes of whole blocks, one block after the other.
    planes: Vec<Plane>,
    /// Vectors that do not fill a block yet, one after the other.
    rest: Vec<u64>,
}

impl PackedSigns {
    /// No vectors yet, of so many words each.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self {
            width,
            ..Self::default()
        }
    }

    /// Words of one vector.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Reserves memory for so many more vectors, so that adding them moves nothing.
    pub fn reserve(&mut self, vectors: usize) {
        self.planes.reserve_exact(vectors / BLOCK * 64 * self.width);
    }

    /// Adds a vector's signs; as many words as the width.
    pub fn push(&mut self, signs: impl IntoIterator<Item = u64>) {
        self.rest.extend(signs);
        if self.width > 0 && self.rest.len() == BLOCK * self.width {
            for word in 0..self.width {
                self.add_planes(word);
            }
            self.rest.clear();
        }
    }

    /// Turns one word of each vector of a block into 64 planes.
    fn add_planes(&mut self, word: usize) {
        let mut planes = [[0; LANES]; 64];
        for lane in 0..LANES {
            let vector = |n: usize| self.rest[(64 * lane + n) * self.width + word];
            let turned = transpose(std::array::from_fn(vector));
            for (plane, turned) in planes.iter_mut().zip(turned) {
                plane[lane] = turned;
            }
        }
        self.planes.extend(planes);
    }

    /// The positions of the vectors whose signs differ from `query` in the fewest places, nearest first, at most `most`. Of
    /// equals those come first that have the least order; a vector without one is left out.
    #[must_use]
    #[inline(never)]
    pub fn nearest(
        &self,
        query: &[u64],
        most: usize,
        order: &dyn Fn(usize) -> Option<i64>,
    ) -> Vec<usize> {
        let mut best = Nearest::new(most);
        self.visit_near(query, best.bound(), |at, distance| {
            if let Some(order) = order(at) {
                best.offer(distance, order, at);
            }
            best.bound()
        });
        best.into_sorted()
    }

    /// Visits each vector whose signs differ from `query` in at most `bound` places, with its position and the
    /// number of differences. The visit returns the next bound.
    pub fn visit_near(
        &self,
        query: &[u64],
        mut bound: u32,
        mut visit: impl FnMut(usize, u32) -> u32,
    ) {
        if query.is_empty() || query.len() != self.width {
            return;
        }
        let blocks = self.planes.chunks_exact(64 * self.width);
        let in_blocks = blocks.len() * BLOCK;
        for (block, planes) in blocks.enumerate() {
            let distances = Distances::of(planes, query);
            let near = distances.at_most(bound);
            for (lane, mut near) in near.into_iter().enumerate() {
                while near != 0 {
                    let bit = near.trailing_zeros() as usize;
                    near &= near - 1;
                    let distance = distances.get(lane, bit);
                    if distance <= bound {
                        bound = visit(block * BLOCK + 64 * lane + bit, distance);
                    }
                }
            }
        }
        for (n, words) in self.rest.chunks_exact(self.width).enumerate() {
            let pairs = words.iter().zip(query);
            let distance = pairs.map(|(a, b)| (a ^ b).count_ones()).sum();
            if distance <= bound {
                bound = visit(in_blocks + n, distance);
            }
        }
    }
}

/// The distances of a block's vectors, one plane for each binary digit, the lowest first.
struct Distances([Plane; COUNTER_BITS]);

impl Distances {
    fn of(planes: &[Plane], query: &[u64]) -> Self {
        let mut sums = [[0; LANES]; COUNTER_BITS];
        let words = planes.as_chunks::<64>().0.iter().zip(query);
        for (planes, query) in words {
            let groups = planes.as_chunks::<TOGETHER>().0.iter().enumerate();
            for (at, planes) in groups {
                let query = query >> (TOGETHER * at);
                let (ones, a) = add(
                    sums[0],
                    differing(planes[0], query),
                    differing(planes[1], query >> 1),
                );
                let (ones, b) = add(
                    ones,
                    differing(planes[2], query >> 2),
                    differing(planes[3], query >> 3),
                );
                let (twos, c) = add(sums[1], a, b);
                let (ones, a) = add(
                    ones,
                    differing(planes[4], query >> 4),
                    differing(planes[5], query >> 5),
                );
                let (ones, b) = add(
                    ones,
                    differing(planes[6], query >> 6),
                    differing(planes[7], query >> 7),
                );
                let (twos, d) = add(twos, a, b);
                let (fours, mut carry) = add(sums[2], c, d);
                [sums[0], sums[1], sums[2]] = [ones, twos, fours];
                for sum in &mut sums[3..] {
                    let both = and(*sum, carry);
                    *sum = xor(*sum, carry);
                    carry = both;
                    let [a, b, c, d] = carry;
                    if a | b | c | d == 0 {
                        break;
                    }
                }
            }
        }
        Self(sums)
    }

    /// One bit for each vector whose distance is at most `bound`.
    fn at_most(&self, bound: u32) -> Plane {
        if bound >> COUNTER_BITS != 0 {
            return [u64::MAX; LANES];
        }
        let (mut less, mut equal) = ([0; LANES], [u64::MAX; LANES]);
        for (at, digits) in self.0.iter().enumerate().rev() {
            for lane in 0..LANES {
                if bound >> at & 1 == 1 {
                    less[lane] |= equal[lane] & !digits[lane];
                    equal[lane] &= digits[lane];
                } else {
                    equal[lane] &= !digits[lane];
                }
            }
        }
        or(less, equal)
    }

    fn get(&self, lane: usize, bit: usize) -> u32 {
        let digits = self.0.iter().enumerate();
        digits.fold(0, |distance, (at, plane)| {
            distance | ((plane[lane] >> bit & 1) as u32) << at
        })
    }
}

/// A one for each vector whose sign differs from the lowest bit of `query`: inverting by that bit turns each difference
/// into a one.
#[inline(always)]
fn differing(plane: Plane, query: u64) -> Plane {
    xor(plane, [0_u64.wrapping_sub(query & 1); LANES])
}

/// Adds three planes: their sums' lower digits, and the carries.
#[inline(always)]
fn add(one: Plane, two: Plane, three: Plane) -> (Plane, Plane) {
    let half = xor(one, two);
    (xor(half, three), or(and(one, two), and(half, three)))
}

// Written out word by word, so that no level of optimisation makes a call of each word.
#[inline(always)]
fn xor([a, b, c, d]: Plane, [e, f, g, h]: Plane) -> Plane {
    [a ^ e, b ^ f, c ^ g, d ^ h]
}

#[inline(always)]
fn and([a, b, c, d]: Plane, [e, f, g, h]: Plane) -> Plane {
    [a & e, b & f, c & g, d & h]
}

#[inline(always)]
fn or([a, b, c, d]: Plane, [e, f, g, h]: Plane) -> Plane {
    [a | e, b | f, c | g, d | h]
}

/// Rows for columns: bit `n` of word `m` becomes bit `m` of word `n`.
fn transpose(mut rows: [u64; 64]) -> [u64; 64] {
    let (mut far, mut mask) = (32, u64::from(u32::MAX));
    while far != 0 {
        let mut at = 0;
        while at < 64 {
            let swap = (rows[at] >> far ^ rows[at + far]) & mask;
            rows[at] ^= swap << far;
            rows[at + far] ^= swap;
            at = (at + far + 1) & !far;
        }
        far >>= 1;
        mask ^= mask << far;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words that look as if they were chosen by chance.
    fn words(many: usize) -> Vec<u64> {
        let mut state = 7_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state ^ state >> 29
        };
        (0..many).map(|_| next()).collect()
    }

    fn check(width: usize, vectors: usize, bound: u32) {
        let all = words((vectors + 1) * width);
        let (query, all) = all.split_at(width);
        let mut signs = PackedSigns::new(width);
        signs.reserve(vectors);
        for vector in all.chunks(width) {
            signs.push(vector.iter().copied());
        }
        let mut near = Vec::new();
        signs.visit_near(query, bound, |at, distance| {
            near.push((at, distance));
            bound
        });
        let distance = |vector: &[u64]| {
            let pairs = vector.iter().zip(query);
            pairs.map(|(a, b)| (a ^ b).count_ones()).sum()
        };
        let distances = all.chunks(width).map(distance).enumerate();
        let wanted: Vec<(usize, u32)> = distances.filter(|(_, far)| *far <= bound).collect();
        assert_eq!(near, wanted, "{width} words, {vectors} vectors");
    }

    #[test]
    fn vectors_are_as_far_as_their_bits_differ() {
        for (width, middle) in [(1, 32), (4, 128), (6, 192), (16, 512)] {
            for vectors in [1, BLOCK - 1, BLOCK, 3 * BLOCK + 5] {
                check(width, vectors, middle);
                check(width, vectors, u32::MAX);
                check(width, vectors, 0);
            }
        }
    }

    #[test]
    fn opposite_and_equal_signs_are_counted_in_full() {
        let mut signs = PackedSigns::new(4);
        for n in 0..BLOCK as u64 {
            signs.push([if n % 2 == 0 { 0 } else { u64::MAX }; 4]);
        }
        let mut far = Vec::new();
        signs.visit_near(&[0; 4], 256, |_, distance| {
            far.push(distance);
            256
        });
        assert_eq!(far[..4], [0, 256, 0, 256]);
    }
}

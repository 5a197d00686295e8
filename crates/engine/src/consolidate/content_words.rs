//! Words of statements as numbers: they are compared by the hundred thousand, and never shown.
//!
//! Not here: which words have content (`content`).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use daybook_domain::EventId;

/// A word with content, stemmed, as a number made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ContentWord(u64);

impl ContentWord {
    /// The number of a word. Its lowest bit is set if the word has a digit.
    pub(super) fn of(word: &str) -> Self {
        let half = EventId::of(&[word.as_bytes()]).0 as u64;
        let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
        Self(half & !1 | u64::from(has_digit))
    }

    /// One of the 64 bits, by the number.
    fn bit(self) -> u64 {
        1 << (self.0 >> 58)
    }

    pub(super) fn has_digit(self) -> bool {
        self.0 & 1 == 1
    }

    /// The number itself.
    pub(super) fn number(self) -> u64 {
        self.0
    }

    /// The word of a number that was made of one.
    pub(super) fn from_number(number: u64) -> Self {
        Self(number)
    }
}

/// A map by words, whose numbers need no further hashing than to be mixed, or by other short keys of our own.
pub(super) type WordMap<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// Mixes numbers that are hashes already, or places in a list.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        for byte in rest {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // An odd number without a pattern of bits, as in the Fibonacci hashing of Knuth.
        self.0 = (self.0.rotate_left(25) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_u128(&mut self, number: u128) {
        self.write_u64(number as u64);
        self.write_u64((number >> 64) as u64);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

/// A set of words, in the order of their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ContentWords {
    /// One bit for each word, by its number: most sets that differ are seen to differ by their bits.
    bits: u64,
    words: Box<[ContentWord]>,
}

impl ContentWords {
    /// The set of words that are in their order and differ.
    pub(super) fn from_sorted(words: Vec<ContentWord>) -> Self {
        let bits = words.iter().fold(0, |bits, word| bits | word.bit());
        let words = words.into();
        Self { bits, words }
    }

    /// One bit for each word: sets that share a word share a bit.
    pub(super) fn bits(&self) -> u64 {
        self.bits
    }

    pub(super) fn as_slice(&self) -> &[ContentWord] {
        &self.words
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Its word, if it has no other.
    pub(super) fn only(&self) -> Option<ContentWord> {
        match *self.words {
            [word] => Some(word),
            _ => None,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = ContentWord> + '_ {
        self.words.iter().copied()
    }

    pub(super) fn contains(&self, word: ContentWord) -> bool {
        self.bits & word.bit() != 0 && self.words.binary_search(&word).is_ok()
    }

    pub(super) fn is_subset(&self, other: &Self) -> bool {
        self.bits & !other.bits == 0
            && self.len() <= other.len()
            && self.shared(other).count() == self.len()
    }

    pub(super) fn is_disjoint(&self, other: &Self) -> bool {
        self.bits & other.bits == 0 || self.shared(other).next().is_none()
    }

    /// How many words both have.
    pub(super) fn common(&self, other: &Self) -> usize {
        self.shared(other).count()
    }

    /// What is known of the set without its words.
    pub(super) fn outline(&self) -> WordsOutline {
        WordsOutline {
            bits: self.bits,
            len: self.words.len() as u32,
        }
    }

    /// The words that both have.
    pub(super) fn shared<'s>(&'s self, other: &'s Self) -> impl Iterator<Item = ContentWord> + 's {
        let mut theirs = other.words.iter().peekable();
        self.iter().filter(move |word| {
            while theirs.next_if(|their| *their < word).is_some() {}
            theirs.peek() == Some(&word)
        })
    }
}

/// How many words a set has, and their bits: enough to exclude most sets, and small enough to be kept in one list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WordsOutline {
    bits: u64,
    len: u32,
}

impl WordsOutline {
    pub(super) fn len(self) -> usize {
        self.len as usize
    }

    /// The most words that both can have, by their bits alone.
    pub(super) fn common_at_most(self, other: Self) -> usize {
        let missing = |one: Self, other: Self| (one.bits & !other.bits).count_ones() as usize;
        let (ours, theirs) = (missing(self, other), missing(other, self));
        (self.len() - ours).min(other.len() - theirs)
    }
}

impl FromIterator<ContentWord> for ContentWords {
    fn from_iter<I: IntoIterator<Item = ContentWord>>(words: I) -> Self {
        let mut words: Vec<ContentWord> = words.into_iter().collect();
        words.sort_unstable();
        words.dedup();
        Self::from_sorted(words)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sets_of_words_compare_as_sets_of_their_texts(
            one in vec("[a-c0-1]{1,2}", 0..8),
            other in vec("[a-c0-1]{1,2}", 0..8),
        ) {
            let set = |words: &[String]| words.iter().cloned().collect::<BTreeSet<String>>();
            let words = |words: &[String]| -> ContentWords {
                words.iter().map(|word| ContentWord::of(word)).collect()
            };
            let (ours, theirs) = (set(&one), set(&other));
            let (our_words, their_words) = (words(&one), words(&other));
            prop_assert_eq!(our_words.len(), ours.len());
            prop_assert_eq!(our_words.common(&their_words), ours.intersection(&theirs).count());
            let most = our_words.outline().common_at_most(their_words.outline());
            prop_assert!(most >= our_words.common(&their_words));
            prop_assert_eq!(our_words.is_subset(&their_words), ours.is_subset(&theirs));
            prop_assert_eq!(our_words.is_disjoint(&their_words), ours.is_disjoint(&theirs));
            for word in &theirs {
                prop_assert_eq!(our_words.contains(ContentWord::of(word)), ours.contains(word));
            }
        }
    }
}

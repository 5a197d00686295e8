//! Words of statements as numbers: they are compared by the hundred thousand, and never shown.
//!
//! Not here: which words have content (`content`).

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

/// A set of words, in the order of their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ContentWords(Box<[ContentWord]>);

impl ContentWords {
    /// The set of words that are in their order and differ.
    pub(super) fn from_sorted(words: Vec<ContentWord>) -> Self {
        Self(words.into())
    }

    pub(super) fn as_slice(&self) -> &[ContentWord] {
        &self.0
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = ContentWord> + '_ {
        self.0.iter().copied()
    }

    pub(super) fn contains(&self, word: ContentWord) -> bool {
        self.0.binary_search(&word).is_ok()
    }

    pub(super) fn is_subset(&self, other: &Self) -> bool {
        self.len() <= other.len() && self.common(other) == self.len()
    }

    pub(super) fn is_disjoint(&self, other: &Self) -> bool {
        self.shared(other).next().is_none()
    }

    /// How many words both have.
    pub(super) fn common(&self, other: &Self) -> usize {
        self.shared(other).count()
    }

    /// The words that both have.
    pub(super) fn shared<'s>(&'s self, other: &'s Self) -> impl Iterator<Item = ContentWord> + 's {
        let mut theirs = &other.0[..];
        self.iter().filter(move |word| {
            let smaller = theirs.iter().position(|their| their >= word);
            theirs = &theirs[smaller.unwrap_or(theirs.len())..];
            theirs.first() == Some(word)
        })
    }
}

impl FromIterator<ContentWord> for ContentWords {
    fn from_iter<I: IntoIterator<Item = ContentWord>>(words: I) -> Self {
        let mut words: Vec<ContentWord> = words.into_iter().collect();
        words.sort_unstable();
        words.dedup();
        Self(words.into())
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
            prop_assert_eq!(our_words.is_subset(&their_words), ours.is_subset(&theirs));
            prop_assert_eq!(our_words.is_disjoint(&their_words), ours.is_disjoint(&theirs));
            for word in &theirs {
                prop_assert_eq!(our_words.contains(ContentWord::of(word)), ours.contains(word));
            }
        }
    }
}

//! How many tokens a word is in a byte-pair vocabulary.
//!
//! A vocabulary is the list of its tokens, and the place of a token in it is its rank. A word begins as its
//! bytes; of all neighbours that make a token together, those of the lowest rank merge first, until no two
//! do. So ranks are all that counting needs: no merge rules, no automata.
//!
//! Not here: where a text is cut into words.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// The tokens of a vocabulary with their ranks.
pub(super) struct TokenRanks(HashMap<&'static [u8], u32>);

impl TokenRanks {
    /// Reads a list of tokens, by rank: the length of each in one byte, a zero, and the bytes of each.
    pub(super) fn parse(tokens: &'static [u8]) -> Self {
        let mut parts = tokens.splitn(2, |byte| *byte == 0);
        let (lengths, bytes) = (parts.next(), parts.next());
        let (lengths, mut rest) = (lengths.unwrap_or_default(), bytes.unwrap_or_default());
        let mut ranks = HashMap::with_capacity(lengths.len());
        for &length in lengths {
            let token;
            (token, rest) = rest.split_at(usize::from(length));
            let rank = u32::try_from(ranks.len()).expect("a vocabulary has fewer than 2^32 tokens");
            ranks.insert(token, rank);
        }
        Self(ranks)
    }

    /// How many tokens `word` is. Takes `n log n` time, so that a word of a megabyte is no trap.
    pub(super) fn count(&self, word: &[u8]) -> usize {
        if word.is_empty() || self.0.contains_key(word) {
            return usize::from(!word.is_empty());
        }
        let mut pieces = WordPieces::single_bytes(word.len());
        let merge = |start: usize, end: usize| {
            let rank = self.0.get(&word[start..end])?;
            Some(Reverse((*rank, start, end)))
        };
        // Equal ranks are equal tokens, and of those the leftmost merges first.
        let mut merges: BinaryHeap<_> = (2..=word.len())
            .filter_map(|end| merge(end - 2, end))
            .collect();
        while let Some(Reverse((_, start, end))) = merges.pop() {
            if pieces.merge(start, end) {
                merges.extend(pieces.before(start).and_then(|first| merge(first, end)));
                merges.extend(pieces.after(end).and_then(|last| merge(start, last)));
            }
        }
        pieces.count
    }
}

/// The pieces of a word, which lie side by side.
struct WordPieces {
    count: usize,
    /// Where the piece ends that starts here, or [`NO_PIECE`].
    ends: Vec<usize>,
    /// Where the piece starts that ends here; only right where one does.
    starts: Vec<usize>,
}

/// Greater than any place in a word.
const NO_PIECE: usize = usize::MAX;

impl WordPieces {
    fn single_bytes(length: usize) -> Self {
        Self {
            count: length,
            ends: (1..=length).collect(),
            starts: (0..=length).map(|end| end.saturating_sub(1)).collect(),
        }
    }

    /// Makes one piece of the two that fill `start..end`; `false` if one of them has been merged otherwise.
    fn merge(&mut self, start: usize, end: usize) -> bool {
        let middle = self.ends[start];
        if self.after(middle) != Some(end) {
            return false;
        }
        self.ends[start] = end;
        self.ends[middle] = NO_PIECE;
        self.starts[end] = start;
        self.count -= 1;
        true
    }

    /// Where the piece starts that ends at `start`.
    fn before(&self, start: usize) -> Option<usize> {
        (start > 0).then(|| self.starts[start])
    }

    /// Where the piece ends that starts at `end`.
    fn after(&self, end: usize) -> Option<usize> {
        self.ends.get(end).copied()
    }
}

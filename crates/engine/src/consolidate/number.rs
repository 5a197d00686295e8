//! Numbers of values, by which a page is known again without its text.
//!
//! Not here: what a number is compared with (`files`).

use std::hash::{Hash, Hasher};

use daybook_domain::EventId;

/// The number of a value: that of its content, so another value has another one.
pub(super) fn number_of(value: &impl Hash) -> u128 {
    let mut content = HashedContent::default();
    value.hash(&mut content);
    EventId::of(&[&content.0]).0
}

/// What a value hashes. The standard library's own numbers are too short to do without a comparison of the values.
#[derive(Default)]
struct HashedContent(Vec<u8>);

impl Hasher for HashedContent {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    // Required of a hasher; the number is made of the content itself.
    fn finish(&self) -> u64 {
        self.0.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_differ_anywhere_have_numbers_of_their_own() {
        let values = [
            vec![],
            vec![""],
            vec!["a"],
            vec!["", "a"],
            vec!["a", ""],
            vec!["a", "b"],
            vec!["ab"],
        ];
        let mut numbers: Vec<u128> = values.iter().map(number_of).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), values.len());
        assert_eq!(number_of(&values[5]), number_of(&["a", "b"].as_slice()));
    }
}

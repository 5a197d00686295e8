//! Numbers of statements and of the words that they search by: those that were the same last time find the same.
//!
//! Not here: what follows from that (`kept_searches`).

use std::hash::{DefaultHasher, Hash, Hasher};

use super::compare::{Stated, speaker_in};
use super::last_evidence;
use crate::consolidate::content::ContentWord;

/// The number of all that the rules read of a statement and its evidence.
pub(super) fn statement_number(one: &Stated<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let merged = one.merged;
    (merged.kind, merged.origin, &merged.text, &merged.subject).hash(&mut hasher);
    speaker_in(merged.context.as_deref()).hash(&mut hasher);
    if let Some(last) = last_evidence(one) {
        (last.at, last.events.last(), &last.session).hash(&mut hasher);
    }
    hasher.finish()
}

/// The number of the words that a search goes by.
pub(super) fn words_number(words: impl Iterator<Item = ContentWord>) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.for_each(|word| word.hash(&mut hasher));
    hasher.finish()
}

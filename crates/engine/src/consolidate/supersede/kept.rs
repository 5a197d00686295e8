//! What searches for ended statements found last time, in the order in which the statements were made.
//!
//! A search reads earlier statements only: those that share its rarest words. So as long as the statements up to a place
//! are the same ones, and the rarest words of the statement there, its search finds the same; and most of the work of a
//! consolidation after one more session is not repeated. An older session that is imported later, a statement that is gone
//! or another one in its place: the searches from there on are made again.
//!
//! Not here: how they are stored (`parsed_texts`).

use std::hash::{DefaultHasher, Hash, Hasher};

use daybook_domain::SupersessionReason;

use super::compare::Stated;
use super::last_evidence;
use crate::consolidate::content::ContentWord;

/// What one statement ends, whether or not that was ended before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::consolidate) struct KeptSearch {
    /// A number made of all that the rules read of the statement.
    pub(in crate::consolidate) statement: u64,
    /// A number made of the words that it searched by.
    pub(in crate::consolidate) rare: u64,
    pub(in crate::consolidate) found: Vec<EndedStatement>,
}

/// A statement that a search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::consolidate) struct EndedStatement {
    /// Its place in the order of time.
    pub(in crate::consolidate) place: u32,
    pub(in crate::consolidate) reason: SupersessionReason,
    /// Both can be put in order.
    pub(in crate::consolidate) is_before: bool,
}

/// The number of a statement with its evidence.
pub(super) fn statement_number(one: &Stated<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let merged = one.merged;
    (merged.kind, merged.origin, &merged.text, &merged.subject).hash(&mut hasher);
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

/// How many of the statements are those that the searches were made for.
pub(super) fn common_places(kept: &[KeptSearch], statements: &[u64]) -> usize {
    let pairs = kept.iter().zip(statements);
    pairs
        .take_while(|(kept, statement)| kept.statement == **statement)
        .count()
}

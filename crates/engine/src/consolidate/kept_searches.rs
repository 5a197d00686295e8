//! What searches for ended statements found last time, in the order in which the statements were made.
//!
//! A search reads earlier statements only: those that share its rarest words. So as long as the statements up to a place
//! are the same ones, and the rarest words of the statement there, its search finds the same; and most of the work of a
//! consolidation after one more session is not repeated. An older session that is imported later, a statement that is gone
//! or another one in its place: the searches from there on are made again.
//!
//! Not here: how they are made (`supersede`) and stored (`parsed_texts`).

use daybook_domain::SupersessionReason;

/// What one statement ends, whether or not that was ended before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct KeptSearch {
    /// A number made of all that the rules read of the statement.
    pub(super) statement: u64,
    /// A number made of the words that it searched by.
    pub(super) rare: u64,
    pub(super) found: Vec<EndedStatement>,
}

/// A statement that a search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EndedStatement {
    /// Its place in the order of time.
    pub(super) place: u32,
    pub(super) reason: SupersessionReason,
    /// Both can be put in order.
    pub(super) is_before: bool,
}

/// How many of the statements are those that the searches were made for.
pub(super) fn common_places(kept: &[KeptSearch], statements: &[u64]) -> usize {
    let pairs = kept.iter().zip(statements);
    pairs
        .take_while(|(kept, statement)| kept.statement == **statement)
        .count()
}

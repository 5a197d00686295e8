//! What one rule wants hidden, and what becomes of rules that want the same bytes.

use std::ops::Range;

/// How much a rule knows about what it found; the least, being the most specific, gives the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// The format of one issuer.
    Issuer,
    /// A format that many issuers share.
    Shared,
    /// Only a name, or a telling word.
    Named,
}

/// Bytes of a text to be hidden. Starts and ends between characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) range: Range<usize>,
    pub(super) rule: &'static str,
    pub(super) rank: Rank,
    /// Place among rules of the same rank; earlier ones are more specific.
    pub(super) row: usize,
}

/// Sorts spans and joins those that share a byte; the most specific rule names the union.
pub(super) fn merge(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| span.range.start);
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.range.start < last.range.end => last.absorb(span),
            Some(_) | None => merged.push(span),
        }
    }
    merged
}

impl Span {
    fn absorb(&mut self, other: Self) {
        self.range.end = self.range.end.max(other.range.end);
        if (other.rank, other.row) < (self.rank, self.row) {
            self.rule = other.rule;
            self.rank = other.rank;
            self.row = other.row;
        }
    }
}

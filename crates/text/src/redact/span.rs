//! The spans that rules want hidden, and how overlapping ones are merged.

use std::ops::Range;

/// How specific a rule is. Of overlapping spans the least rank, which is the most specific, gives the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RuleRank {
    /// The format of one issuer.
    Issuer,
    /// A format that many issuers share.
    Shared,
    /// Found by a name, or a telling word, alone.
    Named,
}

/// Bytes of a text to be hidden. Starts and ends between characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) range: Range<usize>,
    pub(super) rule: &'static str,
    pub(super) rank: RuleRank,
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

/// The first of `spans`, sorted and without overlaps, that shares a byte with `range`.
pub(super) fn covering<'s>(spans: &'s [Span], range: &Range<usize>) -> Option<&'s Span> {
    let place = spans.partition_point(|span| span.range.end <= range.start);
    spans.get(place).filter(|span| span.range.start < range.end)
}

impl Span {
    /// The same finding at another place.
    pub(super) fn moved(&self, range: Range<usize>) -> Option<Self> {
        (!range.is_empty()).then(|| Self {
            range,
            ..self.clone()
        })
    }

    fn absorb(&mut self, other: Self) {
        self.range.end = self.range.end.max(other.range.end);
        if (other.rank, other.row) < (self.rank, self.row) {
            self.rule = other.rule;
            self.rank = other.rank;
            self.row = other.row;
        }
    }
}

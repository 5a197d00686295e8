//! The spans that rules want hidden, and how overlapping ones are merged.

use std::borrow::Cow;
use std::ops::Range;

use super::finding::{FindingReason, FindingView};

/// How specific a rule is. Of overlapping spans the least rank, which is the most specific, gives the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RuleRank {
    /// The format of one issuer.
    Issuer,
    /// A format that many issuers share.
    Shared,
    /// Found by a name, or a telling word, alone.
    Named,
    /// Matched by a rule of the user's own.
    Own,
    /// Personal data, which is no secret by itself.
    Personal,
}

/// Bytes of a text to be hidden. Starts and ends between characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) range: Range<usize>,
    pub(super) rule: Cow<'static, str>,
    pub(super) rank: RuleRank,
    /// Place among rules of the same rank; earlier ones are more specific.
    pub(super) row: usize,
    pub(super) reason: FindingReason,
    pub(super) view: FindingView,
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
    pub(super) fn new(
        range: Range<usize>,
        rule: impl Into<Cow<'static, str>>,
        rank: RuleRank,
        reason: FindingReason,
    ) -> Self {
        Self {
            range,
            rule: rule.into(),
            rank,
            row: usize::MAX,
            reason,
            view: FindingView::Plain,
        }
    }

    /// The same, of the rule in this row.
    pub(super) fn in_row(self, row: usize) -> Self {
        Self { row, ..self }
    }

    /// The same, found in another view of the text.
    pub(super) fn seen(self, view: FindingView) -> Self {
        Self { view, ..self }
    }

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
            let range = self.range.clone();
            *self = Self { range, ..other };
        }
    }
}

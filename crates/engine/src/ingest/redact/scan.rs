//! One pass over a text: keywords first, a closer look where they stand.
//!
//! Not here: what a rule looks for, and what replaces it.

use std::fmt;
use std::ops::Range;

use aho_corasick::dfa::DFA;
use aho_corasick::{Input, MatchKind, automaton::Automaton};

use super::names::FOREIGN_PASSWORDS;
use super::span::{self, Span};
use super::{assign, pem, url};

/// What every marker starts with, ours and those of others, in lower case.
const MARKER: &str = "[redacted";
/// Bytes of the longest marker.
const MAX_MARKER: usize = 64;

/// The keyword table and who looks closer.
pub(super) struct Scanner {
    keywords: DFA,
    /// For each keyword, who looks closer.
    finders: Vec<Finder>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Finder {
    Assignment,
    Address,
    PrivateKey,
    Marker,
}

impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner")
            .field("keywords", &self.finders.len())
            .finish_non_exhaustive()
    }
}

impl Scanner {
    pub(super) fn new() -> Self {
        let (keywords, finders): (Vec<&str>, Vec<Finder>) = keywords().unzip();
        let keywords = DFA::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(keywords)
            .expect("a few hundred short keywords fit the automaton");
        Self { keywords, finders }
    }

    /// Everything to be hidden, sorted and apart.
    pub(super) fn scan(&self, text: &str) -> Vec<Span> {
        let bytes = text.as_bytes();
        let mut spans: Vec<Span> = Vec::new();
        let mut marker_end = 0;
        let hits = self
            .keywords
            .try_find_overlapping_iter(Input::new(bytes))
            .expect("the automaton was built for overlapping search");
        for hit in hits {
            let finder = self.finders[hit.pattern().as_usize()];
            if finder == Finder::Marker {
                marker_end = end_of_marker(bytes, hit.start());
            } else if hit.start() >= marker_end {
                spans.extend(look_closer(bytes, finder, hit.start()..hit.end()));
            }
        }
        span::merge(spans)
    }
}

fn look_closer(text: &[u8], finder: Finder, hit: Range<usize>) -> Option<Span> {
    match finder {
        Finder::Assignment => assign::find(text, hit),
        Finder::Address => url::find(text, hit),
        Finder::PrivateKey => pem::find(text, hit),
        Finder::Marker => None,
    }
}

fn keywords() -> impl Iterator<Item = (&'static str, Finder)> {
    let names = assign::KEYWORDS.iter().chain(&FOREIGN_PASSWORDS);
    names
        .map(|keyword| (*keyword, Finder::Assignment))
        .chain(
            url::KEYWORDS
                .iter()
                .map(|keyword| (*keyword, Finder::Address)),
        )
        .chain(
            pem::KEYWORDS
                .iter()
                .map(|keyword| (*keyword, Finder::PrivateKey)),
        )
        .chain([(MARKER, Finder::Marker)])
}

fn end_of_marker(text: &[u8], start: usize) -> usize {
    let rest = &text[start..text.len().min(start + MAX_MARKER)];
    let len = rest
        .iter()
        .position(|byte| *byte == b']')
        .map_or(MARKER.len(), |end| end + 1);
    start + len
}

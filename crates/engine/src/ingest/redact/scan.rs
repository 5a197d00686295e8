//! One pass over a text: keywords first, rules where they stand.
//!
//! Not here: what a rule looks for, and what replaces it.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::dfa::DFA;
use aho_corasick::{Input, MatchKind, automaton::Automaton};
use regex::bytes::{Regex, RegexBuilder};

use super::names::FOREIGN_PASSWORDS;
use super::rules::{RULES, Rule};
use super::span::{self, Span};
use super::{assign, pem, url};

/// What every marker starts with, ours and those of others, in lower case.
const MARKER: &str = "[redacted";
/// Bytes of the longest marker.
const MAX_MARKER: usize = 64;
/// Bytes of a start that may stand in a text by chance.
const LONGEST_CHANCE_START: usize = 4;

/// The keyword table and the rules behind it.
pub(super) struct Scanner {
    keywords: DFA,
    /// For each keyword, who looks closer.
    finders: Vec<Finder>,
    /// One for each of [`RULES`], compiled when first needed.
    patterns: Vec<OnceLock<Regex>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Finder {
    /// The rule in this row, for a keyword that is one of its starts.
    Row(usize, &'static str),
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
        Self {
            keywords,
            finders,
            patterns: RULES.iter().map(|_| OnceLock::new()).collect(),
        }
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
            } else if hit.start() >= marker_end && !is_inside_last(&spans, finder, hit.start()) {
                spans.extend(self.look_closer(bytes, finder, hit.start()..hit.end()));
            }
        }
        span::merge(spans)
    }

    fn look_closer(&self, text: &[u8], finder: Finder, hit: Range<usize>) -> Option<Span> {
        match finder {
            Finder::Row(row, start) => self.apply(row, start, text, hit.start),
            Finder::Assignment => assign::find(text, hit),
            Finder::Address => url::find(text, hit),
            Finder::PrivateKey => pem::find(text, hit),
            Finder::Marker => None,
        }
    }

    fn apply(&self, row: usize, start: &str, text: &[u8], at: usize) -> Option<Span> {
        let rule = &RULES[row];
        let is_start = rule.any_case || text[at..].starts_with(start.as_bytes());
        if !is_start || (rule.behind == 0 && !starts_word(text, at, start.len())) {
            return None;
        }
        let window = at.saturating_sub(rule.behind)..text.len().min(at + rule.reach);
        let captures = self.pattern(row).captures(&text[window.clone()])?;
        let found = captures.get(1).or_else(|| captures.get(0))?;
        rule.proof.holds_for(found.as_bytes()).then(|| Span {
            range: window.start + found.start()..window.start + found.end(),
            rule: rule.name,
            rank: rule.rank,
            row,
        })
    }

    fn pattern(&self, row: usize) -> &Regex {
        self.patterns[row].get_or_init(|| compile(&RULES[row]))
    }
}

fn keywords() -> impl Iterator<Item = (&'static str, Finder)> {
    let rows = RULES.iter().enumerate().flat_map(|(row, rule)| {
        rule.starts
            .iter()
            .map(move |start| (*start, Finder::Row(row, start)))
    });
    let names = assign::KEYWORDS.iter().chain(&FOREIGN_PASSWORDS);
    rows.chain(names.map(|keyword| (*keyword, Finder::Assignment)))
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

fn compile(rule: &Rule) -> Regex {
    let anchor = if rule.behind == 0 { r"\A" } else { "" };
    RegexBuilder::new(&format!("{anchor}(?:{})", rule.pattern))
        .unicode(false)
        .case_insensitive(rule.any_case)
        .build()
        .expect("a test compiles every row")
}

/// Whether the last span of the same rule covers this place already.
fn is_inside_last(spans: &[Span], finder: Finder, at: usize) -> bool {
    let Some(last) = spans.last().filter(|last| at < last.range.end) else {
        return false;
    };
    match finder {
        Finder::Row(row, _) => last.row == row,
        Finder::Assignment | Finder::Address | Finder::PrivateKey | Finder::Marker => false,
    }
}

fn end_of_marker(text: &[u8], start: usize) -> usize {
    let rest = &text[start..text.len().min(start + MAX_MARKER)];
    let len = rest
        .iter()
        .position(|byte| *byte == b']')
        .map_or(MARKER.len(), |end| end + 1);
    start + len
}

/// Whether a word whose start has `len` bytes may start here: after no letter, digit or `_`, unless they end an escape such as
/// `\n`, `%3D` or a terminal's color code.
fn starts_word(text: &[u8], at: usize, len: usize) -> bool {
    let before = &text[..at];
    match before {
        [] => true,
        // Base 64 for addresses is full of dashes, after which chance may write a short start.
        [.., last, b'-'] if last.is_ascii_alphanumeric() => len > LONGEST_CHANCE_START,
        [.., last] if !last.is_ascii_alphanumeric() && *last != b'_' => true,
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        [.., b'\\', b'u', a, b, c, d] => [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()),
        [.., digit, b'm'] if digit.is_ascii_digit() => ends_color_code(before),
        [..] => false,
    }
}

/// `ESC [ 1 ; 31 m`
fn ends_color_code(before: &[u8]) -> bool {
    let codes = &before[..before.len() - 1];
    let is_code = |byte: &u8| byte.is_ascii_digit() || *byte == b';';
    let len = codes
        .iter()
        .rev()
        .take(8)
        .take_while(|byte| is_code(byte))
        .count();
    codes[..codes.len() - len].ends_with(b"[")
}

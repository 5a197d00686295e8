//! One pass over a text: finds keywords, and applies their rules where they occur.
//!
//! Not here: the rules themselves, and the markers that replace secrets.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::dfa::DFA;
use aho_corasick::{Input, MatchKind, automaton::Automaton};
use memchr::memmem;
use regex::bytes::{Regex, RegexBuilder};

use super::finding::{FindingReason, FindingView};
use super::names::{FOREIGN_KEYS, FOREIGN_PASSWORDS};
use super::proof::Proof;
use super::rules::{RULES, Rule};
use super::shape::starts_with;
use super::span::{self, RuleRank, Span};
use super::view::View;
use super::{assign, encoded, entropy, joined, manifest, mnemonic, pem, split, url};

/// What every marker starts with, ours and those of others, in lower case.
const MARKER: &str = "[redacted";
/// Bytes of the longest marker.
const MAX_MARKER: usize = 64;
/// Bytes of a start that the automaton searches for.
const MAX_KEYWORD: usize = 7;
/// Length of the longest start that may occur in a text by chance, in bytes.
const LONGEST_CHANCE_START: usize = 4;

/// The keyword table and the rules behind it.
pub(super) struct Scanner {
    keywords: DFA,
    /// For each keyword, the function that examines its hits.
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
    Manifest,
    Mnemonic,
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

    /// Returns the spans to be hidden, sorted and without overlaps.
    pub(super) fn scan(&self, text: &str) -> Vec<Span> {
        let text = text.as_bytes();
        let mut spans = self.scan_bytes(text);
        let plain = spans.len();
        if let Some(view) = split::view(text) {
            let found = self.scan_bytes(&view.text).into_iter();
            let found = found.filter_map(|span| span.moved(view.source(&span.range)?));
            spans.extend(found.map(|span| span.seen(FindingView::Unescaped)));
        }
        if let Some(view) = joined::view(text) {
            let (known, _) = spans.split_at(plain);
            let found = self.scan_joined(&view, known);
            let found = found.into_iter();
            spans.extend(found.map(|span| span.seen(FindingView::Joined)));
        }
        for run in encoded::runs(text) {
            let span = match encoded::decode(&text[run.clone()]) {
                Some(decoded) => self
                    .scan_bytes(&decoded)
                    .first()
                    .and_then(|span| span.moved(run.clone()))
                    .map(|span| span.seen(FindingView::Decoded))
                    // The number of a bot is text, too.
                    .or_else(|| entropy::find_bot_token(text, &run)),
                None => entropy::find(text, &run)
                    .filter(|span| span::covering(&spans[..plain], &span.range).is_none()),
            };
            spans.extend(span);
        }
        span::merge(spans)
    }

    /// Keys of issuers among runs that were put together.
    fn scan_joined(&self, view: &View, known: &[Span]) -> Vec<Span> {
        let issued = |span: &Span| span.rank == RuleRank::Issuer;
        let mut spans = Vec::new();
        for span in self.scan_bytes(&view.text).into_iter().filter(issued) {
            let Some(start) = view.source(&span.range).map(|source| source.start) else {
                continue;
            };
            let is_whole = span::covering(known, &(start..start + 1)).is_some_and(issued);
            if is_whole && opens_next_key(view, &span.range, known) {
                continue;
            }
            let range = joined::without_next_words(view, &span.range, is_whole);
            let source = range.and_then(|range| view.source(&range));
            spans.extend(source.and_then(|source| span.moved(source)));
        }
        spans
    }

    /// Returns the spans that the rules find in `bytes` as they stand.
    fn scan_bytes(&self, bytes: &[u8]) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        let mut marker_end = 0;
        let mut manifest_end = 0;
        let hits = self
            .keywords
            .try_find_overlapping_iter(Input::new(bytes))
            .expect("the automaton was built for overlapping search");
        for hit in hits {
            let finder = self.finders[hit.pattern().as_usize()];
            if finder == Finder::Marker {
                marker_end = end_of_marker(bytes, hit.start());
            } else if finder == Finder::Manifest && hit.start() >= manifest_end {
                let (found, end) = manifest::find(bytes, hit.start()..hit.end());
                spans.extend(found);
                manifest_end = end;
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
            Finder::Mnemonic => mnemonic::find(text, hit),
            Finder::Manifest | Finder::Marker => None,
        }
    }

    fn apply(&self, row: usize, start: &str, text: &[u8], at: usize) -> Option<Span> {
        let rule = &RULES[row];
        let is_start = if rule.any_case {
            starts_with(&text[at..], start.as_bytes())
        } else {
            text[at..].starts_with(start.as_bytes())
        };
        if !is_start || (rule.behind == 0 && !starts_word(text, at, start.len())) {
            return None;
        }
        if !rule.is_on_right_line(line_before(text, at)) {
            return None;
        }
        let window = at.saturating_sub(rule.behind)..text.len().min(at + rule.reach);
        let captures = self.pattern(row).captures(&text[window.clone()])?;
        let found = captures
            .iter()
            .skip(1)
            .flatten()
            .next()
            .or_else(|| captures.get(0))?;
        // A dot may be part of a format, but the last one ends a sentence.
        let secret = without_last_dots(found.as_bytes());
        let start = window.start + found.start();
        let range = start..start + secret.len();
        let is_alone = !rule.alone || !is_inside_base64(text, &range);
        let reason = match rule.proof {
            Proof::Named(_) => FindingReason::Command,
            Proof::Format | Proof::Unspelled | Proof::Drawn | Proof::Mixed | Proof::BasicPair => {
                FindingReason::Format
            }
        };
        (is_alone && rule.proof.holds_for(secret))
            .then(|| Span::new(range, rule.name, rule.rank, reason).in_row(row))
    }

    fn pattern(&self, row: usize) -> &Regex {
        self.patterns[row].get_or_init(|| compile(&RULES[row]))
    }
}

/// Whether the second piece of `range` is a key of its own, as in a list of keys.
fn opens_next_key(view: &View, range: &Range<usize>, known: &[Span]) -> bool {
    let second = view.piece_ends(range)[0];
    let source = view.source(&(second..range.end));
    source.is_some_and(|source| span::covering(known, &(source.start..source.start + 1)).is_some())
}

/// What precedes `at` on its line, as far as commands go.
fn line_before(text: &[u8], at: usize) -> &[u8] {
    const MAX_LINE: usize = 600;
    let before = &text[at.saturating_sub(MAX_LINE)..at];
    let start = before.iter().rposition(|byte| *byte == b'\n');
    &before[start.map_or(0, |start| start + 1)..]
}

fn without_last_dots(secret: &[u8]) -> &[u8] {
    let dots = secret.iter().rev().take_while(|byte| **byte == b'.');
    &secret[..secret.len() - dots.count()]
}

/// Whether the range is a piece of a longer run of base 64, where chance writes any short start.
fn is_inside_base64(text: &[u8], range: &Range<usize>) -> bool {
    const LONG: usize = 24;
    let is_base64 = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let joins = |byte: Option<&u8>| matches!(byte, Some(b'+' | b'/'));
    let before = &text[..range.start];
    let after = &text[range.end..];
    (joins(before.last()) && before.iter().rev().take(LONG).take_while(is_base64).count() == LONG)
        || (joins(after.first()) && after.iter().take(LONG).take_while(is_base64).count() == LONG)
}

fn keywords() -> impl Iterator<Item = (&'static str, Finder)> {
    let rows = RULES.iter().enumerate().flat_map(|(row, rule)| {
        rule.starts
            .iter()
            .map(move |start| (keyword_of(start), Finder::Row(row, start)))
    });
    let others = [
        (&assign::KEYWORDS[..], Finder::Assignment),
        (&FOREIGN_PASSWORDS, Finder::Assignment),
        (&FOREIGN_KEYS, Finder::Assignment),
        (&url::KEYWORDS, Finder::Address),
        (&pem::KEYWORDS, Finder::PrivateKey),
        (&manifest::KEYWORDS, Finder::Manifest),
        (&mnemonic::KEYWORDS, Finder::Mnemonic),
        (&[MARKER], Finder::Marker),
    ];
    let others = others
        .into_iter()
        .flat_map(|(keywords, finder)| keywords.iter().map(move |word| (*word, finder)));
    rows.chain(others)
}

/// The part of a start that is searched for. Longer ones would make the automaton larger, and slower to build.
fn keyword_of(start: &'static str) -> &'static str {
    start.get(..MAX_KEYWORD).unwrap_or(start)
}

/// The compiled pattern of a rule.
pub(super) fn compile(rule: &Rule) -> Regex {
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
    matches!(finder, Finder::Row(row, _) if last.row == row)
}

/// Whether `range` shares a byte with a marker, which hides its secret already.
pub(super) fn touches_marker(text: &[u8], range: &Range<usize>) -> bool {
    const OWN_MARKER: &[u8] = b"[REDACTED:";
    let from = range.start.saturating_sub(MAX_MARKER);
    let to = text.len().min(range.end + OWN_MARKER.len() - 1);
    let mut markers = memmem::find_iter(&text[from..to], OWN_MARKER);
    markers.any(|at| end_of_marker(text, from + at) > range.start)
}

fn end_of_marker(text: &[u8], start: usize) -> usize {
    let rest = &text[start..text.len().min(start + MAX_MARKER)];
    let len = rest
        .iter()
        .position(|byte| *byte == b']')
        .map_or(MARKER.len(), |end| end + 1);
    start + len
}

/// Whether a word whose start has `len` bytes may start here: after no letter, digit or `_`, unless they end an
/// escape such as `\n`, `%3D` or a terminal's color code.
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

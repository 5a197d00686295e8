//! Finds secrets by the name beside them: `GITHUB_TOKEN=…`, `"password": "…"`, `--token …`.
//!
//! A keyword is a hit inside a name. The name is read in both directions, then what joins it to
//! a value, then the value; each has a bound, so a hit costs the same in a text of any length.
//! Only the value is hidden: name, joint and quotation marks stay readable.
//!
//! Not here: what may stand between name and value (`joint`), which names suggest a secret (`names`), and what a
//! value must look like (`value`).

use std::ops::Range;

use super::cursor::Cursor;
use super::finding::FindingReason;
use super::joint::{Joint, MAX_BLANKS, eat_joint};
use super::names::bar_for;
use super::shape::is_one_of;
use super::shape::{ValueForm, starts_with};
use super::span::{RuleRank, Span};
use super::value::{Bar, is_secret};

/// Bytes of a name on either side of the keyword.
const MAX_NAME: usize = 64;
/// Bytes of a value; session tokens of cloud providers exceed a thousand.
const MAX_VALUE: usize = 2048;

/// Parts of names, in lower case. Every name that `names` recognises contains one.
pub(super) const KEYWORDS: [&str; 27] = [
    "token",
    "secret",
    "passw",
    "passphrase",
    "pwd",
    "pass:",
    "pass=",
    "pass\"",
    "pass'",
    "key",
    "auth:",
    "auth=",
    "auth\"",
    "auth'",
    "credential",
    "jwt",
    "passcode",
    "-pass ",
    "pw:",
    "pw=",
    "pw\"",
    "pw'",
    "pw ",
    "pat:",
    "pat=",
    "pat\"",
    "pat'",
];

/// The value beside the name that holds the keyword at `hit`, if it is a secret.
pub(super) fn find(text: &[u8], hit: Range<usize>) -> Option<Span> {
    let keyword_end = trim_joint(text, &hit);
    let mut cursor = Cursor::new(text, keyword_end);
    cursor.eat_while(MAX_NAME, is_name_byte);
    let name_end = cursor.at;
    let first = name_start(text, hit.start);
    // The text after `//` is the user of an address, which `url` handles more precisely.
    if text[..first].ends_with(b"//") {
        return None;
    }
    // `--pass` is a flag, and `two-pass` a word.
    if text[hit.start] == b'-' && text[first] != b'-' {
        return None;
    }
    let joint = eat_joint(&mut cursor, text, first..name_end)?;
    let name = &text[with_word_before(text, first..name_end, hit.start..keyword_end)..name_end];
    let bar = bar_for(name)?;
    let (value, form, joint) = eat_value(&mut cursor, joint)?;
    if is_verdict(text, first..name_end, &text[value.clone()]) {
        return None;
    }
    let bar = match bar_through(joint, bar, name) {
        Bar::Password if joint == Joint::Flag && ends_command(text, value.clone()) => Bar::Typed,
        Bar::Password if joint == Joint::Env && sets_variable(name, &text[value.clone()], form) => {
            Bar::Typed
        }
        bar => bar,
    };
    let reason = FindingReason::Name;
    is_secret(&text[value.clone()], bar, form)
        .then(|| Span::new(value, rule_name(bar), RuleRank::Named, reason))
}

/// Whether a flag's value ends its command, or another flag follows it, as in no sentence about the flag.
fn ends_command(text: &[u8], value: Range<usize>) -> bool {
    const WORDS: &str = "flag option options argument parameter prompt string value file stdin is instead and or to \
        for in with from on as when if twice again";
    let mut cursor = Cursor::new(text, value.end);
    cursor.eat_quote();
    cursor.eat_blanks(MAX_BLANKS);
    let ends = matches!(
        cursor.peek(),
        None | Some(b'\n' | b'\r' | b'\\' | b'-' | b'|' | b'&' | b';' | b'"' | b'\'' | b'`' | b'>')
    );
    ends && !is_one_of(&text[value], WORDS)
}

/// Whether the name is the verdict `PASS` of a test, and the value the test's name.
fn is_verdict(text: &[u8], name: Range<usize>, value: &[u8]) -> bool {
    text[name.clone()] == *b"PASS"
        && (text[..name.start].ends_with(b"--- ")
            || starts_with(value, b"test")
            || value.contains(&b'/'))
}

fn rule_name(bar: Bar) -> &'static str {
    match bar {
        Bar::Typed | Bar::Password | Bar::StatedPassword | Bar::ProsePassword => "password",
        Bar::Key | Bar::StatedKey => "secret-key",
        Bar::Token | Bar::Hint | Bar::StatedToken => "token",
        Bar::Prose => "high-entropy",
    }
}

/// `DB_PASSWORD='…'` in a shell sets a password, however much it looks like a name. `"DB_PASSWORD=" + password` does not.
fn sets_variable(name: &[u8], value: &[u8], form: ValueForm) -> bool {
    is_variable(name) && form == ValueForm::Quoted && !value.iter().any(u8::is_ascii_whitespace)
}

/// `DB_PASSWORD`, as environments have it.
fn is_variable(name: &[u8]) -> bool {
    name.contains(&b'_') && !name.iter().any(u8::is_ascii_lowercase)
}

/// Raises the bar for a value whose joint is weaker evidence of a secret.
fn bar_through(joint: Joint, bar: Bar, name: &[u8]) -> Bar {
    match joint {
        Joint::Assigned | Joint::Env | Joint::Flag | Joint::Call => bar,
        // `["password", "oauth2"]` is a list; `("DB_PASSWORD", "…")` sets a variable.
        Joint::Listed if is_variable(name) => bar,
        Joint::Stated => match bar {
            Bar::Password => Bar::StatedPassword,
            Bar::Key => Bar::StatedKey,
            Bar::Token | Bar::Hint => Bar::StatedToken,
            bar => bar,
        },
        Joint::Prose if bar == Bar::Password => Bar::ProsePassword,
        Joint::Listed | Joint::Prose => Bar::Prose,
    }
}

/// Where the keyword ends, without the joint or blank that some keywords carry: `pass=`.
fn trim_joint(text: &[u8], hit: &Range<usize>) -> usize {
    let joined = matches!(text[hit.end - 1], b':' | b'=' | b'"' | b'\'' | b' ');
    hit.end - usize::from(joined)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn name_start(text: &[u8], keyword: usize) -> usize {
    let is_part = |byte: &u8| is_name_byte(*byte) || *byte == b'.';
    let len = text[..keyword]
        .iter()
        .rev()
        .take(MAX_NAME)
        .take_while(|byte| is_part(byte))
        .count();
    let start = keyword - len;
    // In `…\nTOKEN=` the `n` belongs to the escape.
    let after_escape = len > 0
        && start > 0
        && text[start - 1] == b'\\'
        && matches!(text[start], b'n' | b'r' | b't');
    start + usize::from(after_escape)
}

/// The start of the name when the keyword is all of it and a word precedes it: `api key`.
fn with_word_before(text: &[u8], name: Range<usize>, keyword: Range<usize>) -> usize {
    if name != keyword || name.start == 0 || text[name.start - 1] != b' ' {
        return name.start;
    }
    let before = &text[..name.start - 1];
    let is_letter = |byte: &&u8| byte.is_ascii_alphabetic();
    let len = before
        .iter()
        .rev()
        .take(MAX_NAME)
        .take_while(is_letter)
        .count();
    if len == 0 {
        name.start
    } else {
        name.start - 1 - len
    }
}

fn eat_value(cursor: &mut Cursor<'_>, joint: Joint) -> Option<(Range<usize>, ValueForm, Joint)> {
    skip_string_prefix(cursor);
    if let Some(quote) = cursor.eat_quote() {
        let len = quote.len_inside(cursor.rest(), MAX_VALUE)?;
        return Some((cursor.at..cursor.at + len, ValueForm::Quoted, joint));
    }
    let form = match joint {
        Joint::Assigned | Joint::Stated | Joint::Prose => ValueForm::Bare,
        Joint::Env | Joint::Flag => ValueForm::Env,
        Joint::Call | Joint::Listed => return None,
    };
    if form == ValueForm::Bare && eat_type(cursor) {
        return eat_value(cursor, Joint::Call);
    }
    let start = cursor.at;
    let word = cursor.eat_while(MAX_VALUE, |byte| !ends_value(byte, form));
    if word.len() == MAX_VALUE {
        return None;
    }
    let word = before_next_parameter(word);
    let trailing = word.iter().rev().take_while(|byte| is_trailing(**byte));
    let len = word.len() - trailing.count();
    Some((start..start + len, form, joint))
}

/// Steps over the `b` of `b"…"`, the `f` of `f'…'`, the `@` of `@"…"`, and typographic quotation marks.
fn skip_string_prefix(cursor: &mut Cursor<'_>) {
    for mark in ["“", "”", "„", "‘", "‚", "«", "»"] {
        cursor.eat(mark.as_bytes());
    }
    let is_prefix = |byte: &u8| b"bBrRfFuU@$".contains(byte);
    if let [first, b'"' | b'\'', ..] = cursor.rest()
        && is_prefix(first)
    {
        cursor.at += 1;
    }
}

/// Steps over a type and the `=` after it: `password: &str = "…"`.
fn eat_type(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    let is_type_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"&'*_.:<>[]?".contains(&byte);
    ahead.eat_while(MAX_NAME, is_type_byte);
    let found = ahead.eat_blanks(MAX_BLANKS) > 0 && ahead.eat(b"= ");
    if found {
        ahead.eat_blanks(MAX_BLANKS);
        *cursor = ahead;
    }
    found
}

/// The value up to an `&` that opens the next parameter or command, and not one within a password.
fn before_next_parameter(word: &[u8]) -> &[u8] {
    let opens_next = |rest: &[u8]| {
        let mut cursor = Cursor::new(rest, 1);
        let name = cursor.eat_while(MAX_NAME, is_name_byte);
        matches!((name.len(), cursor.peek()), (0, _) | (_, Some(b'=')))
    };
    let end = (0..word.len()).find(|at| word[*at] == b'&' && opens_next(&word[*at..]));
    &word[..end.unwrap_or(word.len())]
}

fn ends_value(byte: u8, form: ValueForm) -> bool {
    match byte {
        0..=b' ' | b'"' | b'\'' | b'`' | b'\\' | b';' | b'<' | b'>' | b'|' | 0x7f => true,
        b',' | b')' | b']' | b'}' => form != ValueForm::Env,
        // First bytes of typographic marks and of CJK punctuation, which follow a value in prose.
        0xe2 | 0xe3 | 0xef => true,
        _ => false,
    }
}

fn is_trailing(byte: u8) -> bool {
    matches!(byte, b'.' | b',' | b':' | b')' | b']' | b'}')
}

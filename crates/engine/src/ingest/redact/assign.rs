//! Secrets that only their name gives away: `GITHUB_TOKEN=…`, `"password": "…"`, `--token …`.
//!
//! A keyword is a hit inside a name. The name is read in both directions, then what joins it to
//! a value, then the value; each has a bound, so a hit costs the same in a text of any length.
//! Only the value is hidden: name, joint and quotation marks stay readable.
//!
//! Not here: what a name promises (`names`) and what a value must look like (`value`).

use std::ops::Range;

use super::cursor::Cursor;
use super::names::bar_for;
use super::span::{Rank, Span};
use super::value::{Bar, Form, is_secret};

/// Bytes of a name on either side of the keyword.
const MAX_NAME: usize = 64;
/// Bytes of a value; session tokens of clouds exceed a thousand.
const MAX_VALUE: usize = 2048;
/// Blanks between name and value.
const MAX_BLANKS: usize = 16;

/// Parts of names, in lower case, of which one stands in every name that `names` knows.
pub(super) const KEYWORDS: [&str; 16] = [
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
];

/// What stands between a name and a value that is told, not assigned.
const TELLING: [&str; 6] = ["is ", "was ", "-> ", "→ ", "is: ", "- "];

/// How a name is joined to its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// `name: value`, `name = value`, `name => value`, `<name>value`.
    Assigned,
    /// `NAME=value`.
    Env,
    /// `--name value`.
    Flag,
    /// `name("value")`.
    Call,
    /// `"name", "value"`.
    Listed,
    /// Nothing but nearness: `the token is value`.
    Told,
}

/// The value beside the name that holds the keyword at `hit`, if it is a secret.
pub(super) fn find(text: &[u8], hit: Range<usize>) -> Option<Span> {
    let keyword_end = trim_joint(text, &hit);
    let mut cursor = Cursor::new(text, keyword_end);
    cursor.eat_while(MAX_NAME, is_name_byte);
    let name_end = cursor.at;
    let first = name_start(text, hit.start);
    // What follows `//` is the user of an address, which `url` knows better.
    if text[..first].ends_with(b"//") {
        return None;
    }
    let joint = eat_joint(&mut cursor, text, first..name_end)?;
    let name = &text[with_word_before(text, first..name_end, hit.start..keyword_end)..name_end];
    let bar = bar_for(name)?;
    let (value, form, joint) = eat_value(&mut cursor, joint)?;
    let bar = bar_through(joint, bar, name);
    is_secret(&text[value.clone()], bar, form).then(|| Span {
        range: value,
        rule: rule_name(bar),
        rank: Rank::Named,
        row: usize::MAX,
    })
}

fn rule_name(bar: Bar) -> &'static str {
    match bar {
        Bar::Password | Bar::ToldPassword => "password",
        Bar::Key => "secret-key",
        Bar::Token | Bar::Hint => "token",
        Bar::Told => "high-entropy",
    }
}

/// A joint that promises less raises what the value must prove.
fn bar_through(joint: Joint, bar: Bar, name: &[u8]) -> Bar {
    let is_variable = name.contains(&b'_') && !name.iter().any(u8::is_ascii_lowercase);
    match joint {
        Joint::Assigned | Joint::Env | Joint::Flag | Joint::Call => bar,
        // `["password", "oauth2"]` is a list; `("DB_PASSWORD", "…")` sets a variable.
        Joint::Listed if is_variable => bar,
        Joint::Told if bar == Bar::Password => Bar::ToldPassword,
        Joint::Listed | Joint::Told => Bar::Told,
    }
}

/// Where the keyword ends, without the joint that some keywords carry: `pass=`.
fn trim_joint(text: &[u8], hit: &Range<usize>) -> usize {
    let joined = matches!(text[hit.end - 1], b':' | b'=' | b'"' | b'\'');
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

/// Where the name starts when the keyword is all of it and a word stands before: `api key`.
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

fn eat_joint(cursor: &mut Cursor<'_>, text: &[u8], name: Range<usize>) -> Option<Joint> {
    let quoted = cursor.eat_quote().is_some();
    cursor.eat(b"]");
    cursor.eat(b"**");
    let blanks = cursor.eat_blanks(MAX_BLANKS);
    let joint = match cursor.peek()? {
        b':' | b'=' | b'!' => eat_operator(cursor, quoted || blanks > 0, text, &name)?,
        b'(' if blanks == 0 => step(cursor, Joint::Call),
        b'(' => step(cursor, Joint::Told),
        b'>' if name.start > 0 && text[name.start - 1] == b'<' => step(cursor, Joint::Assigned),
        b'|' => step(cursor, Joint::Told),
        0xef if cursor.eat("：".as_bytes()) || cursor.eat("＝".as_bytes()) => Joint::Assigned,
        b'%' if cursor.eat(b"%3d") => Joint::Assigned,
        b',' if quoted => step_over_comma(cursor),
        b'\n' | b'\r' | b'\\' => return eat_value_key(cursor).then_some(Joint::Assigned),
        _ if blanks == 0 => return None,
        _ if TELLING.iter().any(|word| cursor.eat(word.as_bytes())) => Joint::Told,
        _ if text[name.start] == b'-' => Joint::Flag,
        _ => Joint::Told,
    };
    cursor.eat(b"**");
    let blanks = cursor.eat_blanks(MAX_BLANKS);
    if joint == Joint::Assigned && cursor.eat_line_breaks() {
        cursor.eat_blanks(MAX_BLANKS);
        return Some(Joint::Told);
    }
    Some(if joint == Joint::Env && blanks > 0 {
        Joint::Assigned
    } else {
        joint
    })
}

fn step(cursor: &mut Cursor<'_>, joint: Joint) -> Joint {
    cursor.at += 1;
    joint
}

fn step_over_comma(cursor: &mut Cursor<'_>) -> Joint {
    if eat_value_key(cursor) {
        return Joint::Assigned;
    }
    step(cursor, Joint::Listed)
}

/// `:`, `=`, `:=`, `==`, `!=`, `=>`, but not the `::` of a path.
fn eat_operator(
    cursor: &mut Cursor<'_>,
    is_loose: bool,
    text: &[u8],
    name: &Range<usize>,
) -> Option<Joint> {
    let operator = cursor.eat_while(3, |byte| matches!(byte, b':' | b'=' | b'!' | b'>'));
    if operator == b"::" || operator == b"!" {
        return None;
    }
    let is_constant = !text[name.clone()].iter().any(u8::is_ascii_lowercase);
    let is_env = operator == b"=" && is_constant && !is_loose;
    Some(if is_env { Joint::Env } else { Joint::Assigned })
}

/// The `value:` of lists of named values: `{"name": "API_KEY", "value": "…"}`.
fn eat_value_key(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    ahead.eat(b",");
    while ahead.eat_line_breaks() || ahead.eat_blanks(MAX_BLANKS) > 0 {}
    ahead.eat_quote();
    let found = ahead.eat(b"value") && {
        ahead.eat_quote();
        ahead.eat_blanks(MAX_BLANKS);
        ahead.eat(b":") || ahead.eat(b"=")
    };
    if found {
        ahead.eat_blanks(MAX_BLANKS);
        *cursor = ahead;
    }
    found
}

fn eat_value(cursor: &mut Cursor<'_>, joint: Joint) -> Option<(Range<usize>, Form, Joint)> {
    skip_string_prefix(cursor);
    if let Some(quote) = cursor.eat_quote() {
        let len = quote.len_inside(cursor.rest(), MAX_VALUE)?;
        return Some((cursor.at..cursor.at + len, Form::Quoted, joint));
    }
    let form = match joint {
        Joint::Assigned | Joint::Told => Form::Bare,
        Joint::Env | Joint::Flag => Form::Env,
        Joint::Call | Joint::Listed => return None,
    };
    if form == Form::Bare && eat_type(cursor) {
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

/// Steps over the `b` of `b"…"`, the `f` of `f'…'`, the `@` of `@"…"`.
fn skip_string_prefix(cursor: &mut Cursor<'_>) {
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

fn ends_value(byte: u8, form: Form) -> bool {
    match byte {
        0..=b' ' | b'"' | b'\'' | b'`' | b'\\' | b';' | b'<' | b'>' | b'|' | 0x7f => true,
        b',' | b')' | b']' | b'}' => form != Form::Env,
        // First bytes of typographic marks and of CJK punctuation, which follow a value in prose.
        0xe2 | 0xe3 | 0xef => true,
        _ => false,
    }
}

fn is_trailing(byte: u8) -> bool {
    matches!(byte, b'.' | b',' | b':' | b')' | b']' | b'}')
}

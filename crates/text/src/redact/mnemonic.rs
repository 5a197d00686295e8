//! Finds the words from which wallets derive their keys: twelve to twenty-four small words behind `seed phrase`.
//!
//! The list of 2,048 words is not needed: behind a telling name, a run of exactly as many words as the format
//! allows, all of three to eight small letters and none of them a particle of a sentence, is such a phrase.
//!
//! Not here: a phrase without a name before it.

use std::ops::Range;

use super::cursor::Cursor;
use super::finding::FindingReason;
use super::shape::is_one_of;
use super::span::{RuleRank, Span};

/// Names of such phrases, in lower case.
pub(super) const KEYWORDS: [&str; 9] = [
    "mnemonic",
    "seed phrase",
    "seed_phrase",
    "seed-phrase",
    "seedphrase",
    "seed words",
    "recovery phrase",
    "recovery words",
    "backup phrase",
];

/// How many words such phrases have.
const LENGTHS: [usize; 5] = [12, 15, 18, 21, 24];
/// Bytes between the name and the first word.
const MAX_JOINT: usize = 32;
/// Bytes between two words.
const MAX_GAP: usize = 8;
/// Particles of sentences, none of which the list of words has.
const PARTICLES: &str = "the and for with are was not but from has have which were its should your must does into \
    than been can't when's these those";

/// The phrase behind the name at `hit`.
pub(super) fn find(text: &[u8], hit: Range<usize>) -> Option<Span> {
    let mut cursor = Cursor::new(text, hit.end);
    skip_joint(&mut cursor)?;
    let start = cursor.at;
    let mut end = start;
    let mut words = 0;
    while words <= LENGTHS[LENGTHS.len() - 1] {
        let word = cursor.eat_while(9, |byte| byte.is_ascii_lowercase());
        if !(3..=8).contains(&word.len()) || is_one_of(word, PARTICLES) {
            break;
        }
        words += 1;
        end = cursor.at;
        skip_gap(&mut cursor);
        if cursor.at == end {
            break;
        }
    }
    let reason = FindingReason::Mnemonic;
    let is_phrase = LENGTHS.contains(&words);
    is_phrase.then(|| Span::new(start..end, "seed-phrase", RuleRank::Shared, reason))
}

/// Steps over `: "`, ` is `, `=` and the like, and over the number of the first word.
fn skip_joint(cursor: &mut Cursor<'_>) -> Option<()> {
    let from = cursor.at;
    let is_name_end = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    cursor.eat_while(MAX_JOINT, is_name_end);
    cursor.eat_quote();
    cursor.eat_blanks(4);
    for verb in [
        "is: ",
        "is ",
        "are: ",
        "are ",
        "was ",
        "lautet ",
        "ist ",
        "(12 words)",
        "(24 words)",
    ] {
        cursor.eat(verb.as_bytes());
    }
    let joint = cursor
        .eat_while(MAX_JOINT, |byte| b":=>*,([ \t`".contains(&byte))
        .len();
    let breaks = cursor.eat_line_breaks();
    cursor.eat_quote();
    cursor.eat_while(MAX_GAP, |byte| byte == b' ' || byte == b'[');
    cursor.eat_quote();
    skip_number(cursor);
    (cursor.at > from && (joint > 0 || breaks || cursor.at > from + 1)).then_some(())
}

/// Steps over what separates two words: blanks, a comma, quotation marks, a line break, the number of the next word.
fn skip_gap(cursor: &mut Cursor<'_>) {
    cursor.eat_quote();
    cursor.eat_while(1, |byte| byte == b',');
    cursor.eat_while(MAX_GAP, |byte| byte == b' ');
    cursor.eat_line_breaks();
    cursor.eat_while(MAX_GAP, |byte| byte == b' ');
    skip_number(cursor);
    cursor.eat_quote();
}

/// Steps over `12. ` or `12) `.
fn skip_number(cursor: &mut Cursor<'_>) {
    let mut ahead = *cursor;
    let digits = ahead.eat_while(2, |byte| byte.is_ascii_digit()).len();
    if digits > 0 && (ahead.eat(b".") || ahead.eat(b")") || ahead.eat(b":")) {
        ahead.eat_blanks(2);
        *cursor = ahead;
    }
}

//! Recognises values that refer to something else: code, a path, an address, a time, a digest.
//!
//! Not here: placeholders, which refer to nothing. `placeholder` recognises those.

use super::character_counts::CharacterCounts;
use super::shape::ValueForm;
use super::shape::{contains, is_identifier, is_random, starts_with, words};

/// A variable that holds a secret is often named for it.
const SECRET_WORDS: [&[u8]; 6] = [
    b"token",
    b"password",
    b"passwd",
    b"secret",
    b"key",
    b"credential",
];

/// Whether the value refers to something else: code, a path, an address, a time, a digest.
pub(super) fn is_reference(value: &[u8], form: ValueForm) -> bool {
    contains(value, b"://")
        || is_path(value)
        || is_email(value)
        || is_timestamp(value)
        || is_digest(value)
        || (form == ValueForm::Bare && is_expression(value))
}

fn is_path(value: &[u8]) -> bool {
    if starts_with(value, b"./") || starts_with(value, b"../") || starts_with(value, b"~/") {
        return true;
    }
    let is_drive =
        value.len() > 2 && value[0].is_ascii_alphabetic() && value[1..].starts_with(b":\\");
    is_drive
        || (value.contains(&b'/') && CharacterCounts::of(value).symbols == 0 && !is_random(value))
}

fn is_email(value: &[u8]) -> bool {
    let Some(at) = value.iter().position(|byte| *byte == b'@') else {
        return false;
    };
    let domain = &value[at + 1..];
    let is_host = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let suffix = domain
        .rsplit(|byte| *byte == b'.')
        .next()
        .unwrap_or_default();
    domain.contains(&b'.')
        && domain.iter().all(is_host)
        && suffix.len() >= 2
        && suffix.iter().all(u8::is_ascii_alphabetic)
}

/// `2026-01-31…`
fn is_timestamp(value: &[u8]) -> bool {
    value.len() >= 10
        && value[..10]
            .iter()
            .enumerate()
            .all(|(place, byte)| match place {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            })
}

/// `sha256:…`, `sha512-…`
fn is_digest(value: &[u8]) -> bool {
    starts_with(value, b"sha")
        && value.get(3).is_some_and(u8::is_ascii_digit)
        && value.iter().any(|byte| matches!(byte, b'-' | b':'))
}

fn is_expression(value: &[u8]) -> bool {
    let is_bracket = |byte: &u8| matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}');
    if value.iter().any(is_bracket) || contains(value, b"::") || is_type_name(value) {
        return true;
    }
    let spelled = value
        .strip_prefix(b"&")
        .or_else(|| value.strip_prefix(b"*"))
        .unwrap_or(value);
    let counts = CharacterCounts::of(spelled);
    let is_chosen = counts.digits > 0 && counts.symbols > 0;
    let names_a_secret = !is_chosen
        && !is_random(spelled)
        && words(spelled).any(|word| SECRET_WORDS.iter().any(|known| starts_with(word, known)));
    let is_name = |part: &[u8]| is_identifier(part) && !is_random(part);
    let mut parts = spelled.split(|byte| *byte == b'.');
    let is_joined = spelled.iter().any(|byte| matches!(byte, b'.' | b'_'));
    names_a_secret || (is_joined && parts.all(is_name))
}

/// `Utf8PathBuf`, `Sha256Digest`, `userName2`: longer words with capitals, and few digits.
fn is_type_name(value: &[u8]) -> bool {
    let counts = CharacterCounts::of(value);
    let is_leet = |pair: &[u8]| pair[0].is_ascii_digit() && pair[1].is_ascii_lowercase();
    is_identifier(value)
        && !value.windows(2).any(is_leet)
        && counts.lower > 0
        && counts.upper > 0
        && counts.digits * 4 <= counts.len
        && counts.pieces * 5 <= counts.len * 2
        && !counts.has_odd_spelling_in_any_case()
}

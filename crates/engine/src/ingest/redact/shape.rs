//! What a string looks like: random, hexadecimal, a UUID, an identifier, words.
//!
//! Each question is answered from the bytes alone, whatever they stand beside.
//!
//! Not here: what follows from the answers. `value` and `proof` decide.

use super::makeup::Makeup;

/// Bytes of unbroken letters and digits that can show randomness.
const SHORTEST_RUN: usize = 8;
/// Bytes of letters in both cases whose changes of case are no chance.
const SHORTEST_MIXED_RUN: usize = 12;
/// Bytes of a value whose parts count together.
const SHORTEST_SPLIT: usize = 16;

/// Whether the value is drawn at random as far as its bytes show: not words, not code, not a hash.
pub(super) fn is_random(value: &[u8]) -> bool {
    parts(value).any(is_random_run) || is_random_in_parts(value)
}

/// Base 64 for addresses, in which chance put `-` and `_` so that no part is long enough.
fn is_random_in_parts(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let alphanumeric = makeup.letters() + makeup.digits;
    let is_broken = makeup.seams >= 3 && makeup.digits * 6 >= alphanumeric;
    makeup.lower > 0
        && makeup.upper > 0
        && value.len() >= SHORTEST_SPLIT
        && makeup.joiners * 8 <= value.len()
        && (is_broken || makeup.has_odd_spelling())
}

fn is_random_run(run: &[u8]) -> bool {
    if run.len() < SHORTEST_RUN || is_hex(run) {
        return false;
    }
    let makeup = Makeup::of(run);
    let alphanumeric = makeup.letters() + makeup.digits;
    let broken_by_digits = makeup.seams >= 3
        && (makeup.digits * 6 >= alphanumeric || makeup.pieces * 3 >= alphanumeric)
        || makeup.seams == 2 && makeup.digits * 3 >= alphanumeric;
    let has_both_cases = makeup.lower > 0 && makeup.upper > 0;
    let broken_by_capitals =
        has_both_cases && run.len() >= SHORTEST_MIXED_RUN && makeup.pieces * 5 >= alphanumeric * 2;
    let spells_nothing = (makeup.seams > 0 || has_both_cases) && makeup.has_odd_spelling();
    broken_by_digits || broken_by_capitals || spells_nothing
}

/// One run of letters in one case that spells nothing.
pub(super) fn is_oddly_spelled(makeup: &Makeup) -> bool {
    makeup.longest_run == makeup.len
        && makeup.digits == 0
        && (makeup.upper == 0 || makeup.lower == 0)
        && makeup.has_odd_spelling()
}

/// Hexadecimal in one case, as programs print it.
pub(super) fn is_hex(value: &[u8]) -> bool {
    value.iter().all(u8::is_ascii_hexdigit)
        && !(value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase))
}

/// Hexadecimal with both digits and letters, which a number or a word has not.
pub(super) fn is_hex_key(value: &[u8], shortest: usize) -> bool {
    value.len() >= shortest
        && is_hex(value)
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_alphabetic)
}

pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

pub(super) fn is_identifier(value: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    value.first().is_some_and(|first| !first.is_ascii_digit()) && value.iter().all(is_part)
}

/// What the joiners of names, paths and lists hold apart.
pub(super) fn parts(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| b"-_./:=;, ".contains(byte))
}

/// Runs of letters, split where a small one meets a capital.
pub(super) fn words(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .chunk_by(|a, b| {
            a.is_ascii_alphabetic()
                && b.is_ascii_alphabetic()
                && !(a.is_ascii_lowercase() && b.is_ascii_uppercase())
        })
        .filter(|word| word[0].is_ascii_alphabetic())
}

/// Whether `value` starts with `start` in any case.
pub(super) fn starts_with(value: &[u8], start: &[u8]) -> bool {
    value
        .get(..start.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// Whether `part`, in lower case, occurs in `value` in any case.
pub(super) fn contains(value: &[u8], part: &[u8]) -> bool {
    // The fifth bit is all that tells the two cases of a letter apart.
    let may_start = |byte: u8| byte | 0x20 == part[0] | 0x20;
    value
        .windows(part.len())
        .any(|window| may_start(window[0]) && window.eq_ignore_ascii_case(part))
}

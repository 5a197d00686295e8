//! Predicates on the form of a string: random, hexadecimal, a UUID, an identifier, words.
//!
//! Each examines the bytes alone, without their context.
//!
//! Not here: whether the string is a secret. `value` and `proof` decide that.

use super::character_counts::CharacterCounts;

/// How the value is written, which decides what may be code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueForm {
    Quoted,
    /// `NAME=value`, as in a shell or an environment file.
    Env,
    /// Unquoted in any other place: may be an expression.
    Bare,
}

/// Bytes of unbroken letters and digits that can show randomness.
const SHORTEST_RUN: usize = 8;
/// Bytes of letters in both cases whose changes of case are no chance.
const SHORTEST_MIXED_RUN: usize = 12;
/// Bytes of a value whose parts count together.
const SHORTEST_SPLIT: usize = 16;

/// Whether the value looks drawn at random: not words, not code, not a hash.
pub(super) fn is_random(value: &[u8]) -> bool {
    parts(value).any(is_random_run) || is_random_in_parts(value)
}

/// Base 64 for addresses, in which chance put `-` and `_` so that no part is long enough.
fn is_random_in_parts(value: &[u8]) -> bool {
    let counts = CharacterCounts::of(value);
    let alphanumeric = counts.letters() + counts.digits;
    let is_broken = counts.seams >= 3 && counts.digits * 6 >= alphanumeric;
    // `setup-go-Linux-x64-…` ends in a digest: a key of a cache, whose other parts are words.
    let names_digest = parts(value).any(|part| is_hex_key(part, SHORTEST_RUN));
    !names_digest
        && counts.lower > 0
        && counts.upper > 0
        && value.len() >= SHORTEST_SPLIT
        && counts.joiners * 8 <= value.len()
        && (is_broken || counts.has_odd_spelling())
}

fn is_random_run(run: &[u8]) -> bool {
    if run.len() < SHORTEST_RUN || is_hex(run) {
        return false;
    }
    let counts = CharacterCounts::of(run);
    let alphanumeric = counts.letters() + counts.digits;
    let broken_by_digits = counts.seams >= 3
        && (counts.digits * 6 >= alphanumeric || counts.pieces * 3 >= alphanumeric)
        || counts.seams == 2 && counts.digits * 3 >= alphanumeric;
    let has_both_cases = counts.lower > 0 && counts.upper > 0;
    let broken_by_capitals =
        has_both_cases && run.len() >= SHORTEST_MIXED_RUN && counts.pieces * 5 >= alphanumeric * 2;
    let spells_nothing = (counts.seams > 0 || has_both_cases) && counts.has_odd_spelling();
    broken_by_digits || broken_by_capitals || spells_nothing
}

/// Whether the value is one run of letters in one case that spells no word.
pub(super) fn is_oddly_spelled(counts: &CharacterCounts) -> bool {
    counts.longest_run == counts.len
        && counts.digits == 0
        && (counts.upper == 0 || counts.lower == 0)
        && counts.has_odd_spelling()
}

/// Whether the value is hexadecimal in one case, as programs print it.
pub(super) fn is_hex(value: &[u8]) -> bool {
    value.iter().all(u8::is_ascii_hexdigit)
        && !(value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase))
}

/// Whether the value is hexadecimal with both digits and letters, unlike a number or a word.
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

/// The parts between the joiners of names, paths and lists.
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
    // The two cases of a letter differ in the fifth bit alone.
    let may_start = |byte: u8| byte | 0x20 == part[0] | 0x20;
    value
        .windows(part.len())
        .any(|window| may_start(window[0]) && window.eq_ignore_ascii_case(part))
}

/// Whether `word` is one of the words in `known`, in any case.
pub(super) fn is_one_of(word: &[u8], known: &str) -> bool {
    let mut known = known.split_ascii_whitespace();
    known.any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

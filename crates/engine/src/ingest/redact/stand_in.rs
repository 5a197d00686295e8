//! What people write where a secret belongs: `xxxx`, `<token>`, `${TOKEN}`, `changeme`.
//!
//! Not here: words and code that merely are no secret. `value` knows those.

use super::shape::{contains, is_identifier, starts_with, words};

/// Words that say: put yours here. So does any that starts with `your`.
const WORDS: [&str; 14] = [
    "changeme",
    "changeit",
    "placeholder",
    "dummy",
    "fake",
    "mock",
    "mocked",
    "sample",
    "todo",
    "tbd",
    "insert",
    "replace",
    "undefined",
    "example",
];

/// Whether somebody wrote the value to be replaced.
pub(super) fn is_stand_in(value: &[u8]) -> bool {
    is_masked(value) || is_template(value) || has_stand_in_word(value)
}

/// Whether the value is blotted out: a run of one filler, or a marker of any redactor.
pub(super) fn is_masked(value: &[u8]) -> bool {
    const FILLERS: &[u8] = b"xX*.#_-0";
    const LONGEST_CHANCE_RUN: usize = 5;
    let mut run = 0;
    let mut before = 0;
    for &byte in value {
        run = if byte == before { run + 1 } else { 1 };
        before = byte;
        if run > LONGEST_CHANCE_RUN && FILLERS.contains(&byte) {
            return true;
        }
    }
    let unlike = |filler: u8| value.iter().any(|byte| *byte != filler);
    FILLERS.iter().any(|&filler| !unlike(filler))
        || contains(value, b"redacted")
        || contains(value, "…".as_bytes())
        || contains(value, "•".as_bytes())
        || contains(value, b"***")
        || value.ends_with(b"...")
}

/// Whether the value is filled in later: a variable, a format directive, something in brackets.
fn is_template(value: &[u8]) -> bool {
    const PARTS: [&[u8]; 9] = [
        b"${", b"$(", b"{{", b"#{", b"%(", b"{}", b"<%", b"$env:", b"{0}",
    ];
    if PARTS.iter().any(|part| contains(value, part)) || matches!(value, b"%s" | b"%v" | b"%q") {
        return true;
    }
    let (Some(first), Some(last)) = (value.first(), value.last()) else {
        return true;
    };
    match (first, last) {
        (b'<', b'>') | (b'{', b'}') | (b'[', b']') | (b'(', b')') => true,
        (b'%', b'%') | (b'@', b'@') if value.len() > 2 => is_identifier(&value[1..value.len() - 1]),
        (b'$', _) => is_identifier(&value[1..]),
        _ => false,
    }
}

fn has_stand_in_word(value: &[u8]) -> bool {
    // Past this length the words are chance, or stand beside a real secret.
    const LONGEST_STAND_IN: usize = 48;
    value.len() <= LONGEST_STAND_IN
        && words(value).any(|word| {
            WORDS
                .iter()
                .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
                || starts_with(word, b"your")
        })
}

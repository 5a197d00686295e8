//! What keeps a look-alike of a format out: masks, words in place of a key, code.
//!
//! Not here: values that stand beside a name. `value` judges those.

use super::makeup::Makeup;
use super::shape::{is_hex_key, is_oddly_spelled, is_random, parts};
use super::stand_in::{is_masked, is_stand_in};
use super::value::{Bar, Form, SHORTEST_HEX_KEY, is_secret};

/// What the bytes that a pattern matched must be besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// The format is enough, unless the value is blotted out.
    Format,
    /// Not words joined by dashes or underscores.
    Unspelled,
    /// Some part is random, hexadecimal or spells nothing.
    Drawn,
    /// Decodes to `user:password`.
    BasicPair,
    /// As if it stood beside a name with this bar.
    Named(Bar),
}

impl Proof {
    pub(super) fn holds_for(self, value: &[u8]) -> bool {
        match self {
            Self::Format => !is_masked(value),
            Self::Unspelled => !is_stand_in(value) && !is_spelled(value),
            Self::Drawn => !is_masked(value) && is_drawn(value),
            Self::BasicPair => is_basic_pair(value),
            Self::Named(bar) => is_secret(value, bar, Form::Quoted),
        }
    }
}

fn is_drawn(value: &[u8]) -> bool {
    let shows_it =
        |part: &[u8]| is_hex_key(part, SHORTEST_HEX_KEY) || is_oddly_spelled(&Makeup::of(part));
    is_random(value) || parts(value).any(shows_it)
}

/// Whether the value is words and small numbers, joined: `your-token-here`, `key_2`.
fn is_spelled(value: &[u8]) -> bool {
    const LONGEST_WORD: usize = 20;
    const LONGEST_NUMBER: usize = 4;
    parts(value).all(|part| {
        let makeup = Makeup::of(part);
        let capitals = part
            .iter()
            .skip(1)
            .filter(|byte| byte.is_ascii_uppercase())
            .count();
        let is_word = makeup.letters() == part.len()
            && part.len() <= LONGEST_WORD
            && (makeup.lower == 0 || capitals == 0)
            && !makeup.has_odd_spelling();
        is_word || (makeup.digits == part.len() && part.len() <= LONGEST_NUMBER)
    })
}

/// Whether the value is the base 64 of `user:password`.
fn is_basic_pair(value: &[u8]) -> bool {
    let mut bits = 0_u32;
    let mut held = 0;
    let mut has_colon = false;
    for &byte in value.iter().take_while(|byte| **byte != b'=') {
        let Some(six) = base64_digit(byte) else {
            return false;
        };
        bits = (bits << 6) | six;
        held += 6;
        if held >= 8 {
            held -= 8;
            let decoded = (bits >> held) as u8;
            has_colon |= decoded == b':';
            if decoded < b' ' || decoded == 0x7f {
                return false;
            }
        }
    }
    has_colon
}

fn base64_digit(byte: u8) -> Option<u32> {
    let digit = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(digit))
}

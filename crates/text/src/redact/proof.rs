//! Rejects strings that only resemble a format: masks, words in place of a key, code.
//!
//! Not here: values beside a name. `value` judges those.

use super::character_counts::CharacterCounts;
use super::encoded;
use super::placeholder::{is_documented, is_masked, is_placeholder};
use super::shape::ValueForm;
use super::shape::{is_hex_key, is_oddly_spelled, is_random, parts};
use super::value::{Bar, SHORTEST_HEX_KEY, is_secret};

/// A further condition on the bytes that a pattern matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// The format is enough, unless the value is masked.
    Format,
    /// Not words joined by dashes or underscores.
    Unspelled,
    /// Some part is random, hexadecimal or no spelled word.
    Drawn,
    /// Looks random, and is neither hexadecimal nor words: for short starts.
    Mixed,
    /// Decodes to `user:password`.
    BasicPair,
    /// The condition for values beside a name with this bar.
    Named(Bar),
}

impl Proof {
    pub(super) fn holds_for(self, value: &[u8]) -> bool {
        !is_documented(value) && self.holds_for_undocumented(value)
    }

    fn holds_for_undocumented(self, value: &[u8]) -> bool {
        match self {
            Self::Format => !is_masked(value),
            Self::Unspelled => !is_placeholder(value) && !is_spelled(value),
            Self::Drawn => !is_masked(value) && is_drawn(value),
            Self::Mixed => !is_placeholder(value) && (is_random(value) || has_long_mix(value)),
            Self::BasicPair => is_basic_pair(value),
            Self::Named(bar) => is_secret(value, bar, ValueForm::Quoted),
        }
    }
}

/// Whether an unbroken run has small letters, capitals, and digits or an odd spelling. Behind a start that fits, no
/// name has.
fn has_long_mix(value: &[u8]) -> bool {
    const LONG: usize = 16;
    parts(value).any(|part| {
        let counts = CharacterCounts::of(part);
        let has_both_cases = counts.lower > 0 && counts.upper > 0;
        let spells_little = counts.digits > 0 || counts.has_odd_spelling_in_any_case();
        part.len() >= LONG && has_both_cases && spells_little
    })
}

fn is_drawn(value: &[u8]) -> bool {
    let shows_it = |part: &[u8]| {
        is_hex_key(part, SHORTEST_HEX_KEY) || is_oddly_spelled(&CharacterCounts::of(part))
    };
    is_random(value) || has_long_mix(value) || parts(value).any(shows_it)
}

/// Whether the value is words and small numbers, joined: `your-token-here`, `key_2`.
fn is_spelled(value: &[u8]) -> bool {
    const LONGEST_WORD: usize = 20;
    const LONGEST_NUMBER: usize = 4;
    parts(value).all(|part| {
        let counts = CharacterCounts::of(part);
        let capitals = part
            .iter()
            .skip(1)
            .filter(|byte| byte.is_ascii_uppercase())
            .count();
        let is_word = counts.letters() == part.len()
            && part.len() <= LONGEST_WORD
            && (counts.lower == 0 || capitals == 0)
            && !counts.has_odd_spelling();
        is_word || (counts.digits == part.len() && part.len() <= LONGEST_NUMBER)
    })
}

/// Whether the value is the base 64 of `user:password`.
fn is_basic_pair(value: &[u8]) -> bool {
    let digits = value.len() - value.iter().rev().take_while(|byte| **byte == b'=').count();
    let is_whole = value.len().is_multiple_of(4) || (digits == value.len() && digits % 4 != 1);
    let Some(pair) = decode_base64(&value[..digits]).filter(|_| is_whole) else {
        return false;
    };
    let is_text = std::str::from_utf8(&pair).is_ok_and(|text| !text.contains(char::is_control));
    is_text && pair.contains(&b':')
}

/// The bytes that `digits`, without padding, stand for in base 64.
fn decode_base64(digits: &[u8]) -> Option<Vec<u8>> {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    digits
        .iter()
        .all(is_digit)
        .then(|| encoded::decode_base64(digits))
}

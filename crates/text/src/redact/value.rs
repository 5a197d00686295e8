//! Decides whether a value beside a telling name is a secret, or a word, code, a path, a placeholder.
//!
//! The stronger the evidence of a name, the lower the [`Bar`] for its value. A hash, a
//! UUID and an identifier pass only the bars that allow them. A wrong "no" leaves a secret
//! readable and a wrong "yes" removes a fact from memory, so the tests' tables have both kinds.
//!
//! Not here: finding the name and the value's ends. `assign` and `rules` do.

use super::character_counts::{CharacterCounts, entropy};
use super::placeholder::{is_placeholder, is_stand_in};
use super::reference::is_reference;
use super::shape::{
    ValueForm, contains, is_hex_key, is_identifier, is_oddly_spelled, is_one_of, is_random,
    is_uuid, parts, starts_with,
};

/// How secret-like a value must look, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bar {
    /// The value of a flag or command for passwords: even weak ones count.
    Typed,
    /// A password's name: people choose passwords, so no randomness is required.
    Password,
    /// A name such as `api_key`, under which hex strings and UUIDs are secrets too.
    Key,
    /// A name such as `access_token`: long hex strings are secrets, UUIDs are not.
    Token,
    /// A name such as `token`, which code uses for other things as well.
    Hint,
    /// No assignment at all, only a telling word before the value.
    Prose,
    /// A sentence that says what a key is: `the API key is …`.
    StatedKey,
    /// A sentence that says what a token is: `the token is …`.
    StatedToken,
    /// A sentence that says what a password is.
    StatedPassword,
    /// No assignment, but a word for a password before the value.
    ProsePassword,
}

/// Bytes below which a password is left alone, in quotation marks or a variable, and elsewhere.
const SHORTEST_PASSWORD: usize = 6;
const SHORTEST_BARE_PASSWORD: usize = 7;
/// Bytes below which a value behind a flag for passwords is left alone, and one in a sentence.
const SHORTEST_TYPED: usize = 3;
const SHORTEST_STATED: usize = 5;
/// Words with numbers that describe passwords.
const FORMATS: &str =
    "sha md aes base utf bcrypt argon pbkdf rsa ed http oauth v crc tls hs rs es latin x fido otp";
/// What amounts in a description of a password count.
const UNITS: [&str; 13] = [
    "char", "byte", "bit", "letter", "digit", "symbol", "word", "zeichen", "stellig", "th", "nd",
    "st", "ms",
];
/// Bytes below which a value that a person did not choose is never taken for a secret.
const SHORTEST_KEY: usize = 12;
/// Bytes below which a value after only a telling word is left alone.
const SHORTEST_PROSE: usize = 20;
/// Bytes from which a hexadecimal value counts under [`Bar::Token`]; commit ids are seldom under such names.
const SHORTEST_HEX_TOKEN: usize = 32;
/// Bytes from which a hexadecimal value counts under [`Bar::Key`].
pub(super) const SHORTEST_HEX_KEY: usize = 16;
/// Bits per byte. English in one case has about 3.0 at twelve letters, base 62 about 3.4.
const KEY_ENTROPY: f32 = 2.8;
const TOLD_ENTROPY: f32 = 3.5;

/// Whether `value`, found under a name of this bar, is to be hidden.
pub(super) fn is_secret(value: &[u8], bar: Bar, form: ValueForm) -> bool {
    if is_placeholder(value) || is_reference(value, form) {
        return false;
    }
    let counts = CharacterCounts::of(value);
    if counts.spaces > 0 && bar != Bar::Typed {
        return false;
    }
    match bar {
        Bar::Typed => is_typed_password(value, &counts),
        Bar::Password => is_password(value, &counts, form),
        Bar::Key => is_api_key(value, &counts),
        Bar::StatedKey => counts.digits > 0 && is_api_key(value, &counts),
        Bar::Token => {
            is_key(value, &counts, SHORTEST_HEX_TOKEN) || (!is_uuid(value) && is_mixed_key(&counts))
        }
        Bar::Hint => is_key(value, &counts, usize::MAX),
        Bar::Prose => is_prose_secret(value, &counts),
        Bar::StatedToken => counts.digits > 0 && is_key(value, &counts, usize::MAX),
        Bar::StatedPassword => is_stated_password(value, &counts),
        Bar::ProsePassword => {
            is_prose_secret(value, &counts)
                || is_strong_password(value, &counts)
                || (has_every_sort(&counts) && is_stated_password(value, &counts))
        }
    }
}

fn is_password(value: &[u8], counts: &CharacterCounts, form: ValueForm) -> bool {
    let shortest = if form == ValueForm::Bare {
        SHORTEST_BARE_PASSWORD
    } else {
        SHORTEST_PASSWORD
    };
    let letters = counts.letters() + counts.wide;
    if counts.len < shortest || letters == 0 {
        return false;
    }
    if has_all_kinds(counts) || has_odd_capitals(counts) || is_hex_key(value, SHORTEST_HEX_KEY) {
        return true;
    }
    let digits_inside =
        counts.digits > 0 && (counts.seams > 0 || counts.symbols > 0 || counts.wide > 0);
    let symbols_inside = counts.len >= 8 && form != ValueForm::Bare && has_symbol_inside(value);
    digits_inside || symbols_inside || is_oddly_spelled(counts)
}

/// Whether a person may have typed the value as a password: anything but a flag, an option, or a mapping of ports.
fn is_typed_password(value: &[u8], counts: &CharacterCounts) -> bool {
    let is_number = counts.letters() + counts.wide + counts.symbols == 0;
    counts.len >= SHORTEST_TYPED
        && value[0] != b'-'
        && counts.letters() + counts.digits + counts.wide > 0
        && !(is_number && (counts.joiners > 0 || counts.len < SHORTEST_PASSWORD))
        && !is_stand_in(value)
}

/// Whether the word after `the password is` is one: it has digits or symbols beside letters, and describes nothing.
fn is_stated_password(value: &[u8], counts: &CharacterCounts) -> bool {
    let letters = counts.letters() + counts.wide;
    let is_code = value.iter().any(|byte| b"()[]{}<>".contains(byte))
        || contains(value, b"::")
        || contains(value, b"&quot");
    let is_odd = counts.digits > 0 || has_symbol_inside(value) || has_odd_capitals(counts);
    counts.len >= SHORTEST_STATED && letters > 0 && is_odd && !is_code && !is_description(value)
}

/// Whether the value describes a password: `8-character`, `SHA256-hashed`, `v2.0`, `12chars`, `main.rs:42`.
fn is_description(value: &[u8]) -> bool {
    let word = value.trim_ascii_end();
    let word = word.strip_suffix(b"!").unwrap_or(word);
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let after_digits = word[digits..].strip_prefix(b"-").unwrap_or(&word[digits..]);
    let is_amount = digits > 0
        && UNITS
            .iter()
            .any(|unit| starts_with(after_digits, unit.as_bytes()));
    let names_format = parts(word).any(is_format_name);
    let is_name = |part: &[u8]| is_identifier(part) && part.iter().any(u8::is_ascii_alphabetic);
    let is_dotted = word.contains(&b'.') && word.split(|byte| *byte == b'.').all(is_name);
    let is_plain = parts(word).all(|part| {
        let kinds = [u8::is_ascii_digit, u8::is_ascii_alphabetic].map(|kind| part.iter().all(kind));
        kinds.contains(&true)
    });
    is_amount
        || names_format
        || starts_with(word, b"1password")
        || is_dotted
        || (is_plain && parts(word).count() > 1)
}

/// `SHA256`, `base64`, `argon2id`, `v2`: a short known word, a number, and little else.
fn is_format_name(part: &[u8]) -> bool {
    const LONGEST_NUMBER: usize = 5;
    let letters = part
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let (name, number) = part.split_at(letters);
    !number.is_empty() && number.len() <= LONGEST_NUMBER && is_one_of(name, FORMATS)
}

/// Whether letters, digits and symbols are all there.
fn has_every_sort(counts: &CharacterCounts) -> bool {
    counts.len >= 8 && counts.letters() > 0 && counts.digits > 0 && counts.symbols > 0
}

/// Whether the value looks like a password and nothing else: small letter, capital, digit, and a symbol inside.
fn is_strong_password(value: &[u8], counts: &CharacterCounts) -> bool {
    counts.len >= 8 && has_all_kinds(counts) && has_symbol_inside(value)
}

/// Whether small letters and capitals are mixed as in no word and no name.
fn has_odd_capitals(counts: &CharacterCounts) -> bool {
    const FEWEST_CAPITALS: usize = 3;
    counts.lower > 0 && counts.upper >= FEWEST_CAPITALS && counts.has_odd_spelling_in_any_case()
}

fn has_all_kinds(counts: &CharacterCounts) -> bool {
    counts.lower > 0 && counts.upper > 0 && counts.digits > 0 && counts.symbols > 0
}

fn has_symbol_inside(value: &[u8]) -> bool {
    let inside = value
        .get(1..value.len().saturating_sub(1))
        .unwrap_or_default();
    inside.iter().any(|byte| b"!@#$%^&*+=?~".contains(byte))
}

fn is_key(value: &[u8], counts: &CharacterCounts, shortest_hex: usize) -> bool {
    if is_uuid(value) {
        return false;
    }
    parts(value).any(|part| is_hex_key(part, shortest_hex))
        || is_oddly_spelled(counts)
        || (counts.len >= SHORTEST_KEY && is_random(value) && entropy(value) >= KEY_ENTROPY)
}

fn is_api_key(value: &[u8], counts: &CharacterCounts) -> bool {
    is_uuid(value) || is_key(value, counts, SHORTEST_HEX_KEY) || is_mixed_key(counts)
}

/// A long run of small letters, capitals and digits, shorter pieces than names have, that [`is_random`] is unsure of.
fn is_mixed_key(counts: &CharacterCounts) -> bool {
    let is_mixed = counts.lower > 0 && counts.upper > 0 && counts.digits > 0;
    let has_short_pieces = is_mixed && counts.pieces * 7 >= counts.len * 2;
    counts.longest_run >= SHORTEST_PROSE && (has_short_pieces || has_odd_capitals(counts))
}

fn is_prose_secret(value: &[u8], counts: &CharacterCounts) -> bool {
    counts.len >= SHORTEST_PROSE
        && counts.lower > 0
        && counts.upper > 0
        && counts.digits > 0
        && counts.longest_run >= SHORTEST_PROSE / 2
        && !is_uuid(value)
        && is_random(value)
        && entropy(value) >= TOLD_ENTROPY
}

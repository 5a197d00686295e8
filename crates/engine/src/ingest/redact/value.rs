//! Whether what stands beside a telling name is a secret, or a word, code, a path, a stand-in.
//!
//! The more a name promises, the less its value has to prove: [`Bar`] says how much. A hash, a
//! UUID and an identifier pass no bar but the ones that say so. A wrong "no" leaves a secret in
//! the open and a wrong "yes" takes a fact from memory, so both kinds stand in the tests' tables.
//!
//! Not here: finding the name and the value's ends. `assign` and `rules` do.

use super::makeup::{Makeup, entropy};
use super::reference::is_reference;
use super::shape::{is_hex_key, is_oddly_spelled, is_random, is_uuid, parts};
use super::stand_in::is_stand_in;

/// How much a value must prove, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bar {
    /// A password's name: people choose these, so no randomness is asked for.
    Password,
    /// A name such as `api_key`, under which hex strings and UUIDs are secrets too.
    Key,
    /// A name such as `access_token`: long hex strings are secrets, UUIDs are not.
    Token,
    /// A name such as `token`, which code uses for other things as well.
    Hint,
    /// No assignment at all, only a telling word before the value.
    Told,
    /// No assignment, but a word for a password before the value.
    ToldPassword,
}

/// How the value is written, which decides what may be code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Quoted,
    /// `NAME=value`, as in a shell or an environment file.
    Env,
    /// Unquoted in any other place: may be an expression.
    Bare,
}

/// Bytes below which a password is left alone, in quotation marks or a variable, and elsewhere.
const SHORTEST_PASSWORD: usize = 6;
const SHORTEST_BARE_PASSWORD: usize = 7;
/// Bytes below which nothing that a person did not choose is taken for a secret.
const SHORTEST_KEY: usize = 12;
/// Bytes below which a value that only a telling word announces is left alone.
const SHORTEST_TOLD: usize = 20;
/// Bytes from which a hexadecimal value counts under [`Bar::Token`]; commit ids are seldom there.
const SHORTEST_HEX_TOKEN: usize = 32;
/// Bytes from which a hexadecimal value counts under [`Bar::Key`].
pub(super) const SHORTEST_HEX_KEY: usize = 16;
/// Bits per byte. English in one case has about 3.0 at twelve letters, base 62 about 3.4.
const KEY_ENTROPY: f32 = 2.8;
const TOLD_ENTROPY: f32 = 3.5;

/// Whether `value`, found under a name of this bar, is to be hidden.
pub(super) fn is_secret(value: &[u8], bar: Bar, form: Form) -> bool {
    if is_stand_in(value) || is_reference(value, form) {
        return false;
    }
    let makeup = Makeup::of(value);
    if makeup.spaces > 0 {
        return false;
    }
    match bar {
        Bar::Password => is_password(value, &makeup, form),
        Bar::Key if is_uuid(value) => true,
        Bar::Key => is_key(value, &makeup, SHORTEST_HEX_KEY),
        Bar::Token => is_key(value, &makeup, SHORTEST_HEX_TOKEN),
        Bar::Hint => is_key(value, &makeup, usize::MAX),
        Bar::Told => is_told(value, &makeup),
        Bar::ToldPassword => is_told(value, &makeup) || is_strong_password(value, &makeup),
    }
}

fn is_password(value: &[u8], makeup: &Makeup, form: Form) -> bool {
    let shortest = if form == Form::Bare {
        SHORTEST_BARE_PASSWORD
    } else {
        SHORTEST_PASSWORD
    };
    let letters = makeup.letters() + makeup.wide;
    if makeup.len < shortest || letters == 0 {
        return false;
    }
    if has_all_kinds(makeup) || is_hex_key(value, SHORTEST_HEX_KEY) {
        return true;
    }
    let digits_inside =
        makeup.digits > 0 && (makeup.seams > 0 || makeup.symbols > 0 || makeup.wide > 0);
    let symbols_inside = makeup.len >= 8 && form != Form::Bare && has_symbol_inside(value);
    digits_inside || symbols_inside || is_oddly_spelled(makeup)
}

/// What nobody writes but as a password: small, capital, digit, and a symbol in the middle.
fn is_strong_password(value: &[u8], makeup: &Makeup) -> bool {
    makeup.len >= 8 && has_all_kinds(makeup) && has_symbol_inside(value)
}

fn has_all_kinds(makeup: &Makeup) -> bool {
    makeup.lower > 0 && makeup.upper > 0 && makeup.digits > 0 && makeup.symbols > 0
}

fn has_symbol_inside(value: &[u8]) -> bool {
    let inside = value
        .get(1..value.len().saturating_sub(1))
        .unwrap_or_default();
    inside.iter().any(|byte| b"!@#$%^&*+=?~".contains(byte))
}

fn is_key(value: &[u8], makeup: &Makeup, shortest_hex: usize) -> bool {
    if is_uuid(value) {
        return false;
    }
    parts(value).any(|part| is_hex_key(part, shortest_hex))
        || is_oddly_spelled(makeup)
        || (makeup.len >= SHORTEST_KEY && is_random(value) && entropy(value) >= KEY_ENTROPY)
}

fn is_told(value: &[u8], makeup: &Makeup) -> bool {
    makeup.len >= SHORTEST_TOLD
        && makeup.lower > 0
        && makeup.upper > 0
        && makeup.digits > 0
        && makeup.longest_run >= SHORTEST_TOLD / 2
        && !is_uuid(value)
        && is_random(value)
        && entropy(value) >= TOLD_ENTROPY
}

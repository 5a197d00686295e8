//! Passwords inside addresses: `scheme://user:password@host`.
//!
//! Scheme, user and host stay readable, because they tell what was connected to. A user name
//! alone is hidden only if it looks drawn at random, as access tokens in that place do.

use std::ops::Range;

use super::span::{Rank, Span};
use super::stand_in::is_stand_in;
use super::value::{Bar, Form, is_secret};

/// What opens the authority of an address, plain and as JSON may write it.
pub(super) const KEYWORDS: [&str; 2] = ["://", ":\\/\\/"];

/// Bytes of user and password.
const MAX_USER_INFO: usize = 512;
/// Shorter passwords are left alone.
const SHORTEST: usize = 3;

/// The secret in the user part of the address whose `://` is at `hit`.
pub(super) fn find(text: &[u8], hit: Range<usize>) -> Option<Span> {
    let has_scheme = hit.start > 0 && text[hit.start - 1].is_ascii_alphanumeric();
    let rest = &text[hit.end..];
    let authority = rest
        .iter()
        .take(MAX_USER_INFO)
        .take_while(|byte| !ends_authority(**byte));
    let authority = &rest[..authority.count()];
    let at = authority
        .iter()
        .rposition(|byte| *byte == b'@')
        .filter(|_| has_scheme)?;
    let user_info = &authority[..at];
    let secret = match user_info.iter().position(|byte| *byte == b':') {
        Some(colon) if is_password(&user_info[colon + 1..]) => colon + 1..at,
        Some(0) => return None,
        Some(colon) if is_lone_token(&user_info[..colon]) => 0..colon,
        None if is_lone_token(user_info) => 0..at,
        Some(_) | None => return None,
    };
    Some(Span {
        range: hit.end + secret.start..hit.end + secret.end,
        rule: "url-password",
        rank: Rank::Shared,
        row: usize::MAX,
    })
}

fn is_password(value: &[u8]) -> bool {
    let is_code = |byte: &u8| matches!(byte, b'[' | b']' | b'{' | b'}' | b'(' | b')');
    value.len() >= SHORTEST
        && !value.iter().any(is_code)
        && !value.starts_with(b"%s")
        && !is_stand_in(value)
}

fn is_lone_token(user: &[u8]) -> bool {
    is_secret(user, Bar::Told, Form::Quoted)
}

fn ends_authority(byte: u8) -> bool {
    matches!(
        byte,
        0..=b' ' | b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'?' | b'#' | b'|' | 0x7f
    )
}

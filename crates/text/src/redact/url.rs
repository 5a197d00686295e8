//! Passwords inside addresses: `scheme://user:password@host`.
//!
//! Scheme, user and host stay readable, because they show what was connected to. A user name
//! alone is hidden only if it looks drawn at random, as access tokens in that place do.

use std::ops::Range;

use super::finding::FindingReason;
use super::placeholder::is_placeholder;
use super::shape::ValueForm;
use super::span::{RuleRank, Span};
use super::value::{Bar, is_secret};

/// The text before the authority of an address, plain and as JSON may escape it.
pub(super) const KEYWORDS: [&str; 2] = ["://", ":\\/\\/"];

/// Bytes of user and password.
const MAX_USER_INFO: usize = 512;
/// Shorter passwords are left alone.
const SHORTEST: usize = 3;

/// The secret in the user part of the address whose `://` is at `hit`.
pub(super) fn find(text: &[u8], hit: Range<usize>) -> Option<Span> {
    let has_scheme = hit.start > 0 && text[hit.start - 1].is_ascii_alphanumeric();
    let rest = &text[hit.end..text.len().min(hit.end + MAX_USER_INFO)];
    let authority = rest.iter().take_while(|byte| !ends_authority(**byte));
    let authority = &rest[..authority.count()];
    let at = authority.iter().rposition(|byte| *byte == b'@');
    let at = at
        .or_else(|| end_of_odd_password(rest, authority.len()))
        .filter(|_| has_scheme)?;
    let user_info = &rest[..at];
    let secret = match user_info.iter().position(|byte| *byte == b':') {
        Some(colon) if is_password(&user_info[colon + 1..]) => colon + 1..at,
        Some(0) => return None,
        Some(colon) if is_lone_token(&user_info[..colon]) => 0..colon,
        None if is_lone_token(user_info) => 0..at,
        Some(_) | None => return None,
    };
    let range = hit.end + secret.start..hit.end + secret.end;
    let reason = FindingReason::Address;
    Some(Span::new(range, "url-password", RuleRank::Shared, reason))
}

/// Where a password ends that has a `/`, `#` or `?` in it, which should have been escaped. `end` is where the
/// authority ends according to the rules. A host with a port is no user, and what follows the `@` must be a host.
fn end_of_odd_password(rest: &[u8], end: usize) -> Option<usize> {
    let user_end = rest[..end].iter().position(|byte| *byte == b':')?;
    let opening = &rest[user_end + 1..end];
    let is_port = opening.iter().all(u8::is_ascii_digit) || opening.starts_with(b"$");
    let stops = |byte: u8| ends_authority(byte) && !matches!(byte, b'/' | b'#' | b'?');
    let len = rest.iter().take_while(|byte| !stops(**byte)).count();
    let at = rest[..len]
        .iter()
        .rposition(|byte| *byte == b'@')
        .filter(|at| *at > end)?;
    let is_host_byte =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let host = &rest[at + 1..len];
    let host_len = host.iter().take_while(|byte| is_host_byte(byte)).count();
    let port_or_path = matches!(host.get(host_len), None | Some(b'/' | b':' | b'?'));
    let password = &rest[user_end + 1..at];
    let is_chosen = password.iter().any(u8::is_ascii_digit)
        || password.iter().any(|byte| b"#?!$%&*+".contains(byte));
    let is_digest = host.starts_with(b"sha256") || host.starts_with(b"sha512");
    (host_len > 0 && port_or_path && !is_port && is_chosen && !is_digest).then_some(at)
}

fn is_password(value: &[u8]) -> bool {
    let is_code = |byte: &u8| matches!(byte, b'[' | b']' | b'{' | b'}' | b'(' | b')');
    value.len() >= SHORTEST
        && !value.iter().any(is_code)
        && !value.starts_with(b"%s")
        && !is_placeholder(value)
}

fn is_lone_token(user: &[u8]) -> bool {
    is_secret(user, Bar::Prose, ValueForm::Quoted)
}

fn ends_authority(byte: u8) -> bool {
    matches!(
        byte,
        0..=b' ' | b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'?' | b'#' | b'|' | 0x7f
    )
}

//! Formats of no single issuer: headers, command lines, tokens that many services sign.

use super::{Rule, rule};
use crate::redact::proof::Proof;
use crate::redact::value::Bar;

pub(super) const RULES: &[Rule] = &[
    rule(
        "jwt",
        &["eyJ"],
        r"eyJ[A-Za-z0-9_-]{8,}(?:\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?|(?:\.[A-Za-z0-9_-]*){4}|\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]{16,})",
    )
    .reach(16 * 1024)
    .shared(),
    rule(
        "authorization",
        &["authorization", "proxy-authorization"],
        r#"(?:proxy-)?authorization\\*["'`]?\]?[ \t]{0,4}[:=,][ \t]{0,4}[bf]?\\*["'`]?(?:bearer|token|bot|apikey|api-key|ssws|geniekey)(?:[ \t]{1,4}|%20)([^\s"'`\\,;<>]{8,})"#,
    )
    .any_case()
    .reach(4096)
    .proof(Proof::Named(Bar::Password))
    .shared(),
    rule(
        "authorization",
        &["authorization", "proxy-authorization"],
        r#"(?:proxy-)?authorization\\*["'`]?\]?[ \t]{0,4}[:=,][ \t]{0,4}[bf]?\\*["'`]?([^\s"'`\\,;<>]{16,})"#,
    )
    .any_case()
    .reach(4096)
    .proof(Proof::Named(Bar::Hint))
    .shared(),
    rule("bearer-token", &["bearer"], r"bearer(?:[ \t]{1,4}|%20|\+)([a-z0-9._~+/=-]{12,})")
        .any_case()
        .reach(4096)
        .proof(Proof::Drawn)
        .shared(),
    rule("basic-auth", &["basic "], r"basic[ \t]{1,4}([a-z0-9+/]{8,}={0,2})")
        .any_case()
        .proof(Proof::BasicPair)
        .shared(),
    rule(
        "cookie",
        &["cookie", "set-cookie"],
        r#"(?:set-)?cookie\\*["']?[ \t]{0,4}:[ \t]{0,4}\\*["']?([a-z0-9_.%-]{1,64}=[^"'\\\r\n]{8,})"#,
    )
    .any_case()
    .reach(8192)
    .proof(Proof::Drawn)
    .shared(),
];

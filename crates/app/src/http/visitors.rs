//! People in the window: each has shown the token once, or was sent by `daybook open`.
//!
//! The cookie of a login holds no token. It is signed with a key made from the token, so a login ends when the token is
//! replaced, and outlives a restart of the server.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use axum::http::HeaderMap;
use axum::http::header::{COOKIE, HOST, ORIGIN};
use daybook_domain::Tenant;
use daybook_domain::time::Clock;

use super::token::{TenantToken, find_token, is_same};
use crate::process::random_bytes;
use crate::window::entry::{EntryCode, UsedCodes, keyed};
use crate::window::frame::FormProof;
use crate::window::links::ROOT;

/// The cookie's name.
const COOKIE_NAME: &str = "daybook-window";
/// How long a login lasts.
const LOGIN: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// What keys are made for.
const LOGIN_KEY: &str = "daybook window login";
const PROOF_KEY: &str = "daybook window form";
/// Pages that need no login: they hold nothing of the memory.
const OPEN: [&str; 4] = ["login", "enter", "style.css", "live.js"];
/// The cookie that ends a login.
pub(super) const LOGGED_OUT: &str =
    "daybook-window=; Path=/window; HttpOnly; SameSite=Strict; Max-Age=0";

/// A person who is logged in.
#[derive(Clone)]
pub(super) struct Visitor {
    /// Whose memory they see.
    pub(super) tenant: Tenant,
    /// What their forms hold.
    pub(super) proof: FormProof,
}

impl Visitor {
    /// Whether a form holds the proof.
    pub(super) fn sent(&self, proof: &str) -> bool {
        is_same(proof, &self.proof.0)
    }
}

/// Knows who may see the window.
pub(super) struct Visitors {
    tokens: Arc<Vec<TenantToken>>,
    used: UsedCodes,
    clock: Arc<dyn Clock>,
}

impl Visitors {
    pub(super) fn new(tokens: &Arc<Vec<TenantToken>>, clock: &Arc<dyn Clock>) -> Self {
        Self {
            tokens: Arc::clone(tokens),
            used: UsedCodes::default(),
            clock: Arc::clone(clock),
        }
    }

    /// The person whose login a request carries.
    pub(super) fn logged_in(&self, headers: &HeaderMap) -> Option<Visitor> {
        let cookies = headers.get_all(COOKIE).iter();
        let cookies = cookies.filter_map(|value| value.to_str().ok());
        let mut cookies = cookies.flat_map(|line| line.split(';'));
        let cookie =
            cookies.find_map(|one| one.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('='))?;
        let (signed, mac) = cookie.rsplit_once('.')?;
        let (until, _) = signed.split_once('.')?;
        if until.parse::<i64>().ok()? < self.clock.now().0 {
            return None;
        }
        let is_signed =
            |token: &TenantToken| is_same(mac, &keyed(LOGIN_KEY, &token.secret, signed));
        let token = find_token(&self.tokens, is_signed)?;
        Some(Visitor {
            tenant: token.tenant.clone(),
            proof: FormProof(keyed(PROOF_KEY, &token.secret, cookie)),
        })
    }

    /// The cookie for a person who shows a token; `None` for a wrong one.
    pub(super) fn let_in(&self, shown: &str) -> Result<Option<String>> {
        let token = find_token(&self.tokens, |token| is_same(shown.trim(), &token.secret));
        token.map(|token| self.cookie(token)).transpose()
    }

    /// The cookie for whom `daybook open` has sent; `None` for a code that is too old, was used, or is none.
    pub(super) fn let_in_by_code(&self, code: &str) -> Result<Option<String>> {
        let now = self.clock.now();
        let token = find_token(&self.tokens, |token| {
            EntryCode::read(code, &token.secret, now).is_some_and(|code| self.used.take(&code, now))
        });
        token.map(|token| self.cookie(token)).transpose()
    }

    fn cookie(&self, token: &TenantToken) -> Result<String> {
        let until = self.clock.now().0.saturating_add(LOGIN.as_millis() as i64);
        let nonce = blake3::hash(&random_bytes::<16>()?).to_hex();
        let signed = format!("{until}.{nonce}");
        let mac = keyed(LOGIN_KEY, &token.secret, &signed);
        let seconds = LOGIN.as_secs();
        Ok(format!(
            "{COOKIE_NAME}={signed}.{mac}; Path={ROOT}; HttpOnly; SameSite=Strict; Max-Age={seconds}"
        ))
    }
}

/// Whether a page of the window needs a login.
pub(super) fn needs_login(path: &str) -> bool {
    let below = path.strip_prefix(ROOT).unwrap_or_default();
    path != "/" && !OPEN.contains(&below.trim_start_matches('/'))
}

/// Whether a path is one of the window, for which a login is needed in place of a token.
pub(super) fn is_of_window(path: &str) -> bool {
    let below = path.strip_prefix(ROOT);
    path == "/" || below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

/// Whether a request that changes something was made by a page of this server.
pub(super) fn is_from_here(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(origin) = text(ORIGIN.as_str()) {
        let host = origin.split_once("://").map(|(_, host)| host);
        return host.is_some() && host == text(HOST.as_str());
    }
    matches!(text("sec-fetch-site"), None | Some("same-origin"))
}

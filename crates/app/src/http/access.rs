//! Whom a token lets in: the tenant whose memory it opens, and what it allows there.
//!
//! The token of the data folder, those of `tokens/` and that of the environment allow everything. Those that a person
//! made by `daybook token add` allow what they were made for; their file is looked at for each request, so that a new or
//! a revoked one counts at once.
//!
//! Not here: which hosts and pages may ask (`gate`), logins of people (`visitors`).

use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{Method, StatusCode};
use daybook_domain::time::Clock;
use daybook_domain::{Tenant, Timestamp};

use super::fault::HttpFault;
use super::token::{TenantToken, find_token, is_same};
use crate::folders::access_tokens::{
    AccessToken, AccessTokens, FileVersion, Right, Rights, TokenState, hash_of,
};
use crate::terminal::output::rfc3339;

/// Routes of POST that change nothing.
const READING: [&str; 7] = [
    "/v1/recall",
    "/search",
    "/v3/memories/search",
    "/v2/memories/search",
    "/v1/memories/search",
    "/v3/memories",
    "/v2/memories",
];
/// The route of MCP. Whether a tool changes something is checked at its call.
const MCP: &str = "/mcp";
/// The route that removes something for good.
const PURGE: &str = "/v1/purge";

/// A caller with a valid token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) tenant: Tenant,
    pub(super) rights: Rights,
    /// The token's name, for refusals.
    name: String,
}

/// Knows the tokens.
pub(super) struct AccessTable {
    /// Those that allow everything to their tenant.
    whole: Arc<Vec<TenantToken>>,
    made: AccessTokens,
    read: Mutex<(Option<FileVersion>, Arc<Vec<AccessToken>>)>,
    clock: Arc<dyn Clock>,
}

impl AccessTable {
    pub(super) fn new(
        whole: &Arc<Vec<TenantToken>>,
        made: AccessTokens,
        clock: &Arc<dyn Clock>,
    ) -> Self {
        Self {
            whole: Arc::clone(whole),
            made,
            read: Mutex::default(),
            clock: Arc::clone(clock),
        }
    }

    /// Whom a token lets in.
    pub(super) fn find(&self, given: &str) -> Result<Access, HttpFault> {
        let given = given.trim();
        if let Some(token) = find_token(&self.whole, |token| is_same(given, &token.secret)) {
            return Ok(Access {
                tenant: token.tenant.clone(),
                rights: Rights::all(),
                name: token.file.display().to_string(),
            });
        }
        let hash = hash_of(given);
        let made = self.made()?;
        let fitting = made.iter().find(|token| is_same(&hash, token.hash()));
        let Some(token) = fitting else {
            return Err(HttpFault::unauthorized("the token is not this server's"));
        };
        match token.state(self.clock.now()) {
            TokenState::Valid => Ok(Access {
                tenant: token.tenant(),
                rights: token.rights.clone(),
                name: token.name.clone(),
            }),
            TokenState::Expired => {
                let at = token.ends_at.map(Timestamp).and_then(rfc3339);
                Err(ended(&token.name, "expired", at))
            }
            TokenState::Revoked => {
                let at = token.revoked_at.map(Timestamp).and_then(rfc3339);
                Err(ended(&token.name, "was revoked", at))
            }
        }
    }

    /// The tokens that were made, read again where their file has changed.
    fn made(&self) -> Result<Arc<Vec<AccessToken>>, HttpFault> {
        let version = self.made.version();
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.0 != version || version.is_none() {
            let tokens = match version {
                Some(_) => self.made.read()?,
                None => Vec::new(),
            };
            *read = (version, Arc::new(tokens));
        }
        Ok(Arc::clone(&read.1))
    }
}

fn ended(name: &str, how: &str, at: Option<String>) -> HttpFault {
    let at = at.map_or_else(String::new, |at| format!(" at {at}"));
    let message = format!(
        "the token \"{name}\" {how}{at}; `daybook token add` makes a new one on the machine of this server"
    );
    HttpFault::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
}

impl Access {
    /// Checks that the token allows a request.
    pub(super) fn check(&self, method: &Method, path: &str) -> Result<(), HttpFault> {
        let needed = needed_right(method, path);
        if self.rights.has(needed) {
            return Ok(());
        }
        let (has, needs) = (self.rights.listed(), needed.as_str());
        let message = format!(
            "the token \"{}\" allows {has}, and this needs {needs}; `daybook token add --right {needs}` makes one that \
             does",
            self.name
        );
        Err(HttpFault::new(
            StatusCode::FORBIDDEN,
            "token_too_narrow",
            message,
        ))
    }
}

/// The right that a request needs. What is not known to read needs more, so that a new route is never open by mistake.
fn needed_right(method: &Method, path: &str) -> Right {
    let path = path.trim_end_matches('/');
    let is_context = path.starts_with("/v1/threads/") && path.ends_with("/context");
    match *method {
        _ if path == PURGE => Right::Purge,
        Method::GET | Method::HEAD => Right::Read,
        Method::POST if READING.contains(&path) || is_context => Right::Read,
        _ if path == MCP => Right::Read,
        _ => Right::Write,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(method: Method, path: &str, expected: Right) {
        assert_eq!(needed_right(&method, path), expected, "{method} {path}");
    }

    #[test]
    fn what_only_reads_needs_the_right_to_read_and_all_else_more() {
        check(Method::GET, "/v1/memories", Right::Read);
        check(Method::POST, "/v1/recall", Right::Read);
        check(Method::POST, "/v3/memories/", Right::Read);
        check(Method::POST, "/v3/memories/search/", Right::Read);
        check(Method::POST, "/v1/threads/a:b/context", Right::Read);
        check(Method::POST, "/mcp", Right::Read);
        check(Method::DELETE, "/mcp", Right::Read);
        check(Method::POST, "/v1/memories/", Right::Write);
        check(Method::POST, "/v1/memories", Right::Write);
        check(Method::POST, "/memories", Right::Write);
        check(Method::POST, "/v3/memories/add/", Right::Write);
        check(Method::DELETE, "/v1/memories/0123", Right::Write);
        check(Method::PUT, "/v1/files/MEMORY.md", Right::Write);
        check(Method::POST, "/v1/a-route-of-tomorrow", Right::Write);
        check(Method::POST, "/v1/purge", Right::Purge);
        check(Method::POST, "/v1/purge/", Right::Purge);
    }
}

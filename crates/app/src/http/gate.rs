//! Checks each request's host, token, the token's rights and the declared size before it reaches a route.
//!
//! A page in a browser can send requests to this machine under a domain name that resolves to it (DNS rebinding),
//! so the `Host` of a request must be one of this machine's own names. A page of another site names that site as the
//! `Origin` of its requests, and is refused.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::BODY;
use super::access::{Access, AccessTable};
use super::fault::HttpFault;
use super::page_answer::{refused, see};
use super::serving::RequestOrigin;
use super::token::TenantToken;
use super::visitors::{Visitor, Visitors, is_from_here, is_of_window, needs_login};
use crate::folders::access_tokens::AccessTokens;
use crate::window::links;
use crate::wiring::Daybook;

/// Routes that need no token: their answers hold nothing of the memory.
const OPEN: [&str; 3] = ["/health", "/openapi.json", "/docs"];

/// The tokens and the rule for hosts that requests are checked against.
pub(super) struct RequestGate {
    /// Whom a token lets in.
    pub(super) access: AccessTable,
    /// Requests may name any host.
    pub(super) any_host: bool,
    /// Who may see the window.
    pub(super) visitors: Arc<Visitors>,
}

/// How a page of the window is asked for.
enum PageVisit {
    /// By a person who is logged in.
    LoggedIn(Visitor),
    /// It holds nothing of the memory, so no login is needed.
    Open,
    /// By a person who has to log in first.
    LoginNeeded,
}

/// Forwards a request with the tenant of its token, or answers with the reason for its refusal.
pub(super) async fn authorize(
    State(gate): State<Arc<RequestGate>>,
    mut request: Request<Body>,
    next: Next,
) -> Response {
    if is_of_window(request.uri().path()) {
        return match gate.check_page(&request) {
            Ok(PageVisit::LoggedIn(visitor)) => {
                request.extensions_mut().insert(visitor.tenant.clone());
                request.extensions_mut().insert(visitor);
                next.run(request).await
            }
            Ok(PageVisit::Open) => next.run(request).await,
            Ok(PageVisit::LoginNeeded) => see(&links::page("login", &[])),
            Err(fault) => refused(&fault),
        };
    }
    let checked = gate.check(&request);
    match checked.and_then(|access| gate.mark_authenticated(&request).map(|()| access)) {
        Ok(access) => {
            if let Some(access) = access {
                request.extensions_mut().insert(access.tenant);
                request.extensions_mut().insert(access.rights);
            }
            next.run(request).await
        }
        Err(fault) => fault.into_response(),
    }
}

impl RequestGate {
    /// The gate of a server of this data folder, whose `tokens` allow everything to their tenants.
    pub(super) fn of(daybook: &Daybook, tokens: Vec<TenantToken>, any_host: bool) -> Self {
        let tokens = Arc::new(tokens);
        let made = AccessTokens::of(&daybook.root);
        Self {
            access: AccessTable::new(&tokens, made, &daybook.clock),
            visitors: Arc::new(Visitors::new(&tokens, &daybook.clock)),
            any_host,
        }
    }

    /// How a page of the window is asked for.
    fn check_page(&self, request: &Request<Body>) -> Result<PageVisit, HttpFault> {
        if !self.any_host {
            own_host(request)?;
        }
        if request.body().size_hint().lower() > BODY as u64 {
            return Err(HttpFault::too_large());
        }
        if request.method() != Method::GET && !is_from_here(request.headers()) {
            let message = "a page of another site has sent this; nothing was changed";
            return Err(HttpFault::new(
                StatusCode::FORBIDDEN,
                "foreign_page",
                message,
            ));
        }
        if !needs_login(request.uri().path()) {
            return Ok(PageVisit::Open);
        }
        let Some(visitor) = self.visitors.logged_in(request.headers()) else {
            return Ok(PageVisit::LoginNeeded);
        };
        if let Some(origin) = request.extensions().get::<RequestOrigin>() {
            origin.prove()?;
        }
        Ok(PageVisit::LoggedIn(visitor))
    }

    /// What the request may reach; none for a route that needs no token.
    fn check(&self, request: &Request<Body>) -> Result<Option<Access>, HttpFault> {
        if !self.any_host {
            own_host(request)?;
        }
        self.own_origin(request)?;
        let path = request.uri().path();
        let access = match OPEN.contains(&path) {
            true => None,
            false => Some(self.access(request)?),
        };
        if let Some(access) = &access {
            access.check(request.method(), path)?;
        }
        if request.body().size_hint().lower() > BODY as u64 {
            return Err(HttpFault::too_large());
        }
        Ok(access)
    }

    /// Refuses a request of a page of another site: a browser names the site, and other clients name none.
    fn own_origin(&self, request: &Request<Body>) -> Result<(), HttpFault> {
        let Some(origin) = request.headers().get(ORIGIN) else {
            return Ok(());
        };
        let origin = origin.to_str().unwrap_or_default();
        let site = origin.split_once("://").map(|(_, site)| site);
        let is_own = site.is_some_and(|site| match self.any_host {
            true => site.eq_ignore_ascii_case(named_host(request)),
            false => is_loopback(site),
        });
        match is_own {
            true => Ok(()),
            false => Err(HttpFault::new(
                StatusCode::FORBIDDEN,
                "wrong_origin",
                format!(
                    "the request comes from a page of \"{origin}\", and pages of other sites may not reach this server"
                ),
            )),
        }
    }

    /// Marks the connection of a request with a valid token: it keeps its place from now on, on any route.
    fn mark_authenticated(&self, request: &Request<Body>) -> Result<(), HttpFault> {
        match (
            self.access(request),
            request.extensions().get::<RequestOrigin>(),
        ) {
            (Ok(_), Some(origin)) => origin.prove(),
            (Ok(_), None) | (Err(_), _) => Ok(()),
        }
    }

    /// Whom the request's token lets in.
    fn access(&self, request: &Request<Body>) -> Result<Access, HttpFault> {
        match given_token(request) {
            Some(given) => self.access.find(given),
            None => Err(HttpFault::unauthorized("a token is needed")),
        }
    }
}

/// The token of a request, as clients of this server and those of mem0 send it.
fn given_token(request: &Request<Body>) -> Option<&str> {
    let header = |name: &str| request.headers().get(name)?.to_str().ok();
    let scheme_and_token = header(AUTHORIZATION.as_str()).and_then(|value| value.split_once(' '));
    let is_known = |scheme: &str| {
        ["bearer", "token"]
            .iter()
            .any(|it| scheme.eq_ignore_ascii_case(it))
    };
    match scheme_and_token {
        Some((scheme, token)) => is_known(scheme).then_some(token),
        None => header("x-api-key"),
    }
}

/// The host that a request names.
fn named_host(request: &Request<Body>) -> &str {
    let host = request.headers().get(HOST);
    let named = host.and_then(|host| host.to_str().ok());
    named.or(request.uri().host()).unwrap_or_default()
}

fn own_host(request: &Request<Body>) -> Result<(), HttpFault> {
    let named = named_host(request);
    if is_loopback(named) {
        return Ok(());
    }
    Err(HttpFault::new(
        StatusCode::FORBIDDEN,
        "wrong_host",
        format!(
            "the request asks for the host \"{named}\", and this server answers as 127.0.0.1, \
             [::1] and localhost alone; --behind-proxy allows other names"
        ),
    ))
}

/// Whether `host`, with or without a port, is a name of this machine for itself.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    };
    let bare = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
        .unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_for_itself_are_its_own() {
        for own in [
            "localhost",
            "LOCALHOST:8765",
            "127.0.0.1:8765",
            "127.0.0.2",
            "[::1]:80",
        ] {
            assert!(is_loopback(own), "{own}");
        }
        for other in [
            "",
            "evil.example:8765",
            "localhost.evil.example",
            "10.0.0.1",
            "[::2]:1",
        ] {
            assert!(!is_loopback(other), "{other}");
        }
    }
}

//! The MCP server over streamable HTTP, for one tenant of a server of HTTP.
//!
//! - A session belongs to a tenant: its id opens nothing for another one's token.
//! - Sessions are bounded in number. The one that was unused longest makes room for a new one, and each ends after an hour
//!   without a request.
//! - A message is checked as a line of the standard streams is, and refused in the same words.
//!
//! Not here: tokens, hosts, sizes and ids of requests (`http`), the requests of the protocol (`server`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use daybook_engine::stop::Stop;
use futures_util::StreamExt;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Semaphore;

use super::MESSAGE;
use super::envelope::{self, ReceivedLine};
use super::memory::LazyMemory;
use super::server::MemoryServer;
use super::tools::{RequestedSets, ToolSet};
use crate::wiring::Daybook;

/// Calls of all tenants that are worked on at once; others wait. Each takes a thread.
pub(crate) const SERVED_CALLS: usize = 8;
/// Most open sessions of a tenant. Each takes some 10 KiB.
const SESSIONS: usize = 128;
/// How long a session stays open without a request. An agent may wait that long for its person.
const IDLE: Duration = Duration::from_secs(60 * 60);
/// The header of a session's id.
const SESSION: &str = "mcp-session-id";

/// The MCP server of one tenant.
pub(crate) struct McpEndpoint {
    service: StreamableHttpService<MemoryServer, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    uses: Mutex<SessionUses>,
    stop: Stop,
}

impl McpEndpoint {
    /// The endpoint of the memory `daybook`. Its streams end once `stop` is requested.
    pub(crate) fn new(daybook: &Arc<Daybook>, calls: &Arc<Semaphore>, stop: &Stop) -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(IDLE);
        let sessions = Arc::new(sessions);
        let memory = Arc::new(LazyMemory::served(Arc::clone(daybook)));
        let calls = Arc::clone(calls);
        let server = move || {
            Ok(MemoryServer::new(
                Arc::clone(&memory),
                &[],
                Arc::clone(&calls),
            ))
        };
        // The gate has checked the host already, by the same rule as for every route.
        let config = StreamableHttpServerConfig::default().disable_allowed_hosts();
        Self {
            service: StreamableHttpService::new(server, Arc::clone(&sessions), config),
            sessions,
            uses: Mutex::default(),
            stop: stop.clone(),
        }
    }

    /// Answers a request. `sets` are the tools that its address names.
    pub(crate) async fn answer(&self, request: Request, sets: Vec<ToolSet>) -> Response {
        let (mut parts, body) = request.into_parts();
        let Ok(body) = to_bytes(body, MESSAGE).await else {
            return StatusCode::PAYLOAD_TOO_LARGE.into_response();
        };
        if parts.method == Method::POST {
            match envelope::read(&body) {
                ReceivedLine::Message(_) => {}
                ReceivedLine::Ignored => return StatusCode::ACCEPTED.into_response(),
                ReceivedLine::Refused(refusal) => {
                    return (StatusCode::BAD_REQUEST, Json(refusal.answer())).into_response();
                }
            }
        }
        let is_end = parts.method == Method::DELETE;
        if let Some(id) = session_of(&parts.headers) {
            self.uses().renew(id, is_end);
        }
        parts.extensions.insert(RequestedSets(sets));
        let request = Request::from_parts(parts, Body::from(body));
        let mut response = self.service.handle(request).await.map(Body::new);
        if is_end && response.status() == StatusCode::ACCEPTED {
            // The session has ended already, and clients warn of an end that is only accepted.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        if let Some(id) = session_of(response.headers()) {
            self.admit(id).await;
        }
        self.ending_with_server(response)
    }

    /// Records a session that was opened, and closes another one where there are too many.
    async fn admit(&self, id: &str) {
        let closed = self.uses().open(id);
        if let Some(closed) = closed {
            // A session that has ended already needs no end.
            let _ = self.sessions.close_session(&closed.into()).await;
        }
    }

    /// The response, with a stream that ends when the server does.
    fn ending_with_server(&self, response: Response) -> Response {
        if !is_stream(&response) {
            return response;
        }
        let stop = self.stop.clone();
        let ending = Box::pin(async move { stop.wait_for_request().await });
        response.map(|body| Body::from_stream(body.into_data_stream().take_until(ending)))
    }

    fn uses(&self) -> std::sync::MutexGuard<'_, SessionUses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a response is a stream of events.
pub(crate) fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind == "text/event-stream")
}

fn session_of(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}

/// The order in which open sessions were last used. A session that ended by itself stays until it is the oldest.
#[derive(Default)]
struct SessionUses {
    uses: u64,
    last: BTreeMap<String, u64>,
}

impl SessionUses {
    /// Records a use of a session, or its end. An unknown id changes nothing.
    fn renew(&mut self, id: &str, is_end: bool) {
        if is_end {
            self.last.remove(id);
        } else if let Some(last) = self.last.get_mut(id) {
            self.uses += 1;
            *last = self.uses;
        }
    }

    /// Records a new session, and returns the one that makes room for it.
    #[must_use]
    fn open(&mut self, id: &str) -> Option<String> {
        self.uses += 1;
        self.last.insert(id.to_owned(), self.uses);
        if self.last.len() <= SESSIONS {
            return None;
        }
        let oldest = self.last.iter().min_by_key(|(_, last)| **last);
        let oldest = oldest.map(|(id, _)| id.clone())?;
        self.last.remove(&oldest);
        Some(oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_that_was_unused_longest_makes_room() {
        let mut uses = SessionUses::default();
        for number in 0..SESSIONS {
            assert_eq!(uses.open(&number.to_string()), None);
        }
        uses.renew("0", false);
        uses.renew("unknown", false);
        assert_eq!(uses.open("new").as_deref(), Some("1"));
        uses.renew("2", true);
        assert_eq!(uses.open("newer"), None);
        assert_eq!(uses.open("newest").as_deref(), Some("3"));
    }
}

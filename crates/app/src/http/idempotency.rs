//! Answers a repeated request with the answer that it had, and does its work once.
//!
//! A client names a request in the header `Idempotency-Key`. The answer of a success is kept for an hour, on disk, so that
//! a repeat after a restart has it, too. A failure has changed nothing, so a repeat of it is a new request.
//!
//! The work goes on when the client has gone away, so that its answer is there for the repeat.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use daybook_domain::Tenant;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::BODY;
use super::fault::HttpFault;
use crate::folders::stored_answers::{ANSWER_BYTES, StoredAnswers};
use crate::wiring::Daybook;

/// The header of a request's key.
const KEY: &str = "idempotency-key";
/// The header of an answer that was kept.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// Longest key, in bytes.
const MAX_KEY: usize = 255;

/// The requests with a key.
pub(super) struct KeyedRequests {
    daybook: Arc<Daybook>,
    /// Keys of requests that are being worked on.
    running: Mutex<BTreeSet<String>>,
}

/// A kept answer, and the request that it is for.
#[derive(Serialize, Deserialize)]
struct KeptAnswer {
    /// The hash of the request's query and body.
    request: String,
    status: u16,
    body: String,
}

/// Forwards a request, or answers one that repeats another.
pub(super) async fn replay(
    State(requests): State<Arc<KeyedRequests>>,
    request: Request,
    next: Next,
) -> Response {
    let given = match key_of(&request) {
        Ok(Some(given)) => given.to_owned(),
        Ok(None) => return next.run(request).await,
        Err(fault) => return fault.into_response(),
    };
    // The tenant is missing on routes without a token alone, and those change nothing.
    let Some(tenant) = request.extensions().get::<Tenant>().cloned() else {
        return next.run(request).await;
    };
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, BODY).await else {
        return HttpFault::too_large().into_response();
    };
    let path = parts.uri.path();
    let key = hash(&[&tenant.0, parts.method.as_str(), path, &given]);
    let query = parts.uri.query().unwrap_or_default();
    let wanted = hash(&[query, &String::from_utf8_lossy(&body)]);
    let Some(turn) = KeyTurn::take(&requests, &key) else {
        return still_running().into_response();
    };
    let request = Request::from_parts(parts, Body::from(body));
    let work = tokio::spawn(async move {
        let answers = StoredAnswers::of(&requests.daybook.root, &tenant);
        let answer = match find(&requests, &answers, &key).await {
            Some(kept) => kept.answer(&wanted),
            None => keep(&requests, &answers, (&key, wanted), next.run(request).await).await,
        };
        drop(turn);
        answer
    });
    let broke_off = |_| HttpFault::from(anyhow::anyhow!("the work broke off")).into_response();
    work.await.unwrap_or_else(broke_off)
}

/// The key of a request that changes something.
fn key_of(request: &Request) -> Result<Option<&str>, HttpFault> {
    let Some(key) = request.headers().get(KEY) else {
        return Ok(None);
    };
    if [Method::GET, Method::HEAD].contains(request.method()) {
        return Ok(None);
    }
    match key.to_str() {
        Ok(key) if (1..=MAX_KEY).contains(&key.len()) => Ok(Some(key)),
        Ok(_) | Err(_) => Err(HttpFault::request(format!(
            "the header Idempotency-Key is 1 to {MAX_KEY} letters, digits and signs of ASCII"
        ))),
    }
}

fn hash(parts: &[&str]) -> String {
    let mut hash = blake3::Hasher::new();
    for part in parts {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().to_hex()[..32].to_owned()
}

fn still_running() -> HttpFault {
    HttpFault::new(
        StatusCode::CONFLICT,
        "in_progress",
        "a request with this Idempotency-Key is being worked on; ask again in a moment",
    )
}

/// The kept answer. One that cannot be read is as good as none.
async fn find(requests: &KeyedRequests, answers: &StoredAnswers, key: &str) -> Option<KeptAnswer> {
    let (answers, key, now) = (
        answers.clone(),
        key.to_owned(),
        requests.daybook.clock.now(),
    );
    let found = spawn_blocking(move || answers.find(&key, now)).await;
    serde_json::from_str(&found.ok()?.ok()??).ok()
}

/// Keeps the answer of a success. Where that fails, the client has its answer all the same.
async fn keep(
    requests: &KeyedRequests,
    answers: &StoredAnswers,
    (key, request): (&str, String),
    response: Response,
) -> Response {
    if !response.status().is_success() {
        return response;
    }
    let (parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return HttpFault::from(anyhow::anyhow!("the answer broke off")).into_response();
    };
    let kept = KeptAnswer {
        request,
        status: parts.status.as_u16(),
        body: String::from_utf8_lossy(&bytes).into_owned(),
    };
    if bytes.len() <= ANSWER_BYTES
        && let Ok(text) = serde_json::to_string(&kept)
    {
        let (answers, key, now) = (
            answers.clone(),
            key.to_owned(),
            requests.daybook.clock.now(),
        );
        let written = spawn_blocking(move || answers.keep(&key, now, &text)).await;
        if !matches!(written, Ok(Ok(()))) {
            tracing::warn!("an answer was not kept for a repeat of its request");
        }
    }
    Response::from_parts(parts, Body::from(bytes))
}

impl KeyedRequests {
    pub(super) fn new(daybook: &Arc<Daybook>) -> Self {
        Self {
            daybook: Arc::clone(daybook),
            running: Mutex::default(),
        }
    }
}

impl KeptAnswer {
    /// The answer to a repeat; a refusal where the key was used for another request.
    fn answer(self, wanted: &str) -> Response {
        if self.request != wanted {
            let message = "this Idempotency-Key was used for a request with another body; make a new key for each request";
            return HttpFault::new(StatusCode::UNPROCESSABLE_ENTITY, "key_reused", message)
                .into_response();
        }
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK);
        let headers = [(CONTENT_TYPE, "application/json"), (REPLAYED, "true")];
        (status, headers, self.body).into_response()
    }
}

/// The right to work on the request of a key, until dropped.
struct KeyTurn {
    requests: Arc<KeyedRequests>,
    key: String,
}

impl KeyTurn {
    fn take(requests: &Arc<KeyedRequests>, key: &str) -> Option<Self> {
        let running = requests.running.lock();
        let mut running = running.unwrap_or_else(PoisonError::into_inner);
        running.insert(key.to_owned()).then(|| Self {
            requests: Arc::clone(requests),
            key: key.to_owned(),
        })
    }
}

impl Drop for KeyTurn {
    fn drop(&mut self) {
        let running = self.requests.running.lock();
        let mut running = running.unwrap_or_else(PoisonError::into_inner);
        running.remove(&self.key);
    }
}

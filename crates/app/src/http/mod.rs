//! The HTTP interface: agents append, trigger, recall and remember, on this machine.
//!
//! The path of a request: [`listen`] accepts the connection, [`serving`] reads its headers in time, [`request_id`] names
//! it, [`traffic`] counts it, [`gate`] checks its host, token ([`access`]) and size, [`body`] reads the rest, [`idempotency`] answers a
//! repeat, [`routes`] calls the functions of [`crate::service`] that every interface shares, and [`fault`] gives every
//! error the same form of body. Everything is bounded by a constant below.
//!
//! A token belongs to one tenant, and a request works on the memory of its token's tenant alone.
//!
//! Not here: the operations themselves ([`crate::service`]), background work ([`crate::background`]).

mod access;
mod body;
mod bounds;
mod changes;
mod connections;
mod described_routes;
mod descriptors;
mod docs;
mod entities;
#[cfg(test)]
mod examples;
mod executor;
mod exposition;
mod fault;
mod files;
mod gate;
#[cfg(test)]
mod generated_openapi;
mod idempotency;
mod listen;
mod listings;
mod mcp_route;
mod mem0;
mod memories;
mod memory_items;
mod memory_tool;
mod metrics;
mod misfit;
mod notes;
mod openapi;
mod page_answer;
mod purge;
mod refusal;
mod reported_events;
mod request_id;
mod routes;
mod scope_params;
mod serving;
mod shapes;
mod thread_shapes;
mod threads;
mod token;
mod traffic;
mod visitors;
mod window;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use daybook_engine::stop::Stop;
use serde::Serialize;
use tokio::runtime::{Builder, Runtime};
use tower_http::timeout::TimeoutLayer;

use crate::mcp::SERVED_CALLS;
use crate::window::entry::EntryCode;
use crate::window::links;
use crate::wiring::Daybook;
use connections::{ConnectionLimits, ConnectionTable};
use executor::TenantExecutors;
use gate::RequestGate;

pub(crate) use metrics::memory_metrics;

/// Largest body of a request, in bytes.
const BODY: usize = 1024 * 1024;
/// Longest time from a request's last byte to its answer.
const REQUEST: Duration = Duration::from_secs(10);
/// Most requests that are worked on at once; fewer where few files may be open. Others get 503 with `Retry-After`.
const REQUESTS: usize = 64;
/// `Retry-After` of a busy server, in seconds.
const AGAIN: &str = "1";
/// Threads that read and write connections. The work of each request runs on a blocking thread.
const THREADS: usize = 2;
/// Longest wait for open requests after a stop was requested.
const DRAIN: Duration = Duration::from_secs(5);

/// Where the server can be reached.
#[derive(Debug, Serialize)]
pub(crate) struct Listening {
    /// Its address, with the port that it really has.
    pub(crate) address: String,
    /// The file that holds the token.
    pub(crate) token_file: PathBuf,
    #[serde(skip)]
    pub(crate) socket: SocketAddr,
}

/// Serves until `stop` is requested. `on_listening` is called with the address once the server listens.
pub(crate) fn run(
    daybook: &Arc<Daybook>,
    address: SocketAddr,
    behind_proxy: bool,
    stop: &Stop,
    on_listening: impl FnOnce(&Listening) -> Result<()>,
) -> Result<()> {
    let mut tokens = token::of_tenants(&daybook.root)?;
    let token = token::ensure(&daybook.root, &daybook.tenant)?;
    let token_file = token.file.clone();
    tokens.push(token);
    tokens.extend(token::of_environment(&daybook.tenant)?);
    token::check_distinct(&tokens)?;
    let listener = bind(address)?;
    let address = listener.local_addr()?;
    on_listening(&Listening {
        address: format!("http://{address}"),
        token_file: token_file.clone(),
        socket: address,
    })?;
    let descriptors = descriptors::raise_limit();
    let table = ConnectionTable::new(ConnectionLimits::within(descriptors));
    // Each request opens some files of the store.
    let requests = (descriptors / 16).clamp(1, REQUESTS);
    let gate = RequestGate::of(daybook, tokens, behind_proxy);
    let app = app(gate, TenantExecutors::new(daybook, requests, stop));
    let runtime = runtime()?;
    let served = runtime.block_on(listen::serve(listener, app, table, token_file, stop));
    // Every open request has been answered or cut off. Work that still runs may end like a killed
    // process: nothing of it was acknowledged.
    runtime.shutdown_background();
    served
}

/// The address that brings a person into the window of a server of this data folder, once and within a minute.
pub(crate) fn entry_address(daybook: &Daybook, server: &str) -> Result<String> {
    let token = token::ensure(&daybook.root, &daybook.tenant)?;
    let code = EntryCode::make(&token.secret, daybook.clock.now())?;
    Ok(format!(
        "{server}{}",
        links::page("enter", &[("code", &code)])
    ))
}

/// The key of names that only this data folder can resolve, derived from its token.
pub(crate) fn key_of_names(daybook: &Daybook) -> Result<[u8; 32]> {
    let token = token::ensure(&daybook.root, &daybook.tenant)?;
    let purpose = "daybook support bundle, numbers of jobs";
    Ok(blake3::derive_key(purpose, token.secret.as_bytes()))
}

fn bind(address: SocketAddr) -> Result<TcpListener> {
    let listener = TcpListener::bind(address).with_context(|| {
        format!("cannot listen on {address}; choose another port with --listen 127.0.0.1:0")
    })?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn runtime() -> Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(THREADS)
        .max_blocking_threads(REQUESTS + SERVED_CALLS)
        .enable_io()
        .enable_time()
        .build()
        .context("cannot start")
}

fn app(gate: RequestGate, executors: TenantExecutors) -> Router {
    let visitors = Arc::clone(&gate.visitors);
    let (traffic, keyed) = (executors.traffic(), executors.keyed_requests());
    routes::all()
        .merge(window::all(&visitors))
        .fallback(fault::no_such_route)
        .layer(from_fn_with_state(Arc::new(keyed), idempotency::replay))
        // Its streams are no answers that can be kept for a repeat.
        .merge(mcp_route::route())
        .merge(mem0::routes())
        .with_state(executors)
        .layer(DefaultBodyLimit::max(BODY))
        .layer(TimeoutLayer::with_status_code(
            StatusCode::GATEWAY_TIMEOUT,
            REQUEST,
        ))
        .layer(from_fn(body::read))
        .layer(from_fn_with_state(Arc::new(gate), gate::authorize))
        .layer(from_fn(page_answer::shape_errors))
        .layer(from_fn_with_state(traffic, traffic::count_request))
        .layer(from_fn(request_id::identify))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use axum::http::header::RETRY_AFTER;
    use daybook_domain::Tenant;
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;

    use super::*;

    #[test]
    fn a_request_that_there_is_no_room_for_is_told_so_at_once() {
        let root = tempfile::tempdir().expect("a folder");
        let daybook = Daybook::open(root.path().to_owned(), &[]).expect("a memory");
        let token = token::TenantToken {
            file: root.path().join("token"),
            secret: "t".repeat(64),
            tenant: Tenant::local(),
        };
        let gate = RequestGate::of(&daybook, vec![token], true);
        let executors = TenantExecutors::new(&Arc::new(daybook), 0, &Stop::default());
        let app = TowerToHyperService::new(app(gate, executors));
        let request = Request::post("/v1/recall")
            .header("authorization", format!("Bearer {}", "t".repeat(64)))
            .header("content-type", "application/json")
            .body(Body::from("{\"question\": \"tides\"}"))
            .expect("a request");
        let answered = runtime().expect("a runtime").block_on(app.call(request));
        let answer = answered.expect("an answer");
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.headers()[RETRY_AFTER], AGAIN);
    }
}

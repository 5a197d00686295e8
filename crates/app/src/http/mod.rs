//! The HTTP door: agents append, trigger, ask and remember, on this machine.
//!
//! The way of a request: [`listen`] takes the connection, [`serving`] reads its headers in time, [`traffic`]
//! counts it, [`gate`] looks at its host, token and size, [`body`] reads the rest, [`routes`] hands what it asks to the functions that every door uses, and [`fault`] makes
//! one kind of body of whatever goes wrong. Everything is bounded by a constant below.
//!
//! A token belongs to one tenant, and a request works on the memory of its token's tenant alone.
//!
//! Not here: what is asked and answered (`desk`, `telling`, `overview`), background work.

mod body;
mod bounds;
mod connections;
mod counter;
mod descriptors;
mod exposition;
mod fault;
mod gate;
mod listen;
mod metrics;
mod openapi;
mod refusal;
mod routes;
mod serving;
mod shapes;
mod thread_shapes;
mod threads;
mod token;
mod told;
mod traffic;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use daybook_domain::Tenant;
use daybook_engine::stop::Stop;
use serde::Serialize;
use tokio::runtime::{Builder, Runtime};
use tower_http::timeout::TimeoutLayer;

use crate::wiring::Daybook;
use connections::{ConnectionLimits, ConnectionTable};
use counter::Counters;
use gate::Gate;

/// Largest body of a request, in bytes.
const BODY: usize = 1024 * 1024;
/// Longest time from a request's last byte to its answer.
const REQUEST: Duration = Duration::from_secs(10);
/// Most requests that are worked on at once; fewer where few files may be open. More are told to come back.
const REQUESTS: usize = 64;
/// Seconds after which a busy server may be asked again.
const AGAIN: &str = "1";
/// Threads that read and write connections; the work has threads of its own, one for each request.
const THREADS: usize = 2;
/// Longest wait for open requests once the end was asked for.
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

/// Answers until `stop` is asked for. `tell` learns where, once that is certain.
pub(crate) fn run(
    daybook: &Arc<Daybook>,
    address: SocketAddr,
    allow_remote: bool,
    stop: &Stop,
    tell: impl FnOnce(&Listening) -> Result<()>,
) -> Result<()> {
    let mut tokens = token::of_tenants(&daybook.root)?;
    let token = token::ensure(&daybook.root, &daybook.tenant)?;
    let token_file = token.file.clone();
    tokens.push(token);
    token::check_distinct(&tokens)?;
    let listener = bind(address)?;
    let address = listener.local_addr()?;
    tell(&Listening {
        address: format!("http://{address}"),
        token_file: token_file.clone(),
        socket: address,
    })?;
    let descriptors = descriptors::raise_limit();
    let table = ConnectionTable::new(ConnectionLimits::within(descriptors));
    // Each opens some files of the store.
    let requests = (descriptors / 16).clamp(1, REQUESTS);
    let tenants: Vec<Tenant> = tokens.iter().map(|token| token.tenant.clone()).collect();
    let gate = Gate {
        tokens,
        any_host: allow_remote,
    };
    let app = app(gate, Counters::new(daybook, tenants.iter(), requests));
    let runtime = runtime()?;
    let served = runtime.block_on(listen::serve(listener, app, table, token_file, stop));
    // Whoever waited has been answered or cut off. What is still at work may end like a killed
    // process: nothing that it did was acknowledged.
    runtime.shutdown_background();
    served
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
        .max_blocking_threads(REQUESTS)
        .enable_io()
        .enable_time()
        .build()
        .context("cannot start")
}

fn app(gate: Gate, counters: Counters) -> Router {
    let (router, document) = openapi::documented(routes::all());
    let traffic = counters.traffic();
    router
        .merge(openapi::route(&document))
        .fallback(fault::no_such_route)
        .with_state(counters)
        .layer(DefaultBodyLimit::max(BODY))
        .layer(TimeoutLayer::with_status_code(
            StatusCode::GATEWAY_TIMEOUT,
            REQUEST,
        ))
        .layer(from_fn(body::read))
        .layer(from_fn_with_state(Arc::new(gate), gate::pass))
        .layer(map_response(fault::always_json))
        .layer(from_fn_with_state(traffic, traffic::watch))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use axum::http::header::RETRY_AFTER;
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;

    use super::*;

    #[test]
    fn a_request_that_there_is_no_room_for_is_told_so_at_once() {
        let root = tempfile::tempdir().expect("a folder");
        let daybook = Daybook::open(root.path().to_owned(), &[]).expect("a memory");
        let token = token::Token {
            file: root.path().join("token"),
            secret: "t".repeat(64),
            tenant: Tenant::local(),
        };
        let gate = Gate {
            tokens: vec![token],
            any_host: true,
        };
        let counters = Counters::new(&Arc::new(daybook), std::iter::empty(), 0);
        let app = TowerToHyperService::new(app(gate, counters));
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

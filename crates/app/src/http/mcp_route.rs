//! The route `/mcp`: the MCP server over streamable HTTP.
//!
//! It is no part of the published description, because MCP describes itself to its clients.
//!
//! Not here: the protocol ([`crate::mcp`]).

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use clap::ValueEnum;
use serde::Deserialize;

use super::executor::{RequestExecutor, TenantExecutors};
use super::fault::{HttpFault, QueryParams};
use super::serving::OpenBody;
use crate::mcp::{ToolSet, is_stream};

pub(super) fn route() -> Router<TenantExecutors> {
    Router::new().route("/mcp", any(answer))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct McpParams {
    /// Names of sets of tools, with commas between them.
    tools: Option<String>,
}

async fn answer(
    executor: RequestExecutor,
    QueryParams(asked): QueryParams<McpParams>,
    request: Request,
) -> Result<Response, HttpFault> {
    let names = asked.tools.iter().flat_map(|names| names.split(','));
    let sets = names.map(parse_set).collect::<Result<_, _>>()?;
    let mut response = executor.mcp().answer(request, sets).await;
    if is_stream(&response) {
        response.extensions_mut().insert(OpenBody);
    }
    let is_explained = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind == "application/json");
    match response.status() {
        status if status.is_success() || is_explained => Ok(response),
        status => Ok(explained(status).unwrap_or(response)),
    }
}

fn parse_set(name: &str) -> Result<ToolSet, HttpFault> {
    ToolSet::from_str(name, false).map_err(|_| {
        let known = ToolSet::value_variants().iter();
        let known = known.filter_map(|set| Some(set.to_possible_value()?.get_name().to_owned()));
        let known: Vec<String> = known.collect();
        HttpFault::request(format!(
            "there is no set of tools called {name}; there are: {}",
            known.join(", ")
        ))
    })
}

/// What a refusal of the transport means, and what to do next.
fn explained(status: StatusCode) -> Option<Response> {
    let (code, message) = match status {
        StatusCode::BAD_REQUEST => (
            "invalid_request",
            "the request fits no session: begin with `initialize`, and send the id of the answer's header \
             Mcp-Session-Id and a protocol version that this server knows",
        ),
        StatusCode::NOT_FOUND => (
            "no_session",
            "the session has ended, or never was; begin a new one with `initialize`",
        ),
        StatusCode::NOT_ACCEPTABLE => (
            "not_acceptable",
            "a client of MCP accepts application/json and text/event-stream; send both in the header Accept",
        ),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => (
            "not_json",
            "the body must be one message of JSON-RPC; send the header \"Content-Type: application/json\"",
        ),
        _ => return None,
    };
    Some(HttpFault::new(status, code, message).into_response())
}

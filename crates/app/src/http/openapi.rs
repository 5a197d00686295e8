//! The published description of the HTTP interface.
//!
//! It is generated from the routes by `UPDATE_OPENAPI=1 cargo test -p daybook-app openapi`, and committed, so that a change
//! of it is seen in review, and so that the program need not hold the code that makes it. A test compares the two.

use std::sync::LazyLock;

use anyhow::Context as _;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::described_routes::described_routes;
use super::docs;
use super::fault::HttpFault;
use crate::compressed::compressed_text;

/// The document, in the form in which it is published. The build compressed it.
pub(super) static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    compressed_text(include_bytes!(concat!(
        env!("OUT_DIR"),
        "/openapi.json.zlib"
    )))
});

described_routes!(document, page);

/// This description, for programs; needs no token
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "getOpenApi",
    security(()),
    responses((status = OK, description = "The description", body = serde_json::Value)),
)]
async fn document() -> Response {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT.as_str()).into_response()
}

/// This description, as a page for people; needs no token
#[utoipa::path(
    get,
    path = "/docs",
    operation_id = "getDocs",
    security(()),
    responses((status = OK, description = "The page", body = String, content_type = "text/html")),
)]
async fn page() -> Result<Response, HttpFault> {
    let document = serde_json::from_str(&DOCUMENT).context("the description of the routes")?;
    Ok(docs::answer(docs::page(&document)))
}

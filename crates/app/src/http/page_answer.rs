//! Answers with pages, and the headers that keep everything foreign out of them.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use daybook_text::fence::visible;
use maud::html;

use super::fault::{HTML, HttpFault};
use crate::window::frame::bare;
use crate::window::links::ROOT;
use crate::window::{SCRIPT, STYLE};

/// A browser loads nothing from elsewhere, runs nothing but the one script, sends forms nowhere else, and shows the page in
/// no frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; \
    form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
/// Headers of every answer of the window.
const GUARDS: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "same-origin"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Adds the guards to an answer. Nothing of a memory stays in a browser's cache.
pub(super) async fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in GUARDS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// A page.
pub(super) fn html_page(status: StatusCode, page: String) -> Response {
    let headers = [(CONTENT_TYPE, HTML)];
    (status, headers, page).into_response()
}

/// The way to another page.
pub(super) fn see(address: &str) -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, address)]).into_response()
}

/// A page that says what went wrong.
pub(super) fn refused(fault: &HttpFault) -> Response {
    let content = html! {
        p.refused role="alert" { (visible(&fault.message())) }
        p { a href=(ROOT) { "Back to Today" } }
    };
    html_page(fault.status(), bare("That did not work", &content))
}

/// The address of the server leads to the window.
pub(super) async fn to_window() -> Response {
    see(ROOT)
}

pub(super) async fn style() -> Response {
    asset("text/css; charset=utf-8", STYLE)
}

pub(super) async fn script() -> Response {
    asset("text/javascript; charset=utf-8", SCRIPT)
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    let headers = [(CONTENT_TYPE, kind), (CACHE_CONTROL, "max-age=300")];
    (headers, text).into_response()
}

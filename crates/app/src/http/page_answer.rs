//! Answers with pages, and the headers that keep everything foreign out of them.

use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use daybook_text::fence::visible;
use maud::html;

use super::fault::{HTML, HttpFault, always_json, fault_of};
use super::visitors::is_of_window;
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

/// Gives every error the form that its route's clients read: a page below the window, and the common body elsewhere.
/// This holds for errors of the layers below, too: an answer that took too long, a body that is too large.
pub(super) async fn shape_errors(request: Request, next: Next) -> Response {
    let is_page = is_of_window(request.uri().path());
    let response = next.run(request).await;
    if !is_page {
        return always_json(response);
    }
    let kind = response.headers().get(CONTENT_TYPE);
    let is_made = kind.is_some_and(|kind| kind == HTML);
    match fault_of(&response).filter(|_| !is_made) {
        Some(fault) => guarded(refused(&fault)),
        None => guarded(response),
    }
}

/// Adds the guards to an answer. Nothing of a memory stays in a browser's cache.
fn guarded(mut response: Response) -> Response {
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

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::middleware::from_fn;
    use axum::routing::get;
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;

    use super::*;

    /// The type and the text of the answer of a route that takes too long.
    fn timed_out(path: &str) -> (String, String) {
        let too_long = get(async || StatusCode::GATEWAY_TIMEOUT);
        let app = Router::new().route("/{*path}", too_long);
        let app = TowerToHyperService::new(app.layer(from_fn(shape_errors)));
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime").block_on(async {
            let request = Request::get(path).body(Body::empty()).expect("a request");
            let answer = app.call(request).await.expect("an answer");
            assert_eq!(answer.status(), StatusCode::GATEWAY_TIMEOUT);
            let kind = answer.headers()[CONTENT_TYPE].to_str();
            let kind = kind.expect("a type").to_owned();
            let is_guarded = answer.headers().contains_key(CONTENT_SECURITY_POLICY);
            assert_eq!(is_guarded, kind == HTML);
            let text = to_bytes(answer.into_body(), 1 << 16).await;
            let text = String::from_utf8(text.expect("a body").to_vec());
            (kind, text.expect("UTF-8"))
        })
    }

    #[test]
    fn an_answer_that_took_too_long_is_a_page_in_the_window_and_json_elsewhere() {
        let (kind, page) = timed_out("/window/work");
        assert_eq!(kind, HTML);
        assert!(page.contains("took longer than 10 seconds"), "{page}");
        assert!(page.contains("Back to Today"), "{page}");
        let (kind, json) = timed_out("/v1/jobs");
        assert_eq!(kind, "application/json");
        assert!(json.contains("\"code\":\"timeout\""), "{json}");
    }
}

//! The published description of the HTTP interface, generated from the routes.
//!
//! `crates/app/openapi.json` is the same document, committed, so that a change of it is seen in
//! review. `UPDATE_OPENAPI=1 cargo test -p daybook-app openapi` writes it.

use axum::http::header::CONTENT_TYPE;
use axum::{Router, routing};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Components, Info, OpenApi, OpenApiBuilder};
use utoipa_axum::router::OpenApiRouter;

use super::executor::TenantExecutors;

/// Name of the only security scheme.
const TOKEN: &str = "token";
const DESCRIPTION: &str = "\
Memory for AI agents that outlives the session. Append the events of a session, report when it ends, \
and recall. Bodies are JSON of at most 1048576 bytes; unknown fields are refused. A request is answered \
within 10 seconds; 64 are worked on at once, and more are answered 503 with Retry-After. Every \
route but /health and /openapi.json needs the token from the file \"token\" in the data folder. \
Every error has a body {\"error\": {\"code\", \"message\"}}.";

/// The routes, and the document that describes them.
pub(super) fn documented(
    routes: OpenApiRouter<TenantExecutors>,
) -> (Router<TenantExecutors>, OpenApi) {
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("The token from the file `token` in the data folder"))
        .build();
    let mut components = Components::new();
    components.add_security_scheme(TOKEN, SecurityScheme::Http(scheme));
    let mut info = Info::new("Daybook", env!("CARGO_PKG_VERSION"));
    info.description = Some(DESCRIPTION.to_owned());
    let about = OpenApiBuilder::new()
        .info(info)
        .components(Some(components))
        .security(Some([SecurityRequirement::new::<_, [&str; 0], &str>(
            TOKEN,
            [],
        )]))
        .build();
    OpenApiRouter::with_openapi(about)
        .merge(routes)
        .split_for_parts()
}

/// The published document.
pub(super) fn text(document: &OpenApi) -> String {
    // It is made of strings and numbers, which are always JSON.
    let mut text = document.to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
}

/// The route that publishes it.
pub(super) fn route(document: &OpenApi) -> Router<TenantExecutors> {
    let text = text(document);
    let answer = move || async move { ([(CONTENT_TYPE, "application/json")], text) };
    Router::new().route("/openapi.json", routing::get(answer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::routes;

    #[test]
    fn the_committed_openapi_document_is_the_published_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
        let (_, document) = documented(routes::all());
        let text = text(&document);
        if std::env::var_os("UPDATE_OPENAPI").is_some() {
            std::fs::write(path, &text).expect("the document is written");
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            committed == text,
            "openapi.json differs from the routes' description; review the change after \
             UPDATE_OPENAPI=1 cargo test -p daybook-app openapi"
        );
    }
}

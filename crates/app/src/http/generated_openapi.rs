//! Makes the description of the routes, and compares it with the committed one (`openapi`).

use std::collections::BTreeSet;

use serde::Serialize as _;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Components, Info, OpenApi, OpenApiBuilder, RefOr};
use utoipa_axum::router::OpenApiRouter;

use super::examples::example;
use super::openapi::DOCUMENT;
use super::routes;

/// Name of the only security scheme.
const TOKEN: &str = "token";
const DESCRIPTION: &str = "\
Memory for AI agents that outlives the session. Append the events of a session, report when it ends, \
and recall. Bodies are JSON of at most 1048576 bytes; unknown fields are refused. A request is answered \
within 10 seconds; 64 are worked on at once, and more are answered 503 with Retry-After. Every \
route but /health, /openapi.json and /docs needs the token from the file \"token\" in the data folder. \
Every error has a body {\"error\": {\"code\", \"message\"}}. Every answer has the header x-request-id, \
which a request may choose. A request that changes something may have the header Idempotency-Key, 1 to 255 \
bytes long: a repeat within an hour has the same answer, and the work is done once. Lists that may go on \
have a field \"next\": send its value as \"after\" for the next page. /mcp, which describes itself to its clients, is \
MCP over streamable HTTP.";

/// The document that describes the routes.
fn documented() -> OpenApi {
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
    let routes = OpenApiRouter::with_openapi(about).merge(routes::described());
    let mut document = routes.into_openapi();
    document.paths.paths.values_mut().for_each(add_examples);
    document
}

/// The routes of a path.
fn operations(path: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem {
        get,
        post,
        put,
        patch,
        delete,
        ..
    } = path;
    [get, post, put, patch, delete].into_iter().flatten()
}

fn add_examples(path: &mut PathItem) {
    for operation in operations(path) {
        let id = operation.operation_id.as_deref().unwrap_or_default();
        let (Some(example), Some(RefOr::T(body))) = (example(id), &mut operation.request_body)
        else {
            continue;
        };
        for content in body.content.values_mut() {
            if let RefOr::T(content) = content {
                content.example = Some(example.clone());
            }
        }
    }
}

/// The published document: a line for each value, so that a change of it can be read, and without indentation, which would be
/// two fifths of what the program carries.
fn text(document: &OpenApi) -> String {
    let mut text = Vec::new();
    let lines = PrettyFormatter::with_indent(b"");
    let mut serializer = Serializer::with_formatter(&mut text, lines);
    let written = document.serialize(&mut serializer);
    written.expect("it is made of strings and numbers, which are always JSON");
    text.push(b'\n');
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// Each route of the document: its path, its method, and its description.
fn described() -> Vec<(String, String, Value)> {
    let document = json!(documented());
    let paths = document["paths"].as_object().expect("paths");
    let routes = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.map(|(method, route)| (path.clone(), method.clone(), route.clone()))
    });
    routes.collect()
}

#[test]
fn the_committed_openapi_document_is_the_published_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    let text = text(&documented());
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::write(path, &text).expect("the document is written");
        return;
    }
    assert!(
        *DOCUMENT == text,
        "openapi.json differs from the routes' description; review the change after \
         UPDATE_OPENAPI=1 cargo test -p daybook-app openapi"
    );
}

#[test]
fn every_route_has_an_operation_id_of_its_own() {
    let mut seen = BTreeSet::new();
    for (path, method, route) in described() {
        let id = route["operationId"].as_str().unwrap_or_default();
        let is_camel = id.chars().all(char::is_alphanumeric)
            && id.starts_with(|first: char| first.is_lowercase())
            && id.contains(char::is_uppercase);
        assert!(is_camel, "{method} {path}: {id:?} is no verb and noun");
        assert!(seen.insert(id.to_owned()), "{id} is there twice");
    }
}

#[test]
fn every_route_with_a_request_has_an_example() {
    for (path, method, route) in described() {
        if let Some(body) = route.get("requestBody") {
            let example = body["content"]["application/json"].get("example");
            assert!(example.is_some(), "{method} {path}");
        }
        let parameters = route["parameters"].as_array();
        let has_one = |it: &Value| it.get("example").or(it["schema"].get("example")).is_some();
        assert!(
            parameters.is_none_or(|all| all.iter().any(has_one)),
            "{method} {path}"
        );
    }
}

/// Paths that the router adds for what no route serves.
const FALLBACK: [&str; 2] = ["/", "/{*__private__axum_fallback}"];

/// The router shows its paths in its debug form alone.
#[test]
fn the_document_and_the_router_have_the_same_paths() {
    let router = routes::all();
    let shown = format!("{router:?}");
    let quoted = shown.split('"').skip(1).step_by(2);
    let routed: BTreeSet<&str> = quoted
        .filter(|text| text.starts_with('/') && !FALLBACK.contains(text))
        .collect();
    let described = described();
    let described: BTreeSet<&str> = described.iter().map(|(path, ..)| path.as_str()).collect();
    assert_eq!(routed, described);
}

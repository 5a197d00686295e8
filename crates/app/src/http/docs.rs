//! The page at `/docs`: every route for people, made from the published document. It loads nothing from anywhere.

use std::fmt::Write as _;

use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

/// Methods in the order in which a path's routes are listed.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
/// A browser loads and runs nothing but the style inside the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
const STYLE: &str = "body{font:16px/1.5 sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}\
h2{margin-top:2.5rem;font-size:1.1rem}code,pre{background:#f3f3f3;padding:.1rem .3rem}\
pre{padding:.6rem;overflow:auto}td,th{text-align:left;vertical-align:top;padding:.1rem .8rem .1rem 0}";

/// The answer with the page.
pub(super) fn answer(page: String) -> Response {
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, POLICY),
    ];
    (headers, page).into_response()
}

/// The page for a document.
pub(super) fn page(document: &Value) -> String {
    let info = &document["info"];
    let title = format!("{} {}", text(&info["title"]), text(&info["version"]));
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\
         <style>{STYLE}</style><h1>{title}</h1><p>{}</p>\n<ul>",
        text(&info["description"])
    );
    let routes = routes(document);
    for (path, method, route) in &routes {
        let id = text(&route["operationId"]);
        let method = method.to_uppercase();
        let _ = writeln!(
            page,
            "<li><a href=\"#{id}\"><code>{method} {}</code></a> {}</li>",
            escaped(path),
            text(&route["summary"])
        );
    }
    page.push_str("</ul>\n");
    for (path, method, route) in &routes {
        page.push_str(&section(document, path, method, route));
    }
    page.push_str("</html>\n");
    page
}

/// All routes, by path.
fn routes(document: &Value) -> Vec<(&str, &'static str, &Value)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths
        .flat_map(|(path, item)| {
            let routes = METHODS.iter().filter_map(|method| {
                let route = item.get(method)?;
                Some((path.as_str(), *method, route))
            });
            routes.collect::<Vec<_>>()
        })
        .collect()
}

fn section(document: &Value, path: &str, method: &str, route: &Value) -> String {
    let id = text(&route["operationId"]);
    let mut section = format!(
        "<h2 id=\"{id}\"><code>{} {}</code></h2><p><b>{}</b> <code>{id}</code></p>",
        method.to_uppercase(),
        escaped(path),
        text(&route["summary"])
    );
    if let Some(about) = route["description"].as_str() {
        let _ = write!(section, "<p>{}</p>", escaped(about));
    }
    let parameters = route["parameters"].as_array().into_iter().flatten();
    let parameters = parameters.map(|it| {
        let required = it["required"] == Value::Bool(true);
        row(&it["name"], required, &it["description"])
    });
    section.push_str(&table("Parameters", parameters.collect()));
    let media = &route["requestBody"]["content"]["application/json"];
    section.push_str(&table("Body", fields(document, &media["schema"])));
    if let Some(example) = media.get("example") {
        let example = serde_json::to_string_pretty(example).unwrap_or_default();
        let _ = write!(section, "<pre>{}</pre>", escaped(&example));
    }
    let answer = &route["responses"]["200"];
    let _ = write!(section, "<p>200: {}</p>", text(&answer["description"]));
    let schema = &answer["content"]["application/json"]["schema"];
    section.push_str(&table("Answer", fields(document, schema)));
    section.push('\n');
    section
}

/// The rows for the fields of a schema, or of the one that it refers to.
fn fields(document: &Value, schema: &Value) -> Vec<String> {
    let referred = schema["$ref"]
        .as_str()
        .and_then(|to| document.pointer(to.trim_start_matches('#')));
    let schema = referred.unwrap_or(schema);
    let required = schema["required"].as_array();
    let fields = schema["properties"].as_object().into_iter().flatten();
    fields
        .map(|(name, field)| {
            let name = Value::from(name.as_str());
            let is_required = required.is_some_and(|it| it.contains(&name));
            row(&name, is_required, &field["description"])
        })
        .collect()
}

fn row(name: &Value, required: bool, about: &Value) -> String {
    let required = if required { "required" } else { "" };
    let (name, about) = (text(name), text(about));
    format!("<tr><td><code>{name}</code><td>{required}<td>{about}</tr>")
}

fn table(heading: &str, rows: Vec<String>) -> String {
    match rows.is_empty() {
        true => String::new(),
        false => format!("<h3>{heading}</h3><table>{}</table>", rows.concat()),
    }
}

fn text(value: &Value) -> String {
    escaped(value.as_str().unwrap_or_default())
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_route_has_a_section_and_nothing_of_the_document_is_markup() {
        let document = json!({
            "info": {"title": "Tides", "version": "1", "description": "a <b> & c"},
            "paths": {"/v1/tides/{pier}": {
                "get": {"operationId": "getTide", "summary": "The tide", "parameters": [
                    {"name": "pier", "required": true, "description": "Which <pier>"},
                ], "responses": {"200": {"description": "It", "content": {"application/json": {
                    "schema": {"$ref": "#/components/schemas/Tide"},
                }}}}},
                "delete": {"operationId": "deleteTide", "summary": "No tide", "responses": {}},
            }},
            "components": {"schemas": {"Tide": {
                "required": ["height"],
                "properties": {"height": {"description": "In metres"}},
            }}},
        });
        let page = page(&document);
        for part in [
            "a &lt;b&gt; &amp; c",
            "<a href=\"#getTide\"><code>GET /v1/tides/{pier}</code></a> The tide",
            "<h2 id=\"deleteTide\">",
            "<tr><td><code>pier</code><td>required<td>Which &lt;pier&gt;</tr>",
            "<tr><td><code>height</code><td>required<td>In metres</tr>",
        ] {
            assert!(page.contains(part), "{part}\n{page}");
        }
        assert!(!page.contains("://"), "{page}");
    }
}

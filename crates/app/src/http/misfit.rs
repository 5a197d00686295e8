//! Says in plain words why a body or a query does not fit its route. The parser's own text is never shown.

/// Words a report, from the field that it is about and the report's end.
type Wording = fn(&str, &str) -> String;

/// What the parser reports, each with the function that words it.
const REPORTS: [(&str, Wording); 8] = [
    ("unknown field `", unknown_field),
    ("missing field `", missing_field),
    ("duplicate field `", duplicate_field),
    ("unknown variant `", unknown_value),
    ("invalid type: ", wrong_type),
    ("invalid value: ", wrong_type),
    ("invalid digit found in string", no_number),
    ("provided string was not", no_truth_value),
];

/// The message for a request that the parser refused with `report`.
pub(super) fn misfit(report: &str) -> String {
    let report = report.rsplit_once(" at line ").map_or(report, |(it, _)| it);
    let report = report.split_once(": ").map_or(report, |(_, rest)| rest);
    let matches = REPORTS.iter().filter_map(|(begin, say)| {
        let at = report.find(begin)?;
        Some((at, begin, say))
    });
    // What stands in quotes of the request may look like a report, and comes behind the real one.
    match matches.min_by_key(|(at, ..)| *at) {
        Some((at, begin, say)) => {
            let field = report[..at].trim_end_matches(": ");
            say(field, &report[at + begin.len()..])
        }
        None => format!("the request does not fit this route: {DESCRIBED}"),
    }
}

/// Where the fields of each route are described.
const DESCRIBED: &str = "/docs describes its fields";

/// The message for a body that is no JSON, from the parser's report.
pub(super) fn no_json(report: &str) -> String {
    let place = report.rsplit_once(" at line ").and_then(|(_, place)| {
        let (line, column) = place.split_once(" column ")?;
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        (digits(line) && digits(column)).then(|| format!(": see line {line}, column {column}"))
    });
    format!("the body is not valid JSON{}", place.unwrap_or_default())
}

fn unknown_field(_: &str, rest: &str) -> String {
    let (name, expected) = rest.split_once('`').unwrap_or((rest, ""));
    match quoted(expected) {
        known if known.is_empty() => format!("there is no field \"{name}\": {DESCRIBED}"),
        known => format!(
            "there is no field \"{name}\"; the fields are {}",
            known.join(", ")
        ),
    }
}

fn missing_field(within: &str, rest: &str) -> String {
    let name = rest.split('`').next().unwrap_or_default();
    let within = within.strip_suffix(name).unwrap_or(within);
    let within = match within.trim_end_matches('.') {
        "" | "?" => String::new(),
        within => format!(" of {within}"),
    };
    format!("the field \"{name}\"{within} is missing")
}

fn duplicate_field(_: &str, rest: &str) -> String {
    let name = rest.split('`').next().unwrap_or_default();
    format!("the field \"{name}\" is there twice")
}

fn unknown_value(field: &str, rest: &str) -> String {
    let (value, expected) = rest.split_once('`').unwrap_or((rest, ""));
    let known = quoted(expected).join(", ");
    format!(
        "{} cannot be \"{value}\"; write one of {known}",
        named(field)
    )
}

fn wrong_type(field: &str, rest: &str) -> String {
    let expected = rest.rsplit_once("expected ").map(|(_, expected)| expected);
    let takes = match expected.unwrap_or_default() {
        "a string" | "a borrowed string" => "a text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number that is not below zero",
        "i32" | "i64" | "an integer" => "a whole number",
        "f32" | "f64" => "a number",
        expected if expected.starts_with("struct ") || expected == "a map" => "an object",
        _ => return format!("{} has a value that it cannot have", named(field)),
    };
    format!("{} must be {takes}", named(field))
}

fn no_number(field: &str, _: &str) -> String {
    format!("{} must be a whole number", named(field))
}

fn no_truth_value(field: &str, _: &str) -> String {
    format!("{} must be true or false", named(field))
}

fn named(field: &str) -> String {
    match field {
        "" | "?" | "." => "the body".to_owned(),
        field => format!("the field \"{field}\""),
    }
}

/// The names in backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use axum::extract::{FromRequest, FromRequestParts, Json, Query, Request};
    use axum::http::header::CONTENT_TYPE;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the errors of these forms matter")]
    struct Asked {
        question: String,
        #[serde(default)]
        limit: usize,
        #[serde(default)]
        tools: bool,
        #[serde(default)]
        parts: Vec<Part>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only the errors of these forms matter")]
    struct Part {
        role: Role,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Role {
        User,
        Tool,
    }

    fn runtime() -> tokio::runtime::Runtime {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime")
    }

    fn body(json: &str) -> String {
        let request = Request::post("/")
            .header(CONTENT_TYPE, "application/json")
            .body(json.to_owned().into())
            .expect("a request");
        let parsed = runtime().block_on(Json::<Asked>::from_request(request, &()));
        misfit(&parsed.expect_err("it does not fit").body_text())
    }

    fn query(query: &str) -> String {
        let request = Request::get(format!("/?{query}")).body(()).expect("one");
        let (mut parts, ()) = request.into_parts();
        let parsed = Query::<Asked>::from_request_parts(&mut parts, &());
        misfit(
            &runtime()
                .block_on(parsed)
                .expect_err("it does not fit")
                .body_text(),
        )
    }

    #[test]
    fn bodies_that_do_not_fit_are_described_without_the_parsers_words() {
        for (json, says) in [
            (
                r#"{"asked": "x"}"#,
                r#"there is no field "asked"; the fields are question, limit, tools, parts"#,
            ),
            ("{}", r#"the field "question" is missing"#),
            (
                r#"{"question": 1}"#,
                r#"the field "question" must be a text"#,
            ),
            (
                r#"{"question": "x", "limit": -1}"#,
                r#"the field "limit" must be a whole number that is not below zero"#,
            ),
            (
                r#"{"question": "x", "limit": "missing field `a`"}"#,
                r#"the field "limit" must be a whole number that is not below zero"#,
            ),
            (
                r#"{"question": "x", "parts": [{"role": "pier"}]}"#,
                r#"the field "parts[0].role" cannot be "pier"; write one of user, tool"#,
            ),
            (
                r#"{"question": "x", "parts": [{}]}"#,
                r#"the field "role" of parts[0] is missing"#,
            ),
            (
                r#"{"question": "x", "question": "y"}"#,
                r#"the field "question" is there twice"#,
            ),
            ("1", "the body must be an object"),
        ] {
            assert_eq!(body(json), says, "{json}");
        }
    }

    #[test]
    fn queries_that_do_not_fit_are_described_without_the_parsers_words() {
        for (text, says) in [
            ("limit=1", r#"the field "question" is missing"#),
            (
                "question=x&limit=many",
                r#"the field "limit" must be a whole number"#,
            ),
            (
                "question=x&tools=maybe",
                r#"the field "tools" must be true or false"#,
            ),
        ] {
            assert_eq!(query(text), says, "{text}");
        }
    }

    #[test]
    fn a_body_that_is_no_json_names_the_place() {
        let report =
            "Failed to parse the request body as JSON: EOF while parsing at line 1 column 9";
        assert_eq!(
            no_json(report),
            "the body is not valid JSON: see line 1, column 9"
        );
        assert_eq!(no_json("something else"), "the body is not valid JSON");
    }
}

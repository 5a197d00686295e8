//! Checks a value against the part of JSON schema that strict modes have.
//!
//! A schema that asks for more is refused before anything is sent: a constraint that cannot be checked must not be
//! assumed to hold.

use serde_json::{Map, Value};

/// What is checked; everything else is refused, but for [`ANNOTATIONS`].
const CHECKED: &[&str] = &[
    "type",
    "properties",
    "required",
    "additionalProperties",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "maxLength",
    "minimum",
    "maximum",
];

/// Keywords that inform the model and constrain nothing.
const ANNOTATIONS: &[&str] = &["$schema", "title", "description"];

/// Whether everything that `schema` asks for can be checked.
///
/// # Errors
/// What cannot, in words.
pub(crate) fn supported(schema: &Value) -> Result<(), String> {
    if schema.get("type") != Some(&Value::from("object")) {
        return Err("the schema of an answer must be of an object".to_owned());
    }
    all_supported(schema, "")
}

fn all_supported(schema: &Value, at: &str) -> Result<(), String> {
    let Value::Object(keywords) = schema else {
        return Err(format!("the schema at {} is no object", place(at)));
    };
    let unknown =
        |word: &&String| !CHECKED.contains(&word.as_str()) && !ANNOTATIONS.contains(&word.as_str());
    if let Some(word) = keywords.keys().find(unknown) {
        return Err(format!(
            "the schema at {} uses {word}, which is not checked",
            place(at)
        ));
    }
    if let Some(Value::Object(properties)) = keywords.get("properties") {
        for (name, property) in properties {
            all_supported(property, &format!("{at}/{name}"))?;
        }
    }
    match keywords.get("items") {
        Some(items) => all_supported(items, &format!("{at}/items")),
        None => Ok(()),
    }
}

/// Why a value has not the form that a schema demands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// In words that name its place and quote nothing of the value.
    pub(crate) why: String,
    /// Something is missing that cannot be had from the value.
    pub(crate) is_missing: bool,
}

impl From<String> for Mismatch {
    fn from(why: String) -> Self {
        let is_missing = false;
        Self { why, is_missing }
    }
}

/// Whether `value` has the form that `schema` demands.
///
/// # Errors
/// The first thing that is wrong.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), Mismatch> {
    check_at(schema, value, "")
}

fn check_at(schema: &Value, value: &Value, at: &str) -> Result<(), Mismatch> {
    let Value::Object(schema) = schema else {
        return Ok(());
    };
    check_type(schema, value, at)?;
    if let Some(Value::Array(allowed)) = schema.get("enum")
        && !allowed.contains(value)
    {
        let allowed = Value::Array(allowed.clone());
        return Err(format!("{} is none of {allowed}", place(at)).into());
    }
    match value {
        Value::Object(fields) => check_fields(schema, fields, at),
        Value::Array(items) => check_items(schema, items, at),
        Value::String(text) => check_bounds(schema, text.chars().count() as f64, at, "Length"),
        Value::Number(number) => match number.as_f64() {
            Some(number) => check_bounds(schema, number, at, "imum"),
            None => Ok(()),
        },
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

fn check_type(schema: &Map<String, Value>, value: &Value, at: &str) -> Result<(), Mismatch> {
    let allowed: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    if allowed.iter().any(|name| is_of(value, name)) {
        return Ok(());
    }
    let (found, wanted) = (type_name(value), allowed.join(" or "));
    Err(format!("{} is of type {found}, not {wanted}", place(at)).into())
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => type_name(value) == name,
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn check_fields(
    schema: &Map<String, Value>,
    fields: &Map<String, Value>,
    at: &str,
) -> Result<(), Mismatch> {
    let required = schema.get("required").and_then(Value::as_array);
    let mut required = required.into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.find(|name| !fields.contains_key(*name)) {
        return Err(Mismatch {
            why: format!("{} is missing", place(&format!("{at}/{missing}"))),
            is_missing: true,
        });
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    for (name, field) in fields {
        match properties.and_then(|properties| properties.get(name)) {
            Some(property) => check_at(property, field, &format!("{at}/{name}"))?,
            None if closed => {
                return Err(format!("{} has a field that is not allowed", place(at)).into());
            }
            None => {}
        }
    }
    Ok(())
}

fn check_items(schema: &Map<String, Value>, items: &[Value], at: &str) -> Result<(), Mismatch> {
    check_bounds(schema, items.len() as f64, at, "Items")?;
    if let Some(each) = schema.get("items") {
        for (number, item) in items.iter().enumerate() {
            check_at(each, item, &format!("{at}/{number}"))?;
        }
    }
    Ok(())
}

/// Compares with `min…` and `max…`.
fn check_bounds(
    schema: &Map<String, Value>,
    found: f64,
    at: &str,
    what: &str,
) -> Result<(), Mismatch> {
    let bound = |side: &str| schema.get(&format!("{side}{what}")).and_then(Value::as_f64);
    let unit = match what {
        "Items" => " items",
        "Length" => " characters",
        _ => "",
    };
    if let Some(least) = bound("min").filter(|least| found < *least) {
        return Err(format!("{} is {found}{unit}, below {least}", place(at)).into());
    }
    if let Some(most) = bound("max").filter(|most| found > *most) {
        return Err(format!("{} is {found}{unit}, above {most}", place(at)).into());
    }
    Ok(())
}

fn place(at: &str) -> &str {
    if at.is_empty() { "the answer" } else { at }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "description": "what was learned",
            "properties": {
                "kind": {"type": "string", "enum": ["fact", "value"]},
                "note": {"type": ["string", "null"], "maxLength": 5},
                "weight": {"type": "number", "minimum": 0, "maximum": 1},
                "events": {
                    "type": "array",
                    "items": {"type": "integer"},
                    "minItems": 1,
                    "maxItems": 2,
                },
            },
            "required": ["kind", "note", "events"],
            "additionalProperties": false,
        })
    }

    #[track_caller]
    fn check_it(value: Value, expected: Result<(), &str>) {
        let found = check(&schema(), &value).map_err(|wrong| wrong.why);
        assert_eq!(found, expected.map_err(str::to_owned), "{value}");
    }

    #[test]
    fn what_agrees_passes() {
        check_it(json!({"kind": "fact", "note": null, "events": [1]}), Ok(()));
        check_it(
            json!({"kind": "value", "note": "übers", "events": [1.0, 2], "weight": 0.5}),
            Ok(()),
        );
    }

    #[test]
    fn the_first_fault_is_named_by_its_place() {
        check_it(json!([]), Err("the answer is of type array, not object"));
        check_it(
            json!({"kind": "fact", "events": [1]}),
            Err("/note is missing"),
        );
        check_it(
            json!({"kind": "rumour", "note": null, "events": [1]}),
            Err(r#"/kind is none of ["fact","value"]"#),
        );
        check_it(
            json!({"kind": "fact", "note": 3, "events": [1]}),
            Err("/note is of type number, not string or null"),
        );
        check_it(
            json!({"kind": "fact", "note": "longer", "events": [1]}),
            Err("/note is 6 characters, above 5"),
        );
        check_it(
            json!({"kind": "fact", "note": null, "events": []}),
            Err("/events is 0 items, below 1"),
        );
        check_it(
            json!({"kind": "fact", "note": null, "events": [1, 2, 3]}),
            Err("/events is 3 items, above 2"),
        );
        check_it(
            json!({"kind": "fact", "note": null, "events": [1, 2.5]}),
            Err("/events/1 is of type number, not integer"),
        );
        check_it(
            json!({"kind": "fact", "note": null, "events": [1], "weight": 2}),
            Err("/weight is 2, above 1"),
        );
        check_it(
            json!({"kind": "fact", "note": null, "events": [1], "more": 1}),
            Err("the answer has a field that is not allowed"),
        );
    }

    #[test]
    fn what_cannot_be_checked_is_refused() {
        assert_eq!(supported(&schema()), Ok(()));
        assert_eq!(
            supported(&json!({"type": "object", "properties": {"a": {"pattern": "^x"}}})),
            Err("the schema at /a uses pattern, which is not checked".to_owned())
        );
        assert_eq!(
            supported(&json!({"type": "array"})),
            Err("the schema of an answer must be of an object".to_owned())
        );
    }
}

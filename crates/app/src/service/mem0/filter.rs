//! Filters of mem0: `{"user_id": "ada"}`, with `AND`, `OR` and `NOT` of others, and operators such as `{"gte": …}`.

use anyhow::{Result, bail};
use serde_json::{Map, Value};

use crate::service::RequestError;

/// Deepest filter.
const DEPTH: usize = 16;
/// Names of owners.
pub(super) const OWNERS: [&str; 4] = ["user_id", "agent_id", "app_id", "run_id"];

/// A filter that was checked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter(Map<String, Value>);

impl Filter {
    /// Checks a filter.
    pub(crate) fn parse(given: Map<String, Value>) -> Result<Self> {
        check(&given, DEPTH)?;
        Ok(Self(given))
    }

    /// Whether a memory, as JSON, fits.
    pub(crate) fn fits(&self, memory: &Value) -> bool {
        fits_all(&self.0, memory)
    }

    /// Whether it names an owner anywhere, as mem0 demands of each search.
    pub(crate) fn names_owner(&self) -> bool {
        names_owner(&Value::Object(self.0.clone()))
    }

    /// The value that every memory that fits has in a field.
    pub(super) fn required(&self, field: &str) -> Option<&str> {
        required(&self.0, field)
    }
}

fn required<'a>(filter: &'a Map<String, Value>, field: &str) -> Option<&'a str> {
    let own = filter.get(field).and_then(Value::as_str);
    let own = own.filter(|value| *value != "*");
    own.or_else(|| {
        let all = filter.get("AND").and_then(Value::as_array)?;
        all.iter().find_map(|one| required(one.as_object()?, field))
    })
}

fn names_owner(filter: &Value) -> bool {
    match filter {
        Value::Object(fields) => fields
            .iter()
            .any(|(field, value)| OWNERS.contains(&field.as_str()) || names_owner(value)),
        Value::Array(all) => all.iter().any(names_owner),
        _ => false,
    }
}

fn invalid(message: String) -> anyhow::Error {
    RequestError::Invalid(message).into()
}

fn check(filter: &Map<String, Value>, depth: usize) -> Result<()> {
    if depth == 0 {
        bail!(invalid(format!("filters are at most {DEPTH} deep")));
    }
    for (field, value) in filter {
        match (field.as_str(), value) {
            ("AND" | "OR" | "NOT", Value::Array(all)) => {
                for one in all {
                    match one {
                        Value::Object(one) => check(one, depth - 1)?,
                        _ => bail!(invalid(format!("{field} is a list of filters"))),
                    }
                }
            }
            ("AND" | "OR" | "NOT", _) => bail!(invalid(format!("{field} is a list of filters"))),
            (_, Value::Object(operators)) if field != "metadata" => {
                let known = [
                    "in",
                    "gte",
                    "lte",
                    "gt",
                    "lt",
                    "ne",
                    "eq",
                    "contains",
                    "icontains",
                ];
                if let Some(unknown) = operators.keys().find(|it| !known.contains(&it.as_str())) {
                    let known = known.join(", ");
                    bail!(invalid(format!(
                        "there is no operator {unknown}; there are: {known}"
                    )));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn fits_all(filter: &Map<String, Value>, memory: &Value) -> bool {
    let fits_one = |one: &Value| one.as_object().is_some_and(|one| fits_all(one, memory));
    filter
        .iter()
        .all(|(field, wanted)| match (field.as_str(), wanted) {
            ("AND", Value::Array(all)) => all.iter().all(fits_one),
            ("OR", Value::Array(all)) => all.iter().any(fits_one),
            ("NOT", Value::Array(all)) => !all.iter().any(fits_one),
            ("metadata", Value::Object(wanted)) => wanted
                .iter()
                .all(|(field, wanted)| fits_value(&memory["metadata"][field], wanted)),
            _ => fits_value(value_of(memory, field), wanted),
        })
}

/// A field of the memory, or of its metadata.
fn value_of<'a>(memory: &'a Value, field: &str) -> &'a Value {
    match field {
        "keywords" => &memory["memory"],
        _ => memory.get(field).unwrap_or(&memory["metadata"][field]),
    }
}

fn fits_value(value: &Value, wanted: &Value) -> bool {
    match wanted {
        Value::Object(operators) => operators
            .iter()
            .all(|(name, with)| operate(name, value, with)),
        Value::String(any) if any == "*" => !value.is_null(),
        _ => is_equal(value, wanted),
    }
}

/// A list is equal to what it holds.
fn is_equal(value: &Value, wanted: &Value) -> bool {
    match value {
        Value::Array(all) if !wanted.is_array() => all.contains(wanted),
        _ => value == wanted,
    }
}

fn operate(name: &str, value: &Value, with: &Value) -> bool {
    let order = compare(value, with);
    match name {
        "in" => with
            .as_array()
            .is_some_and(|all| all.iter().any(|one| fits_value(value, one))),
        "eq" => is_equal(value, with),
        "ne" => !is_equal(value, with),
        "gt" => order.is_some_and(std::cmp::Ordering::is_gt),
        "gte" => order.is_some_and(std::cmp::Ordering::is_ge),
        "lt" => order.is_some_and(std::cmp::Ordering::is_lt),
        "lte" => order.is_some_and(std::cmp::Ordering::is_le),
        "contains" => contains(value, with, str::to_owned),
        _ => contains(value, with, str::to_lowercase),
    }
}

/// Numbers by their size; texts, and so times of one form, by their letters.
fn compare(value: &Value, with: &Value) -> Option<std::cmp::Ordering> {
    match (value, with) {
        (Value::Number(one), Value::Number(other)) => one.as_f64()?.partial_cmp(&other.as_f64()?),
        (Value::String(one), Value::String(other)) => Some(one.cmp(other)),
        _ => None,
    }
}

fn contains(value: &Value, part: &Value, form: fn(&str) -> String) -> bool {
    let Some(part) = part.as_str().map(form) else {
        return false;
    };
    match value {
        Value::String(text) => form(text).contains(&part),
        Value::Array(all) => all
            .iter()
            .any(|one| one.as_str().is_some_and(|one| form(one) == part)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filter(given: Value) -> Result<Filter> {
        Filter::parse(given.as_object().cloned().expect("an object"))
    }

    #[test]
    fn filters_of_all_forms_choose_memories() {
        let memory = json!({
            "memory": "prefers green tea", "user_id": "ada", "agent_id": null, "categories": ["preference"],
            "created_at": "2026-03-02T08:15:00Z", "metadata": {"level": 3, "source": "chat"},
        });
        for (given, fits) in [
            (json!({}), true),
            (json!({"user_id": "ada"}), true),
            (json!({"user_id": "grace"}), false),
            (json!({"user_id": "*"}), true),
            (json!({"agent_id": "*"}), false),
            (
                json!({"AND": [{"user_id": "ada"}, {"created_at": {"gte": "2026-03-01", "lt": "2026-04-01"}}]}),
                true,
            ),
            (
                json!({"AND": [{"user_id": "ada"}, {"level": {"gt": 3}}]}),
                false,
            ),
            (
                json!({"OR": [{"user_id": "grace"}, {"source": "chat"}]}),
                true,
            ),
            (
                json!({"NOT": [{"user_id": "grace"}, {"user_id": "ada"}]}),
                false,
            ),
            (json!({"metadata": {"source": "chat"}}), true),
            (json!({"metadata": {"source": {"ne": "chat"}}}), false),
            (json!({"categories": {"in": ["preference", "fact"]}}), true),
            (json!({"categories": {"contains": "preference"}}), true),
            (json!({"keywords": {"icontains": "GREEN"}}), true),
            (json!({"keywords": {"contains": "GREEN"}}), false),
        ] {
            assert_eq!(
                filter(given.clone()).expect("a filter").fits(&memory),
                fits,
                "{given}"
            );
        }
    }

    #[test]
    fn what_every_memory_must_have_is_known_and_nonsense_is_refused() {
        let both = filter(json!({"AND": [{"OR": []}, {"user_id": "ada"}]})).expect("a filter");
        assert_eq!(
            (both.required("user_id"), both.names_owner()),
            (Some("ada"), true)
        );
        let either = filter(json!({"OR": [{"user_id": "ada"}]})).expect("a filter");
        assert_eq!(
            (either.required("user_id"), either.names_owner()),
            (None, true)
        );
        assert!(!filter(json!({"level": 3})).expect("a filter").names_owner());
        for nonsense in [
            json!({"AND": {}}),
            json!({"OR": [1]}),
            json!({"a": {"like": 1}}),
        ] {
            assert!(filter(nonsense.clone()).is_err(), "{nonsense}");
        }
    }
}

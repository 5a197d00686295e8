//! Finds the one JSON object in a model's text.
//!
//! Models put fences, greetings and explanations around their answer, and commas before its closing
//! brackets. Those are forgiven. An object that ends before it is closed is not, and neither is anything
//! within it: half an answer must not be taken for one.

use serde_json::error::Category;
use serde_json::{Deserializer, Value};

/// Opening brackets that are tried in one text, so that hostile text costs no more than that many passes.
const MOST_BEGINNINGS: usize = 64;

/// The result of searching a text for objects.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ObjectSearch {
    /// Whole objects, in their order; never none.
    Objects(Vec<Value>),
    /// An object begins that the text does not end.
    Cut,
    /// No object.
    Nothing,
}

/// Looks for JSON objects in `text`.
pub(crate) fn objects(text: &str) -> ObjectSearch {
    let mut found = Vec::new();
    let mut from = 0;
    for _ in 0..MOST_BEGINNINGS {
        let Some(start) = beginning(text, from) else {
            break;
        };
        match object(&text[start..]) {
            ParsedObject::Whole(value, length) => {
                found.push(value);
                from = start + length;
            }
            ParsedObject::Wrong => from = start + 1,
            ParsedObject::Cut => return ObjectSearch::Cut,
        }
    }
    if found.is_empty() {
        return ObjectSearch::Nothing;
    }
    ObjectSearch::Objects(found)
}

/// Where the next object may begin: a bracket, and then a name or the other bracket.
fn beginning(text: &str, from: usize) -> Option<usize> {
    let brackets = text[from..].match_indices('{').map(|(at, _)| from + at);
    let mut brackets = brackets.filter(|at| {
        let next = text[at + 1..].trim_start().chars().next();
        matches!(next, Some('"' | '}') | None)
    });
    brackets.next()
}

enum ParsedObject {
    Whole(Value, usize),
    Wrong,
    Cut,
}

fn object(text: &str) -> ParsedObject {
    match parse(text) {
        ParsedObject::Wrong => {
            let (without, left_out) = without_trailing_commas(text);
            match parse(&without) {
                ParsedObject::Whole(value, length) => {
                    let before = left_out.iter().take_while(|at| **at < length).count();
                    ParsedObject::Whole(value, length + before)
                }
                other => other,
            }
        }
        other => other,
    }
}

fn parse(text: &str) -> ParsedObject {
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => ParsedObject::Whole(value, values.byte_offset()),
        Some(Err(error)) if error.classify() == Category::Eof => ParsedObject::Cut,
        Some(Err(_)) => ParsedObject::Wrong,
        None => ParsedObject::Cut,
    }
}

/// `text` without commas before closing brackets, and where in the new text each was left out.
fn without_trailing_commas(text: &str) -> (String, Vec<usize>) {
    let mut kept = String::with_capacity(text.len());
    let mut left_out = Vec::new();
    let (mut quoted, mut escaped) = (false, false);
    for (at, character) in text.char_indices() {
        let closes = || text[at + 1..].trim_start().starts_with(['}', ']']);
        match character {
            ',' if !quoted && closes() => {
                left_out.push(kept.len());
                continue;
            }
            '"' if !escaped => quoted = !quoted,
            _ => {}
        }
        escaped = character == '\\' && !escaped;
        kept.push(character);
    }
    (kept, left_out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: ObjectSearch) {
        assert_eq!(objects(text), expected, "{text}");
    }

    fn one(value: Value) -> ObjectSearch {
        ObjectSearch::Objects(vec![value])
    }

    #[test]
    fn what_stands_around_an_object_is_forgiven() {
        check(r#"{"a":1}"#, one(json!({"a": 1})));
        check("```json\n{\"a\":1}\n```", one(json!({"a": 1})));
        check(
            r#"Sure! Use { to open. {"a":"}"} Anything else?"#,
            one(json!({"a": "}"})),
        );
        check(
            r#"{"a":[1,2,],"b":{"c":",}",},} done"#,
            one(json!({"a": [1, 2], "b": {"c": ",}"}})),
        );
        check("{}", one(json!({})));
        check(
            r#"{"a":1,} {"b":2}"#,
            ObjectSearch::Objects(vec![json!({"a": 1}), json!({"b": 2})]),
        );
    }

    #[test]
    fn half_an_object_is_none_and_holds_none() {
        check(r#"{"a":1"#, ObjectSearch::Cut);
        check(r#"{"items":[{"a":1},{"a":2}"#, ObjectSearch::Cut);
        check(r#"{"items":[{"a":1},{"a":2},"#, ObjectSearch::Cut);
        check(r#"here: {"a":tru"#, ObjectSearch::Cut);
        check(r#"{"a":1} and {"b":"#, ObjectSearch::Cut);
        check("{", ObjectSearch::Cut);
    }

    #[test]
    fn other_text_holds_no_object() {
        check("", ObjectSearch::Nothing);
        check("I cannot do that.", ObjectSearch::Nothing);
        check("[1, 2]", ObjectSearch::Nothing);
        check("{a: 1}", ObjectSearch::Nothing);
        check(r#"{"a" 1}"#, ObjectSearch::Nothing);
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-z\"\\\\{},]{0,6}", inner, 0..5)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    fn json_object() -> impl Strategy<Value = Value> {
        prop::collection::btree_map("[a-z{}\"]{1,6}", json_value(), 1..5)
            .prop_map(|fields| Value::Object(fields.into_iter().collect()))
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in any::<String>()) {
            objects(&text);
        }

        #[test]
        fn no_heap_of_brackets_is_too_high(text in "[\\[\\]{}\",:\\\\a1 \n]{0,400}") {
            objects(&text);
        }

        #[test]
        fn an_object_is_found_in_noise(
            object in json_object(),
            before in "[^{}\"]{0,40}",
            after in "[^{}\"]{0,40}",
            pretty in any::<bool>(),
        ) {
            let written = if pretty { format!("{object:#}") } else { object.to_string() };
            prop_assert_eq!(objects(&format!("{before}{written}{after}")), one(object));
        }

        #[test]
        fn an_object_that_is_cut_is_never_taken(
            object in json_object(),
            before in "[^{}\"]{0,20}",
            share in 0.0..1.0_f64,
        ) {
            let written = object.to_string();
            let wanted = (written.len() as f64 * share) as usize;
            let end = (0..=wanted).rev().find(|at| written.is_char_boundary(*at)).unwrap_or(0);
            let cut = format!("{before}{}", &written[..end]);
            let found = objects(&cut);
            prop_assert!(!matches!(found, ObjectSearch::Objects(_)), "{cut} gave {found:?}");
        }
    }
}

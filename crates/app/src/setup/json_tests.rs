use jsonc_parser::ast::Value;

use super::*;

fn appended(text: &str) -> String {
    let document = Document::parse(text).expect("JSON");
    let value = Json::Object(vec![("a", Json::List(vec![Json::Text("x".to_owned())]))]);
    match document.root.as_ref().expect("a value") {
        Value::Object(object) => {
            document.appended(&EntrySpans::of_object(object), Some("new"), &value)
        }
        Value::Array(list) => document.appended(&EntrySpans::of_list(list), None, &value),
        _ => unreachable!("the tests hold objects and lists"),
    }
}

fn without_last(text: &str) -> String {
    let document = Document::parse(text).expect("JSON");
    let spans = match document.root.as_ref().expect("a value") {
        Value::Object(object) => EntrySpans::of_object(object),
        Value::Array(list) => EntrySpans::of_list(list),
        _ => unreachable!("the tests hold objects and lists"),
    };
    document.without(&spans, spans.entries.len() - 1)
}

#[test]
fn an_entry_comes_in_the_files_own_layout_and_leaves_no_trace() {
    for (before, after) in [
        ("{}", "{\n  \"new\": {\n    \"a\": [\"x\"]\n  }\n}"),
        ("{\"b\":1}", "{\"b\":1,\"new\":{\"a\":[\"x\"]}}"),
        ("{\"b\": 1}", "{\"b\": 1, \"new\": {\"a\": [\"x\"]}}"),
        (
            "{\r\n\t\"b\": 1\r\n}\r\n",
            "{\r\n\t\"b\": 1,\r\n\t\"new\": {\r\n\t\t\"a\": [\"x\"]\r\n\t}\r\n}\r\n",
        ),
        (
            "{\n    \"b\": 1, // why\n}\n",
            "{\n    \"b\": 1, // why\n    \"new\": {\n        \"a\": [\"x\"]\n    },\n}\n",
        ),
        (
            "{\n  \"b\": 1 /* one */ // why\n}",
            "{\n  \"b\": 1, /* one */ // why\n  \"new\": {\n    \"a\": [\"x\"]\n  }\n}",
        ),
        (
            "{ // nothing yet\n}",
            "{\n  \"new\": {\n    \"a\": [\"x\"]\n  } // nothing yet\n}",
        ),
        ("[1,\n 2]", "[1,\n 2,\n {\n   \"a\": [\"x\"]\n }]"),
    ] {
        assert_eq!(appended(before), after);
        assert_eq!(without_last(after), before);
    }
}

#[test]
fn taking_an_entry_out_never_puts_another_behind_a_comment() {
    for (before, after) in [
        ("[1, // c\n2]", "[1 // c\n]"),
        ("[1, // c\n2,]", "[1, // c\n]"),
    ] {
        let left = without_last(before);
        let document = Document::parse(&left).expect("JSON");
        let count = document
            .root
            .as_ref()
            .and_then(Value::as_array)
            .map(|list| list.elements.len());
        assert_eq!((left.as_str(), count), (after, Some(1)));
    }
}

#[test]
fn what_is_not_json_is_refused() {
    for text in [
        "{\"a\": }",
        "{a: 1}",
        "{'a': 1}",
        "{} {}",
        "{\"a\": 1 \"b\": 2}",
    ] {
        assert!(Document::parse(text).is_err(), "{text}");
    }
}

use serde::Deserialize;

use super::*;

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct LenientSample<'j> {
    #[serde(borrow)]
    text: Text<'j>,
    flag: Flag,
    object: Object<Inner<'j>>,
    content: Content<'j, Inner<'j>>,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Inner<'j> {
    #[serde(borrow)]
    text: Text<'j>,
}

fn sample(json: &str) -> LenientSample<'_> {
    serde_json::from_str(json).unwrap()
}

fn text(text: &str) -> Text<'_> {
    Text(Cow::Borrowed(text))
}

#[test]
fn expected_fields_are_read() {
    let inner = Inner { text: text("b") };
    assert_eq!(
        sample(r#"{"text":"a","flag":true,"object":{"text":"b"},"content":["c",{"text":"d"},1]}"#),
        LenientSample {
            text: text("a"),
            flag: Flag(true),
            object: Object(Some(inner)),
            content: Content::Parts(vec![
                ContentMember::Text(Cow::Borrowed("c")),
                ContentMember::Object(Inner { text: text("d") }),
                ContentMember::Other,
            ]),
        }
    );
}

#[test]
fn unexpected_fields_count_as_absent() {
    for value in [
        "null",
        "1",
        "-1",
        "1.5",
        "[[{}]]",
        "{\"x\":{}}",
        "true",
        "\"s\"",
    ] {
        let json =
            format!(r#"{{"text":{value},"flag":{value},"object":{value},"content":{value}}}"#);
        let sample = sample(&json);
        assert_eq!(sample.text.get(), (value == "\"s\"").then_some("s"));
        assert_eq!(sample.flag, Flag(value == "true"));
        assert_eq!(sample.object.0.is_some(), value.starts_with('{'));
        assert_eq!(matches!(sample.content, Content::Text(_)), value == "\"s\"");
    }
}

#[test]
fn texts_are_borrowed_where_they_can_be() {
    assert!(matches!(
        sample(r#"{"text":"plain"}"#).text.0,
        Cow::Borrowed("plain")
    ));
    assert!(matches!(
        sample(r#"{"text":"es\tcaped"}"#).text.0,
        Cow::Owned(_)
    ));
}

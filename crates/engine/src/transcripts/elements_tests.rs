use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Hands out a few bytes at a time.
struct Dripping<'b>(&'b [u8], usize);

impl Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.0.len().min(self.1).min(buffer.len());
        buffer[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

/// All pieces with their numbers, and whether the document was complete.
fn pieces(document: &str, at_once: usize) -> (Vec<(u32, String)>, bool) {
    let mut reader = ElementReader::new(Dripping(document.as_bytes(), at_once), MESSAGES);
    let mut pieces = Vec::new();
    loop {
        match reader.step().unwrap() {
            PieceStep::Piece(line) => {
                pieces.push((line.number, String::from_utf8(line.bytes.to_vec()).unwrap()));
            }
            PieceStep::TooLong { number, .. } => pieces.push((number, "too long".to_owned())),
            PieceStep::Partial { .. } => return (pieces, false),
            PieceStep::End => return (pieces, true),
        }
    }
}

fn check(document: &str, expected: &[(u32, &str)], complete: bool) {
    for at_once in [1, 7, 4096] {
        let (pieces, whole) = pieces(document, at_once);
        let pieces: Vec<(u32, &str)> = pieces
            .iter()
            .map(|(number, piece)| (*number, &**piece))
            .collect();
        assert_eq!((&*pieces, whole), (expected, complete), "{document}");
    }
}

#[test]
fn a_list_is_cut_into_its_members() {
    check(
        r#"[{"a":[1]}, {"b":"]}"}]"#,
        &[(1, r#"{"a":[1]}"#), (2, r#"{"b":"]}"}"#)],
        true,
    );
    check("\u{feff} [\n]\n", &[], true);
    check(
        r#"[1,"x\"]",null,[2]]"#,
        &[(1, "1"), (2, r#""x\"]""#), (3, "null"), (4, "[2]")],
        true,
    );
}

#[test]
fn what_an_object_says_before_its_list_comes_first() {
    check(
        r#"{"id":"m","meta":{"messages":[0]},"messages":[{"a":1},{"b":2}],"later":[3]}"#,
        &[
            (0, r#"{"id":"m","meta":{"messages":[0]},"messages":[]}"#),
            (1, r#"{"a":1}"#),
            (2, r#"{"b":2}"#),
        ],
        true,
    );
}

#[test]
fn a_text_that_is_called_like_the_list_is_not_the_list() {
    check(
        r#"{"a":"messages","b":["x"],"messages":"none"}"#,
        &[(0, r#"{"a":"messages","b":["x"],"messages":"none"}"#)],
        true,
    );
}

#[test]
fn a_document_that_was_cut_off_gives_what_is_complete() {
    check(r#"[{"a":1},{"b""#, &[(1, r#"{"a":1}"#)], false);
    check(
        r#"{"messages":[{"a":1}"#,
        &[(0, r#"{"messages":[]}"#), (1, r#"{"a":1}"#)],
        false,
    );
}

#[test]
fn documents_may_follow_one_another() {
    check(
        "{\"messages\":[1]}\n{\"messages\":[2]}",
        &[
            (0, r#"{"messages":[]}"#),
            (1, "1"),
            (0, r#"{"messages":[]}"#),
            (2, "2"),
        ],
        true,
    );
}

proptest! {
    #[test]
    fn any_list_is_cut_where_it_should_be(members in prop::collection::vec(value(), 0..6), at_once in 1_usize..40, indented in any::<bool>()) {
        let document = json!({"first": {"x": "messages"}, "messages": members});
        let text = if indented { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) }.unwrap();
        let (pieces, whole) = pieces(&text, at_once);
        let read: Vec<Value> = pieces[1..].iter().map(|(_, piece)| serde_json::from_str(piece).unwrap()).collect();
        prop_assert!(whole);
        prop_assert_eq!(read, members);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), at_once in 1_usize..9) {
        let mut reader = ElementReader::new(Dripping(&bytes, at_once), MESSAGES);
        while let PieceStep::Piece(_) | PieceStep::TooLong { .. } = reader.step().unwrap() {}
    }
}

/// Any JSON value.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        Just(json!("messages")),
    ];
    leaf.prop_recursive(3, 20, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-z\"\\\\]{0,8}", inner), 0..5)
                .prop_map(|pairs| pairs.into_iter().collect::<Value>()),
        ]
    })
}

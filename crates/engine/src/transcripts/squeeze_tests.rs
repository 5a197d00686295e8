use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use daybook_text::cut::bytes_cut;

/// Squeezes in chunks of the given sizes, in turn.
fn squeezed(text: &str, chunks: &[usize]) -> Option<String> {
    let mut assembly = Assembly::default();
    let mut rest = text.as_bytes();
    let mut sizes = chunks.iter().cycle();
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
        assembly.push(chunk);
        rest = after;
    }
    assert_eq!(assembly.length(), text.len() as u64);
    assembly
        .finish()
        .map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
}

/// The value without what its texts say.
fn structure(value: &Value) -> Value {
    match value {
        Value::String(_) => json!("text"),
        Value::Array(members) => members.iter().map(structure).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), structure(value)))
            .collect(),
        other => other.clone(),
    }
}

#[test]
fn a_long_text_keeps_its_head_and_its_tail() {
    let long = format!("begin {}end", "x".repeat(2_000_000));
    let text = json!({"a": 1, "long": long, "b": [2]}).to_string();
    let squeezed: Value = serde_json::from_str(&squeezed(&text, &[9999]).unwrap()).unwrap();
    assert_eq!((&squeezed["a"], &squeezed["b"]), (&json!(1), &json!([2])));
    let kept = squeezed["long"].as_str().unwrap();
    assert!(kept.starts_with("begin x") && kept.ends_with("xend"));
    assert_eq!(
        kept.len() as u64 - marker(bytes_cut(kept), &blake3::hash(b"")).len() as u64
            + bytes_cut(kept),
        long.len() as u64
    );
}

#[test]
fn a_long_piece_of_short_texts_is_left_as_it_is() {
    let text = json!(vec!["a text of \"some\" length \\"; 60_000]).to_string();
    assert!(text.len() > UNTOUCHED);
    assert_eq!(squeezed(&text, &[1000]).as_deref(), Some(&*text));
}

#[test]
fn no_half_of_a_word_stays_behind() {
    let long = "secret ".repeat(200_000);
    let squeezed = squeezed(&json!(long).to_string(), &[4096]).unwrap();
    let (head, rest) = squeezed.split_once('…').unwrap();
    let tail = rest.rsplit_once('…').unwrap().1;
    assert!(head.ends_with("secret ") && tail.starts_with(" secret"));
}

#[test]
fn a_text_of_exactly_the_longest_length_is_kept() {
    for (length, cut) in [(LITERAL, false), (LITERAL + 1, true)] {
        let text = json!(["y".repeat(700_000), "x".repeat(length)]).to_string();
        let squeezed = squeezed(&text, &[UNTOUCHED]).unwrap();
        let second: Vec<String> = serde_json::from_str(&squeezed).unwrap();
        assert_eq!(second[1].contains('…'), cut, "{length}");
    }
}

#[test]
fn what_is_too_long_even_squeezed_is_dropped() {
    let text = "1,".repeat(SQUEEZED / 2 + 1);
    assert_eq!(squeezed(&text, &[1 << 20]), None);
}

#[test]
fn text_that_is_no_json_is_bounded_too() {
    let text = format!("\"{}", "no end ".repeat(1_000_000));
    assert!(squeezed(&text, &[1 << 16]).unwrap().len() < LITERAL);
}

/// Texts in which a cut can go wrong, as JSON writes them.
fn awkward() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "\\n",
        "\\\\",
        "\\\"",
        "\\u00e9",
        "\\ud83d\\ude00",
        "é",
        "😀",
        " ",
        "\\\\u",
        "…",
        "\\/",
    ]);
    prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn squeezing_keeps_json_and_its_structure(
        unit in awkward(),
        times in 1_usize..40,
        small in prop::collection::vec(("[a-z]{1,4}", "\\PC{0,8}"), 0..5),
        chunks in prop::collection::vec(1_usize..400_000, 1..4),
    ) {
        // Between a quarter and ten times the longest text that stays whole.
        let long = unit.repeat(times * LITERAL / 4 / unit.len() + 1);
        let small: Value = small.into_iter().map(|(key, value)| (key, Value::from(value))).collect();
        let text = format!(r#"{{"small":{small},"long":["{long}",1,"{long}"],"{unit}":null}}"#);
        let before: Value = serde_json::from_str(&text).unwrap();
        let squeezed_text = squeezed(&text, &chunks).unwrap();
        let after: Value = serde_json::from_str(&squeezed_text).unwrap();
        prop_assert_eq!(structure(&after), structure(&before));
        prop_assert_eq!(&after["small"], &before["small"]);
        if text.len() <= UNTOUCHED || long.len() <= LITERAL {
            prop_assert_eq!(&squeezed_text, &text);
        } else {
            prop_assert!(squeezed_text.len() < 2 * (HEAD + TAIL) + 10_000);
        }
        prop_assert_eq!(squeezed(&text, &[UNTOUCHED / 3]).unwrap(), squeezed_text);
    }
}

proptest! {
    #[test]
    fn borders_never_part_a_character(unit in awkward(), times in 1_usize..9, want in 0_usize..200) {
        let literal = unit.repeat(times);
        let (before, after) = border(literal.as_bytes(), want);
        let want = want.min(literal.len());
        prop_assert!(before <= want && want <= after && after - before <= 12);
        for part in [&literal[..before], &literal[before..], &literal[..after], &literal[after..]] {
            prop_assert!(serde_json::from_str::<String>(&format!("\"{part}\"")).is_ok(), "{part}");
        }
    }
}

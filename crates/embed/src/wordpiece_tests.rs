use serde::Deserialize;

use super::*;
use crate::StaticModel;

#[derive(Deserialize)]
struct TokenizerReference {
    text: String,
    tokens: Vec<String>,
}

fn tokens(text: &str) -> Vec<String> {
    let vocabulary = StaticModel::built_in().vocabulary();
    let mut found = Vec::new();
    for_each_token(vocabulary, text, |token| {
        let name = std::str::from_utf8(vocabulary.name(token)).expect("names are UTF-8");
        found.push(name.to_owned());
    });
    found
}

fn check(text: &str, expected: &str) {
    assert_eq!(tokens(text).join(" "), expected, "{text:?}");
}

#[test]
fn texts_give_the_tokens_that_the_teachers_tokenizer_gives() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tokens.json");
    let file = std::fs::read_to_string(path).expect("the fixture is committed");
    let references: Vec<TokenizerReference> =
        serde_json::from_str(&file).expect("the fixture is JSON");
    assert!(references.len() >= 200);
    for mut reference in references {
        // Unknown words have no vector here, so their mark has no row.
        reference.tokens.retain(|token| token != "[UNK]");
        assert_eq!(
            tokens(&reference.text),
            reference.tokens,
            "{:?}",
            reference.text
        );
    }
}

#[test]
fn the_longest_token_comes_first() {
    check("gardening", "gardening");
    check("embroideries", "em ##bro ##ider ##ies");
}

#[test]
fn a_word_with_an_unknown_part_has_no_tokens() {
    check("\u{2603}snow rain", "rain");
    check(&"a".repeat(101), "");
}

#[test]
fn marks_of_the_vocabulary_in_a_text_are_plain_text() {
    check("[CLS] ##ing", "[ cl ##s ] # # ing");
}

use super::*;

#[test]
fn sentences_are_joined_up_to_a_length() {
    let sentence = "Ten words make this sentence of mine and no more. ";
    let text = sentence.repeat(9);
    let passages = passages(&text);
    assert_eq!(passages.concat(), text);
    let words: Vec<usize> = passages
        .iter()
        .map(|p| p.split_whitespace().count())
        .collect();
    assert_eq!(words, [40, 40, 10]);
}

#[test]
fn a_sentence_without_an_end_is_cut_between_words() {
    let text = "word ".repeat(400);
    let passages = passages(&text);
    assert_eq!(passages.concat(), text);
    assert!(
        passages
            .iter()
            .all(|passage| passage.len() <= SENTENCE_BYTES)
    );
    assert!(passages.iter().all(|passage| passage.ends_with(' ')));
}

#[test]
fn scripts_without_blanks_have_passages_too() {
    let text = "これは長い文章です。".repeat(60);
    let passages = passages(&text);
    assert_eq!(passages.concat(), text);
    assert!(passages.len() > 1);
}

#[test]
fn the_speaker_stands_before_a_colon() {
    assert_eq!(speaker("Ada: hello"), Some(("Ada", " hello")));
    assert_eq!(
        speaker("[8 May 2023] Ada Lovelace: hi"),
        Some(("Ada Lovelace", " hi"))
    );
    assert_eq!(speaker("Ada (8 May): hi"), Some(("Ada", " hi")));
    for none in [
        "hello: you",
        "see https://a.b",
        "Ada:hello",
        "The one who Said That: no",
        "",
    ] {
        assert_eq!(speaker(none), None, "{none}");
    }
}

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

/// Each text with whether it is open.
fn parts(passage: &str) -> Vec<(&str, bool)> {
    let parts = sentences(passage, true);
    parts.iter().map(|part| (part.text, part.is_open)).collect()
}

#[test]
fn questions_stand_apart_from_what_is_said() {
    assert_eq!(
        parts("It is 500. Or is it? Really?! Yes. So be it."),
        [
            ("It is 500.", false),
            (" Or is it? Really?!", true),
            (" Yes. So be it.", false)
        ]
    );
    for question in [
        "Is it?",
        "“Is it?”",
        "(Is it?)",
        "**Is it?**\n",
        "これは何ですか？",
        "ما هذا؟",
    ] {
        assert_eq!(parts(question), [(question, true)], "{question}");
    }
    for said in ["It is 500.", "let it = parse()?;", "/search?q=tide"] {
        assert_eq!(parts(said), [(said, false)], "{said}");
    }
}

#[test]
fn announcements_stand_apart_too() {
    for announced in [
        "Let me look.",
        "Now, let me look at it",
        "**Let me** see:",
        "I'll look at it.",
        "Then I will look.",
        "The root cause:",
    ] {
        assert_eq!(parts(announced), [(announced, true)], "{announced}");
    }
    for said in [
        "Let men look.",
        "They let me look.",
        "I look.",
        "Ill wind",
        "now",
        "",
    ] {
        assert!(parts(said).iter().all(|(_, is_open)| !is_open), "{said}");
    }
    let heading = "The root cause:\n";
    let is_open = |is_last| sentences(heading, is_last)[0].is_open;
    assert!(is_open(true) && !is_open(false));
    assert_eq!(parts("The root cause:\nIt is late.").len(), 1);
}

#[test]
fn sentences_are_all_of_a_passage() {
    let text = "What? No. Why? Because it is. Let me see. Is it? ";
    let joined: String = parts(text).iter().map(|(part, _)| *part).collect();
    assert_eq!(joined, text);
}

use std::io::Write;

use tempfile::NamedTempFile;

use super::*;

const SAMPLE: &str = r#"[{
  "sample_id": "conv-1",
  "conversation": {
    "speaker_a": "Ada", "speaker_b": "Ben",
    "session_2_date_time": "10:05 am on 2 June, 2023",
    "session_2": [{"speaker": "Ada", "dia_id": "D2:1", "text": "The boat is sold."}],
    "session_10_date_time": "12:30 pm on 3 July, 2023",
    "session_10": [{"speaker": "Ben", "dia_id": "D10:5", "text": "Rain.", "blip_caption": "a wet pier"}],
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
      {"speaker": "Ada", "dia_id": "D1:1", "text": "I bought a boat."},
      {"speaker": "Ben", "dia_id": "D1:2", "text": "Which colour?"}
    ],
    "session_11_date_time": "9:00 am on 4 July, 2023"
  },
  "qa": [
    {"question": "a", "answer": 2022, "evidence": ["D1:1; D2:1"], "category": 1},
    {"question": "b", "answer": "x", "evidence": ["D:1:2"], "category": 2},
    {"question": "c", "answer": "x", "evidence": ["D10:05,D1:1"], "category": 3},
    {"question": "d", "answer": "x", "evidence": ["D1:1 D1:1", "D9:9"], "category": 4},
    {"question": "e", "answer": "x", "evidence": ["D", "D9:9"], "category": 4},
    {"question": "f", "answer": "x", "evidence": [], "category": 4},
    {"question": "g", "adversarial_answer": "x", "evidence": ["D1:2"], "category": 5}
  ]
}]"#;

fn load(text: &str) -> Result<Dataset, EvalError> {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    load_locomo(file.path())
}

fn problem(text: &str) -> String {
    let message = load(text).unwrap_err().to_string();
    message.split_once("read: ").unwrap().1.to_owned()
}

#[test]
fn sessions_are_in_order_and_turns_begin_with_their_speaker() {
    let dataset = load(SAMPLE).unwrap();
    let sessions = &dataset.conversations[0].sessions;
    let shown: Vec<(String, i64, Vec<&str>)> = sessions
        .iter()
        .map(|session| {
            let texts = session.turns.iter().map(|turn| &*turn.text).collect();
            (session.id.host_id.clone(), session.turns[0].at.0, texts)
        })
        .collect();
    let expected = [
        (
            "conv-1-s1".to_owned(),
            1_683_554_160_000,
            vec!["Ada: I bought a boat.", "Ben: Which colour?"],
        ),
        (
            "conv-1-s2".to_owned(),
            1_685_700_300_000,
            vec!["Ada: The boat is sold."],
        ),
        (
            "conv-1-s10".to_owned(),
            1_688_387_400_000,
            vec!["Ben: Rain. [a wet pier]"],
        ),
    ];
    assert_eq!(shown, expected);
    let mut speakers = sessions.iter().flat_map(|session| &session.turns);
    assert!(speakers.all(|turn| turn.speaker == BenchmarkSpeaker::Person));
    assert_eq!(dataset.conversations[0].participants, ["Ada", "Ben"]);
}

#[test]
fn evidence_is_found_however_its_ids_are_written() {
    let dataset = load(SAMPLE).unwrap();
    let shown: Vec<(&str, &str, Vec<&str>, Counting)> = dataset.conversations[0]
        .questions
        .iter()
        .map(|question| {
            let labels = question.evidence.iter().map(|piece| &*piece.label);
            let (text, class) = (&*question.text, &*question.class);
            (text, class, labels.collect(), question.counting)
        })
        .collect();
    let expected = [
        ("a", "multi-hop", vec!["D1:1", "D2:1"], Counting::Counted),
        ("b", "temporal", vec!["D1:2"], Counting::Counted),
        ("c", "open-domain", vec!["D10:5", "D1:1"], Counting::Counted),
        ("d", "single-hop", vec!["D1:1"], Counting::Counted),
        ("g", "adversarial", vec!["D1:2"], Counting::Apart),
    ];
    assert_eq!(shown, expected);
    assert_eq!(dataset.conversations[0].questions[0].answer, "2022");
}

#[test]
fn what_is_dropped_is_reported() {
    let left_out = load(SAMPLE).unwrap().left_out;
    let shown: Vec<(&str, Option<&str>, &str)> = left_out
        .iter()
        .map(|left| (&*left.question, left.evidence.as_deref(), left.reason))
        .collect();
    let expected = [
        ("q4", Some("D9:9"), "names no turn"),
        ("q5", Some("D"), "names no turn"),
        ("q5", Some("D9:9"), "names no turn"),
        ("q5", None, "has no evidence"),
        ("q6", None, "has no evidence"),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn a_damaged_file_is_refused_with_the_place() {
    let cut = SAMPLE.replace("\"speaker_b\": \"Ben\",", "\"speaker_b\": \"Ben");
    assert!(problem(&cut).starts_with("line 5, column 0: control character"));
    let undated = SAMPLE.replace("1:56 pm on 8 May, 2023", "yesterday");
    let expected =
        "conv-1, session_1: session_1_date_time is not a time such as `1:56 pm on 8 May, 2023`";
    assert_eq!(problem(&undated), expected);
    let unspoken = SAMPLE.replace(
        r#"{"speaker": "Ben", "dia_id": "D10:5""#,
        r#"{"dia_id": "D10:5""#,
    );
    assert_eq!(
        problem(&unspoken),
        "conv-1, session_10: missing field `speaker`"
    );
    let other = r#"[{"question_id": "t-1"}]"#;
    assert!(problem(other).contains("missing field `conversation`"));
}

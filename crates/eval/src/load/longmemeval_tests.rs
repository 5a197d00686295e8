use std::io::Write;

use tempfile::NamedTempFile;

use super::*;

const SAMPLE: &str = r#"[
 {"question_id": "t-1", "question_type": "knowledge-update", "question": "a", "answer": 3,
  "haystack_session_ids": ["s1", "answer_s2", "s1"],
  "haystack_dates": ["2026/03/15 (Sun) 10:12", "2026/04/02 (Thu) 18:40", "2026/04/03 (Fri) 08:05"],
  "haystack_sessions": [
   [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello!"}],
   [{"role": "user", "content": "Oban now.", "has_answer": true}, {"role": "assistant", "content": "Oban."}],
   [{"role": "user", "content": "Again."}]],
  "answer_session_ids": ["answer_s2"]},
 {"question_id": "t-2", "question_type": "multi-session", "question": "b", "answer": "x",
  "haystack_session_ids": ["s1", "s2"],
  "haystack_dates": ["2026/03/15 (Sun) 10:12", "2026/04/02 (Thu) 18:40"],
  "haystack_sessions": [
   [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello!"}],
   [{"role": "user", "content": "Bye."}]],
  "answer_session_ids": ["s1", "s9"]},
 {"question_id": "t-3_abs", "question_type": "single-session-user", "question": "c", "answer": "Not said.",
  "haystack_session_ids": ["s1"], "haystack_dates": ["2026/03/15 (Sun) 10:12"],
  "haystack_sessions": [[{"role": "user", "content": "Hello."}]],
  "answer_session_ids": ["s1"]}
]"#;

fn load(text: &str) -> Result<Dataset, EvalError> {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    load_longmemeval(file.path())
}

fn problem(text: &str) -> String {
    let message = load(text).unwrap_err().to_string();
    message.split_once("read: ").unwrap().1.to_owned()
}

#[test]
fn evidence_is_the_marked_turns_else_the_sessions_and_none_where_abstaining_is_right() {
    let dataset = load(SAMPLE).unwrap();
    let session = |name: &str| session_id(name.to_owned());
    let questions: Vec<&BenchmarkQuestion> = dataset
        .conversations
        .iter()
        .flat_map(|conversation| &conversation.questions)
        .collect();
    assert_eq!(
        questions[0].evidence,
        [EvidencePiece::turn("answer_s2:1", &session("answer_s2"), 0)]
    );
    let whole = EvidencePiece {
        label: "s1".to_owned(),
        is_session: false,
        events: BTreeSet::from([0, 1].map(|index| EventRef::turn(&session("s1"), index))),
    };
    assert_eq!(questions[1].evidence, [whole]);
    assert_eq!(questions[2].evidence, []);
    let counting: Vec<Counting> = questions.iter().map(|question| question.counting).collect();
    assert_eq!(
        counting,
        [Counting::Counted, Counting::Counted, Counting::Abstain]
    );
    assert_eq!(questions[0].answer, "3");
    let left = &dataset.left_out[0];
    assert_eq!(
        (left.evidence.as_deref(), left.reason),
        (Some("s9"), "names no session")
    );
}

#[test]
fn sessions_keep_their_times_and_roles_and_a_repeated_one_is_another() {
    let dataset = load(SAMPLE).unwrap();
    let sessions = &dataset.conversations[0].sessions;
    let names: Vec<&str> = sessions
        .iter()
        .map(|session| &*session.id.host_id)
        .collect();
    assert_eq!(names, ["s1", "answer_s2", "s1#2"]);
    let turn = BenchmarkTurn {
        speaker: BenchmarkSpeaker::Assistant,
        at: Timestamp(1_773_569_520_000),
        text: "Hello!".to_owned(),
    };
    assert_eq!(sessions[0].turns[1], turn);
}

#[test]
fn a_damaged_file_is_refused_with_the_place() {
    let undated = SAMPLE.replacen("2026/04/02 (Thu) 18:40", "Thursday", 1);
    let expected = "t-1, session answer_s2: `Thursday` is no time such as `2026/03/15 (Sun) 10:12`";
    assert_eq!(problem(&undated), expected);
    let short = SAMPLE.replacen(r#"["s1", "answer_s2", "s1"]"#, r#"["s1"]"#, 1);
    assert_eq!(problem(&short), "t-1: 3 sessions have 1 ids and 3 dates");
    assert!(problem("{}").starts_with("line 1, column "));
}

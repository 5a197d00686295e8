use std::fs;
use std::path::PathBuf;

use daybook_domain::seams::{Append, SessionLog};
use daybook_domain::{NewEvent, SessionId};
use daybook_store::MemoryStore;
use daybook_testkit::fixtures;
use tempfile::TempDir;

use super::*;

const TOML: &str = r#"
[[question]]
question = "Which harbour?"
class = "fact"
answer = "Oban"
evidence = ["7f78:L2-3,5", "april.jsonl:L1", "7f78:L70", "no citation at all", "abcd:L1"]
split = "tune"

[[question]]
question = "Which boat?"
never = true
split = "report"

[[question]]
question = "Which bread?"
evidence = ["7f78"]

[[question]]
question = "Which moon?"
evidence = ["abcd:L1"]
"#;

fn write(name: &str, text: &str) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn load(name: &str, text: &str) -> Result<WrittenQuestions, String> {
    let (_folder, path) = write(name, text);
    load_questions(&path).map_err(|error| {
        let message = error.to_string();
        let folder = path.parent().unwrap().display().to_string();
        message.replace(&format!("{folder}/"), "")
    })
}

/// A session with one event on each of these lines.
fn append(store: &MemoryStore, id: &SessionId, lines: &[u32], path: &str) {
    let events = lines.iter().map(|line| NewEvent {
        line: *line,
        ..fixtures::event(&format!("line {line}"))
    });
    let append = Append {
        source: Some(fixtures::source(path, id, 1)),
        ..fixtures::append(id, events.collect())
    };
    daybook_testkit::run(store.append(&append)).unwrap();
}

fn resolved(split: Option<Split>) -> Dataset {
    let store = MemoryStore::new();
    let june = fixtures::session("7f78-june");
    append(&store, &june, &[2, 3, 5], "/logs/june.jsonl");
    append(
        &store,
        &fixtures::session("88aa-april"),
        &[1],
        "/logs/april.jsonl",
    );
    let written = load("q.toml", TOML).unwrap();
    daybook_testkit::run(written.resolve(&store, &june.tenant, split)).unwrap()
}

#[test]
fn each_range_of_lines_is_a_piece_of_evidence() {
    let dataset = resolved(None);
    let shown: Vec<(&str, Vec<Vec<u64>>, Counting)> = dataset.conversations[0]
        .questions
        .iter()
        .map(|question| {
            let pieces = question.evidence.iter();
            let pieces = pieces.map(|piece| piece.events.iter().map(|e| e.seq.0).collect());
            (&*question.id, pieces.collect(), question.counting)
        })
        .collect();
    let expected = [
        ("q1", vec![vec![1, 2], vec![3], vec![1]], Counting::Counted),
        ("q2", vec![], Counting::Abstain),
        ("q3", vec![vec![1, 2, 3]], Counting::Counted),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn evidence_that_the_memory_does_not_hold_is_reported() {
    let left_out = resolved(None).left_out;
    let shown: Vec<(&str, Option<&str>, &str)> = left_out
        .iter()
        .map(|left| (&*left.question, left.evidence.as_deref(), left.reason))
        .collect();
    let expected = [
        ("q1", Some("7f78:L70"), "names lines without an event"),
        (
            "q1",
            Some("no citation at all"),
            "is no citation such as 7f78:L636-640",
        ),
        ("q1", Some("abcd:L1"), "names no session"),
        ("q4", Some("abcd:L1"), "names no session"),
        ("q4", None, "has no evidence"),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn one_split_can_be_asked_alone() {
    let dataset = resolved(Some(Split::Report));
    let questions = dataset.conversations[0].questions.iter();
    assert_eq!(questions.map(|q| &*q.id).collect::<Vec<_>>(), ["q2"]);
}

#[test]
fn json_lines_say_the_same() {
    let lines = r#"
{"question": "Which harbour?", "class": "fact", "answer": "Oban", "evidence": ["7f78:L2"], "split": "tune"}

{"question": "Which boat?", "never": true}
"#;
    let toml = r#"
[[question]]
question = "Which harbour?"
class = "fact"
answer = "Oban"
evidence = ["7f78:L2"]
split = "tune"
[[question]]
question = "Which boat?"
never = true
"#;
    assert_eq!(load("q.jsonl", lines), load("q.toml", toml));
}

#[test]
fn a_damaged_file_is_refused_with_the_place() {
    let refused = |name, text| load(name, text).unwrap_err();
    let begins = |name: &str| format!("{name} is no questions file that can be read: ");
    let unknown = "[[question]]\nquestion = \"a\"\nnevr = true\n";
    let message = refused("q.toml", unknown);
    assert!(
        message.starts_with(&(begins("q.toml") + "line 3: unknown field `nevr`")),
        "{message}"
    );
    let message = refused("q.jsonl", "\n{\"question\": \"a\", \"never\": 1}\n");
    assert!(
        message.starts_with(&(begins("q.jsonl") + "line 2: invalid type")),
        "{message}"
    );
    let message = refused("q.toml", "[[question]]\nquestion = \"a\"\n");
    let expected = "question 1 (a): it needs evidence such as \"7f78:L636-640\", or `never = true`";
    assert_eq!(message, begins("q.toml") + expected);
    let message = refused(
        "q.toml",
        "[[question]]\nquestion = \"a\"\nnever = true\nevidence = [\"7f78\"]\n",
    );
    let expected = "question 1 (a): a question with `never = true` has no evidence";
    assert_eq!(message, begins("q.toml") + expected);
    let message = refused("q.toml", "");
    assert!(
        message.starts_with("q.toml holds no question (format: questions); write [[question]]"),
        "{message}"
    );
}

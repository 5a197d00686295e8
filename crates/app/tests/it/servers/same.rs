//! The same import gives the same memory, wherever it is kept.

use std::fs;
use std::path::Path;

use daybook_testkit::postgres::{self, TestDatabase};
use serde_json::Value;

use crate::fixture::{TestPlace, teaching_session};

/// Questions that a person of the sample's sessions might ask.
const QUESTIONS: [&str; 14] = [
    "cache limit",
    "tide table",
    "which branch",
    "what did we decide about the cache",
    "why did the test fail",
    "push",
    "spring outing",
    "harbour",
    "always",
    "cargo test",
    "how are tides computed",
    "release",
    "\"tidepool\"",
    "what is still open",
];

/// A file's name and content.
type NamedContent = (String, Vec<u8>);

/// All files below a folder but those of git, of databases, and of this one machine.
fn files(root: &Path) -> Vec<NamedContent> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(root).expect("it lies there");
            let name = name.display().to_string();
            let is_own = name == "machine" || name.starts_with("daybook.db") || name == "run";
            match path.is_dir() {
                _ if is_own || name.ends_with(".git") => {}
                true => folders.push(path),
                false => files.push((name, fs::read(&path).expect("a file"))),
            }
        }
    }
    files.sort();
    files
}

fn import_and_ask(place: &TestPlace) -> (Vec<NamedContent>, Vec<Value>, Value) {
    place.stdout(&[
        "import",
        "--sample",
        "--root",
        &place.root().display().to_string(),
    ]);
    let answers = QUESTIONS.map(|question| place.json(&["recall", "--limit", "20", question]));
    let mut status = place.json(&["status"]);
    status["imports"] = Value::Null;
    // A memory on a server has no record: its files are rows of the same database.
    let mut files = files(&place.root());
    files.retain(|(name, _)| !name.starts_with("record/"));
    (files, answers.to_vec(), status)
}

#[test]
fn the_sample_gives_the_same_files_and_answers_on_every_store() {
    if let Some(database) = postgres::empty() {
        check(&database, &database.address());
    }
}

#[test]
fn the_sample_gives_the_same_files_and_answers_through_a_pooler() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let Some(address) = database.pooled() else {
        return;
    };
    check(&database, &address);
    let place = TestPlace::sharing(&address);
    let path = place.write("1.jsonl", &teaching_session(1).text());
    place.stdout(&["import", "--no-process", &path.display().to_string()]);
    place.stdout(&["update", "--all"]);
    let sessions = &place.json(&["status"])["sessions"];
    assert_eq!(sessions["all"], sessions["covered"]);
    let doctor = place.stdout(&["doctor"]);
    assert!(doctor.contains("through a pooler"), "{doctor}");
}

fn check(database: &TestDatabase, address: &str) {
    let mut place = TestPlace::new();
    let (files, answers, status) = import_and_ask(&place);
    assert!(files.iter().any(|(name, _)| name.ends_with("MEMORY.md")));
    let found = |answers: &&Value| answers.to_string().contains("\"text\"");
    let well_asked = answers.iter().filter(found).count();
    assert!(well_asked >= 12, "{well_asked} questions have an answer");

    // At the same path, so that texts that name paths are the same.
    fs::rename(place.root(), place.home().join("aside")).expect("a folder can be moved");
    place.keep_in(address);
    let on_server = import_and_ask(&place);
    assert_ne!(database.ask("SELECT count(*) FROM events"), "0");
    for ((name, text), (other_name, other)) in files.iter().zip(&on_server.0) {
        assert_eq!(name, other_name);
        // Each data folder draws a key of its own.
        if name == "redaction.key" {
            continue;
        }
        let shown = |text| String::from_utf8_lossy(text).into_owned();
        assert_eq!(shown(text), shown(other), "{name}");
    }
    assert_eq!(files.len(), on_server.0.len());
    for ((answers, others), question) in answers.iter().zip(&on_server.1).zip(QUESTIONS) {
        assert_eq!(answers, others, "{question}");
    }
    assert_eq!(status, on_server.2);
}

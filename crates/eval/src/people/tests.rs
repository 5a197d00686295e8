use super::*;
use crate::case_memory::memory;
use crate::{RecallOptions, Split, VectorOption};

/// A person with one fault at most.
fn person(session: &str, key: &str) -> String {
    format!(
        "name = \"ada\"\nabout = \"keeps a ledger\"\nkind = \"agent\"\nsplit = \"tune\"\n{session}\n{key}"
    )
}

const SESSIONS: &str = r#"
[[session]]
id = "s1"
folder = "/home/ada/ledger"
began = "2026-03-02T09:10:00Z"
steps = """
user: the page size is 24. never push without asking me!
agent: Understood.
run: git status
  => clean
"""
[[session]]
id = "s2"
folder = "/home/ada/ledger"
began = "2026-04-02T09:10:00Z"
steps = """
user: the page size is 30 now
edit: ledger/settings.py
  - PAGE_SIZE = 24
  + PAGE_SIZE = 30
agent: Done: it shows 30 entries.
"""
"#;

const KEY: &str = r#"
[[question]]
question = "what is the page size?"
answer = ['\b30\b']
outdated = ['\b24\b']
[[question]]
question = "which harbour is the boat in?"
never = true
[[line]]
says = "never push without asking"
match = ['never push']
weight = 2
[[line]]
says = "the boat is blue"
match = ['boat', 'blue']
[[never]]
says = "the page size is 24"
match = ['page.size.*\b24\b']
"#;

fn run_one(text: &str) -> PersonReport {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ada.toml");
    std::fs::write(&path, text).unwrap();
    let people = load_people(folder.path()).unwrap();
    let options = RecallOptions {
        limit: 10,
        layers: Vec::new(),
        vectors: VectorOption::Off,
        files: None,
    };
    let fresh = || memory(&folder);
    let report = run_people(&people, Some(Split::Tune), &fresh, &options);
    daybook_testkit::run(report).unwrap().people.remove(0)
}

#[test]
fn answers_and_lines_are_compared_with_the_key() {
    let report = run_one(&person(SESSIONS, KEY));
    let score = &report.score;
    assert_eq!(
        (score.questions, score.first, score.in_ten, score.outdated),
        (1, 1, 1, 0),
        "{report:#?}"
    );
    assert_eq!((score.never, score.likely), (1, 0));
    assert_eq!((score.wanted, score.found), (3, 2), "{report:#?}");
    assert_eq!(
        report.missing,
        [MissingLine {
            says: "the boat is blue".to_owned(),
            is_learned: false
        }]
    );
    assert_eq!(score.misleading, 0, "{report:#?}");
}

#[test]
fn a_line_that_misleads_is_named() {
    let key = KEY.replace("24", "30");
    let report = run_one(&person(SESSIONS, &key));
    assert!(!report.misleading.is_empty(), "{report:#?}");
}

#[test]
fn what_is_wrong_with_a_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ada.toml");
    for (session, key, named) in [
        (
            SESSIONS.replace("agent: Understood.", "Understood."),
            KEY.to_owned(),
            "Understood",
        ),
        (
            SESSIONS.replace("2026-04-02", "April"),
            KEY.to_owned(),
            "s2",
        ),
        (
            SESSIONS.to_owned(),
            KEY.replace("'boat', 'blue'", "'(boat'"),
            "the boat is blue",
        ),
        (
            SESSIONS.to_owned(),
            KEY.replace("never = true", ""),
            "which harbour",
        ),
        (
            SESSIONS.to_owned(),
            KEY.replace("'never push'", ""),
            "never push without",
        ),
    ] {
        std::fs::write(&path, person(&session, &key)).unwrap();
        let error = load_people(&path).unwrap_err().to_string();
        assert!(
            error.contains(named) && error.contains("ada.toml"),
            "{error}"
        );
    }
}

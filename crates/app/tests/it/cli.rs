//! The everyday commands.

use std::fs;

use crate::fixture::{TestPlace, TestSession, teaching_session};

fn imported_place() -> TestPlace {
    let place = TestPlace::new();
    place.write("a.jsonl", &teaching_session(1).text());
    let folder = place.transcripts().display().to_string();
    place.stdout(&["import", &folder]);
    place
}

fn curated(place: &TestPlace) -> String {
    let files = place.memory();
    let found = files
        .into_iter()
        .find(|(name, _)| name.ends_with("tidepool/memory/MEMORY.md"));
    found.expect("a memory file").1
}

#[test]
fn an_import_makes_a_memory_that_a_person_can_read() {
    let text = curated(&imported_place());
    assert!(
        text.starts_with("# tidepool — what we know · 1 session, 2 Mar 2026"),
        "{text}"
    );
    for words in [
        "always write the test first",
        "don't push without asking me first",
        "evicts_oldest",
    ] {
        assert!(text.contains(words), "{words} is missing from {text}");
    }
}

#[test]
fn a_second_import_adds_nothing() {
    let place = imported_place();
    let folder = place.transcripts().display().to_string();
    let again = place.json(&["import", &folder]);
    assert_eq!(
        (again["events"].as_u64(), again["import"].as_u64()),
        (Some(0), None)
    );
    assert!(
        place
            .stdout(&["import", &folder])
            .starts_with("Nothing new in 1 file.")
    );
}

#[test]
fn a_file_that_grew_is_gone_on_with_and_a_half_line_waits() {
    let place = TestPlace::new();
    let text = teaching_session(1).text();
    let cut = text.len() / 2;
    let path = place.write("a.jsonl", &text[..cut]);
    let folder = place.transcripts().display().to_string();
    let first = place.json(&["import", &folder]);
    assert_eq!(first["files"][0]["partial_line"], true);
    fs::write(&path, &text).expect("a file");
    let second = place.json(&["import", &folder]);
    assert_eq!(second["files"][0]["status"], "grew");
    let whole = imported_place().json(&["status"])["events"].as_u64();
    assert_eq!(place.json(&["status"])["events"].as_u64(), whole);
    assert_eq!(curated(&place), curated(&imported_place()));
}

#[test]
fn a_rewritten_file_is_noticed_and_what_it_no_longer_says_is_unlearned() {
    let place = imported_place();
    let folder = place.transcripts().display().to_string();
    assert!(curated(&place).contains("don't push without asking"));
    let other = TestSession::new(1)
        .human("let's add a cache to the tide table, please always write the test first")
        .agent("I will write the test first.")
        .human("what does the tide table of the harbour look like?");
    place.write("a.jsonl", &other.text());
    let report = place.json(&["import", &folder]);
    assert_eq!(report["files"][0]["status"], "rewritten");
    assert!(
        !curated(&place).contains("don't push without asking"),
        "{}",
        curated(&place)
    );
}

#[test]
fn a_bad_line_is_located_and_stops_nothing_and_an_unknown_file_is_named() {
    let place = TestPlace::new();
    let text = teaching_session(1).text();
    let (first, rest) = text.split_once('\n').expect("lines");
    place.write("a.jsonl", &format!("{first}\n{{\"type\": broken\n{rest}"));
    place.write("shopping.txt", "milk\n");
    let folder = place.transcripts().display().to_string();
    let report = place.json(&["import", &folder]);
    assert_eq!(report["files"][0]["first_bad"][0], 2);
    assert_eq!(report["files"][1]["status"], "unknown");
    let said = place.stdout(&["status"]);
    assert!(
        said.contains("shopping.txt") && said.contains("line 2"),
        "{said}"
    );
}

#[test]
fn an_answer_has_a_source_that_resolves_and_the_never_discussed_has_no_answer() {
    let place = imported_place();
    let answers = place.json(&["recall", "do we push without asking?"]);
    let best = &answers["results"][0];
    assert!(
        best["text"]
            .as_str()
            .is_some_and(|text| text.contains("don't push")),
        "{answers}"
    );
    assert_eq!(best["scope"], "project/tidepool");
    let citation = best["citation"].as_str().expect("a citation");
    assert!(
        place
            .stdout(&["show", citation])
            .contains("don't push without asking me first")
    );
    let nothing = place.json(&["recall", "which kubernetes cluster runs the payroll?"]);
    assert_eq!(nothing["confidence"], "unlikely", "{nothing}");
    let strict = place.json(&[
        "recall",
        "--strict",
        "which kubernetes cluster runs the payroll?",
    ]);
    assert_eq!(
        strict["results"].as_array().map(Vec::len),
        Some(0),
        "{strict}"
    );
}

#[test]
fn a_persons_edit_survives_and_what_they_delete_is_withdrawn() {
    let place = imported_place();
    let path = place.root().join("projects/tidepool/memory/MEMORY.md");
    let text = fs::read_to_string(&path).expect("a memory file");
    let edited: String = text
        .lines()
        .filter(|line| !line.contains("don't push"))
        .map(|line| format!("{line}\n"))
        .collect::<String>()
        + "\n## Mine\nThe harbour closes at noon.\t \n";
    fs::write(&path, &edited).expect("a memory file");
    place.write(
        "b.jsonl",
        &teaching_session(2)
            .text()
            .replace("no, don't push without asking me first", "fine"),
    );
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    let after = fs::read_to_string(&path).expect("a memory file");
    assert!(
        after.ends_with("\n## Mine\nThe harbour closes at noon.\t \n"),
        "{after}"
    );
    assert!(!after.contains("don't push"), "{after}");
    let found = place.json(&["recall", "when does the harbour close?"]);
    assert_eq!(found["results"][0]["file"], "MEMORY.md", "{found}");
}

#[test]
fn what_is_remembered_is_found_at_once_and_its_secret_is_nowhere() {
    let place = imported_place();
    let secret = format!("ghp_{}", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    place.stdout(&[
        "remember",
        &format!("the deploy token is {secret} and deploys happen on Tuesdays"),
    ]);
    let found = place.json(&["recall", "when do deploys happen"]);
    assert!(
        found["results"][0]["text"]
            .as_str()
            .is_some_and(|text| text.contains("Tuesdays")),
        "{found}"
    );
    let hidden = |bytes: &[u8]| {
        !bytes
            .windows(secret.len())
            .any(|window| window == secret.as_bytes())
    };
    for file in fs::read_dir(place.root())
        .expect("the data folder")
        .flatten()
    {
        let is_file = file.path().is_file();
        assert!(
            !is_file || fs::read(file.path()).is_ok_and(|bytes| hidden(&bytes)),
            "{file:?}"
        );
    }
    assert!(
        place
            .memory()
            .iter()
            .all(|(_, text)| hidden(text.as_bytes()))
    );
}

#[test]
fn undoing_an_import_removes_exactly_what_it_added() {
    let place = imported_place();
    let before = (
        place.json(&["sessions"]),
        curated(&place),
        place.json(&["recall", "test first"]),
    );
    place.write("b.jsonl", &teaching_session(2).text());
    let folder = place.transcripts().display().to_string();
    place.stdout(&["import", &folder]);
    assert_ne!(curated(&place), before.1);
    place.stdout(&["import", "--undo"]);
    let after = (
        place.json(&["sessions"]),
        curated(&place),
        place.json(&["recall", "test first"]),
    );
    assert_eq!(after, before);
    let again = place.json(&["import", &folder]);
    assert_eq!(again["sessions"], 1);
}

#[test]
fn rebuilding_gives_the_same_answers() {
    let place = imported_place();
    let questions = [
        "push",
        "cache of past days",
        "evicts oldest",
        "table of station 7",
    ];
    let ask = || questions.map(|question| place.json(&["recall", question]));
    let before = ask();
    place.stdout(&["rebuild"]);
    assert_eq!(ask(), before);
}

#[test]
fn a_lost_database_loses_no_memory_file() {
    let place = imported_place();
    let before = curated(&place);
    for file in ["daybook.db", "daybook.db-wal", "daybook.db-shm"] {
        let _ = fs::remove_file(place.root().join(file));
    }
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    assert_eq!(curated(&place), before);
    place.stdout(&["doctor"]);
}

#[test]
fn context_is_bounded_and_wrapped_and_of_the_right_project() {
    let place = imported_place();
    let told = place.json(&[
        "context",
        "--project",
        "tidepool",
        "--branch",
        "main",
        "--budget",
        "600",
    ]);
    let text = told["text"].as_str().expect("a text");
    assert!(
        text.starts_with("<daybook-memory>\nThis is what is remembered")
            && text.contains("\nYou are on main.\n")
            && text.ends_with("</daybook-memory>\n"),
        "{text}"
    );
    assert!(
        text.contains("don't push without asking me first"),
        "{text}"
    );
    assert!(
        told["tokens"].as_u64().is_some_and(|tokens| tokens <= 600),
        "{told}"
    );
    assert_eq!(place.json(&["context", "--project", "other"])["text"], "");
}

#[test]
fn context_begins_the_same_and_ends_with_what_is_at_hand() {
    let place = imported_place();
    let told = |more: &[&str]| {
        let mut all = vec!["context", "--project", "tidepool"];
        all.extend(more);
        place.stdout(&all)
    };
    let question = "what does the cached table of station 7 in session 1 look like?";
    let plain = told(&["--branch", "main"]);
    let asked = told(&[
        "--branch",
        "tides",
        "--file",
        "src/cache.rs",
        "--prompt",
        question,
    ]);
    let (first, _) = plain.split_once("You are on main.").unwrap();
    let (same, at_hand) = asked.split_once("You are on tides.").unwrap();
    assert_eq!(same, first);
    let (_, fitting) = at_hand.split_once("# On what was asked\n").unwrap();
    assert!(fitting.contains("station 7"), "{asked}");
    assert!(
        told(&["--prompt", "yes, go ahead"])
            .find("# On what")
            .is_none()
    );
}

#[test]
fn without_a_terminal_nothing_is_asked_and_nothing_unnamed_is_read() {
    let place = TestPlace::new();
    let output = place.run(&["import"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("--yes"));
}

#[test]
fn the_sample_teaches_something_and_its_answer_has_a_source() {
    let place = TestPlace::new();
    let root = place.root().display().to_string();
    let said = place.stdout(&["import", "--sample", "--root", &root]);
    assert!(
        said.contains("Where you left off") && said.contains("MEMORY.md") && said.contains("["),
        "{said}"
    );
    assert!(
        place
            .stdout(&["import", "--sample", "--root", &root])
            .starts_with("Nothing new")
    );
}

#[test]
fn standard_input_is_taken_in_and_json_stands_alone() {
    let place = TestPlace::new();
    let chat = r#"[{"role":"user","content":"I always want answers in metric units."},{"role":"assistant","content":"Noted."}]"#;
    let mut child = place
        .daybook(&["import", "-", "--json"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("daybook starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), chat.as_bytes())
        .expect("a pipe");
    let output = child.wait_with_output().expect("daybook ends");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("only JSON");
    assert_eq!(report["events"], 2);
}

#[test]
fn whoever_comes_back_to_a_branch_is_told_where_it_stands_however_many_there_are() {
    let place = TestPlace::new();
    let folder = std::path::Path::new("/nowhere/ada/tidepool");
    for n in 0..15 {
        let session = TestSession::new(n)
            .human(&format!(
                "we decided to draw chart number {n} with a legend of its own"
            ))
            .agent("Done: it has a legend.")
            .human(&format!("should chart number {n} be printed in colour?"))
            .in_folder(folder, &format!("chart-{n}"));
        place.write(&format!("{n}.jsonl"), &session.text());
    }
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    for n in 0..15 {
        let branch = format!("chart-{n}");
        let told = place.stdout(&["context", "--project", "tidepool", "--branch", &branch]);
        let (_, at_hand) = told.split_once("You are on").unwrap();
        let first = at_hand.lines().find(|line| line.starts_with("- ")).unwrap();
        assert!(first.starts_with(&format!("- {branch} · ")), "{told}");
        assert!(
            first.contains(&format!("chart number {n} be printed")),
            "{told}"
        );
    }
}

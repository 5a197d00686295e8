//! The profile codex: the files of selected sessions, the rest between consolidations, and what an agent is shown.

use serde_json::{Value, json};

use crate::fixture::{TestPlace, teaching_session};

/// The arguments, with the profile behind them.
fn codex<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let profile = ["--set", "profile=codex"];
    arguments.iter().copied().chain(profile).collect()
}

/// Imports a session. Unless it is `processed`, nothing is learned from it yet.
fn import(place: &TestPlace, n: u32, processed: bool) -> String {
    let session = teaching_session(n);
    let path = place.write(&format!("{n}.jsonl"), &session.text());
    let path = path.display().to_string();
    let mut arguments = vec!["import", &*path];
    if !processed {
        arguments.push("--no-process");
    }
    place.stdout(&codex(&arguments));
    format!("claude-code:{}", session.id())
}

/// The scope whose files hold sessions, and the sessions' ids in `raw_memories.md`.
fn raw_memories(place: &TestPlace) -> (String, Vec<String>) {
    let memory = place.memory();
    let raw = memory
        .iter()
        .find(|(path, _)| path.ends_with("/raw_memories.md"));
    let (path, text) = raw.expect("it was written");
    let name = path.split('/').nth(1).expect("a scope");
    let threads = text
        .lines()
        .filter_map(|line| line.strip_prefix("## Thread `"));
    let threads = threads.map(|id| format!("claude-code:{}", id.trim_end_matches('`')));
    (format!("project/{name}"), threads.collect())
}

/// The report of a consolidation about one scope.
fn consolidated(place: &TestPlace, scope: &str) -> Value {
    let all = place.json(&codex(&["consolidate", "--scope", scope]));
    assert_eq!(all["failed"], json!([]));
    all["scopes"][0].clone()
}

#[test]
fn files_of_sessions_rest_after_they_were_written_until_a_person_asks() {
    let place = TestPlace::new();
    let first = import(&place, 1, true);
    let (scope, threads) = raw_memories(&place);
    assert_eq!(threads, [first.as_str()]);
    let unchanged = json!({
        "scope": scope,
        "outcome": "unchanged",
        "selection": {"added": [], "retained": [first], "removed": []},
    });
    assert_eq!(consolidated(&place, &scope), unchanged);

    let second = import(&place, 2, false);
    place.stdout(&codex(&["update", "--all"]));
    assert_eq!(raw_memories(&place).1, [first.as_str()]);
    let status = place.stdout(&codex(&["status"]));
    assert!(
        status.contains("because they were written lately"),
        "{status}"
    );
    let job = format!("consolidate/{scope}");
    let explained = place.stdout(&codex(&["jobs", "explain", &job]));
    assert!(explained.contains("setting `cooldown`"), "{explained}");
    assert!(
        explained.contains(&format!("consolidate --scope {scope}")),
        "{explained}"
    );

    let written = consolidated(&place, &scope);
    assert_eq!(written["outcome"], "written");
    assert_eq!(written["selection"]["added"], json!([second]));
    assert_eq!(raw_memories(&place).1.len(), 2);
    let status = place.stdout(&codex(&["status"]));
    assert!(!status.contains("written lately"), "{status}");
    let unknown = place.run(&codex(&["consolidate", "--scope", "project/nowhere"]));
    assert!(!unknown.status.success());
}

#[test]
fn recall_finds_the_files_of_sessions_with_their_source() {
    let place = TestPlace::new();
    import(&place, 1, true);
    let memory = place.memory();
    let names = memory.iter().map(|(path, _)| path.as_str());
    let written: Vec<&str> = names
        .filter(|path| path.contains("/rollout_summaries/"))
        .collect();
    assert_eq!(written.len(), 1);
    let found = place.json(&codex(&[
        "recall",
        "add a cache to the tide table, test first",
        "--limit",
        "20",
    ]));
    let answers = found["results"].as_array().expect("a list");
    let of_file = |answer: &&Value| {
        answer["file"]
            .as_str()
            .is_some_and(|file| file.starts_with("rollout_summaries/"))
    };
    let answer = answers.iter().find(of_file);
    let answer = answer.unwrap_or_else(|| panic!("no summary: {found}"));
    assert!(
        answer["citation"]
            .as_str()
            .is_some_and(|cited| cited.contains(":L")),
        "{answer}"
    );
}

#[test]
fn a_context_shows_the_page_of_its_profile_and_nothing_else() {
    let place = TestPlace::new();
    let checkout = place.checkout("tidepool", "main");
    let session = teaching_session(1).in_folder(&checkout, "main");
    let path = place
        .write("1.jsonl", &session.text())
        .display()
        .to_string();
    place.stdout(&codex(&["import", &path]));
    let context = |profile: &str| {
        let profile = format!("profile={profile}");
        let arguments = [
            "context",
            "--prompt",
            "what of the tide table?",
            "--set",
            &profile,
        ];
        let mut command = place.daybook(&arguments);
        let output = command
            .current_dir(&checkout)
            .output()
            .expect("daybook starts");
        String::from_utf8(output.stdout).expect("output is UTF-8")
    };
    let summary = context("codex");
    assert!(summary.contains("[Memory summary (project/"), "{summary}");
    assert!(
        !summary.contains("On what was asked") && !summary.contains(" ^"),
        "{summary}"
    );
    let first_lines = context("mindroom");
    assert!(
        first_lines.contains("[File memory entrypoint (project/"),
        "{first_lines}"
    );
    assert!(!context("daybook").contains("[File memory entrypoint"));
}

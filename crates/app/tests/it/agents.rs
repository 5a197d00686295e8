//! Agents that share a memory through their hooks alone: no worker, no import, no command by a person.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fixture::{TestPlace, TestSession, teaching_session};

const CLAUDE: &str = "claude-code";
const CODEX: &str = "codex";

fn payload(event: &str, session: &str, folder: &Path, transcript: Option<&Path>) -> String {
    json!({
        "hook_event_name": event,
        "session_id": session,
        "cwd": folder,
        "transcript_path": transcript,
        "source": "startup",
    })
    .to_string()
}

/// A session of Claude Code as its hooks see it, from start to end.
fn run_session(place: &TestPlace, session: &TestSession, folder: &Path) {
    let home = place.home().join(".claude/projects/tidepool");
    fs::create_dir_all(&home).unwrap();
    let transcript = home.join(format!("{}.jsonl", session.id()));
    let tell = |event: &str| {
        let payload = payload(event, session.id(), folder, Some(&transcript));
        place.hook(CLAUDE, &payload)
    };
    assert_eq!(tell("SessionStart"), "", "nothing is remembered yet");
    let text = session.text();
    fs::write(&transcript, &text[..text.len() / 2]).unwrap();
    for event in ["UserPromptSubmit", "Stop", "PreCompact"] {
        assert_eq!(tell(event), "");
    }
    fs::write(&transcript, &text).unwrap();
    assert_eq!(tell("Stop") + &tell("SessionEnd"), "");
    // As the host was asked to, after a turn and at the end.
    place.stdout(&["update", "--for", "20s"]);
}

/// The memory that an agent gets that starts in `folder`.
fn session_start_context(place: &TestPlace, host: &str, folder: &Path) -> String {
    let said = place.hook(host, &payload("SessionStart", "next", folder, None));
    if said.is_empty() {
        return said;
    }
    let answer: Value = serde_json::from_str(&said).expect("one JSON object");
    assert_eq!(
        answer["hookSpecificOutput"]["hookEventName"],
        "SessionStart"
    );
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str();
    text.expect("a text").to_owned()
}

#[test]
fn what_was_decided_in_claude_code_is_known_to_codex_in_the_next_session() {
    let place = TestPlace::new();
    let checkout = place.checkout("tidepool", "tides");
    run_session(
        &place,
        &teaching_session(1).in_folder(&checkout, "tides"),
        &checkout,
    );

    let known = session_start_context(&place, CODEX, &checkout);
    for words in [
        "You are on tides.",
        "a file survives a restart",
        "always write the test first",
        "should the cache also keep tides of past days?",
    ] {
        assert!(known.contains(words), "{words} is missing from {known}");
    }
    // Another checkout of the same remote is the same project, also one without sessions.
    let fresh = place.checkout("elsewhere/tidepool-2", "main");
    let there = session_start_context(&place, CLAUDE, &fresh);
    assert!(there.contains("a file survives a restart"), "{there}");
    // A folder of another project gets nothing of it.
    let other = place.home().join("garden");
    fs::create_dir_all(&other).unwrap();
    assert!(!session_start_context(&place, CODEX, &other).contains("restart"));
}

#[test]
fn a_session_is_learned_from_also_when_its_host_does_not_say_where_it_is_kept() {
    let place = TestPlace::new();
    let session = teaching_session(2);
    let folder = place.home().join(".claude/projects/deep/er");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join(format!("{}.jsonl", session.id())),
        session.text(),
    )
    .unwrap();
    place.hook(
        CLAUDE,
        &payload("SessionEnd", session.id(), place.home(), None),
    );
    let found = place.json(&["recall", "does the tide cache survive a restart?"]);
    assert!(
        found["results"][0]["text"]
            .as_str()
            .is_some_and(|t| t.contains("restart")),
        "{found}"
    );
}

#[test]
fn what_the_host_loads_by_itself_is_not_told_again() {
    let place = TestPlace::new();
    let checkout = place.checkout("tidepool", "tides");
    run_session(
        &place,
        &teaching_session(1).in_folder(&checkout, "tides"),
        &checkout,
    );
    let rule = "no, don't push without asking me first";
    assert!(session_start_context(&place, CLAUDE, &checkout).contains(rule));
    fs::write(
        checkout.join("CLAUDE.md"),
        format!("# Rules\n\n* {rule}.\n"),
    )
    .unwrap();
    assert!(!session_start_context(&place, CLAUDE, &checkout).contains(rule));
    assert!(
        session_start_context(&place, CODEX, &checkout).contains(rule),
        "Codex reads another file"
    );
}

#[test]
fn a_resumed_session_is_not_told_twice() {
    let place = TestPlace::new();
    let checkout = place.checkout("tidepool", "tides");
    run_session(
        &place,
        &teaching_session(1).in_folder(&checkout, "tides"),
        &checkout,
    );
    let mut resumed: Value =
        serde_json::from_str(&payload("SessionStart", "a", &checkout, None)).unwrap();
    resumed["source"] = "resume".into();
    assert_eq!(place.hook(CLAUDE, &resumed.to_string()), "");
    resumed["source"] = "compact".into();
    assert!(place.hook(CLAUDE, &resumed.to_string()).contains("restart"));
}

#[test]
fn a_hook_ends_well_whatever_state_things_are_in() {
    let start = |place: &TestPlace| payload("SessionStart", "a", place.home(), None);

    let place = TestPlace::new();
    for broken in [
        "",
        "{",
        "[]",
        "null",
        "{\"hook_event_name\":7}",
        "\u{feff}{}",
    ] {
        assert_eq!(place.hook(CLAUDE, broken), "");
    }
    // Written down wrong, or by a newer Daybook.
    assert_eq!(place.hook("a-host-to-come", &start(&place)), "");
    let newer = place.run(&["hook", CLAUDE, "--new-option"]);
    assert!(newer.status.success());
    let place = TestPlace::new();
    fs::write(place.root(), "a file where the data folder should be").unwrap();
    assert_eq!(place.hook(CLAUDE, &start(&place)), "");

    let place = TestPlace::new();
    fs::create_dir(place.root()).unwrap();
    fs::write(
        place.root().join("spool"),
        "a file where the spool should be",
    )
    .unwrap();
    fs::write(place.root().join("daybook.db"), "not a database").unwrap();
    fs::write(place.root().join("daybook.toml"), "person = ").unwrap();
    assert_eq!(place.hook(CODEX, &start(&place)), "");

    let place = TestPlace::new();
    let spool = place.root().join("spool");
    fs::create_dir_all(&spool).unwrap();
    for n in 0..5_000 {
        fs::write(spool.join(format!("{n}.json")), "{}").unwrap();
    }
    assert_eq!(place.hook(CODEX, &start(&place)), "");
    assert_eq!(fs::read_dir(&spool).unwrap().count(), 5_000);
}

#[test]
fn a_hook_writes_nothing_but_the_spool_and_none_of_what_was_said() {
    let place = TestPlace::new();
    let mut said: Value = serde_json::from_str(&payload("Stop", "a", place.home(), None)).unwrap();
    said["last_assistant_message"] = "the password is hunter2-tidepool".into();
    place.hook(CODEX, &said.to_string());
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        entries
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect()
    };
    assert_eq!(names(&place.root()), ["spool"]);
    let spool = place.root().join("spool");
    let [only] = &names(&spool)[..] else {
        panic!("one notice")
    };
    let text = fs::read_to_string(spool.join(only)).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn one_updater_does_it_for_all() {
    let place = TestPlace::new();
    fs::create_dir_all(place.root().join("run")).unwrap();
    let turn = fs::File::create(place.root().join("run/updating")).unwrap();
    turn.try_lock().unwrap();
    let said = place.stdout(&["update", "--for", "20s"]);
    assert!(said.starts_with("Another process is updating"), "{said}");
    drop(turn);
    assert!(
        place
            .stdout(&["update", "--for", "20s"])
            .starts_with("Nothing is due")
    );
}

#[test]
fn what_an_agent_writes_is_followed_while_it_writes() {
    let place = TestPlace::new();
    let text = teaching_session(3).text();
    let cut = text[..text.len() / 2].rfind('\n').unwrap() + 1;
    let path = place.write("a.jsonl", &text[..cut]);
    let folder = place.transcripts().display().to_string();
    let mut watching = place
        .daybook(&["import", &folder, "--watch"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let events = |at_least: usize| {
        let began = Instant::now();
        loop {
            let seen = place.run(&["status", "--json"]);
            let status: Value = serde_json::from_slice(&seen.stdout).unwrap_or_default();
            let events = status["events"].as_u64().unwrap_or_default() as usize;
            if events >= at_least {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "only {status}");
            std::thread::yield_now();
        }
    };
    let lines = |text: &str| text.lines().count();
    events(lines(&text[..cut]));
    fs::write(&path, &text).unwrap();
    events(lines(&text));
    watching.kill().unwrap();
    watching.wait().unwrap();
}

#[test]
fn a_server_learns_from_hooks_and_follows_what_is_written_from_now_on() {
    let place = TestPlace::new();
    let folder = place.home().join(".claude/projects/tidepool");
    fs::create_dir_all(&folder).unwrap();
    let old = teaching_session(4);
    fs::write(folder.join(format!("{}.jsonl", old.id())), old.text()).unwrap();
    let mut serving = place
        .daybook(&["serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    let mut n = 5;
    let sessions = loop {
        // The time of the server's first scan is not known: everything that is written after it is followed.
        let new = teaching_session(n);
        fs::write(folder.join(format!("{}.jsonl", new.id())), new.text()).unwrap();
        n += 1;
        let listed = place.run(&["sessions", "--json"]);
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap_or_default();
        let sessions = listed["sessions"].as_array().cloned().unwrap_or_default();
        if !sessions.is_empty() {
            break sessions;
        }
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "nothing was followed"
        );
        std::thread::sleep(Duration::from_millis(50));
    };
    serving.kill().unwrap();
    serving.wait().unwrap();
    let said = Value::Array(sessions).to_string();
    assert!(!said.contains(old.id()), "nobody was asked about {said}");
}

#[test]
fn a_hook_does_not_wait_for_ever_for_its_payload() {
    let place = TestPlace::new();
    let mut child = place
        .daybook(&["hook", CLAUDE])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Held open, as by a host that hangs.
    let input = child.stdin.take();
    assert!(child.wait().unwrap().success());
    drop(input);
}

#[test]
fn what_is_told_just_after_an_update_began_is_taken_in_by_it() {
    let place = TestPlace::new();
    let folder = place.home().join(".claude/projects/tidepool");
    fs::create_dir_all(&folder).unwrap();
    let session = teaching_session(6);
    let transcript = folder.join(format!("{}.jsonl", session.id()));
    fs::write(&transcript, session.text()).unwrap();
    // Hosts run the hooks of one event side by side.
    let updating = place
        .daybook(&["update", "--for", "20s", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    while !place.root().join("run/updating").exists() {
        std::thread::yield_now();
    }
    let end = payload("SessionEnd", session.id(), place.home(), Some(&transcript));
    place.hook(CLAUDE, &end);
    let done = updating.wait_with_output().unwrap();
    let done: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(
        (&done["notices"], &done["taught"]),
        (&json!(1), &json!(1)),
        "{done}"
    );
}

//! Sessions of every agent are found where their agents keep them, imported once, and remembered.

use std::fs;

use daybook_testkit::mutation::TRANSCRIPTS;
use serde_json::Value;

use crate::agent_databases::{DATABASES, write_database};
use crate::fixture::TestPlace;

/// Each agent's fixture, its place below a person's home, and a person's words in it.
const SESSIONS: &[(&str, &str, &str)] = &[
    (
        "gemini.jsonl",
        ".gemini/tmp/tidepool/chats/session-1.jsonl",
        "keep one decimal",
    ),
    (
        "gemini.json",
        ".gemini/tmp/tidepool/chats/session-0.json",
        "ten, not nine",
    ),
    (
        "qwen.jsonl",
        ".qwen/projects/-home-ada-harbour/chats/7b8a.jsonl",
        "tell the harbour master",
    ),
    (
        "copilot.jsonl",
        ".copilot/session-state/0c0f/events.jsonl",
        "three days in spring",
    ),
    (
        "cursor.jsonl",
        ".cursor/projects/home-ada/agent-transcripts/1/1.jsonl",
        "greenhouse stays below",
    ),
    (
        "pi.jsonl",
        ".pi/agent/sessions/--home-ada--/2026_019f.jsonl",
        "table of this year",
    ),
    (
        "droid.jsonl",
        ".factory/sessions/d0a1.jsonl",
        "dried for two days",
    ),
    (
        "kimi.jsonl",
        ".kimi-code/sessions/wd/session_1/agents/main/wire.jsonl",
        "bell rings at noon",
    ),
    (
        "grok.jsonl",
        ".grok/sessions/home/1/chat_history.jsonl",
        "replaced every spring",
    ),
    (
        "antigravity.jsonl",
        ".gemini/antigravity-cli/brain/1/.system_generated/logs/transcript.jsonl",
        "painted red",
    ),
    (
        "goose.jsonl",
        ".local/share/goose/sessions/1.jsonl",
        "lit at six",
    ),
    (
        "copilot-chat.json",
        ".config/Code/User/workspaceStorage/7f/chatSessions/0b1c.json",
        "repainted in May",
    ),
    (
        "copilot-chat.jsonl",
        ".config/Code/User/globalStorage/emptyWindowChatSessions/0b1d.jsonl",
        "coiled clockwise",
    ),
    (
        "hermes.json",
        ".hermes/sessions/session_hay.json",
        "stored dry",
    ),
    (
        "aider.md",
        ".aider.chat.history.md",
        "numbered from the door",
    ),
];

/// The files of a session of OpenCode below a person's home, and what they hold.
const OPENCODE: &[(&str, &str)] = &[
    (
        "session/p1/ses_01.json",
        r#"{"id":"ses_01","projectID":"p1","directory":"/home/ada/orchard","time":{"created":1775030400000}}"#,
    ),
    (
        "message/ses_01/msg_01.json",
        r#"{"id":"msg_01","sessionID":"ses_01","role":"user","time":{"created":1775030401000}}"#,
    ),
    (
        "part/msg_01/prt_01.json",
        r#"{"id":"prt_01","sessionID":"ses_01","messageID":"msg_01","type":"text","text":"ladders are checked on Mondays"}"#,
    ),
];

fn write(place: &TestPlace, name: &str, text: &[u8]) {
    let path = place.home().join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// The sessions of Claude Code and Codex in their places.
const OF_HOSTS: &[(&str, &str)] = &[
    ("claude-code.jsonl", ".claude/projects/-home-ada/1.jsonl"),
    ("codex.jsonl", ".codex/sessions/2026/04/01/rollout-1.jsonl"),
];

fn home_of_all_agents() -> TestPlace {
    let place = TestPlace::new();
    for (fixture, path, _) in SESSIONS {
        let found = TRANSCRIPTS.iter().find(|(name, _)| name == fixture);
        let (_, text) = found.expect("a fixture");
        write(&place, path, text);
    }
    for (path, text) in OPENCODE {
        let path = format!(".local/share/opencode/storage/{path}");
        write(&place, &path, text.as_bytes());
    }
    place
}

#[test]
fn sessions_of_every_agent_are_found_and_imported_once() {
    let place = home_of_all_agents();
    let import = ["import", "--yes", "--no-process"];
    let first = place.json(&import);
    assert_eq!(first["failed"], 0, "{first}");
    // The history of Aider holds two sessions, and OpenCode has one.
    assert_eq!(first["sessions"], SESSIONS.len() + 2, "{first}");
    let again = place.json(&import);
    assert_eq!(
        (&again["events"], &again["failed"]),
        (&Value::from(0), &Value::from(0))
    );
}

#[test]
fn what_people_said_to_every_agent_is_recalled() {
    let place = home_of_all_agents();
    place.json(&["import", "--yes", "--no-process"]);
    let said = SESSIONS.iter().map(|(_, _, words)| *words);
    for words in said.chain(["ladders are checked"]) {
        let answer = place.stdout(&["recall", words]);
        assert!(answer.contains(words), "{words}: {answer}");
    }
}

#[test]
fn an_opencode_session_that_grew_adds_what_is_new() {
    let place = home_of_all_agents();
    let import = ["import", "--yes", "--no-process"];
    place.json(&import);
    let storage = ".local/share/opencode/storage";
    let part = r#"{"id":"prt_02","messageID":"msg_01","type":"text","text":"and on Fridays"}"#;
    write(
        &place,
        &format!("{storage}/part/msg_01/prt_02.json"),
        part.as_bytes(),
    );
    let session = OPENCODE[0]
        .1
        .replace("1775030400000", "1775030400000,\"updated\":1775030500000");
    write(
        &place,
        &format!("{storage}/session/p1/ses_01.json"),
        session.as_bytes(),
    );
    assert_eq!(place.json(&import)["events"], 1);
}

#[test]
fn a_history_of_aider_is_found_in_a_folder_that_another_agent_worked_in() {
    let place = TestPlace::new();
    let project = place.home().join("shop");
    let session = format!(
        r#"{{"type":"user","uuid":"u1","sessionId":"s1","cwd":{:?},"timestamp":"2026-04-01T08:00:00Z","message":{{"content":"open the shop"}}}}"#,
        project
    );
    write(&place, ".claude/projects/shop/s1.jsonl", session.as_bytes());
    let history = TRANSCRIPTS.iter().find(|(name, _)| *name == "aider.md");
    let (_, history) = history.expect("a fixture");
    write(&place, "shop/.aider.chat.history.md", history);
    let imported = place.json(&["import", "--yes", "--no-process"]);
    // The history holds two sessions.
    assert_eq!(imported["sessions"], 3, "{imported}");
    let grown = [history, &b"\n#### and one on the door  \n"[..]].concat();
    write(&place, "shop/.aider.chat.history.md", &grown);
    let again = place.json(&["import", "--yes", "--no-process"]);
    assert_eq!(again["events"], 1, "{again}");
}

/// A home with a session of every agent, in a file or a database.
fn whole_home() -> TestPlace {
    let place = home_of_all_agents();
    for (fixture, path) in OF_HOSTS {
        let found = TRANSCRIPTS.iter().find(|(name, _)| name == fixture);
        let (_, text) = found.expect("a fixture");
        write(&place, path, text);
    }
    for (path, rows, _) in DATABASES {
        write_database(place.home(), path, rows);
    }
    place
}

/// What `daybook import` prints on a terminal whose person answers the question with `answer`.
#[cfg(target_os = "linux")]
fn asked(place: &TestPlace, answer: &str) -> String {
    use std::io::Write;
    use std::process::{Command, Stdio};

    let command = format!("{} import --no-process", env!("CARGO_BIN_EXE_daybook"));
    let mut terminal = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", place.home())
        .env("DAYBOOK_HOME", place.root())
        .env("DAYBOOK_PERSON", "ada")
        .current_dir(place.home())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a terminal");
    let input = terminal.stdin.as_mut().expect("its input");
    writeln!(input, "{answer}").expect("an answer");
    let output = terminal.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

#[test]
#[cfg(target_os = "linux")]
fn a_home_of_all_agents_is_found_shown_asked_about_imported_and_accounted_for() {
    let place = whole_home();
    let declined = asked(&place, "n");
    assert!(declined.contains("Import into"), "{declined}");
    assert!(!place.root().join("daybook.db").exists(), "{declined}");
    let shown = asked(&place, "y");
    for agent in [
        "Claude Code",
        "Codex",
        "Gemini CLI",
        "Copilot chat",
        "Cursor",
        "Goose",
        "Hermes",
        "Aider",
    ] {
        assert!(shown.contains(agent), "{agent}: {shown}");
    }
    let again = place.json(&["import", "--yes", "--no-process"]);
    assert_eq!(
        (&again["events"], &again["failed"]),
        (&Value::from(0), &Value::from(0))
    );
    let status = place.json(&["status"]);
    let files = status["files"].as_array().expect("files");
    let listed = |path: &str| {
        let end = format!("/{path}");
        let file = files.iter().find(|file| {
            let path = file["path"].as_str();
            path.is_some_and(|path| path.ends_with(&end))
        });
        let format = file.and_then(|file| file["format"].as_str());
        format.is_some_and(|format| format != "unknown")
    };
    let places = SESSIONS.iter().map(|(_, path, _)| *path);
    let places = places.chain(OF_HOSTS.iter().map(|(_, path)| *path));
    for path in places.chain(DATABASES.iter().map(|(path, ..)| *path)) {
        assert!(listed(path), "{path}: {files:?}");
    }
}

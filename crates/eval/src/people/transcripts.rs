//! Writes a person's sessions as the files that their host would have written: transcripts of Claude Code, an export of
//! Claude.ai, or one of Slack.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::cases::{Person, PersonKind, PersonSession};
use super::steps::Step;

/// Time between two steps, in milliseconds.
const STEP: i64 = 40_000;

/// Writes all sessions of a person into `folder`.
pub(super) fn write_transcripts(person: &Person, folder: &Path) -> io::Result<()> {
    match person.kind {
        PersonKind::Agent => person
            .sessions
            .iter()
            .try_for_each(|session| write_agent_session(session, folder)),
        PersonKind::Chat => write_json(
            &folder.join("conversations.json"),
            &person.sessions.iter().map(chat).collect(),
        ),
        PersonKind::Room => write_room(person, folder),
    }
}

fn write_json(path: &Path, value: &Value) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, value.to_string())
}

/// The steps of a session with their times, in milliseconds, without its pauses.
fn timed(session: &PersonSession) -> Vec<(i64, &Step)> {
    let mut now = session.began;
    let mut timed = Vec::new();
    for step in &session.steps {
        match step {
            Step::Pause(time) => now += time,
            _ => timed.push((now, step)),
        }
        now += STEP;
    }
    timed
}

fn instant(at: i64) -> String {
    Timestamp::from_millisecond(at)
        .unwrap_or_default()
        .to_string()
}

fn write_agent_session(session: &PersonSession, folder: &Path) -> io::Result<()> {
    let mut lines: Vec<String> = Vec::new();
    for (number, (at, step)) in timed(session).into_iter().enumerate() {
        for (kind, content) in agent_lines(step, number) {
            let mut line = json!({
                "type": kind,
                "sessionId": session.id,
                "uuid": format!("{}-{}", session.id, lines.len()),
                "isSidechain": false,
                "cwd": session.place,
                "gitBranch": session.branch.as_deref().unwrap_or("main"),
                "timestamp": instant(at),
                "message": {"role": kind, "content": content},
            });
            if let (Step::Refused(_, reason), "user") = (step, kind) {
                // The host's own record of it, which no tool can print.
                line["toolUseResult"] = json!(format!("Error: {}", refusal(reason)));
            }
            lines.push(line.to_string());
        }
    }
    let project = folder.join(session.place.replace('/', "-"));
    fs::create_dir_all(&project)?;
    fs::write(
        project.join(format!("{}.jsonl", session.id)),
        lines.join("\n"),
    )
}

/// The lines of one step: the kind of each, and its content.
fn agent_lines(step: &Step, number: usize) -> Vec<(&'static str, Value)> {
    let (name, input, result, is_error) = match step {
        Step::Said(by, text) if by == "user" => return vec![("user", json!(text))],
        Step::Said(_, text) => {
            return vec![("assistant", json!([{"type": "text", "text": text}]))];
        }
        Step::Pause(_) => return Vec::new(),
        Step::Run(command, output) => ("Bash", json!({"command": command}), output.clone(), false),
        Step::Read(file, text) => ("Read", json!({"file_path": file}), text.clone(), false),
        Step::Write(file, text) => (
            "Write",
            json!({"file_path": file, "content": text}),
            "File created".to_owned(),
            false,
        ),
        Step::Edit(file, old, new) => (
            "Edit",
            json!({"file_path": file, "old_string": old, "new_string": new}),
            "The file has been updated".to_owned(),
            false,
        ),
        Step::Refused(command, reason) => {
            ("Bash", json!({"command": command}), refusal(reason), true)
        }
    };
    let id = format!("call-{number}");
    vec![
        (
            "assistant",
            json!([{"type": "tool_use", "id": id, "name": name, "input": input}]),
        ),
        (
            "user",
            json!([{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": is_error}]),
        ),
    ]
}

/// As Claude Code words it.
fn refusal(reason: &str) -> String {
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file)";
    match reason {
        "" => format!(
            "{refused}. STOP what you are doing and wait for the user to tell you how to proceed."
        ),
        reason => format!("{refused}. To tell you how to proceed, the user said:\n{reason}"),
    }
}

fn chat(session: &PersonSession) -> Value {
    let messages = timed(session)
        .into_iter()
        .enumerate()
        .filter_map(|(n, (at, step))| {
            let Step::Said(by, text) = step else {
                return None;
            };
            let sender = if by == "user" { "human" } else { "assistant" };
            Some(json!({
                "uuid": format!("{}-{n}", session.id),
                "sender": sender,
                "text": text,
                "content": [{"type": "text", "text": text}],
                "created_at": instant(at),
            }))
        });
    json!({
        "uuid": session.id,
        "name": session.id,
        "created_at": instant(session.began),
        "updated_at": instant(session.began),
        "chat_messages": messages.collect::<Vec<_>>(),
    })
}

fn write_room(person: &Person, folder: &Path) -> io::Result<()> {
    let mut speakers = BTreeSet::new();
    for session in &person.sessions {
        let mut messages: Vec<Value> = Vec::new();
        for (at, step) in timed(session) {
            let Step::Said(by, text) = step else { continue };
            speakers.insert(by.clone());
            let at = format!("{}.{:03}{:03}", at / 1000, at % 1000, messages.len());
            messages.push(json!({"type": "message", "user": id_of(by), "text": text, "ts": at}));
        }
        let day: String = instant(session.began).chars().take(10).collect();
        write_json(
            &folder.join(&session.place).join(format!("{day}.json")),
            &Value::from(messages),
        )?;
    }
    let channels: BTreeSet<&String> = person.sessions.iter().map(|it| &it.place).collect();
    let channels = channels
        .iter()
        .map(|name| json!({"id": id_of(name), "name": name}));
    write_json(&folder.join("channels.json"), &channels.collect())?;
    let users = speakers
        .iter()
        .map(|name| json!({"id": id_of(name), "name": name, "profile": {"display_name": name}}));
    write_json(&folder.join("users.json"), &users.collect())
}

fn id_of(name: &str) -> String {
    format!("U{}", name.to_uppercase().replace(['.', '-', '_'], ""))
}

//! Reads what stands beside a transcript and describes it: a reader gets it first, as pieces of number 0.
//!
//! Some hosts keep a session's folder, or that it is a sub-agent's, outside of what its lines hold.
//!
//! Not here: what becomes of it; that is each format's.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use daybook_domain::calendar::Day;
use serde_json::{Value, json};

use super::detect::{ChatShape, TranscriptFormat};
use crate::bounded;

/// Most bytes that are read of a file beside a transcript.
const MOST: u64 = 1024 * 1024;
/// Bytes at a document's end in which its last fields are sought.
const TAIL: u64 = 4 * 1024;
/// Folders above a session of Gemini CLI that may name its project's folder.
const ABOVE: usize = 3;

/// A piece, and the number of the line that it stands for: 0 where it only describes the session.
pub type NumberedPiece = (u32, Vec<u8>);

/// The pieces that stand beside the transcript at `path`, read as they are asked for. A file that is missing or cannot
/// be read is none.
#[must_use]
pub fn pieces_beside(
    path: &Path,
    format: &TranscriptFormat,
) -> Box<dyn Iterator<Item = NumberedPiece>> {
    let described = match format {
        TranscriptFormat::Gemini(shape) => gemini(path, *shape),
        TranscriptFormat::Cursor => cursor(path),
        TranscriptFormat::CopilotChat(_) => copilot_chat(path),
        TranscriptFormat::Aider => aider(path),
        TranscriptFormat::Kimi => kimi(path),
        TranscriptFormat::Grok => grok(path),
        TranscriptFormat::Antigravity => antigravity(path),
        TranscriptFormat::Slack(_) => slack(path),
        TranscriptFormat::OpenCode(ChatShape::Document) => return Box::new(opencode(path)),
        _ => Vec::new(),
    };
    let pieces = described
        .into_iter()
        .map(|value| (0, value.to_string().into_bytes()));
    Box::new(pieces)
}

/// The project's folder, which a file above the sessions names, and the kind, which a document states at its end.
fn gemini(path: &Path, shape: ChatShape) -> Vec<Value> {
    let folders = path.ancestors().skip(1).take(ABOVE);
    let named = folders
        .filter_map(|folder| read(&folder.join(".project_root")))
        .next();
    let folder = named.and_then(|name| String::from_utf8(name).ok());
    let mut described = Vec::new();
    described.extend(folder.map(|folder| json!({"projectRoot": folder.trim()})));
    // No text within JSON holds a line end as it is, so that this is a field of the outermost object.
    const SUB_AGENT: &[u8] = b"\n  \"kind\": \"subagent\"";
    if shape == ChatShape::Document
        && tail(path).is_some_and(|tail| memchr::memmem::find(&tail, SUB_AGENT).is_some())
    {
        described.push(json!({"kind": "subagent"}));
    }
    described
}

/// The file's time, since its lines have none, and whether it lies in the folder of sub-agents.
fn cursor(path: &Path) -> Vec<Value> {
    let is_sub_agent = path
        .parent()
        .is_some_and(|folder| folder.ends_with("subagents"));
    vec![json!({"is_sub_agent": is_sub_agent, "file_time": file_time(path)})]
}

/// The session, by the file's name, and the folder that the file of its workspace names.
fn copilot_chat(path: &Path) -> Vec<Value> {
    let workspace = path.ancestors().nth(2).map(|of| of.join("workspace.json"));
    let workspace = workspace.and_then(|file| read(&file)).unwrap_or_default();
    let workspace: Value = serde_json::from_slice(&workspace).unwrap_or_default();
    let session = path.file_stem().map(|stem| stem.to_string_lossy());
    vec![json!({"session": session, "folder": workspace["folder"]})]
}

/// The folder in which the history lies, which is the project's.
fn aider(path: &Path) -> Vec<Value> {
    let folder = path.parent().map(|folder| folder.to_string_lossy());
    vec![json!({ "folder": folder })]
}

/// The session and the agent by the folders above, and what the session's state says: the records lie in
/// `session_<id>/agents/<agent>`.
fn kimi(path: &Path) -> Vec<Value> {
    let name = |above: usize| {
        let folder = path.ancestors().nth(above)?.file_name()?;
        Some(folder.to_string_lossy().into_owned())
    };
    let (Some(agent), Some(session)) = (name(1), name(3)) else {
        return Vec::new();
    };
    if !session.starts_with("session_") || name(2).as_deref() != Some("agents") {
        return Vec::new();
    }
    let state = path
        .ancestors()
        .nth(3)
        .map(|folder| folder.join("state.json"));
    let state = state.and_then(|state| read(&state)).unwrap_or_default();
    let state: Value = serde_json::from_slice(&state).unwrap_or_default();
    vec![match agent.as_str() {
        "main" => json!({
            "type": "beside", "session": session, "cwd": state["workDir"], "title": state["title"],
        }),
        agent => json!({
            "type": "beside", "session": format!("{session}/{agent}"), "parent": session,
            "cwd": state["workDir"],
        }),
    }]
}

/// The summary of the chat, which lies beside it.
fn grok(path: &Path) -> Vec<Value> {
    let summary = read(&path.with_file_name("summary.json")).unwrap_or_default();
    let summary: Value = serde_json::from_slice(&summary).unwrap_or_default();
    let is_summary = summary["info"].is_object();
    is_summary.then_some(summary).into_iter().collect()
}

/// The session, by the folder above `.system_generated/logs`.
fn antigravity(path: &Path) -> Vec<Value> {
    let folders: Vec<&Path> = path.ancestors().skip(1).take(3).collect();
    let session = match folders.as_slice() {
        [logs, hidden, session]
            if logs.ends_with("logs") && hidden.ends_with(".system_generated") =>
        {
            session.file_name()
        }
        _ => None,
    };
    let session = session.map(|name| json!({"session": name.to_string_lossy()}));
    session.into_iter().collect()
}

/// The channel, the day and the names of the workspace's people, where the list is one of an export: a day's file in the
/// channel's folder, or any list below `users.json`.
fn slack(path: &Path) -> Vec<Value> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
    let day = stem.filter(|stem| Day::parse(stem).is_some());
    let users = path
        .ancestors()
        .nth(2)
        .map(|export| export.join("users.json"));
    let users = users.and_then(|users| read(&users));
    let channel = path.parent().and_then(Path::file_name);
    let Some(channel) = channel.filter(|_| day.is_some() || users.is_some()) else {
        return Vec::new();
    };
    let users: Value = serde_json::from_slice(&users.unwrap_or_default()).unwrap_or_default();
    let people: serde_json::Map<String, Value> = users
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|user| {
            let profile = &user["profile"];
            let names = [
                &profile["display_name"],
                &profile["real_name"],
                &user["name"],
            ];
            let name = names
                .into_iter()
                .find(|name| name.as_str().is_some_and(|name| !name.is_empty()))?;
            Some((user["id"].as_str()?.to_owned(), name.clone()))
        })
        .collect();
    let channel = channel.to_string_lossy();
    vec![json!({"channel_folder": channel, "day": day, "people": people})]
}

/// When the file was last changed, in milliseconds since 1970.
fn file_time(path: &Path) -> Option<u64> {
    let modified = path.metadata().ok()?.modified().ok()?;
    u64::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

/// The session, then each of its messages followed by its parts: `message/<session>/<message>.json` and
/// `part/<message>/<part>.json`, in the folder in which `session/<project>/<session>.json` lies.
fn opencode(path: &Path) -> impl Iterator<Item = NumberedPiece> + use<> {
    let storage = path
        .ancestors()
        .nth(3)
        .map(Path::to_owned)
        .unwrap_or_default();
    let session = read(path).unwrap_or_default();
    let id = id_of(&session);
    let messages = match id.is_empty() {
        true => Vec::new(),
        false => documents(&storage.join("message").join(id)),
    };
    let of_messages = messages.into_iter().flat_map(move |message| {
        let bytes = read(&message).unwrap_or_default();
        let id = id_of(&bytes);
        let parts = match id.is_empty() {
            true => Vec::new(),
            false => documents(&storage.join("part").join(id)),
        };
        let parts = parts.into_iter().filter_map(|part| read(&part));
        std::iter::once(bytes).chain(parts)
    });
    let pieces = of_messages.filter(|piece| !piece.is_empty());
    std::iter::once((0, session)).chain((1..).zip(pieces))
}

/// The id in a document, if it is the name of one folder.
fn id_of(document: &[u8]) -> String {
    let document: Value = serde_json::from_slice(document).unwrap_or_default();
    let id = document["id"].as_str().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    match id.chars().all(is_plain) {
        true => id.to_owned(),
        false => String::new(),
    }
}

/// The JSON documents in a folder, in the order of their names.
fn documents(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut documents: Vec<PathBuf> = paths
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    documents.sort();
    documents
}

fn read(path: &Path) -> Option<Vec<u8>> {
    bounded::read(path, MOST).ok()
}

fn tail(path: &Path) -> Option<Vec<u8>> {
    let mut file: File = bounded::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_folder_and_the_kind_of_a_gemini_session_are_found_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let chats = folder.path().join("chats");
        fs::create_dir(&chats).expect("a folder");
        fs::write(folder.path().join(".project_root"), "/home/ada/tidepool\n").expect("a file");
        let path = chats.join("session.json");
        let text = "{\n  \"sessionId\": \"s\",\n  \"messages\": [],\n  \"kind\": \"subagent\"\n}";
        fs::write(&path, text).expect("a file");
        let pieces = pieces_beside(&path, &TranscriptFormat::Gemini(ChatShape::Document));
        let texts: Vec<String> = pieces
            .map(|(_, piece)| String::from_utf8(piece).expect("text"))
            .collect();
        let expected = [
            r#"{"projectRoot":"/home/ada/tidepool"}"#,
            r#"{"kind":"subagent"}"#,
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn the_names_of_a_channels_people_stand_above_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let users = r#"[{"id":"U1","name":"a","profile":{"display_name":"ada"}},{"id":"U2","name":"grace","profile":{"display_name":""}}]"#;
        fs::write(folder.path().join("users.json"), users).expect("a file");
        let path = folder.path().join("harbour/2026-03-02.json");
        let pieces = pieces_beside(&path, &TranscriptFormat::Slack(ChatShape::Document));
        let texts = pieces.map(|(_, piece)| String::from_utf8(piece).expect("text"));
        let expected =
            r#"{"channel_folder":"harbour","day":"2026-03-02","people":{"U1":"ada","U2":"grace"}}"#;
        assert_eq!(texts.collect::<Vec<_>>(), [expected]);
        // A day's file names its channel and its day by itself.
        let beside = |path: &str| {
            let pieces = pieces_beside(
                Path::new(path),
                &TranscriptFormat::Slack(ChatShape::Document),
            );
            pieces
                .map(|(_, piece)| String::from_utf8(piece).expect("text"))
                .collect::<String>()
        };
        let alone = r#"{"channel_folder":"harbour","day":"2026-03-02","people":{}}"#;
        assert_eq!(beside("/nowhere/harbour/2026-03-02.json"), alone);
        assert_eq!(beside("/nowhere/harbour/messages.json"), "");
    }

    #[test]
    fn sessions_of_kimi_and_antigravity_are_named_by_their_folders() {
        let check = |path: &str, format: TranscriptFormat, expected: &str| {
            let pieces = pieces_beside(Path::new(path), &format);
            let texts = pieces.map(|(_, piece)| String::from_utf8(piece).expect("text"));
            assert_eq!(texts.collect::<Vec<_>>().join("\n"), expected, "{path}");
        };
        check(
            "/nowhere/session_1/agents/agent-0/wire.jsonl",
            TranscriptFormat::Kimi,
            r#"{"cwd":null,"parent":"session_1","session":"session_1/agent-0","type":"beside"}"#,
        );
        check("/nowhere/wire.jsonl", TranscriptFormat::Kimi, "");
        check(
            "/nowhere/a1/.system_generated/logs/transcript.jsonl",
            TranscriptFormat::Antigravity,
            r#"{"session":"a1"}"#,
        );
        check(
            "/nowhere/transcript.jsonl",
            TranscriptFormat::Antigravity,
            "",
        );
    }

    #[test]
    fn the_messages_of_an_opencode_session_are_followed_by_their_parts() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, text).expect("a file");
            path
        };
        let session = write("session/p/ses_1.json", r#"{"id":"ses_1"}"#);
        write("message/ses_1/msg_1.json", r#"{"id":"msg_1"}"#);
        write("message/ses_1/msg_2.json", r#"{"id":"../msg_1"}"#);
        write("part/msg_1/prt_1.json", r#"{"id":"prt_1"}"#);
        write("part/msg_1/prt_2.json", r#"{"id":"prt_2"}"#);
        let format = TranscriptFormat::OpenCode(ChatShape::Document);
        let numbered = pieces_beside(&session, &format)
            .map(|(number, piece)| format!("{number} {}", String::from_utf8(piece).expect("text")));
        let expected = [
            r#"0 {"id":"ses_1"}"#,
            r#"1 {"id":"msg_1"}"#,
            r#"2 {"id":"prt_1"}"#,
            r#"3 {"id":"prt_2"}"#,
            r#"4 {"id":"../msg_1"}"#,
        ];
        assert_eq!(numbered.collect::<Vec<_>>(), expected);
    }
}

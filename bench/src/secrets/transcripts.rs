//! Writes transcripts of every format that Daybook reads, with a secret in every place.
//!
//! Not here: what is a secret (`families`).

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};

use super::planter::Planter;

/// The transcripts of one round. Returns Claude Code's, for a hook to name.
pub(super) fn write(folder: &Path, planter: &mut Planter) -> Result<PathBuf> {
    let claude = path(
        folder,
        planter,
        ["claude: folder name", "claude: file name"],
        "jsonl",
    );
    lines(&claude, &claude_code(planter))?;
    let codex = path(
        folder,
        planter,
        ["codex: folder name", "codex: file name"],
        "jsonl",
    );
    lines(&codex, &codex_rollout(planter))?;
    let legacy = path(
        folder,
        planter,
        ["legacy: folder name", "legacy: file name"],
        "jsonl",
    );
    lines(&legacy, &codex_legacy(planter))?;
    let chat = path(
        folder,
        planter,
        ["chat: folder name", "chat: file name"],
        "jsonl",
    );
    lines(&chat, &chat_lines(planter))?;
    let document = path(
        folder,
        planter,
        ["document: folder name", "document: file name"],
        "json",
    );
    lines(&document, &[chat_document(planter)])?;
    let list = path(
        folder,
        planter,
        ["list: folder name", "list: file name"],
        "json",
    );
    lines(&list, &[Value::Array(chat_messages(planter, &LIST))])?;
    let unknown = folder.join(format!("{}.jsonl", planter.id()));
    let key = planter.name("unknown file: key");
    lines(
        &unknown,
        &[json!({ key: 1, "type": planter.name("unknown file: type") })],
    )?;
    Ok(claude)
}

fn path(
    folder: &Path,
    planter: &mut Planter,
    [above, name]: [&'static str; 2],
    end: &str,
) -> PathBuf {
    // The id keeps rounds apart after the last secret.
    let round = folder.join(planter.id());
    round
        .join(planter.name(above))
        .join(format!("{}.{end}", planter.name(name)))
}

fn lines(path: &Path, values: &[Value]) -> Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    let text: String = values.iter().map(|value| format!("{value}\n")).collect();
    Ok(fs::write(path, text)?)
}

fn claude_code(p: &mut Planter) -> Vec<Value> {
    let session = p.name("claude: session id");
    let place = json!({
        "cwd": format!("/srv/{}/app", p.name("claude: working directory")),
        "gitBranch": format!("fix/{}", p.name("claude: branch")),
        "sessionId": session,
    });
    let mut nth = 0;
    let id = p.id();
    let mut line = |kind: &str, fields: Value| {
        nth += 1;
        let mut line = json!({
            "type": kind, "uuid": format!("{id}-{nth}"),
            "timestamp": format!("2026-03-02T08:{nth:02}:00.000Z"),
        });
        for more in [&place, &fields] {
            let fields = more.as_object().into_iter().flatten();
            for (name, value) in fields {
                line[name] = value.clone();
            }
        }
        line
    };
    let said =
        |role: &str, content: Value| json!({ "message": { "role": role, "content": content } });
    let call = p.name("claude: call id");
    let key = p.text("claude: argument key");
    let arguments = json!({ "command": p.text("claude: argument"), "env": { key: "on" } });
    let tool = p.name("claude: tool name");
    let result = |call: &str, content: Value, failed: bool| {
        said(
            "user",
            json!([{ "type": "tool_result", "tool_use_id": call, "content": content, "is_error": failed }]),
        )
    };
    vec![
        json!({ "type": "summary", "summary": p.text("claude: title"), "leafUuid": format!("{id}-1") }),
        line("user", said("user", json!(p.text("claude: message")))),
        line(
            "assistant",
            said(
                "assistant",
                json!([
                    { "type": "text", "text": p.text("claude: answer") },
                    { "type": "tool_use", "id": call, "name": tool, "input": arguments },
                ]),
            ),
        ),
        line(
            "user",
            result(&call, json!(p.text("claude: result")), false),
        ),
        line(
            "assistant",
            said(
                "assistant",
                json!([
                    { "type": "tool_use", "id": "t2", "name": "Edit", "input": {
                        "file_path": format!("/srv/{}", p.name("claude: file in an argument")),
                        "new_string": p.text("claude: edited text"),
                    } },
                    { "type": "tool_use", "id": "t3", "name": "Bash", "input": { "command": p.text("claude: command") } },
                ]),
            ),
        ),
        line(
            "user",
            result(
                "t2",
                json!([{ "type": "text", "text": p.text("claude: result block") }]),
                false,
            ),
        ),
        line(
            "user",
            result("t3", json!(p.text("claude: tool error")), true),
        ),
        line(
            "queue-operation",
            json!({ "operation": "enqueue", "content": p.text("claude: queued message") }),
        ),
        line(
            "user",
            json!({
                "isCompactSummary": true,
                "message": { "role": "user", "content": p.text("claude: compaction summary") },
            }),
        ),
        line(
            "pr-link",
            json!({ "prNumber": 7, "prRepository": format!("ada/{}", p.name("claude: repository")) }),
        ),
        // No JSON: reported with its number, never with its text.
        Value::String(p.text("claude: bad line")),
    ]
}

fn codex_rollout(p: &mut Planter) -> Vec<Value> {
    let mut nth = 0;
    let mut line = |kind: &str, payload: Value| {
        nth += 1;
        json!({ "timestamp": format!("2026-03-03T08:{nth:02}:00.000Z"), "type": kind, "payload": payload })
    };
    let message = |role: &str, kind: &str, text: String| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] });
    let call = p.name("codex: call id");
    let key = p.text("codex: argument key");
    let arguments = json!({ "command": ["bash", "-lc", p.text("codex: argument")], key: true });
    vec![
        line(
            "session_meta",
            json!({
                "id": p.name("codex: session id"),
                "timestamp": "2026-03-03T08:00:00.000Z",
                "cwd": format!("/srv/{}/app", p.name("codex: working directory")),
                "originator": p.name("codex: originator"),
                "source": p.name("codex: surface"),
                "git": {
                    "branch": p.name("codex: branch"),
                    "repository_url": format!("https://git.tides.example/{}/app.git", p.name("codex: remote")),
                },
            }),
        ),
        line(
            "response_item",
            message("user", "input_text", p.text("codex: first message")),
        ),
        // Its folder is another one, so events behind it have no branch.
        line(
            "turn_context",
            json!({ "cwd": format!("/srv/{}", p.name("codex: turn's directory")), "model": "m" }),
        ),
        line(
            "response_item",
            message("user", "input_text", p.text("codex: message")),
        ),
        line(
            "response_item",
            json!({
                "type": "function_call", "name": p.name("codex: tool name"), "call_id": call,
                "arguments": arguments.to_string(),
            }),
        ),
        line(
            "response_item",
            json!({
                "type": "function_call_output", "call_id": call,
                "output": json!({ "output": p.text("codex: result"), "metadata": { "exit_code": 1 } }).to_string(),
            }),
        ),
        line(
            "response_item",
            json!({
                "type": "custom_tool_call", "name": "apply_patch", "call_id": "c2", "input": p.text("codex: patch"),
            }),
        ),
        line(
            "response_item",
            json!({
                "type": "custom_tool_call_output", "call_id": "c2", "output": p.text("codex: patch result"),
            }),
        ),
        line(
            "response_item",
            message("assistant", "output_text", p.text("codex: answer")),
        ),
        line(
            "compacted",
            json!({ "message": p.text("codex: compaction") }),
        ),
    ]
}

fn codex_legacy(p: &mut Planter) -> Vec<Value> {
    let message = |role: &str, text: String| json!({ "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] });
    let folder = format!("/srv/{}/app", p.name("legacy: working directory"));
    let environment = format!(
        "<environment_context>\nCurrent working directory: {folder}\n</environment_context>"
    );
    let call = p.name("legacy: call id");
    let arguments = json!({ "command": ["cat", p.text("legacy: argument")] });
    vec![
        json!({
            "id": p.id(), "timestamp": "2025-07-01T10:00:00.000Z",
            "instructions": p.text("legacy: instructions"),
            "git": { "branch": p.name("legacy: branch") },
        }),
        message("user", environment),
        message("user", p.text("legacy: message")),
        json!({
            "type": "function_call", "name": p.name("legacy: tool name"), "call_id": call,
            "arguments": arguments.to_string(),
        }),
        json!({ "type": "function_call_output", "call_id": call, "output": p.text("legacy: result") }),
        message("assistant", p.text("legacy: answer")),
    ]
}

/// The places of one shape of a chat: message, block, argument, argument key, tool, call, result, name.
type ChatPlaces = [&'static str; 8];

const LINES: ChatPlaces = [
    "chat: message",
    "chat: block",
    "chat: argument",
    "chat: argument key",
    "chat: tool name",
    "chat: call id",
    "chat: result",
    "chat: speaker",
];
const DOCUMENT: ChatPlaces = [
    "document: message",
    "document: block",
    "document: argument",
    "document: argument key",
    "document: tool name",
    "document: call id",
    "document: result",
    "document: speaker",
];
const LIST: ChatPlaces = [
    "list: message",
    "list: block",
    "list: argument",
    "list: argument key",
    "list: tool name",
    "list: call id",
    "list: result",
    "list: speaker",
];

fn chat_lines(p: &mut Planter) -> Vec<Value> {
    chat_messages(p, &LINES)
}

fn chat_document(p: &mut Planter) -> Value {
    json!({
        "session_id": p.name("document: session id"),
        "title": p.text("document: title"),
        "model": "m",
        "messages": chat_messages(p, &DOCUMENT),
    })
}

fn chat_messages(p: &mut Planter, places: &ChatPlaces) -> Vec<Value> {
    let [message, block, argument, key, tool, call, result, speaker] = *places;
    let call = p.name(call);
    let key = p.text(key);
    let arguments = json!({ "ferry": p.text(argument), key: 9 });
    vec![
        json!({
            "role": "user", "content": p.text(message), "name": p.name(speaker),
            "timestamp": "2026-04-01T07:00:00Z",
        }),
        json!({
            "role": "assistant",
            "content": [{ "type": "text", "text": p.text(block) }],
            "tool_calls": [{ "id": call, "type": "function", "function": {
                "name": p.name(tool), "arguments": arguments.to_string(),
            } }],
        }),
        json!({ "role": "tool", "tool_call_id": call, "content": p.text(result) }),
    ]
}

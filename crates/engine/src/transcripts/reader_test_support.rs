//! Shared by the readers' tests: reads lines, and shows their items as text.

use std::path::Path;

use super::detect::{ChatShape, TranscriptFormat};
use super::item::{BadLine, RawEvent, TitleTarget, TranscriptItem};
use super::readers::reader;

/// Knows no git repository.
pub(super) fn no_git(_: &Path) -> Option<std::path::PathBuf> {
    None
}

/// Reads lines in one go, and once more with a new reader for every line that goes on from the
/// previous one's state: it must make no difference.
pub(super) fn read(
    format: &TranscriptFormat,
    lines: &[&str],
) -> (Vec<TranscriptItem>, Vec<(u32, BadLine)>) {
    let mut at_once = (Vec::new(), Vec::new());
    let mut reader_at_once = reader(format, "unnamed", &no_git, None).unwrap().unwrap();
    let mut in_steps = (Vec::new(), Vec::new());
    let mut state: Option<String> = None;
    for (line, number) in lines.iter().zip(1..) {
        if let Err(bad) = reader_at_once.line(number, line.as_bytes(), &mut at_once.0) {
            at_once.1.push((number, bad));
        }
        let mut step = reader(format, "unnamed", &no_git, state.as_deref())
            .unwrap()
            .unwrap();
        if let Err(bad) = step.line(number, line.as_bytes(), &mut in_steps.0) {
            in_steps.1.push((number, bad));
        }
        state = Some(step.state());
    }
    // A reader that goes on says first whose events follow, changed or not.
    let mut session = None;
    in_steps.0.retain(|parsed| match parsed {
        TranscriptItem::Session(hint) => session.replace(hint.clone()).as_ref() != Some(hint),
        TranscriptItem::Event(_) | TranscriptItem::Title(_) | TranscriptItem::PullRequest(_) => {
            true
        }
    });
    assert_eq!(at_once, in_steps, "a stored state made a difference");
    at_once
}

#[test]
fn a_reader_that_goes_on_says_first_whose_events_follow() {
    let lines = [
        (
            TranscriptFormat::ClaudeCode,
            r#"{"type":"user","uuid":"u1","sessionId":"s1","message":{"content":"hello"}}"#,
        ),
        (
            TranscriptFormat::Codex,
            r#"{"type":"response_item","payload":{"type":"message","role":"user","content":"hello"}}"#,
        ),
        (
            TranscriptFormat::Chat(ChatShape::Lines),
            r#"{"role":"user","content":"hello"}"#,
        ),
        (
            TranscriptFormat::Gemini(ChatShape::Lines),
            r#"{"id":"m1","type":"user","content":"hello"}"#,
        ),
        (
            TranscriptFormat::Qwen,
            r#"{"uuid":"u1","type":"user","message":{"parts":[{"text":"hello"}]}}"#,
        ),
        (
            TranscriptFormat::Copilot,
            r#"{"type":"user.message","id":"e1","data":{"content":"hello"}}"#,
        ),
        (
            TranscriptFormat::Cursor,
            r#"{"role":"user","message":{"content":"hello"}}"#,
        ),
        (
            TranscriptFormat::Pi,
            r#"{"type":"message","id":"a1","message":{"role":"user","content":"hello"}}"#,
        ),
        (
            TranscriptFormat::Grok,
            r#"{"type":"user","content":"hello"}"#,
        ),
        (
            TranscriptFormat::CopilotChat(ChatShape::Lines),
            r#"{"kind":2,"k":["requests"],"v":[{"requestId":"r1","message":"hello"}]}"#,
        ),
        (
            TranscriptFormat::Hermes(ChatShape::Lines),
            r#"{"role":"user","content":"hello"}"#,
        ),
        (
            TranscriptFormat::Aider,
            r#"{"aider":"user","text":"hello"}"#,
        ),
        (
            TranscriptFormat::Crush,
            r#"{"crush":{"id":"m1","role":"user","parts":[{"type":"text","data":{"text":"hello"}}]}}"#,
        ),
        (
            TranscriptFormat::LangGraph,
            r#"{"langgraph":{"message":{"type":"human","content":"hello"}}}"#,
        ),
    ];
    for (format, line) in lines {
        let mut out = Vec::new();
        let mut first = reader(&format, "unnamed", &no_git, None).unwrap().unwrap();
        first.line(1, line.as_bytes(), &mut out).unwrap();
        let mut second = reader(&format, "unnamed", &no_git, Some(&first.state()))
            .unwrap()
            .unwrap();
        second.line(2, line.as_bytes(), &mut out).unwrap();
        let is_session = |parsed: &TranscriptItem| matches!(parsed, TranscriptItem::Session(_));
        let sessions: Vec<bool> = out.iter().map(is_session).collect();
        assert_eq!(sessions, [true, false, true, false], "{format:?}");
        assert_eq!(out[0], out[2]);
    }
}

/// The events that lines make.
pub(super) fn events(format: &TranscriptFormat, lines: &[&str]) -> Vec<RawEvent> {
    let (parsed, bad) = read(format, lines);
    assert_eq!(bad, []);
    parsed.into_iter().filter_map(event).collect()
}

/// The event, if it is one.
pub(super) fn event(parsed: TranscriptItem) -> Option<RawEvent> {
    match parsed {
        TranscriptItem::Event(event) => Some(event),
        TranscriptItem::Session(_) | TranscriptItem::Title(_) | TranscriptItem::PullRequest(_) => {
            None
        }
    }
}

/// An event in one line: its origin, how its call ended, its text.
pub(super) fn shown(event: &RawEvent) -> String {
    let origin = event.origin.as_str();
    let side = if event.sidechain { "side " } else { "" };
    let text = event.text.replace('\n', "⏎");
    let line = match event.status {
        Some(status) => format!("{side}{origin} | {} | {text}", status.as_str()),
        None => format!("{side}{origin} | {text}"),
    };
    line.trim_end().to_owned()
}

/// Checks what lines say, one event per line of `expected`.
pub(super) fn check(format: &TranscriptFormat, lines: &[&str], expected: &str) {
    let said: Vec<String> = events(format, lines).iter().map(shown).collect();
    let expected: Vec<&str> = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(said, expected);
}

/// Everything but events in one line each.
pub(super) fn told(format: &TranscriptFormat, lines: &[&str]) -> Vec<String> {
    let mut told = Vec::new();
    for parsed in read(format, lines).0 {
        told.push(match parsed {
            TranscriptItem::Event(_) => continue,
            TranscriptItem::Session(hint) => {
                let mut line = format!("session {} {}", hint.host_id, hint.kind.as_str());
                let more = [
                    ("forked from", hint.forked_from),
                    ("parent", hint.parent),
                    ("in", hint.cwd),
                    ("on", hint.branch),
                    ("of", hint.remote),
                ];
                for (word, value) in more {
                    line.extend(value.map(|value| format!(" {word} {value}")));
                }
                line + if hint.memory_off { " memory off" } else { "" }
            }
            TranscriptItem::Title(title) => match title.of {
                TitleTarget::Session(id) => format!("title of {id}: {}", title.text),
                TitleTarget::Event(_) => format!("title of another: {}", title.text),
            },
            TranscriptItem::PullRequest(request) => {
                format!("pull request of {}: {}", request.repository, request.url)
            }
        });
    }
    told
}

/// All formats that have a reader.
pub(super) const FORMATS: [TranscriptFormat; 22] = [
    TranscriptFormat::Codex,
    TranscriptFormat::ClaudeCode,
    TranscriptFormat::Chat(ChatShape::Lines),
    TranscriptFormat::Gemini(ChatShape::Lines),
    TranscriptFormat::Qwen,
    TranscriptFormat::Copilot,
    TranscriptFormat::Cursor,
    TranscriptFormat::OpenCode(ChatShape::Lines),
    TranscriptFormat::ChatGpt(ChatShape::Document),
    TranscriptFormat::ClaudeAi(ChatShape::Document),
    TranscriptFormat::Pi,
    TranscriptFormat::Droid,
    TranscriptFormat::Kimi,
    TranscriptFormat::Grok,
    TranscriptFormat::Antigravity,
    TranscriptFormat::Goose,
    TranscriptFormat::Slack(ChatShape::Document),
    TranscriptFormat::CopilotChat(ChatShape::Lines),
    TranscriptFormat::Hermes(ChatShape::Lines),
    TranscriptFormat::Aider,
    TranscriptFormat::LangGraph,
    TranscriptFormat::Crush,
];

proptest::proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(lines in proptest::collection::vec(proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200), 0..8)) {
        for format in &FORMATS {
            let mut reader = reader(format, "unnamed", &no_git, None).unwrap().unwrap();
            for (line, number) in lines.iter().zip(0..) {
                let _ = reader.line(number, line, &mut Vec::new());
            }
        }
    }

    #[test]
    fn no_json_makes_a_reader_panic(lines in proptest::collection::vec(likely_line(), 0..8)) {
        for format in &FORMATS {
            let mut reader = reader(format, "unnamed", &no_git, None).unwrap().unwrap();
            for (line, number) in lines.iter().zip(0..) {
                let _ = reader.line(number, line.as_bytes(), &mut Vec::new());
            }
        }
    }
}

/// Lines whose keys and kinds readers know, with anything in them.
fn likely_line() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    let word = prop::sample::select(vec![
        "user",
        "assistant",
        "message",
        "function_call",
        "function_call_output",
        "tool_use",
        "tool_result",
        "text",
        "image",
        "response_item",
        "session_meta",
        "event_msg",
        "turn_context",
        "thread_rolled_back",
        "queue-operation",
        "enqueue",
        "dequeue",
        "popAll",
        "remove",
        "attachment",
        "queued_command",
        "summary",
        "s",
        "exec",
        "The user doesn't want to proceed with this tool use. the user said:\nno",
        "User has answered your questions: \"a\"=\"b\", \"c\"=\"",
        "<command-name>/x</command-name>",
        "<daybook-memory>",
        "Implement the following plan:\nx",
        "AskUserQuestion",
        "request_user_input",
        "{\"output\":\"\",\"metadata\":{\"exit_code\":1}}",
        "/home/ada/ü",
        "data:image/png;base64,",
        "# AGENTS.md instructions",
        "2026-01-27T03:18:21.567Z",
    ]);
    let key = prop::sample::select(vec![
        "type",
        "payload",
        "message",
        "role",
        "content",
        "text",
        "uuid",
        "sessionId",
        "timestamp",
        "cwd",
        "gitBranch",
        "isSidechain",
        "isMeta",
        "toolUseResult",
        "answers",
        "operation",
        "attachment",
        "prompt",
        "tool_use_id",
        "id",
        "name",
        "input",
        "arguments",
        "call_id",
        "output",
        "is_error",
        "source",
        "data",
        "git",
        "num_turns",
        "action",
        "command",
        "edits",
        "questions",
        "question",
        "messages",
        "tool_calls",
        "function",
        "summary",
        "leafUuid",
    ]);
    let leaf = prop_oneof![
        word.prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(json!(1e300)),
        Just(Value::Null),
    ];
    leaf.prop_recursive(4, 40, 8, move |inner| {
        prop_oneof![
            3 => prop::collection::vec((key.clone(), inner.clone()), 0..8)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Value>()),
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            1 => inner.prop_map(|value| Value::from(value.to_string())),
        ]
    })
    .prop_map(|value| value.to_string())
}

//! Reads chats of Grok's command line: a message on each line, without times.
//!
//! What a line becomes:
//!
//! | line | becomes |
//! |---|---|
//! | `user` | a person's words; with a `synthetic_reason`, the host's text |
//! | `assistant` | the agent's words and calls |
//! | `tool_result` | the result of a call |
//! | `backend_tool_call` | a call that the service made by itself |
//! | `system` | the host's text |
//! | `reasoning` | nothing: thoughts are not kept |
//!
//! `summary.json` beside the chat names the session, its folder, branch, title and time (`beside`). Checked against
//! samples: the host's source is not public. Not here: messages of the interface, in files of their own.

use daybook_domain::Origin;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::blocks::{self, Blocks};
use super::format::SessionFormat;
use super::item::BadLine;
use super::item_writer::{CallResult, EventContent, EventKey, ItemWriter};
use super::sketch::Sketch;
use super::{json, wrappers};
use crate::places::folding::normalised_remote;
use daybook_text::lenient::{Content, ContentMember, Object, Text, When};

/// Elements that the host writes into a person's message, and the one around the words.
const ELEMENTS: &[&str] = &["user_info", "system-reminder", "environment_context"];

/// Chats of Grok.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Grok {}

/// One message, or the summary beside the chat.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GrokLine<'j> {
    #[serde(rename = "type", borrow)]
    kind: Text<'j>,
    content: Blocks<'j>,
    synthetic_reason: Text<'j>,
    tool_calls: Content<'j, ToolCall<'j>>,
    tool_call_id: Text<'j>,
    #[serde(rename = "kind")]
    backend: Object<BackendCall<'j>>,
    // The summary.
    info: Object<Info<'j>>,
    created_at: When<'j>,
    session_kind: Text<'j>,
    generated_title: Text<'j>,
    head_branch: Text<'j>,
    git_remotes: Content<'j, NoObject>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolCall<'j> {
    #[serde(borrow)]
    id: Text<'j>,
    name: Text<'j>,
    #[serde(borrow)]
    arguments: Option<&'j RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BackendCall<'j> {
    #[serde(borrow)]
    tool_type: Text<'j>,
    #[serde(borrow)]
    action: Option<&'j RawValue>,
    id: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Info<'j> {
    #[serde(borrow)]
    id: Text<'j>,
    cwd: Text<'j>,
}

/// The members of a list in which no object is expected.
#[derive(Debug, Deserialize)]
struct NoObject {}

/// Whether a file that begins so holds such a chat.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    matches!(&*sketch.kind, "system" | "user" | "assistant")
        && sketch.has("content")
        && sketch.role.is_empty()
        && sketch.message.is_none()
        && !sketch.has("uuid")
}

impl SessionFormat for Grok {
    const AGENT: &'static str = "grok";
    type Line<'j> = GrokLine<'j>;

    fn read(&mut self, line: &GrokLine<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        if let Some(info) = &line.info.0 {
            describe(line, info, out);
            return Ok(());
        }
        let text = blocks::texts(&line.content);
        let plain = |origin, text: String| EventContent::plain(EventKey::Content, origin, text);
        match &*line.kind {
            "user" if line.synthetic_reason.is_empty() => {
                let unwrapped = wrappers::unwrap(&text, ELEMENTS);
                let inside = unwrapped.elements.iter().map(|(_, inside)| inside.trim());
                out.push(plain(
                    Origin::Harness,
                    inside.collect::<Vec<_>>().join("\n"),
                ));
                out.push(plain(Origin::Human, unwrapped.rest.into_owned()));
            }
            "assistant" => {
                out.push(plain(Origin::Assistant, text));
                write_calls(line, out);
            }
            "tool_result" => {
                let id = line.tool_call_id.get();
                out.result(
                    id.map_or(EventKey::Content, EventKey::InSession),
                    id.unwrap_or_default(),
                    CallResult {
                        tool: None,
                        text: text.into(),
                        status: None,
                    },
                );
            }
            "backend_tool_call" => {
                if let Some(call) = &line.backend.0 {
                    let key = call.id.get().map_or(EventKey::Content, EventKey::InSession);
                    out.call(key, &call.id, &call.tool_type, &json::as_text(call.action));
                }
            }
            "system" | "user" => out.push(plain(Origin::Harness, text)),
            _ => {}
        }
        Ok(())
    }
}

fn describe(line: &GrokLine<'_>, info: &Info<'_>, out: &mut ItemWriter<'_>) {
    out.set_time(&line.created_at);
    out.set_folder(&info.cwd, line.head_branch.get());
    let remote = match &line.git_remotes {
        Content::Parts(remotes) => remotes.iter().find_map(|remote| match remote {
            ContentMember::Text(remote) => normalised_remote(remote),
            ContentMember::Object(NoObject {}) | ContentMember::Other => None,
        }),
        Content::Text(_) | Content::Nothing => None,
    };
    out.describe(|session| {
        session.host_id = info.id.to_string();
        session.is_sub_agent = &*line.session_kind == "subagent";
        session.remote = remote;
    });
    out.title(&line.generated_title);
}

fn write_calls(line: &GrokLine<'_>, out: &mut ItemWriter<'_>) {
    let Content::Parts(calls) = &line.tool_calls else {
        return;
    };
    for call in calls {
        if let ContentMember::Object(call) = call {
            let key = call.id.get().map_or(EventKey::Content, EventKey::InSession);
            out.call(key, &call.id, &call.name, &json::as_text(call.arguments));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::transcripts::detect::{TranscriptFormat, detect};
    use crate::transcripts::reader_test_support::{check, events, told};

    const LINES: TranscriptFormat = TranscriptFormat::Grok;
    const HELLO: &str =
        r#"{"type":"user","content":[{"type":"text","text":"hello"}],"prompt_index":0}"#;

    #[test]
    fn a_conversation_is_read_with_its_calls() {
        let lines = [
            r#"{"type":"system","content":"You are an agent."}"#,
            r#"{"type":"user","content":[{"type":"text","text":"<user_info>\nlinux\n</user_info>"}],"synthetic_reason":"environment_context"}"#,
            HELLO,
            r#"{"type":"reasoning","summary":[]}"#,
            r#"{"type":"assistant","content":"Looking.","tool_calls":[{"id":"c1","name":"run","arguments":"{\"command\":\"ls\"}"}]}"#,
            r#"{"type":"tool_result","tool_call_id":"c1","content":"eel.txt"}"#,
        ];
        assert_eq!(detect(lines[0].as_bytes()), LINES);
        check(
            &LINES,
            &lines,
            "harness | You are an agent.
             harness | <user_info>⏎linux⏎</user_info>
             human | hello
             assistant | Looking.
             tool_call | ls
             tool_result | eel.txt",
        );
    }

    #[test]
    fn the_summary_beside_a_chat_describes_it() {
        let summary = r#"{"info":{"id":"g1","cwd":"/home/ada/tidepool"},"created_at":"2026-01-01T00:00:00Z","session_kind":"subagent","head_branch":"main","git_remotes":["git@github.com:ada/tidepool.git"]}"#;
        check(&LINES, &[summary, HELLO], "side assistant | hello");
        let session =
            "session g1 sub_agent in /home/ada/tidepool on main of github.com/ada/tidepool";
        assert_eq!(told(&LINES, &[summary, HELLO]), [session]);
        assert_eq!(events(&LINES, &[summary, HELLO])[0].at.0, 1_767_225_600_000);
    }
}

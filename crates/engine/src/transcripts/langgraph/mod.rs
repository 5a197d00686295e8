//! Reads threads of LangGraph, as its checkpoints hold them.
//!
//! What a line becomes:
//!
//! | line | becomes |
//! |---|---|
//! | `thread` | the session |
//! | a message of type `human` | a person's words |
//! | `ai` | the agent's words and calls; reasoning is not kept |
//! | `tool`, `function` | the result of a call |
//! | any other | the host's text: instructions, summaries |
//!
//! A message has an id only once it was kept, so that its content and its turn identify it. Checked against threads that
//! langgraph 1.2 wrote. Not here: the tables and their encoding, which the store reads.

use daybook_domain::{Origin, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::blocks::{self, Blocks};
use super::format::SessionFormat;
use super::item::BadLine;
use super::item_writer::{CallResult, EventContent, EventKey, ItemWriter};
use super::sketch::Sketch;
use super::{chat, json};
use daybook_text::lenient::{Content, ContentMember, Object, Text, When};

/// Threads of LangGraph.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct LangGraph {}

/// One line: the thread or a message of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LangGraphLine<'j> {
    #[serde(borrow)]
    langgraph: Object<Item<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Item<'j> {
    #[serde(borrow)]
    thread: Text<'j>,
    message: Object<Message<'j>>,
    at: When<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'j> {
    #[serde(rename = "type", borrow)]
    kind: Text<'j>,
    content: Blocks<'j>,
    name: Text<'j>,
    tool_calls: Content<'j, Call<'j>>,
    tool_call_id: Text<'j>,
    status: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Call<'j> {
    #[serde(borrow)]
    id: Text<'j>,
    name: Text<'j>,
    #[serde(borrow)]
    args: Option<&'j RawValue>,
}

/// Whether a file that begins so holds such a thread.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    sketch.keys == ["langgraph"]
}

impl SessionFormat for LangGraph {
    const AGENT: &'static str = "langgraph";
    type Line<'j> = LangGraphLine<'j>;

    fn read(&mut self, line: &LangGraphLine<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        let Some(item) = &line.langgraph.0 else {
            return Ok(());
        };
        if let Some(thread) = item.thread.get() {
            out.describe(|session| session.host_id = thread.to_owned());
        }
        out.set_time(&item.at);
        if let Some(message) = &item.message.0 {
            read_message(message, out);
        }
        Ok(())
    }
}

fn read_message(message: &Message<'_>, out: &mut ItemWriter<'_>) {
    let text = blocks::texts(&message.content);
    match &*message.kind {
        "human" => {
            let (origin, words) = chat::unwrapped(&text);
            out.push(EventContent::plain(EventKey::Content, origin, words));
        }
        "ai" => {
            out.push(EventContent::plain(
                EventKey::Content,
                Origin::Assistant,
                text,
            ));
            write_calls(message, out);
        }
        "tool" | "function" => out.result(
            EventKey::Content,
            &message.tool_call_id,
            CallResult {
                tool: message.name.get(),
                text: text.into(),
                status: match &*message.status {
                    "success" => Some(ToolStatus::Succeeded),
                    "error" => Some(ToolStatus::Failed),
                    _ => None,
                },
            },
        ),
        _ => out.push(EventContent::plain(
            EventKey::Content,
            Origin::Harness,
            text,
        )),
    }
}

fn write_calls(message: &Message<'_>, out: &mut ItemWriter<'_>) {
    let Content::Parts(calls) = &message.tool_calls else {
        return;
    };
    for call in calls {
        if let ContentMember::Object(call) = call {
            let arguments = json::as_text(call.args);
            out.call(EventKey::Content, &call.id, &call.name, &arguments);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::transcripts::detect::{TranscriptFormat, detect};
    use crate::transcripts::reader_test_support::{check, told};

    const LINES: TranscriptFormat = TranscriptFormat::LangGraph;
    const THREAD: &str = r#"{"langgraph":{"thread":"t1"}}"#;

    #[test]
    fn a_thread_is_read_with_its_calls() {
        assert_eq!(detect(THREAD.as_bytes()), LINES);
        let lines = [
            THREAD,
            r#"{"langgraph":{"at":1775030400000,"message":{"type":"system","content":"Be brief."}}}"#,
            r#"{"langgraph":{"message":{"type":"human","content":"count the gulls"}}}"#,
            r#"{"langgraph":{"message":{"type":"ai","content":[{"type":"text","text":"Looking."}],"tool_calls":[{"id":"c1","name":"count","args":{"command":"ls"}}]}}}"#,
            r#"{"langgraph":{"message":{"type":"tool","content":"1","tool_call_id":"c1","name":"count","status":"success"}}}"#,
            r#"{"langgraph":{"message":{"type":"tool","content":"gone","tool_call_id":"c2","status":"error"}}}"#,
        ];
        check(
            &LINES,
            &lines,
            "harness | Be brief.
             human | count the gulls
             assistant | Looking.
             tool_call | ls
             tool_result | succeeded | 1
             tool_result | failed | gone",
        );
        assert_eq!(told(&LINES, &lines), ["session t1 root"]);
    }
}

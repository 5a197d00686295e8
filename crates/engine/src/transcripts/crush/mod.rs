//! Reads sessions of Crush, whose database gives a description and a line for each message.
//!
//! What a line becomes:
//!
//! | line | becomes |
//! |---|---|
//! | the description | the session, its folder and title; with a parent it is a sub-agent's |
//! | `text` of a `user` | a person's words |
//! | `text` of the `assistant` | the agent's words; of a summary, a summary |
//! | `text` of another role | the host's text |
//! | `tool_call`, `tool_result` | a call and its result |
//! | `shell_command` | the host's text: a command that a person ran, and its output |
//! | any other part | nothing: reasoning, images, how a message ended |
//!
//! Checked against `internal/message` and the migrations of Crush. Not here: the tables, which the store reads.

use daybook_domain::{Origin, ToolStatus};
use serde::{Deserialize, Serialize};

use super::format::SessionFormat;
use super::item::BadLine;
use super::item_writer::{CallResult, EventContent, EventKey, ItemWriter};
use super::sketch::Sketch;
use daybook_text::lenient::{Content, ContentMember, Flag, Object, Text, When};

/// The result of a call that a person refused.
const REFUSED: &str = "User denied permission";

/// Sessions of Crush.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Crush {}

/// One line: the description or a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CrushLine<'j> {
    #[serde(borrow)]
    crush: Object<Item<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Item<'j> {
    #[serde(borrow)]
    session: Text<'j>,
    parent: Text<'j>,
    title: Text<'j>,
    folder: Text<'j>,
    // A message.
    id: Text<'j>,
    role: Text<'j>,
    created_at: When<'j>,
    is_summary: Flag,
    parts: Content<'j, Part<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Part<'j> {
    #[serde(rename = "type", borrow)]
    kind: Text<'j>,
    data: Object<PartData<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PartData<'j> {
    #[serde(borrow)]
    text: Text<'j>,
    id: Text<'j>,
    name: Text<'j>,
    input: Text<'j>,
    tool_call_id: Text<'j>,
    content: Text<'j>,
    is_error: Flag,
    command: Text<'j>,
    output: Text<'j>,
}

/// Whether a file that begins so holds such a session.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    sketch.keys == ["crush"]
}

impl SessionFormat for Crush {
    const AGENT: &'static str = "crush";
    type Line<'j> = CrushLine<'j>;

    fn read(&mut self, line: &CrushLine<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        let Some(item) = &line.crush.0 else {
            return Ok(());
        };
        out.set_time(&item.created_at);
        if let Some(session) = item.session.get() {
            out.set_folder(&item.folder, None);
            out.describe(|fields| {
                fields.host_id = session.to_owned();
                fields.parent = item.parent.owned();
                fields.is_sub_agent = fields.parent.is_some();
            });
            out.title(&item.title);
        }
        let Content::Parts(parts) = &item.parts else {
            return Ok(());
        };
        for (nth, part) in parts.iter().enumerate() {
            if let ContentMember::Object(part) = part
                && let Some(data) = &part.data.0
            {
                read_part(item, &part.kind, data, nth, out);
            }
        }
        Ok(())
    }
}

fn read_part(
    item: &Item<'_>,
    kind: &str,
    data: &PartData<'_>,
    nth: usize,
    out: &mut ItemWriter<'_>,
) {
    let place = nth.to_string();
    let key = item.id.get().map_or(EventKey::Content, EventKey::Global);
    match kind {
        "text" => {
            let origin = match &*item.role {
                "user" => Origin::Human,
                "assistant" if item.is_summary.0 => Origin::Synthetic,
                "assistant" => Origin::Assistant,
                _ => Origin::Harness,
            };
            out.push(EventContent::plain(key, origin, &*data.text).part(&place));
        }
        "tool_call" => out.call(
            EventKey::InSession(&data.id),
            &data.id,
            &data.name,
            &data.input,
        ),
        "tool_result" => {
            let status = match data.is_error.0 {
                true if data.content.starts_with(REFUSED) => ToolStatus::Refused,
                true => ToolStatus::Failed,
                false => ToolStatus::Succeeded,
            };
            let result = CallResult {
                tool: data.name.get(),
                text: (&*data.content).into(),
                status: Some(status),
            };
            out.result(
                EventKey::InSession(&data.tool_call_id),
                &data.tool_call_id,
                result,
            );
        }
        "shell_command" => {
            let run = format!("{}\n{}", &*data.command, &*data.output);
            out.push(EventContent::plain(key, Origin::Harness, run.trim()).part(&place));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::transcripts::detect::{TranscriptFormat, detect};
    use crate::transcripts::reader_test_support::{check, told};

    const LINES: TranscriptFormat = TranscriptFormat::Crush;
    const SESSION: &str = r#"{"crush":{"session":"s1","title":"Newts","folder":"/home/ada/tidepool","created_at":1775030400}}"#;

    #[test]
    fn a_conversation_is_read_with_its_calls() {
        assert_eq!(detect(SESSION.as_bytes()), LINES);
        let lines = [
            SESSION,
            r#"{"crush":{"id":"m1","role":"user","parts":[{"type":"text","data":{"text":"count the newts"}}]}}"#,
            r#"{"crush":{"id":"m2","role":"assistant","parts":[{"type":"reasoning","data":{"thinking":"hm"}},{"type":"text","data":{"text":"Looking."}},{"type":"tool_call","data":{"id":"c1","name":"bash","input":"{\"command\":\"ls\"}"}},{"type":"finish","data":{"reason":"tool_use"}}]}}"#,
            r#"{"crush":{"id":"m3","role":"tool","parts":[{"type":"tool_result","data":{"tool_call_id":"c1","name":"bash","content":"newt.txt"}}]}}"#,
            r#"{"crush":{"id":"m4","role":"tool","parts":[{"type":"tool_result","data":{"tool_call_id":"c2","content":"User denied permission","is_error":true}}]}}"#,
            r#"{"crush":{"id":"m5","role":"user","parts":[{"type":"shell_command","data":{"command":"pwd","output":"/home/ada","exit_code":0}}]}}"#,
            r#"{"crush":{"id":"m6","role":"assistant","is_summary":true,"parts":[{"type":"text","data":{"text":"Newts were counted."}}]}}"#,
        ];
        check(
            &LINES,
            &lines,
            "human | count the newts
             assistant | Looking.
             tool_call | ls
             tool_result | succeeded | newt.txt
             tool_result | refused | User denied permission
             harness | pwd⏎/home/ada
             synthetic | Newts were counted.",
        );
        let expected = [
            "title of s1: Newts",
            "session s1 root in /home/ada/tidepool",
        ];
        assert_eq!(told(&LINES, &lines), expected);
    }

    #[test]
    fn a_session_with_a_parent_is_a_sub_agents() {
        let session = SESSION.replace("\"title\"", "\"parent\":\"s0\",\"title\"");
        let words = r#"{"crush":{"id":"m1","role":"user","parts":[{"type":"text","data":{"text":"count"}}]}}"#;
        check(&LINES, &[&session, words], "side assistant | count");
    }
}

//! Reads transcripts of Antigravity's command line: a step on each line.
//!
//! What a line becomes:
//!
//! | line | becomes |
//! |---|---|
//! | `USER_INPUT` | a person's words, in `USER_REQUEST`; what stands outside is the host's |
//! | `PLANNER_RESPONSE` | the agent's words and calls; thinking is not kept |
//! | any other step of the `MODEL` | the result of a call |
//! | `CHECKPOINT` | a summary |
//! | any other step of the `SYSTEM` | the host's text |
//!
//! The session is named after a folder above the transcript (`beside`). Checked against samples: the host's source is not
//! public. Not here: the documents that the agent writes beside it.

use daybook_domain::Origin;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::format::SessionFormat;
use super::item::BadLine;
use super::item_writer::{CallResult, EventContent, EventKey, ItemWriter};
use super::json;
use super::sketch::Sketch;
use daybook_text::lenient::{Content, ContentMember, Text, When};

/// The element of a person's words.
const REQUEST: (&str, &str) = ("<USER_REQUEST>", "</USER_REQUEST>");

/// Transcripts of Antigravity.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Antigravity {}

/// One step, or what stands beside the transcript.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Step<'j> {
    #[serde(borrow)]
    step_index: Option<&'j RawValue>,
    source: Text<'j>,
    #[serde(rename = "type")]
    kind: Text<'j>,
    created_at: When<'j>,
    content: Text<'j>,
    tool_calls: Content<'j, ToolCall<'j>>,
    session: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolCall<'j> {
    #[serde(borrow)]
    name: Text<'j>,
    #[serde(borrow)]
    args: Option<&'j RawValue>,
}

/// Whether a file that begins so holds such a transcript.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    sketch.has("step_index") && sketch.has("source") && !sketch.kind.is_empty()
}

impl SessionFormat for Antigravity {
    const AGENT: &'static str = "antigravity";
    type Line<'j> = Step<'j>;

    fn read(&mut self, step: &Step<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        if !step.session.is_empty() {
            out.describe(|session| session.host_id = step.session.to_string());
            return Ok(());
        }
        out.set_time(&step.created_at);
        let index = step.step_index.map_or("", RawValue::get);
        let key = EventKey::InSession(index);
        let content = &*step.content;
        let plain = |origin, text| EventContent::plain(key, origin, text).part(&step.kind);
        match (&*step.source, &*step.kind) {
            (_, "USER_INPUT") => read_user(step, key, out),
            (_, "PLANNER_RESPONSE") => {
                out.push(plain(Origin::Assistant, content));
                write_calls(step, index, out);
            }
            ("MODEL", kind) if !content.is_empty() => {
                let tool = kind.to_lowercase();
                let result = CallResult {
                    tool: Some(&tool),
                    text: content.into(),
                    status: None,
                };
                out.result(key, "", result);
            }
            (_, "CHECKPOINT") => out.push(plain(Origin::Synthetic, content)),
            _ => out.push(plain(Origin::Harness, content)),
        }
        Ok(())
    }
}

/// Parts a person's words from what the host writes around them. Input that is not marked is a person's only where the
/// step says that a person gave it.
fn read_user(step: &Step<'_>, key: EventKey<'_>, out: &mut ItemWriter<'_>) {
    let content = &*step.content;
    let marked = content.split_once(REQUEST.0).and_then(|(before, rest)| {
        let (words, behind) = rest.rsplit_once(REQUEST.1)?;
        Some((words, format!("{}\n{}", before.trim(), behind.trim())))
    });
    let (words, by_host) = match marked {
        Some((words, around)) => (words, around),
        None if &*step.source == "USER_EXPLICIT" => (content, String::new()),
        None => ("", content.to_owned()),
    };
    let by_host = by_host.trim().to_owned();
    out.push(EventContent::plain(key, Origin::Harness, by_host).part("harness"));
    out.push(EventContent::plain(key, Origin::Human, words.trim()));
}

fn write_calls(step: &Step<'_>, index: &str, out: &mut ItemWriter<'_>) {
    let Content::Parts(calls) = &step.tool_calls else {
        return;
    };
    for (nth, call) in calls.iter().enumerate() {
        if let ContentMember::Object(call) = call {
            let key = format!("{index}:{nth}");
            let arguments = json::as_text(call.args);
            out.call(EventKey::InSession(&key), "", &call.name, &arguments);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::transcripts::detect::{TranscriptFormat, detect};
    use crate::transcripts::reader_test_support::{check, told};

    const LINES: TranscriptFormat = TranscriptFormat::Antigravity;

    #[test]
    fn steps_say_who_acted() {
        let lines = [
            r#"{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","created_at":"2026-06-26T21:16:16Z","content":"<USER_REQUEST>\ncount the eels\n</USER_REQUEST>\n<USER_SETTINGS_CHANGE>\nanother model\n</USER_SETTINGS_CHANGE>"}"#,
            r#"{"step_index":1,"source":"MODEL","type":"PLANNER_RESPONSE","thinking":"hm","content":"Looking.","tool_calls":[{"name":"list_dir","args":{"path":"a"}}]}"#,
            r#"{"step_index":2,"source":"MODEL","type":"LIST_DIRECTORY","content":"eel.txt"}"#,
            r##"{"step_index":3,"source":"SYSTEM","type":"CHECKPOINT","content":"# Resuming"}"##,
            r#"{"step_index":4,"source":"SYSTEM","type":"SYSTEM_MESSAGE","content":"not by the user"}"#,
            r#"{"step_index":5,"source":"USER_EXPLICIT","type":"USER_INPUT","content":"thanks"}"#,
            r#"{"step_index":6,"source":"SYSTEM","type":"USER_INPUT","content":"go on"}"#,
        ];
        assert_eq!(detect(lines[0].as_bytes()), LINES);
        check(
            &LINES,
            &lines,
            r#"harness | <USER_SETTINGS_CHANGE>⏎another model⏎</USER_SETTINGS_CHANGE>
            human | count the eels
            assistant | Looking.
            tool_call | {"path":"a"}
            tool_result | eel.txt
            synthetic | # Resuming
            harness | not by the user
            human | thanks
            harness | go on"#,
        );
        let beside = r#"{"session":"a1"}"#;
        assert_eq!(told(&LINES, &[beside, lines[5]]), ["session a1 root"]);
    }
}

//! Reads the records of Kimi Code: the log from which it rebuilds an agent, one record on each line.
//!
//! What a line becomes:
//!
//! | line | becomes |
//! |---|---|
//! | `config.update` with a `cwd` | the folder |
//! | `context.append_message` of a `user` | a person's words, where its origin is a user; a task of the calling agent; else the host's text |
//! | loop event `content.part` | the agent's words; thoughts are not kept |
//! | loop event `tool.call`, `tool.result` | a call, and its result |
//! | `permission.record_approval_result` | whether the next result of the call is a refusal, with a person's reason |
//! | `context.apply_compaction` | a summary |
//! | `context.undo` | a retraction of the newest turns |
//! | anything else | nothing: prompts repeat messages; requests, usage, modes, goals |
//!
//! The session's name, folder and title stand beside the records (`beside`). Checked against `records/types.ts` of
//! MoonshotAI/kimi-code, but for the fields of a refusal, of which no sample was at hand. Not here: the chats of the older Kimi CLI, which are messages with roles.

use daybook_domain::{Origin, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::blocks::{self, Blocks};
use super::format::SessionFormat;
use super::item::{BadLine, Via};
use super::item_writer::{CallResult, EventContent, EventKey, ItemWriter};
use super::sketch::Sketch;
use super::{json, wrappers};
use daybook_text::lenient::{Flag, Object, Text, When};

/// Elements that the host writes into a person's message.
const ELEMENTS: &[&str] = &["system-reminder", "system", "git-context"];
/// Most refused calls that wait for their results.
const REFUSED: usize = 16;

/// Records of Kimi Code.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Kimi {
    /// A person's messages so far, without those that were undone.
    turns: u64,
    /// Calls that a person refused.
    refused: Vec<String>,
}

/// One record, or what stands beside the records.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct KimiLine<'j> {
    #[serde(rename = "type", borrow)]
    kind: Text<'j>,
    time: When<'j>,
    created_at: When<'j>,
    cwd: Text<'j>,
    message: Object<Message<'j>>,
    event: Object<LoopEvent<'j>>,
    summary: Text<'j>,
    count: When<'j>,
    #[serde(rename = "toolCallId")]
    tool_call_id: Text<'j>,
    result: Object<Decision<'j>>,
    // Beside the records.
    session: Text<'j>,
    parent: Text<'j>,
    title: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'j> {
    #[serde(borrow)]
    role: Text<'j>,
    content: Blocks<'j>,
    origin: Object<MessageOrigin<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MessageOrigin<'j> {
    #[serde(borrow)]
    kind: Text<'j>,
    name: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LoopEvent<'j> {
    #[serde(rename = "type", borrow)]
    kind: Text<'j>,
    uuid: Text<'j>,
    part: Object<ContentPart<'j>>,
    tool_call_id: Text<'j>,
    name: Text<'j>,
    #[serde(borrow)]
    args: Option<&'j RawValue>,
    result: Object<Output<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ContentPart<'j> {
    #[serde(rename = "type", borrow)]
    kind: Text<'j>,
    text: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Output<'j> {
    #[serde(borrow)]
    output: Blocks<'j>,
    is_error: Flag,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Decision<'j> {
    #[serde(borrow)]
    decision: Text<'j>,
    feedback: Text<'j>,
}

/// Whether a file that begins so holds such records.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    sketch.kind == "metadata" && sketch.has("protocol_version")
}

impl SessionFormat for Kimi {
    const AGENT: &'static str = "kimi-code";
    type Line<'j> = KimiLine<'j>;

    fn read(&mut self, line: &KimiLine<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        out.set_time(&line.created_at);
        out.set_time(&line.time);
        match (&*line.kind, &line.message.0, &line.event.0) {
            ("beside", _, _) => {
                out.set_folder(&line.cwd, None);
                out.describe(|session| {
                    session.host_id = line.session.to_string();
                    session.parent = line.parent.owned();
                    session.is_sub_agent = session.parent.is_some();
                });
                out.title(&line.title);
            }
            ("config.update", _, _) => out.set_folder(&line.cwd, None),
            ("context.append_message", Some(message), _) => self.read_message(message, out),
            ("context.append_loop_event", _, Some(event)) => self.read_event(event, out),
            ("context.apply_compaction", _, _) => {
                let summary = &*line.summary;
                out.push(EventContent::plain(
                    EventKey::Content,
                    Origin::Synthetic,
                    summary,
                ));
            }
            ("context.undo", _, _) => self.undo(&line.count, out),
            ("permission.record_approval_result", _, _) => self.read_decision(line, out),
            _ => {}
        }
        Ok(())
    }
}

impl Kimi {
    fn read_message(&mut self, message: &Message<'_>, out: &mut ItemWriter<'_>) {
        let text = blocks::texts(&message.content);
        let origin = message.origin.0.as_ref();
        let (kind, name) = origin.map_or(("", ""), |origin| (&*origin.kind, &*origin.name));
        if &*message.role != "user" {
            return;
        }
        let plain = |origin, text: String| EventContent::plain(EventKey::Content, origin, text);
        match (kind, name) {
            ("" | "user", _) => {
                self.turns += 1;
                out.begin_record(&turn(self.turns));
                let unwrapped = wrappers::unwrap(&text, ELEMENTS);
                let inside = unwrapped.elements.iter().map(|(_, inside)| inside.trim());
                out.push(plain(
                    Origin::Harness,
                    inside.collect::<Vec<_>>().join("\n"),
                ));
                out.push(plain(Origin::Human, unwrapped.rest.into_owned()));
            }
            ("system_trigger", "subagent") => {
                out.describe(|session| session.is_sub_agent = true);
                out.push(plain(Origin::Assistant, text));
            }
            ("compaction_summary", _) => out.push(plain(Origin::Synthetic, text)),
            _ => out.push(plain(Origin::Harness, text)),
        }
    }

    fn read_event(&mut self, event: &LoopEvent<'_>, out: &mut ItemWriter<'_>) {
        let id = &*event.tool_call_id;
        let key = event
            .tool_call_id
            .get()
            .map_or(EventKey::Content, EventKey::InSession);
        match (&*event.kind, &event.part.0, &event.result.0) {
            ("content.part", Some(part), _) if &*part.kind == "text" => {
                let key = event
                    .uuid
                    .get()
                    .map_or(EventKey::Content, EventKey::InSession);
                out.push(EventContent::plain(key, Origin::Assistant, &*part.text));
            }
            ("tool.call", _, _) => {
                out.call(key, id, &event.name, &json::as_text(event.args));
            }
            ("tool.result", _, Some(output)) => {
                let refused = self.refused.iter().position(|refused| refused == id);
                if let Some(refused) = refused {
                    self.refused.remove(refused);
                }
                let status = match (refused, output.is_error.0) {
                    (Some(_), _) => ToolStatus::Refused,
                    (None, true) => ToolStatus::Failed,
                    (None, false) => ToolStatus::Succeeded,
                };
                let result = CallResult {
                    tool: None,
                    text: blocks::texts(&output.output).into(),
                    status: Some(status),
                };
                out.result(key, id, result);
            }
            _ => {}
        }
    }

    /// Remembers a refusal, whose result follows, and yields a person's reason.
    fn read_decision(&mut self, line: &KimiLine<'_>, out: &mut ItemWriter<'_>) {
        let Some(result) = &line.result.0 else {
            return;
        };
        if !matches!(&*result.decision, "rejected" | "denied") {
            return;
        }
        if self.refused.len() >= REFUSED {
            self.refused.remove(0);
        }
        self.refused.push(line.tool_call_id.to_string());
        let key = EventKey::InSession(&line.tool_call_id);
        out.push(EventContent {
            via: Via::Refusal,
            part: "reason",
            ..EventContent::plain(key, Origin::Human, &*result.feedback)
        });
    }

    fn undo(&mut self, count: &When<'_>, out: &mut ItemWriter<'_>) {
        let When::Number(count) = count else {
            return;
        };
        let undone = self.turns.min(count.max(0.0) as u64);
        if undone > 0 {
            out.retract_from(&turn(self.turns - undone + 1));
            self.turns -= undone;
        }
    }
}

/// The name of the record that begins with a person's message.
fn turn(number: u64) -> String {
    format!("turn {number}")
}

#[cfg(test)]
mod tests {
    use crate::transcripts::detect::{TranscriptFormat, detect};
    use crate::transcripts::reader_test_support::{check, events, told};

    const LINES: TranscriptFormat = TranscriptFormat::Kimi;

    /// A message with an origin.
    fn message(origin: &str, text: &str) -> String {
        format!(
            r#"{{"type":"context.append_message","message":{{"role":"user","content":[{{"type":"text","text":"{text}"}}],"origin":{{{origin}}}}}}}"#
        )
    }

    /// An event of the loop.
    fn event(rest: &str) -> String {
        format!(r#"{{"type":"context.append_loop_event","event":{{{rest}}}}}"#)
    }

    fn check_lines(lines: &[String], expected: &str) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        check(&LINES, &lines, expected);
    }

    #[test]
    fn an_origin_says_who_wrote_a_message() {
        let first = r#"{"type":"metadata","protocol_version":"1.4","created_at":1785612803281}"#;
        assert_eq!(detect(first.as_bytes()), LINES);
        check_lines(
            &[
                message(r#""kind":"user""#, "count the crabs"),
                message(r#""kind":"injection","variant":"plan_mode""#, "plan only"),
                event(r#""type":"content.part","uuid":"p1","part":{"type":"think","think":"hm"}"#),
                event(
                    r#""type":"content.part","uuid":"p2","part":{"type":"text","text":"Looking."}"#,
                ),
                event(
                    r#""type":"tool.call","toolCallId":"Bash_0","name":"Bash","args":{"command":"ls"}"#,
                ),
                event(
                    r#""type":"tool.result","toolCallId":"Bash_0","result":{"output":"crab.txt"}"#,
                ),
                r#"{"type":"context.apply_compaction","summary":"one crab"}"#.to_owned(),
            ],
            "human | count the crabs
             harness | plan only
             assistant | Looking.
             tool_call | ls
             tool_result | succeeded | crab.txt
             synthetic | one crab",
        );
    }

    #[test]
    fn a_refusal_holds_a_persons_reason() {
        check_lines(
            &[
                r#"{"type":"permission.record_approval_result","toolCallId":"Bash_1","result":{"decision":"rejected","feedback":"not here"}}"#.to_owned(),
                event(r#""type":"tool.result","toolCallId":"Bash_1","result":{"output":"rejected","isError":true}"#),
            ],
            "human | not here
             tool_result | refused | rejected",
        );
    }

    #[test]
    fn undone_turns_are_taken_back() {
        let lines = [
            message(r#""kind":"user""#, "one"),
            message(r#""kind":"user""#, "two"),
            r#"{"type":"context.undo","count":1}"#.to_owned(),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let read = events(&LINES, &lines);
        assert_eq!(read[2].retracts, [read[1].id]);
    }

    #[test]
    fn a_sub_agents_task_is_not_a_persons_words() {
        let beside = r#"{"type":"beside","session":"session_1/agent-0","parent":"session_1","cwd":"/home/ada/tidepool"}"#;
        let task = message(r#""kind":"system_trigger","name":"subagent""#, "count");
        check(&LINES, &[beside, &task], "side assistant | count");
        let session = "session session_1/agent-0 sub_agent parent session_1 in /home/ada/tidepool";
        assert_eq!(told(&LINES, &[beside, &task]), [session]);
    }
}

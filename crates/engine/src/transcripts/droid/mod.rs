//! Reads sessions of Factory's Droid: its store of sessions, and the stream that it prints as JSON.
//!
//! What a line becomes:
//!
//! | line | becomes |
//! |---|---|
//! | `session_start`, `system` | the session, its folder and title |
//! | `message` of a `user` | a person's words; reminders are the host's; results of calls |
//! | `message` of the `assistant` | the agent's words and calls; thoughts are not kept |
//! | `tool_call`, `tool_result` | a call, and its result |
//! | `completion` | the agent's words, unless its last message has the same text |
//! | anything else | nothing: errors of the program, states of its own lists |
//!
//! Checked against samples: the host's source is not public. Not here: settings that stand beside a session.

use daybook_domain::{Origin, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::blocks::{self, Blocks};
use super::format::SessionFormat;
use super::item::BadLine;
use super::item_writer::{CallResult, EventContent, EventKey, ItemWriter};
use super::sketch::Sketch;
use super::{json, wrappers};
use daybook_text::lenient::{Flag, Object, Text, When};

/// Elements that the host writes into a person's message.
const ELEMENTS: &[&str] = &["system-reminder", "system-notification"];

/// Sessions of Droid.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Droid {
    /// The agent's last words, as a print.
    last_words: u64,
}

/// One line, of either layout.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct DroidLine<'j> {
    #[serde(rename = "type", borrow)]
    kind: Text<'j>,
    id: Text<'j>,
    timestamp: When<'j>,
    cwd: Text<'j>,
    title: Text<'j>,
    session_id: Text<'j>,
    #[serde(rename = "session_id")]
    session: Text<'j>,
    message: Object<Message<'j>>,
    role: Text<'j>,
    text: Text<'j>,
    final_text: Text<'j>,
    tool_call_id: Text<'j>,
    tool_name: Text<'j>,
    #[serde(borrow)]
    parameters: Option<&'j RawValue>,
    #[serde(borrow)]
    value: Option<&'j RawValue>,
    is_error: Flag,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'j> {
    #[serde(borrow)]
    role: Text<'j>,
    content: Blocks<'j>,
}

/// What a command printed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Printed<'j> {
    #[serde(borrow)]
    stdout: Text<'j>,
    stderr: Text<'j>,
}

/// Whether a file that begins so holds such a session.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    let names_session = sketch.has("session_id") || sketch.has("sessionId");
    match &*sketch.kind {
        "session_start" => sketch.has("id"),
        "message" => names_session && sketch.has("text"),
        "tool_call" => names_session && sketch.has("toolName"),
        _ => false,
    }
}

impl SessionFormat for Droid {
    const AGENT: &'static str = "droid";
    type Line<'j> = DroidLine<'j>;

    fn read(&mut self, line: &DroidLine<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        out.set_time(&line.timestamp);
        out.set_folder(&line.cwd, None);
        let session = match &*line.kind {
            "session_start" => &line.id,
            _ if line.session.is_empty() => &line.session_id,
            _ => &line.session,
        };
        if !session.is_empty() && out.session().host_id.is_empty() {
            out.describe(|fields| fields.host_id = session.to_string());
        }
        out.title(&line.title);
        let key = line.id.get().map_or(EventKey::Content, EventKey::InSession);
        match &*line.kind {
            "message" => self.read_message(line, key, out),
            "tool_call" => {
                let id = line.tool_call_id.get().unwrap_or(&line.id);
                let key = EventKey::InSession(id);
                out.call(key, id, &line.tool_name, &json::as_text(line.parameters));
            }
            "tool_result" => read_result(line, out),
            "completion" if print(&line.final_text) != self.last_words => {
                out.push(EventContent::plain(
                    key,
                    Origin::Assistant,
                    &*line.final_text,
                ));
            }
            _ => {}
        }
        Ok(())
    }
}

impl Droid {
    fn read_message(&mut self, line: &DroidLine<'_>, key: EventKey<'_>, out: &mut ItemWriter<'_>) {
        let (role, text) = match &line.message.0 {
            Some(message) => (&message.role, blocks::texts(&message.content)),
            None => (&line.role, line.text.to_string()),
        };
        if let Some(message) = &line.message.0 {
            blocks::write_results(&message.content, key, out);
        }
        match &**role {
            "user" => {
                let unwrapped = wrappers::unwrap(&text, ELEMENTS);
                let inside = unwrapped.elements.iter().map(|(_, inside)| inside.trim());
                let by_host = inside.collect::<Vec<_>>().join("\n");
                out.push(EventContent::plain(key, Origin::Harness, by_host).part("harness"));
                out.push(EventContent::plain(key, Origin::Human, unwrapped.rest));
            }
            "assistant" => {
                self.last_words = print(&text);
                out.push(EventContent::plain(key, Origin::Assistant, text));
            }
            _ => out.push(EventContent::plain(key, Origin::Harness, text)),
        }
        if let Some(message) = &line.message.0 {
            blocks::write_calls(&message.content, key, out);
        }
    }
}

fn read_result(line: &DroidLine<'_>, out: &mut ItemWriter<'_>) {
    let id = line.tool_call_id.get().unwrap_or(&line.id);
    let printed = line.value.map(RawValue::get).unwrap_or("null");
    let printed = serde_json::from_str::<Object<Printed<'_>>>(printed).ok();
    let text = match printed.and_then(|printed| printed.0) {
        Some(printed) if !(printed.stdout.is_empty() && printed.stderr.is_empty()) => {
            format!("{}{}", &*printed.stdout, &*printed.stderr).into()
        }
        Some(_) | None => json::as_text(line.value),
    };
    out.result(
        EventKey::InSession(id),
        id,
        CallResult {
            tool: line.tool_name.get(),
            text,
            status: line.is_error.0.then_some(ToolStatus::Failed),
        },
    );
}

/// A number that stands for a text.
fn print(text: &str) -> u64 {
    daybook_domain::EventId::of(&[text.trim().as_bytes()]).0 as u64
}

#[cfg(test)]
mod tests {
    use crate::transcripts::detect::{TranscriptFormat, detect};
    use crate::transcripts::reader_test_support::{check, told};

    const LINES: TranscriptFormat = TranscriptFormat::Droid;

    #[test]
    fn the_store_of_sessions_is_read() {
        let start =
            r#"{"type":"session_start","id":"d1","title":"Eels","cwd":"/home/ada/tidepool"}"#;
        assert_eq!(detect(start.as_bytes()), LINES);
        let lines = [
            start,
            r#"{"type":"message","id":"m1","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>\nbe brief\n</system-reminder>\n\ncount the eels"}]}}"#,
            r#"{"type":"message","id":"m2","message":{"role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"tool_use","id":"t1","name":"Execute","input":{"command":"ls"}}]}}"#,
            r#"{"type":"message","id":"m3","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"eel.txt","is_error":true}]}}"#,
        ];
        check(
            &LINES,
            &lines,
            "harness | be brief
             human | count the eels
             assistant | Looking.
             tool_call | ls
             tool_result | failed | eel.txt",
        );
        let expected = ["title of d1: Eels", "session d1 root in /home/ada/tidepool"];
        assert_eq!(told(&LINES, &lines), expected);
    }

    #[test]
    fn the_printed_stream_is_read_and_its_end_counts_once() {
        let message = r#"{"type":"message","session_id":"d2","role":"assistant","text":"Two eels.","id":"m2"}"#;
        let stream = [
            r#"{"type":"message","session_id":"d2","role":"user","text":"count","id":"m1"}"#,
            r#"{"type":"tool_call","session_id":"d2","toolCallId":"c1","toolName":"Shell","parameters":{"command":"ls"}}"#,
            r#"{"type":"tool_result","session_id":"d2","toolCallId":"c1","value":{"stdout":"eel\n","exitCode":0}}"#,
            message,
            r#"{"type":"completion","session_id":"d2","finalText":"Two eels.","id":"end"}"#,
        ];
        check(
            &LINES,
            &stream,
            "human | count
             tool_call | ls
             tool_result | eel⏎
             assistant | Two eels.",
        );
    }
}

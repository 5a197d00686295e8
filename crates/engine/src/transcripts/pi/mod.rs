//! Reads sessions of pi, and of OpenClaw, which is built on it: a tree of entries, one on each line.
//!
//! An entry names the one before it. One that names an earlier entry goes back to it: what came behind is retracted. A
//! fork copies entries with their ids and times, which together are their identity. What a line becomes:
//!
//! | line | becomes |
//! |---|---|
//! | `session` | the session, its folder, and the one that it was forked from |
//! | `message` of a `user` | a person's words, apart from what OpenClaw's channels add to them (`person`) |
//! | `message` of the `assistant` | the agent's words and calls; thoughts are not kept |
//! | `message`, `toolResult` | the result of a call |
//! | `message`, `bashExecution` | a command that the person ran, and its output |
//! | `message` of any other role, `custom_message` | the host's text |
//! | `compaction`, `branch_summary` | a summary |
//! | `session_info` | the session's title |
//! | any other entry | nothing: models, levels of thinking, labels, an extension's data |
//!
//! Checked against `session-manager.ts` of badlogic/pi-mono. Not here: OpenClaw's own list of sessions.

mod person;

use daybook_domain::{Origin, ToolStatus};
use serde::{Deserialize, Serialize};

use super::blocks::{self, Blocks};
use super::format::SessionFormat;
use super::item::BadLine;
use super::item_writer::{CallResult, EventContent, EventKey, ItemWriter};
use super::sketch::Sketch;
use daybook_text::lenient::{Flag, Object, Text, When};

/// Sessions of pi.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Pi {}

/// One entry.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PiLine<'j> {
    #[serde(rename = "type", borrow)]
    kind: Text<'j>,
    id: Text<'j>,
    parent_id: Text<'j>,
    timestamp: When<'j>,
    cwd: Text<'j>,
    parent_session: Text<'j>,
    branched_from: Text<'j>,
    message: Object<Message<'j>>,
    content: Blocks<'j>,
    summary: Text<'j>,
    name: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Message<'j> {
    #[serde(borrow)]
    role: Text<'j>,
    content: Blocks<'j>,
    tool_call_id: Text<'j>,
    tool_name: Text<'j>,
    is_error: Flag,
    command: Text<'j>,
    output: Text<'j>,
}

/// Whether a file that begins so holds such a session.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    let is_header = sketch.kind == "session" && sketch.has("id") && sketch.has("cwd");
    is_header && sketch.has("timestamp")
}

impl SessionFormat for Pi {
    const AGENT: &'static str = "pi";
    type Line<'j> = PiLine<'j>;

    fn read(&mut self, line: &PiLine<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        out.set_time(&line.timestamp);
        if &*line.kind == "session" {
            describe(line, out);
            return Ok(());
        }
        out.retract_behind(&line.parent_id);
        out.begin_record(&line.id);
        let copied = match &line.timestamp {
            When::Text(time) => format!("{} {time}", &*line.id),
            When::Number(_) | When::Unknown => line.id.to_string(),
        };
        let key = match &*line.id {
            "" => EventKey::Content,
            _ => EventKey::Global(&copied),
        };
        match (&*line.kind, &line.message.0) {
            ("message", Some(message)) => read_message(message, key, out),
            ("custom_message", _) => {
                let text = blocks::texts(&line.content);
                out.push(EventContent::plain(key, Origin::Harness, text));
            }
            ("compaction" | "branch_summary", _) => {
                out.push(EventContent::plain(key, Origin::Synthetic, &*line.summary));
            }
            ("session_info", _) => out.title(&line.name),
            _ => {}
        }
        Ok(())
    }
}

fn describe(line: &PiLine<'_>, out: &mut ItemWriter<'_>) {
    out.set_folder(&line.cwd, None);
    // The other session is named by its file: `<time>_<id>.jsonl`.
    let file = line.parent_session.get().or(line.branched_from.get());
    let forked_from = file.and_then(|file| {
        let name = file.rsplit(['/', '\\']).next()?.strip_suffix(".jsonl")?;
        name.rsplit('_').next().map(str::to_owned)
    });
    out.describe(|session| {
        session.host_id = line.id.to_string();
        session.forked_from = forked_from;
    });
}

fn read_message(message: &Message<'_>, key: EventKey<'_>, out: &mut ItemWriter<'_>) {
    let text = blocks::texts(&message.content);
    match &*message.role {
        "user" => person::read(key, &text, out),
        "assistant" => {
            out.push(EventContent::plain(key, Origin::Assistant, text));
            blocks::write_calls(&message.content, key, out);
        }
        "toolResult" => out.result(
            message.tool_call_id.get().map_or(key, EventKey::InSession),
            &message.tool_call_id,
            CallResult {
                tool: message.tool_name.get(),
                text: text.into(),
                status: Some(match message.is_error.0 {
                    true => ToolStatus::Failed,
                    false => ToolStatus::Succeeded,
                }),
            },
        ),
        "bashExecution" => {
            let bash = EventContent::plain(key, Origin::ToolCall, &*message.command);
            out.push(bash.part("call"));
            out.result(
                key,
                "",
                CallResult {
                    tool: Some("bash"),
                    text: (&*message.output).into(),
                    status: None,
                },
            );
        }
        _ => out.push(EventContent::plain(key, Origin::Harness, text)),
    }
}

#[cfg(test)]
#[path = "pi_tests.rs"]
mod tests;

//! Reads sessions of Gemini CLI: a JSON document for each session, and since version 0.40 a line for each change.
//!
//! A message is written again under its id when calls were added to it, so that an event's identity is the message's or
//! the call's id. What a line becomes:
//!
//! | line | becomes |
//! |---|---|
//! | `sessionId`, `projectHash`, `kind` | the session; `subagent` makes the words in a person's place the calling agent's |
//! | `type: user` | a person's words, apart from what the host adds to them (`person`) |
//! | `type: gemini` or `model` | the agent's words and calls; thoughts are not kept |
//! | `toolCalls` | a call and its result each; answers and refusals hold a person's words (`calls`) |
//! | `functionResponse` within a user's message | nothing: the call holds the same result |
//! | `type: info`, `warning`, `error` | nothing: notes of the interface |
//! | `$set` with `messages` | these messages; those that are known are known by their ids |
//! | `$set` with `summary` | the session's title |
//! | `$rewindTo` | a retraction of that message and all behind it |
//!
//! Checked against `chatRecordingService.ts` of google-gemini/gemini-cli. Not here: `logs.json` and checkpoints, which
//! repeat what the sessions hold.

mod calls;
mod line;
pub(super) mod person;

use daybook_domain::Origin;
use serde::{Deserialize, Serialize};

use self::line::{GeminiChange, GeminiLine};
use super::format::SessionFormat;
use super::item::BadLine;
use super::item_writer::{EventContent, EventKey, ItemWriter};
use super::sketch::Sketch;
use super::{genai, json};
use daybook_text::lenient::{Content, ContentMember};

/// Sessions of Gemini CLI.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Gemini {}

/// Whether a file that begins so holds such a session.
pub(super) fn is_evident(sketch: &Sketch) -> bool {
    let is_message = sketch.has("id") && sketch.has("timestamp") && sketch.has("content");
    sketch.has("projectHash") && sketch.has("sessionId") || sketch.kind == "gemini" && is_message
}

impl SessionFormat for Gemini {
    const AGENT: &'static str = "gemini-cli";
    type Line<'j> = GeminiLine<'j>;

    fn read(&mut self, line: &GeminiLine<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine> {
        if let Some(folder) = line.project_root.get() {
            out.set_folder(folder, None);
        } else if let Some(id) = line.rewind_to.get() {
            // The host itself drops everything where it does not know the message.
            match out.knows_record(id) {
                true => out.retract_from(id),
                false => out.retract_all(),
            }
        } else if let Some(change) = &line.set.0 {
            read_change(change, out);
        } else if !line.session_id.is_empty() {
            describe(line, out);
        } else if !line.author.is_empty() {
            read_message(line, out);
        } else if line.kind.get() == Some("subagent") {
            out.describe(|session| session.is_sub_agent = true);
        }
        Ok(())
    }
}

fn describe(line: &GeminiLine<'_>, out: &mut ItemWriter<'_>) {
    if !out.session().host_id.is_empty() && out.session().host_id != *line.session_id {
        return;
    }
    out.set_time(&line.start_time);
    if let Content::Parts(folders) = &line.directories
        && let Some(ContentMember::Text(folder)) = folders.first()
    {
        out.set_folder(folder, None);
    }
    let is_sub_agent = &*line.kind == "subagent";
    out.describe(|session| {
        session.host_id = line.session_id.to_string();
        session.is_sub_agent |= is_sub_agent;
    });
    out.title(&line.summary);
}

fn read_change(change: &GeminiChange<'_>, out: &mut ItemWriter<'_>) {
    out.title(&change.summary);
    if out.session().host_id.is_empty() && !change.session_id.is_empty() {
        out.describe(|session| session.host_id = change.session_id.to_string());
    }
    if let Content::Parts(messages) = &change.messages {
        for message in messages {
            if let ContentMember::Object(message) = message {
                read_message(message, out);
            }
        }
    }
}

fn read_message(message: &GeminiLine<'_>, out: &mut ItemWriter<'_>) {
    let key = match message.id.get() {
        Some(id) => {
            out.begin_record(id);
            EventKey::InSession(id)
        }
        None => EventKey::Content,
    };
    out.set_time(&message.timestamp);
    let content = match message.content {
        Content::Nothing => &message.parts,
        Content::Text(_) | Content::Parts(_) => &message.content,
    };
    match &*message.author {
        "user" => person::read(key, content, &message.display_content, out),
        "gemini" | "model" => {
            let texts = genai::texts(content).join("");
            out.push(EventContent::plain(key, Origin::Assistant, texts));
            for call in genai::objects(content).filter_map(|part| part.function_call.0.as_ref()) {
                let key = call.id.get().map_or(key, EventKey::InSession);
                out.call(key, &call.id, &call.name, &json::as_text(call.args));
            }
            if let Content::Parts(calls) = &message.tool_calls {
                for call in calls {
                    if let ContentMember::Object(call) = call {
                        calls::read(call, out);
                    }
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;

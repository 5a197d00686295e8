//! Reads Claude Code's session files: one JSON object per line.
//!
//! Every line carries its session, and nearly every one an id of its own, so that copies of a
//! session join up. Only lines of kind `user`, `assistant`, `queue-operation` and some attachments
//! yield items; snapshots, progress and the host's own notes do not.
//!
//! - `person` separates a person's words from what the host writes in their place;
//! - `results` reads results of tools, and a person's words in refusals;
//! - `answers` reads a person's answers to an agent's questions;
//! - `queue` follows what was typed while the agent worked, so that it counts once;
//! - `session` reads the session of the events that follow, titles and pull requests.
//!
//! Not here: files. A sub-agent's file looks like its parent's, but for one flag on every line.

mod answers;
mod line;
mod person;
mod queue;
mod results;
mod session;

use std::borrow::Cow;

use daybook_domain::{EventId, Origin, Timestamp, ToolStatus};
use serde::{Deserialize, Serialize};

use self::line::{Block, ClaudeLine, plain};
use self::queue::Queue;
use self::session::{ClaudeSession, read_pull_request, read_title};
use super::item::{BadLine, BadState, RawEvent, TranscriptItem, TranscriptReader, Via};
use super::json;
use super::when;
use crate::places::folding::{GitCommonDir, PlaceTracker};
use daybook_text::calls::{self, OpenCalls};
use daybook_text::cut::event_text;
use daybook_text::lenient::{Content, ContentMember};
use daybook_text::mentions::mentions;
use daybook_text::recalled;

/// The agent's name in session ids.
pub const AGENT: &str = "claude-code";

/// Reads one session file.
pub struct ClaudeReader<'a> {
    git: GitCommonDir<'a>,
    /// The session's id if no line names one.
    name: String,
    state: State,
    /// Whether the session was yielded by an earlier reader only.
    must_repeat_session: bool,
}

/// The state that later lines need of earlier ones.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct State {
    /// The session, as last yielded.
    session: Option<ClaudeSession>,
    /// The newest time.
    at: Timestamp,
    #[serde(rename = "whereabouts")]
    places: PlaceTracker,
    /// The tools of calls without a result yet.
    calls: OpenCalls<String>,
    queue: Queue,
}

/// The line, and what all its events share.
struct LineContext<'l> {
    line: &'l ClaudeLine<'l>,
    number: u32,
    at: Timestamp,
    sidechain: bool,
}

/// The content of an event, apart from what all events of its line share.
struct ClaudeContent<'t> {
    /// Which block of the line it came from.
    index: usize,
    /// Distinguishes it from another event of the same block.
    part: &'t str,
    origin: Origin,
    text: Cow<'t, str>,
    tool: Option<&'t str>,
    call: Option<&'t str>,
    status: Option<ToolStatus>,
    via: Via,
    retracts: &'t [EventId],
}

impl<'a> ClaudeReader<'a> {
    /// Opens a reader, which resumes from `state` if there is one.
    pub fn new(name: &str, git: GitCommonDir<'a>, state: Option<&str>) -> Result<Self, BadState> {
        let state: State = match state {
            Some(state) => serde_json::from_str(state).map_err(|_| BadState)?,
            None => State::default(),
        };
        Ok(Self {
            git,
            name: name.to_owned(),
            must_repeat_session: state.session.is_some(),
            state,
        })
    }

    fn read_objects(
        &mut self,
        number: u32,
        bytes: &[u8],
        out: &mut Vec<TranscriptItem>,
    ) -> Result<(), BadLine> {
        for (line, _) in json::objects::<ClaudeLine<'_>>(bytes)? {
            self.read_line(number, &line, out);
        }
        Ok(())
    }

    fn read_line(&mut self, number: u32, line: &ClaudeLine<'_>, out: &mut Vec<TranscriptItem>) {
        if let Some(worktree) = &line.worktree_session.0 {
            let places = &mut self.state.places;
            places.add_worktree(&worktree.worktree_path, &worktree.original_cwd);
            return;
        }
        if read_title(line, out) {
            return;
        }
        if let Some(at) = when::parse_field(&line.timestamp) {
            self.state.at = at;
        }
        self.state
            .places
            .set_folder(&line.cwd, line.git_branch.get(), self.git);
        self.update_session(line, out);
        let here = LineContext {
            line,
            number,
            at: self.state.at,
            sidechain: line.is_sidechain.unwrap_or_default().0,
        };
        self.retract(&here, out);
        match &*line.kind {
            "user" => self.user(&here, out),
            "assistant" => self.assistant(&here, out),
            "queue-operation" => self.queue_operation(&here, out),
            "attachment" => self.attachment(&here, out),
            "pr-link" => read_pull_request(line, out),
            _ => {}
        }
    }

    /// Retracts messages that the host itself replaced, such as half an answer that was generated again.
    /// The line of such a message holds one block.
    fn retract(&self, here: &LineContext<'_>, out: &mut Vec<TranscriptItem>) {
        let lists = [
            &here.line.supersedes_uuids,
            &here.line.retracted_message_uuids,
        ];
        let uuids =
            lists
                .into_iter()
                .flat_map(message_parts)
                .filter_map(|(_, member)| match member {
                    MessagePart::Text(uuid) => Some(uuid),
                    MessagePart::Block(_) => None,
                });
        let events: Vec<EventId> = uuids.map(|uuid| event_id(uuid, "0")).collect();
        let content = ClaudeContent {
            part: "retraction",
            ..ClaudeContent::retraction(&events)
        };
        self.push_event(here, &content, out);
    }

    fn assistant(&mut self, here: &LineContext<'_>, out: &mut Vec<TranscriptItem>) {
        let Some(message) = &here.line.message.0 else {
            return;
        };
        // The host writes errors, and answers of its own, in the model's place.
        let by_host = here.line.is_api_error_message.0 || &*message.model == "<synthetic>";
        let origin = match by_host {
            true => Origin::Harness,
            false => Origin::Assistant,
        };
        for (index, member) in message_parts(&message.content) {
            match member {
                MessagePart::Text(text) => {
                    self.push_event(here, &ClaudeContent::plain(index, origin, text), out)
                }
                MessagePart::Block(block) => self.assistant_block(here, index, block, out),
            }
        }
    }

    fn assistant_block(
        &mut self,
        here: &LineContext<'_>,
        index: usize,
        block: &Block<'_>,
        out: &mut Vec<TranscriptItem>,
    ) {
        match &*block.kind {
            "tool_use" | "server_tool_use" | "mcp_tool_use" => self.call(here, index, block, out),
            kind if kind.ends_with("tool_result") => self.result(here, index, block, out),
            // Thoughts are not kept.
            _ => {}
        }
    }

    /// Reads a call of a tool.
    fn call(
        &mut self,
        here: &LineContext<'_>,
        index: usize,
        block: &Block<'_>,
        out: &mut Vec<TranscriptItem>,
    ) {
        let arguments = block.input.map_or("{}", |input| input.get());
        let content = ClaudeContent {
            index,
            part: "",
            origin: Origin::ToolCall,
            text: Cow::Owned(calls::render(&block.name, arguments)),
            tool: block.name.get(),
            call: block.id.get(),
            status: None,
            via: Via::Message,
            retracts: &[],
        };
        self.push_event(here, &content, out);
        self.state.calls.open(&block.id, block.name.to_string());
    }

    fn attachment(&mut self, here: &LineContext<'_>, out: &mut Vec<TranscriptItem>) {
        let Some(attachment) = &here.line.attachment.0 else {
            return;
        };
        match &*attachment.kind {
            "queued_command" => self.queued_command(here, attachment, out),
            // The output of a hook, for the agent; Daybook's own words arrive here too.
            "hook_additional_context" => {
                let content = plain(&attachment.content);
                self.push_event(
                    here,
                    &ClaudeContent::plain(0, Origin::Harness, &*content),
                    out,
                );
            }
            _ => {}
        }
    }

    /// Yields an event, unless it has neither text nor events to retract.
    fn push_event(
        &self,
        here: &LineContext<'_>,
        content: &ClaudeContent<'_>,
        out: &mut Vec<TranscriptItem>,
    ) {
        let part = match content.part {
            "" => content.index.to_string(),
            part => format!("{} {part}", content.index),
        };
        let id = match here.line.uuid.get() {
            Some(uuid) => event_id(uuid, &part),
            None => event_id(&format!("{} line {}", self.session(), here.number), &part),
        };
        self.push_with_id(id, here, content, out);
    }

    /// Yields an event of a known identity.
    fn push_with_id(
        &self,
        id: EventId,
        here: &LineContext<'_>,
        content: &ClaudeContent<'_>,
        out: &mut Vec<TranscriptItem>,
    ) {
        let result = content.origin == Origin::ToolResult;
        let (origin, text) = recalled::strip_event(content.origin, &content.text);
        let mentions = mentions(content.origin, origin, &content.text);
        // A result and a retraction are events without text; nothing else is.
        if text.trim().is_empty() && !result && content.retracts.is_empty() {
            return;
        }
        out.push(TranscriptItem::Event(RawEvent {
            id,
            line: here.number,
            origin,
            at: here.at,
            text: event_text(text),
            tool: content.tool.map(str::to_owned),
            call: content.call.map(str::to_owned),
            status: content.status,
            sidechain: here.sidechain,
            reports_external: false,
            place: self.state.places.place().cloned(),
            via: content.via,
            mentions,
            retracts: content.retracts.to_vec(),
        }));
    }
}

impl TranscriptReader for ClaudeReader<'_> {
    fn line(
        &mut self,
        number: u32,
        bytes: &[u8],
        out: &mut Vec<TranscriptItem>,
    ) -> Result<(), BadLine> {
        self.repeat_session(out);
        match self.read_objects(number, bytes, out) {
            Ok(()) => Ok(()),
            Err(bad) => match json::repaired(bytes) {
                Some(repaired) => self.read_objects(number, &repaired, out),
                None => Err(bad),
            },
        }
    }

    fn state(&self) -> String {
        serde_json::to_string(&self.state).unwrap_or_default()
    }
}

impl<'t> ClaudeContent<'t> {
    /// Content that is text alone.
    fn plain(index: usize, origin: Origin, text: impl Into<Cow<'t, str>>) -> Self {
        Self {
            index,
            part: "",
            origin,
            text: text.into(),
            tool: None,
            call: None,
            status: None,
            via: Via::Message,
            retracts: &[],
        }
    }

    /// A retraction of events.
    fn retraction(events: &'t [EventId]) -> Self {
        Self {
            retracts: events,
            ..Self::plain(0, Origin::Retraction, "")
        }
    }
}

/// The identity of a part of a line.
fn event_id(uuid: &str, part: &str) -> EventId {
    EventId::of(&[AGENT, uuid, part].map(str::as_bytes))
}

/// A member of a message.
enum MessagePart<'c> {
    Text(&'c str),
    Block(&'c Block<'c>),
}

/// The members of a message, numbered.
fn message_parts<'c>(content: &'c Content<'c, Block<'c>>) -> Vec<(usize, MessagePart<'c>)> {
    match content {
        Content::Nothing => Vec::new(),
        Content::Text(text) => vec![(0, MessagePart::Text(text))],
        Content::Parts(parts) => parts
            .iter()
            .enumerate()
            .filter_map(|(index, part)| match part {
                ContentMember::Text(text) => Some((index, MessagePart::Text(text))),
                ContentMember::Object(block) if &*block.kind == "text" => {
                    Some((index, MessagePart::Text(&block.text)))
                }
                ContentMember::Object(block) => Some((index, MessagePart::Block(block))),
                ContentMember::Other => None,
            })
            .collect(),
    }
}

#[cfg(test)]
#[path = "claude_tests.rs"]
mod tests;

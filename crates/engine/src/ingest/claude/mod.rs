//! Reading Claude Code's session files: one JSON object per line.
//!
//! Every line carries its session, and nearly every one an id of its own, so that copies of a
//! session join up. Only lines of kind `user`, `assistant`, `queue-operation` and some attachments
//! say something; snapshots, progress and the host's own notes yield nothing.
//!
//! - `person` tells a person's words from what the host writes in their place;
//! - `results` reads what tools answered, and the words that people hide in refusals;
//! - `answers` reads what a person answered to an agent's question;
//! - `queue` follows what was typed while the agent worked, so that it counts once;
//! - `session` reads whose events follow, titles and pull requests.
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

use self::line::{Block, Line, plain};
use self::queue::Queue;
use self::session::{Told, pull_request, titled};
use super::calls::{self, OpenCalls};
use super::json;
use super::kept::event_text;
use super::lenient::{Content, Part};
use super::parsed::{BadLine, BadState, Parsed, RawEvent, Reader, Via};
use super::place::{GitCommonDir, Whereabouts};
use super::recalled;

/// The agent's name in session ids.
pub const AGENT: &str = "claude-code";

/// Reads one session file.
pub struct ClaudeReader<'a> {
    git: GitCommonDir<'a>,
    /// Stands for the session's id where no line names one.
    name: String,
    state: State,
    /// The session was said to an earlier reader only.
    untold: bool,
}

/// What a later line needs to know of earlier ones.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct State {
    /// What was last said of the session.
    session: Option<Told>,
    /// The newest time.
    at: Timestamp,
    whereabouts: Whereabouts,
    /// The tools of calls without a result yet.
    calls: OpenCalls<String>,
    queue: Queue,
}

/// What all events of a line share.
struct Here<'l> {
    line: &'l Line<'l>,
    number: u32,
    at: Timestamp,
    sidechain: bool,
}

/// What an event says, apart from what all events of its line share.
struct Said<'t> {
    /// Which block of the line it came from.
    index: usize,
    /// Tells it from another event of the same block.
    part: &'t str,
    origin: Origin,
    text: Cow<'t, str>,
    tool: Option<&'t str>,
    call: Option<&'t str>,
    status: Option<ToolStatus>,
    via: Via,
}

impl<'a> ClaudeReader<'a> {
    /// A reader that starts anew, or goes on from a state.
    pub fn new(name: &str, git: GitCommonDir<'a>, state: Option<&str>) -> Result<Self, BadState> {
        let state: State = match state {
            Some(state) => serde_json::from_str(state).map_err(|_| BadState)?,
            None => State::default(),
        };
        Ok(Self {
            git,
            name: name.to_owned(),
            untold: state.session.is_some(),
            state,
        })
    }

    fn lines(&mut self, number: u32, bytes: &[u8], out: &mut Vec<Parsed>) -> Result<(), BadLine> {
        for (line, _) in json::objects::<Line<'_>>(bytes)? {
            self.one(number, &line, out);
        }
        Ok(())
    }

    fn one(&mut self, number: u32, line: &Line<'_>, out: &mut Vec<Parsed>) {
        if let Some(worktree) = &line.worktree_session.0 {
            let whereabouts = &mut self.state.whereabouts;
            whereabouts.worktree(&worktree.worktree_path, &worktree.original_cwd);
            return;
        }
        if titled(line, out) {
            return;
        }
        if let Some(at) = line.timestamp.read() {
            self.state.at = at;
        }
        self.state
            .whereabouts
            .at(&line.cwd, line.git_branch.get(), self.git);
        self.tell(line, out);
        let here = Here {
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
            "pr-link" => pull_request(line, out),
            _ => {}
        }
    }

    /// Takes back what the host itself took back, such as half an answer that it had made anew.
    /// Such a line holds one block.
    fn retract(&self, here: &Here<'_>, out: &mut Vec<Parsed>) {
        let lists = [
            &here.line.supersedes_uuids,
            &here.line.retracted_message_uuids,
        ];
        let uuids = lists
            .into_iter()
            .flat_map(bits)
            .filter_map(|(_, bit)| match bit {
                Bit::Text(uuid) => Some(uuid),
                Bit::Block(_) => None,
            });
        let events: Vec<String> = uuids.map(|uuid| json::hex(event_id(uuid, "0"))).collect();
        if !events.is_empty() {
            let said = Said {
                part: "retraction",
                ..Said::plain(0, Origin::Retraction, events.join(" "))
            };
            self.say(here, &said, out);
        }
    }

    fn assistant(&mut self, here: &Here<'_>, out: &mut Vec<Parsed>) {
        let Some(message) = &here.line.message.0 else {
            return;
        };
        // What the host writes in the model's place: errors, and answers that nobody asked for.
        let by_host = here.line.is_api_error_message.0 || &*message.model == "<synthetic>";
        let origin = match by_host {
            true => Origin::Harness,
            false => Origin::Assistant,
        };
        for (index, bit) in bits(&message.content) {
            match bit {
                Bit::Text(text) => self.say(here, &Said::plain(index, origin, text), out),
                Bit::Block(block) => self.assistant_block(here, index, block, out),
            }
        }
    }

    fn assistant_block(
        &mut self,
        here: &Here<'_>,
        index: usize,
        block: &Block<'_>,
        out: &mut Vec<Parsed>,
    ) {
        match &*block.kind {
            "tool_use" | "server_tool_use" | "mcp_tool_use" => self.call(here, index, block, out),
            kind if kind.ends_with("tool_result") => self.result(here, index, block, out),
            // Thoughts are not kept.
            _ => {}
        }
    }

    /// A call of a tool.
    fn call(&mut self, here: &Here<'_>, index: usize, block: &Block<'_>, out: &mut Vec<Parsed>) {
        let arguments = block.input.map_or("{}", |input| input.get());
        let said = Said {
            index,
            part: "",
            origin: Origin::ToolCall,
            text: Cow::Owned(calls::rendered(&block.name, arguments)),
            tool: block.name.get(),
            call: block.id.get(),
            status: None,
            via: Via::Message,
        };
        self.say(here, &said, out);
        self.state.calls.open(&block.id, block.name.to_string());
    }

    fn attachment(&mut self, here: &Here<'_>, out: &mut Vec<Parsed>) {
        let Some(attachment) = &here.line.attachment.0 else {
            return;
        };
        match &*attachment.kind {
            "queued_command" => self.queued_command(here, attachment, out),
            // What a hook told the agent; Daybook's own words arrive here, too.
            "hook_additional_context" => {
                let said = plain(&attachment.content);
                self.say(here, &Said::plain(0, Origin::Harness, &*said), out);
            }
            _ => {}
        }
    }

    /// Adds an event, unless nothing was said.
    fn say(&self, here: &Here<'_>, said: &Said<'_>, out: &mut Vec<Parsed>) {
        let part = match said.part {
            "" => said.index.to_string(),
            part => format!("{} {part}", said.index),
        };
        let id = match here.line.uuid.get() {
            Some(uuid) => event_id(uuid, &part),
            None => event_id(&format!("{} line {}", self.session(), here.number), &part),
        };
        self.push(id, here, said, out);
    }

    /// Adds an event of a known identity.
    fn push(&self, id: EventId, here: &Here<'_>, said: &Said<'_>, out: &mut Vec<Parsed>) {
        let result = said.origin == Origin::ToolResult;
        let (origin, text) = recalled::said(said.origin, &said.text);
        // A tool that answered nothing has answered; anyone else has said nothing.
        if text.trim().is_empty() && !result {
            return;
        }
        out.push(Parsed::Event(RawEvent {
            id,
            line: here.number,
            origin,
            at: here.at,
            text: event_text(text),
            tool: said.tool.map(str::to_owned),
            call: said.call.map(str::to_owned),
            status: said.status,
            sidechain: here.sidechain,
            place: self.state.whereabouts.place().cloned(),
            via: said.via,
        }));
    }
}

impl Reader for ClaudeReader<'_> {
    fn line(&mut self, number: u32, bytes: &[u8], out: &mut Vec<Parsed>) -> Result<(), BadLine> {
        self.tell_again(out);
        match self.lines(number, bytes, out) {
            Ok(()) => Ok(()),
            Err(bad) => match json::repaired(bytes) {
                Some(repaired) => self.lines(number, &repaired, out),
                None => Err(bad),
            },
        }
    }

    fn state(&self) -> String {
        serde_json::to_string(&self.state).unwrap_or_default()
    }
}

impl<'t> Said<'t> {
    /// Words, with nothing else to be said of them.
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
        }
    }
}

/// The identity of what a part of a line says.
fn event_id(uuid: &str, part: &str) -> EventId {
    EventId::of(&[AGENT, uuid, part].map(str::as_bytes))
}

/// A member of a message.
enum Bit<'c> {
    Text(&'c str),
    Block(&'c Block<'c>),
}

/// The members of a message, numbered.
fn bits<'c>(content: &'c Content<'c, Block<'c>>) -> Vec<(usize, Bit<'c>)> {
    match content {
        Content::Nothing => Vec::new(),
        Content::Text(text) => vec![(0, Bit::Text(text))],
        Content::Parts(parts) => parts
            .iter()
            .enumerate()
            .filter_map(|(index, part)| match part {
                Part::Text(text) => Some((index, Bit::Text(text))),
                Part::Object(block) if &*block.kind == "text" => {
                    Some((index, Bit::Text(&block.text)))
                }
                Part::Object(block) => Some((index, Bit::Block(block))),
                Part::Other => None,
            })
            .collect(),
    }
}

#[cfg(test)]
#[path = "claude_tests.rs"]
mod tests;

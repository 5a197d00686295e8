//! Reading Codex rollouts: one JSON object per line, an item in an envelope.
//!
//! Only items that were said to or by the model make events (`response_item`); notices to the
//! interface repeat them. Rollouts from before envelopes hold the bare items. A turn that the person
//! rolled back is retracted.
//!
//! Identity: an item's own id or that of its call where it has one. Otherwise its content, the turn
//! in which it was said, and how often it was said there, in the name of the session that said it
//! first: a fork repeats what its parent said, all at once when it begins.
//!
//! - `message` tells a person's words from the host's;
//! - `output` reads how a call ended;
//! - `session` reads whose events follow.
//!
//! Not here: compressed files, see `stream.rs`.

mod item;
mod message;
mod output;
mod session;

use std::borrow::Cow;
use std::collections::VecDeque;

use daybook_domain::{EventId, Origin, Timestamp, ToolStatus};
use serde::{Deserialize, Serialize};

use self::item::{Item, Line, Notice};
use self::session::Told;
use super::calls::OpenCalls;
use super::json;
use super::kept::event_text;
use super::lenient::Object;
use super::parsed::{BadLine, BadState, Parsed, RawEvent, Reader, Via};
use super::place::{GitCommonDir, Whereabouts};
use super::recalled;
use super::turn::Turn;

/// The agent's name in session ids.
pub const AGENT: &str = "codex";

/// Newest events that a rollback can retract.
const RETRACTABLE: usize = 1024;
/// Reads one rollout.
pub struct CodexReader<'a> {
    git: GitCommonDir<'a>,
    /// Stands for the session's id where the rollout names none.
    name: String,
    state: State,
    /// The session was said to an earlier reader only.
    untold: bool,
}

/// What a later line needs to know of earlier ones.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct State {
    session: Option<Told>,
    at: Timestamp,
    whereabouts: Whereabouts,
    /// Until when lines are the parent's, in a fork.
    forking_until: Option<Timestamp>,
    turn: Turn,
    /// Calls without an output yet.
    calls: OpenCalls<Call>,
    /// Events of the newest turns, in hexadecimal digits.
    turns: VecDeque<Vec<String>>,
}

/// A call that waits for its output.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Call {
    tool: String,
    /// What a person was asked: id and question.
    questions: Vec<(String, String)>,
}

/// What an event says.
struct Said<'t> {
    /// What its identity rests on.
    key: Key<'t>,
    /// Tells it from other events of the same item.
    part: &'t str,
    origin: Origin,
    text: Cow<'t, str>,
    tool: Option<&'t str>,
    call: Option<&'t str>,
    status: Option<ToolStatus>,
    sidechain: bool,
    via: Via,
}

/// What an identity rests on.
#[derive(Clone, Copy)]
enum Key<'t> {
    /// The item's own id.
    Item(&'t str),
    /// The id of the call that it belongs to, and its kind.
    Call(&'t str, &'t str),
    /// Its content.
    Content,
}

impl<'a> CodexReader<'a> {
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
        for (line, whole) in json::objects::<Line<'_>>(bytes)? {
            self.one(number, &line, whole, out)?;
        }
        Ok(())
    }

    fn one(
        &mut self,
        number: u32,
        line: &Line<'_>,
        whole: &[u8],
        out: &mut Vec<Parsed>,
    ) -> Result<(), BadLine> {
        if let Some(at) = line.timestamp.read() {
            self.state.at = at;
        }
        let Some(payload) = line.payload.map(|payload| payload.get().as_bytes()) else {
            return self.bare(number, line, whole, out);
        };
        match &*line.kind {
            "session_meta" => self.meta(&object(payload)?, out),
            "turn_context" => self.turn_context(&object(payload)?, out),
            "response_item" => self.item(number, &object(payload)?, out),
            "event_msg" => self.notice(number, &object(payload)?, out),
            _ => {}
        }
        Ok(())
    }

    /// A line from before envelopes.
    fn bare(
        &mut self,
        number: u32,
        line: &Line<'_>,
        whole: &[u8],
        out: &mut Vec<Parsed>,
    ) -> Result<(), BadLine> {
        if !line.record_type.is_empty() {
            return Ok(());
        }
        if line.kind.is_empty() {
            self.meta(&object(whole)?, out);
        } else {
            self.item(number, &object(whole)?, out);
        }
        Ok(())
    }

    fn notice(&mut self, number: u32, notice: &Notice<'_>, out: &mut Vec<Parsed>) {
        if &*notice.kind != "thread_rolled_back" {
            return;
        }
        let turns = &mut self.state.turns;
        let kept = turns.len().saturating_sub(notice.num_turns.0);
        let events: Vec<String> = turns.drain(kept..).flatten().collect();
        if let Some(first) = events.first() {
            let said = Said {
                key: Key::Item(first),
                part: "rolled back",
                ..Said::plain(Origin::Retraction, events.join(" "))
            };
            let event = self.event(number, &said);
            out.extend(event.map(Parsed::Event));
        }
    }

    fn item(&mut self, number: u32, item: &Item<'_>, out: &mut Vec<Parsed>) {
        match &*item.kind {
            "message" => self.message(number, item, out),
            "agent_message" => self.agent_message(number, item, out),
            "function_call"
            | "custom_tool_call"
            | "local_shell_call"
            | "tool_search_call"
            | "web_search_call"
            | "image_generation_call" => self.call(number, item, out),
            kind if kind.ends_with("_output") => self.output(number, item, out),
            // Thoughts, snapshots and compactions say nothing.
            _ => {}
        }
    }

    /// A person speaks, and what follows may be rolled back with it.
    fn begin_turn(&mut self) {
        self.state.turn.begin();
        self.state.turns.push_back(Vec::new());
    }

    /// Adds an event to the log and to its turn, unless nothing was said.
    fn say(&mut self, number: u32, said: &Said<'_>, out: &mut Vec<Parsed>) {
        self.ensure_session(out);
        let Some(event) = self.event(number, said) else {
            return;
        };
        if let Some(turn) = self.state.turns.back_mut() {
            turn.push(json::hex(event.id));
        }
        while self.state.turns.iter().map(Vec::len).sum::<usize>() > RETRACTABLE {
            match self.state.turns.len() {
                1 => self.state.turns[0].truncate(RETRACTABLE),
                _ => drop(self.state.turns.pop_front()),
            }
        }
        out.push(Parsed::Event(event));
    }

    fn event(&mut self, number: u32, said: &Said<'_>) -> Option<RawEvent> {
        let (origin, text) = recalled::said(said.origin, &said.text);
        if text.trim().is_empty() && said.origin != Origin::ToolResult {
            return None;
        }
        Some(RawEvent {
            id: self.id(said),
            line: number,
            origin,
            at: self.state.at,
            text: event_text(text),
            tool: said.tool.map(str::to_owned),
            call: said.call.map(str::to_owned),
            status: said.status,
            sidechain: said.sidechain || self.is_sub_agent(),
            place: self.state.whereabouts.place().cloned(),
            via: said.via,
        })
    }

    fn id(&mut self, said: &Said<'_>) -> EventId {
        let session = self.first_session().to_owned();
        let session = [AGENT, &session];
        let parts = match said.key {
            Key::Item(id) => ["item", id, "", said.part],
            Key::Call(id, kind) => ["call", id, kind, said.part],
            Key::Content => {
                let parts = [said.origin.word(), &said.text, said.part];
                return self.state.turn.identify(&session, &parts);
            }
        };
        let parts: Vec<&[u8]> = session
            .iter()
            .chain(&parts)
            .map(|part| part.as_bytes())
            .collect();
        EventId::of(&parts)
    }
}

impl Reader for CodexReader<'_> {
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
    fn plain(origin: Origin, text: impl Into<Cow<'t, str>>) -> Self {
        Self {
            key: Key::Content,
            part: "",
            origin,
            text: text.into(),
            tool: None,
            call: None,
            status: None,
            sidechain: false,
            via: Via::Message,
        }
    }
}

fn object<'j, T: Deserialize<'j> + Default>(bytes: &'j [u8]) -> Result<T, BadLine> {
    serde_json::from_slice::<Object<T>>(bytes)
        .map(|object| object.0.unwrap_or_default())
        .map_err(|error| json::bad(&error))
}

#[cfg(test)]
#[path = "codex_tests.rs"]
mod tests;

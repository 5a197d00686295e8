//! Reads Codex rollouts: one JSON object per line, an item in an envelope.
//!
//! Only items of the conversation with the model make events (`response_item`); messages to the user
//! interface repeat them. Rollouts from before envelopes hold the bare items. A turn that the person
//! rolled back is retracted.
//!
//! Identity: an item's own id or that of its call where it has one. Otherwise its content, the turn
//! in which it came, and how often it came in that turn, under the session that had it first: a fork
//! repeats its parent's items, all at once when it begins.
//!
//! - `message` separates a person's words from the host's;
//! - `output` reads how a call ended;
//! - `session` reads the session of the events that follow.
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

use self::item::{CodexLine, CodexNotice, Item};
use self::session::CodexSession;
use super::item::{BadLine, BadState, RawEvent, TranscriptItem, TranscriptReader, Via};
use super::json::{self, HexEventId};
use super::turn::Turn;
use super::when;
use crate::places::folding::{GitCommonDir, PlaceTracker};
use daybook_text::calls::OpenCalls;
use daybook_text::cut::event_text;
use daybook_text::lenient::Object;
use daybook_text::mentions::mentions;
use daybook_text::recalled;

/// The agent's name in session ids.
pub const AGENT: &str = "codex";

/// Newest events that a rollback can retract.
const RETRACTABLE: usize = 1024;
/// Reads one rollout.
pub struct CodexReader<'a> {
    git: GitCommonDir<'a>,
    /// The session's id if the rollout names none.
    name: String,
    state: State,
    /// Whether the session was yielded by an earlier reader only.
    must_repeat_session: bool,
}

/// The state that later lines need of earlier ones.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct State {
    session: Option<CodexSession>,
    at: Timestamp,
    #[serde(rename = "whereabouts")]
    places: PlaceTracker,
    /// Until when lines are the parent's, in a fork.
    forking_until: Option<Timestamp>,
    turn: Turn,
    /// Calls without an output yet.
    calls: OpenCalls<Call>,
    /// Events of the newest turns.
    turns: VecDeque<Vec<HexEventId>>,
}

/// A call that waits for its output.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Call {
    tool: String,
    /// The questions to a person: id and text.
    questions: Vec<(String, String)>,
}

/// The content of an event, apart from what the reader's state adds.
struct CodexContent<'t> {
    /// The basis of its identity.
    key: IdentityBasis<'t>,
    /// Distinguishes it from other events of the same item.
    part: &'t str,
    origin: Origin,
    text: Cow<'t, str>,
    tool: Option<&'t str>,
    call: Option<&'t str>,
    status: Option<ToolStatus>,
    sidechain: bool,
    /// Whether Codex states that it brings text from outside.
    reports_external: bool,
    via: Via,
    retracts: &'t [EventId],
}

/// The basis of an event's identity.
#[derive(Clone, Copy)]
enum IdentityBasis<'t> {
    /// The item's own id.
    Item(&'t str),
    /// The id of the call that it belongs to, and its kind.
    Call(&'t str, &'t str),
    /// Its content.
    Content,
}

impl<'a> CodexReader<'a> {
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
        for (line, whole) in json::objects::<CodexLine<'_>>(bytes)? {
            self.read_line(number, &line, whole, out)?;
        }
        Ok(())
    }

    fn read_line(
        &mut self,
        number: u32,
        line: &CodexLine<'_>,
        whole: &[u8],
        out: &mut Vec<TranscriptItem>,
    ) -> Result<(), BadLine> {
        if let Some(at) = when::parse_field(&line.timestamp) {
            self.state.at = at;
        }
        let Some(payload) = line.payload.map(|payload| payload.get().as_bytes()) else {
            return self.read_bare(number, line, whole, out);
        };
        match &*line.kind {
            "session_meta" => self.meta(&object(payload)?, out),
            "turn_context" => self.turn_context(&object(payload)?, out),
            "response_item" => self.item(number, &object(payload)?, out),
            "event_msg" => self.read_notice(number, &object(payload)?, out),
            _ => {}
        }
        Ok(())
    }

    /// A line from before envelopes.
    fn read_bare(
        &mut self,
        number: u32,
        line: &CodexLine<'_>,
        whole: &[u8],
        out: &mut Vec<TranscriptItem>,
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

    fn read_notice(
        &mut self,
        number: u32,
        notice: &CodexNotice<'_>,
        out: &mut Vec<TranscriptItem>,
    ) {
        if &*notice.kind != "thread_rolled_back" {
            return;
        }
        let turns = &mut self.state.turns;
        let kept = turns.len().saturating_sub(notice.num_turns.0);
        let events: Vec<EventId> = turns.drain(kept..).flatten().map(|event| event.0).collect();
        if let Some(first) = events.first().copied().map(json::hex) {
            let content = CodexContent {
                key: IdentityBasis::Item(&first),
                part: "rolled back",
                retracts: &events,
                ..CodexContent::plain(Origin::Retraction, "")
            };
            let event = self.event(number, &content);
            out.extend(event.map(TranscriptItem::Event));
        }
    }

    fn item(&mut self, number: u32, item: &Item<'_>, out: &mut Vec<TranscriptItem>) {
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
            // Thoughts, snapshots and compactions make no event.
            _ => {}
        }
    }

    /// Begins a turn with a person's message; what follows may be rolled back with it.
    fn begin_turn(&mut self) {
        self.state.turn.begin();
        self.state.turns.push_back(Vec::new());
    }

    /// Yields an event and adds it to its turn, unless its text is empty.
    fn push_event(
        &mut self,
        number: u32,
        content: &CodexContent<'_>,
        out: &mut Vec<TranscriptItem>,
    ) {
        self.ensure_session(out);
        let Some(event) = self.event(number, content) else {
            return;
        };
        if let Some(turn) = self.state.turns.back_mut() {
            turn.push(HexEventId(event.id));
        }
        while self.state.turns.iter().map(Vec::len).sum::<usize>() > RETRACTABLE {
            match self.state.turns.len() {
                1 => self.state.turns[0].truncate(RETRACTABLE),
                _ => drop(self.state.turns.pop_front()),
            }
        }
        out.push(TranscriptItem::Event(event));
    }

    fn event(&mut self, number: u32, content: &CodexContent<'_>) -> Option<RawEvent> {
        let (origin, text) = recalled::strip_event(content.origin, &content.text);
        // A call that brought text from outside counts, whatever is shown of it.
        let is_kept = content.origin == Origin::ToolResult
            || content.reports_external
            || !content.retracts.is_empty();
        if text.trim().is_empty() && !is_kept {
            return None;
        }
        Some(RawEvent {
            id: self.id(content),
            line: number,
            origin,
            at: self.state.at,
            text: event_text(text),
            tool: content.tool.map(str::to_owned),
            call: content.call.map(str::to_owned),
            status: content.status,
            sidechain: content.sidechain || self.is_sub_agent(),
            reports_external: content.reports_external,
            place: self.state.places.place().cloned(),
            via: content.via,
            mentions: mentions(content.origin, origin, &content.text),
            retracts: content.retracts.to_vec(),
        })
    }

    fn id(&mut self, content: &CodexContent<'_>) -> EventId {
        let session = self.first_session().to_owned();
        let session = [AGENT, &session];
        let parts = match content.key {
            IdentityBasis::Item(id) => ["item", id, "", content.part],
            IdentityBasis::Call(id, kind) => ["call", id, kind, content.part],
            IdentityBasis::Content => {
                let parts = [content.origin.as_str(), &content.text, content.part];
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

impl TranscriptReader for CodexReader<'_> {
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

impl<'t> CodexContent<'t> {
    /// Content that is text alone.
    fn plain(origin: Origin, text: impl Into<Cow<'t, str>>) -> Self {
        Self {
            key: IdentityBasis::Content,
            part: "",
            origin,
            text: text.into(),
            tool: None,
            call: None,
            status: None,
            sidechain: false,
            reports_external: false,
            via: Via::Message,
            retracts: &[],
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

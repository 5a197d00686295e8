//! Reads messages as chat interfaces take them: a role and content.
//!
//! One message per line, or the members of a document's list (see `elements.rs`). Messages have no
//! ids, so a message's identity is its content, its turn, and how often it came in that turn. A session
//! takes the id that its document states before the first message, else the reader's name for it. Messages of several
//! rooms or teams in one file are a session each: their words become the memory of different scopes.

mod message;

use std::borrow::Cow;

use daybook_domain::{EventId, Origin, SessionKind, Timestamp, ToolStatus, Venue};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use self::message::{ChatPart, Message, prose};
use super::item::{
    BadLine, BadState, RawEvent, SessionHint, TranscriptItem, TranscriptReader, Via,
};
use super::json;
use super::turn::Turn;
use super::{when, wrappers};
use crate::places::folding::{GitCommonDir, PlaceTracker};
use daybook_text::calls::OpenCalls;
use daybook_text::cut::event_text;
use daybook_text::lenient::{Content, ContentMember};
use daybook_text::mentions::mentions;
use daybook_text::{calls, recalled};

/// The agent's name in session ids.
pub const AGENT: &str = "chat";

/// Elements that hosts write into a person's message.
const ELEMENTS: &[&str] = &["system-reminder", "environment_context", "user_info"];

/// Reads one chat.
pub struct ChatReader<'a> {
    git: GitCommonDir<'a>,
    name: String,
    state: State,
    /// Whether the session was yielded by an earlier reader only.
    must_repeat_session: bool,
}

/// The state that later messages need of earlier ones.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct State {
    /// The session's id, once it is yielded.
    session: Option<String>,
    /// Where the session is held.
    #[serde(skip_serializing_if = "Venue::is_empty")]
    venue: Venue,
    /// The id and the venue that the document began with, once a message names another venue.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<(String, Venue)>,
    at: Timestamp,
    #[serde(rename = "whereabouts")]
    places: PlaceTracker,
    turn: Turn,
    /// The tools of calls without an answer yet.
    calls: OpenCalls<String>,
}

/// The content of an event, apart from what the reader's state adds.
struct ChatContent<'t> {
    origin: Origin,
    text: Cow<'t, str>,
    tool: Option<&'t str>,
    call: Option<&'t str>,
    status: Option<ToolStatus>,
}

impl<'a> ChatReader<'a> {
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

    fn messages(
        &mut self,
        number: u32,
        bytes: &[u8],
        out: &mut Vec<TranscriptItem>,
    ) -> Result<(), BadLine> {
        for (message, _) in json::objects::<Message<'_>>(bytes)? {
            let venue = message.venue()?;
            match number {
                0 => self.read_opening(&message, venue, out),
                number => self.message(number, &message, venue, out),
            }
        }
        Ok(())
    }

    /// Reads the beginning of a document, before its messages. Another document begins another session.
    fn read_opening(&mut self, message: &Message<'_>, venue: Venue, out: &mut Vec<TranscriptItem>) {
        self.state = State {
            venue,
            ..State::default()
        };
        let start =
            when::parse_field(&message.session_start).or(when::parse_field(&message.created_at));
        self.state.at = start.unwrap_or_default();
        self.state.places.set_folder(&message.cwd, None, self.git);
        let ids = [&message.session_id, &message.conversation_id, &message.id];
        let id = ids.into_iter().find_map(|id| id.get());
        let id = id.unwrap_or(&self.name).to_owned();
        self.update_session(id, out);
    }

    fn update_session(&mut self, host_id: String, out: &mut Vec<TranscriptItem>) {
        out.push(TranscriptItem::Session(SessionHint {
            host_id: host_id.clone(),
            agent: AGENT.into(),
            kind: SessionKind::Root,
            memory_off: false,
            forked_from: None,
            surface: None,
            user: None,
            venue: self.state.venue.clone(),
            parent: None,
            cwd: self.state.places.cwd().map(str::to_owned),
            branch: None,
            remote: None,
        }));
        self.state.session = Some(host_id);
    }

    /// Goes on with the session of the venue that a message names, if it names another one than the message before.
    fn move_to_venue(&mut self, venue: Venue, out: &mut Vec<TranscriptItem>) {
        let Some(session) = &self.state.session else {
            if !venue.is_empty() {
                self.state.venue = venue;
            }
            self.update_session(self.name.clone(), out);
            return;
        };
        if self.state.venue.admits(&venue) {
            return;
        }
        let began = (session.clone(), self.state.venue.clone());
        let (id, began_in) = self.state.first.get_or_insert(began);
        let id = match *began_in == venue {
            true => id.clone(),
            false => {
                let names = [&venue.room_id, &venue.thread_id, &venue.team];
                let names: Vec<&str> = names.into_iter().flatten().map(String::as_str).collect();
                format!("{id}#{}", names.join(":"))
            }
        };
        self.state.venue = venue;
        self.update_session(id, out);
    }

    fn message(
        &mut self,
        number: u32,
        message: &Message<'_>,
        venue: Venue,
        out: &mut Vec<TranscriptItem>,
    ) {
        self.move_to_venue(venue, out);
        if let Some(at) =
            when::parse_field(&message.timestamp).or(when::parse_field(&message.created_at))
        {
            self.state.at = at;
        }
        match (&*message.role, &*message.kind) {
            ("user" | "human", _) => self.read_prose(number, Origin::Human, message, out),
            ("assistant" | "model" | "ai", _) => {
                self.read_prose(number, Origin::Assistant, message, out)
            }
            ("tool" | "function", _) => self.answer(number, message, out),
            ("", "tool_call" | "function_call") => {
                if let Some(function) = &message.function.0 {
                    let arguments = function.arguments.or(message.arguments);
                    self.call(number, "", &function.name, arguments, out);
                }
            }
            ("", "tool_result" | "function_result") => {
                let content = ChatContent {
                    tool: message.name.get(),
                    ..ChatContent::plain(Origin::ToolResult, json::as_text(message.result))
                };
                self.push_event(number, &content, out);
            }
            ("", _) => {}
            _ => self.read_prose(number, Origin::Harness, message, out),
        }
    }

    /// Reads a message of prose, with the calls that an assistant makes in it.
    fn read_prose(
        &mut self,
        number: u32,
        origin: Origin,
        message: &Message<'_>,
        out: &mut Vec<TranscriptItem>,
    ) {
        let mut words: Vec<Cow<'_, str>> = Vec::new();
        match &message.content {
            Content::Nothing => words.extend(message.message.get().map(Cow::Borrowed)),
            Content::Text(text) => words.push(Cow::Borrowed(text)),
            Content::Parts(parts) => {
                for part in parts {
                    match part {
                        ContentMember::Text(text) => words.push(Cow::Borrowed(text)),
                        ContentMember::Object(piece) => match piece.shown_text() {
                            Some(content) => words.push(content),
                            None => self.piece(number, piece, out),
                        },
                        ContentMember::Other => {}
                    }
                }
            }
        }
        let words = words.join("\n");
        match origin {
            Origin::Human => self.person(number, &words, out),
            Origin::Assistant
            | Origin::ToolCall
            | Origin::ToolResult
            | Origin::Harness
            | Origin::Synthetic
            | Origin::Recalled
            | Origin::Retraction => {
                self.push_event(number, &ChatContent::plain(origin, words), out);
            }
        }
        if let Content::Parts(calls) = &message.tool_calls {
            for call in calls {
                if let ContentMember::Object(call) = call
                    && let Some(function) = &call.function.0
                {
                    self.call(number, &call.id, &function.name, function.arguments, out);
                }
            }
        }
        if let Some(function) = &message.function_call.0 {
            self.call(number, "", &function.name, function.arguments, out);
        }
    }

    fn person(&mut self, number: u32, words: &str, out: &mut Vec<TranscriptItem>) {
        let (origin, content) = unwrapped(words);
        self.push_event(number, &ChatContent::plain(origin, content), out);
    }

    /// Reads a part of a message that is no prose.
    fn piece(&mut self, number: u32, piece: &ChatPart<'_>, out: &mut Vec<TranscriptItem>) {
        match &*piece.kind {
            "tool_use" => self.call(number, &piece.id, &piece.name, piece.input, out),
            "tool_result" => {
                let tool = self.state.calls.close(&piece.tool_use_id);
                let content = ChatContent {
                    tool: tool.as_deref(),
                    call: piece.tool_use_id.get(),
                    status: piece.is_error.0.then_some(ToolStatus::Failed),
                    ..ChatContent::plain(Origin::ToolResult, piece.inner())
                };
                self.push_event(number, &content, out);
            }
            _ => {}
        }
    }

    fn call(
        &mut self,
        number: u32,
        id: &str,
        tool: &str,
        arguments: Option<&RawValue>,
        out: &mut Vec<TranscriptItem>,
    ) {
        let content = ChatContent {
            tool: Some(tool).filter(|tool| !tool.is_empty()),
            call: Some(id).filter(|id| !id.is_empty()),
            ..ChatContent::plain(
                Origin::ToolCall,
                calls::render(tool, &json::as_text(arguments)),
            )
        };
        self.push_event(number, &content, out);
        self.state.calls.open(id, tool.to_owned());
    }

    /// Reads a tool's result.
    fn answer(&mut self, number: u32, message: &Message<'_>, out: &mut Vec<TranscriptItem>) {
        let tool = self.state.calls.close(&message.tool_call_id);
        let content = ChatContent {
            tool: tool.as_deref().or(message.name.get()),
            call: message.tool_call_id.get(),
            status: message.is_error.0.then_some(ToolStatus::Failed),
            ..ChatContent::plain(Origin::ToolResult, prose(&message.content))
        };
        self.push_event(number, &content, out);
    }

    fn push_event(
        &mut self,
        number: u32,
        content: &ChatContent<'_>,
        out: &mut Vec<TranscriptItem>,
    ) {
        let (origin, text) = recalled::strip_event(content.origin, &content.text);
        let mentions = mentions(content.origin, origin, &content.text);
        if text.trim().is_empty() && origin != Origin::ToolResult {
            return;
        }
        if content.origin == Origin::Human {
            self.state.turn.begin();
        }
        out.push(TranscriptItem::Event(RawEvent {
            id: self.state.id(content),
            line: number,
            origin,
            at: self.state.at,
            text: event_text(text),
            tool: content.tool.map(str::to_owned),
            call: content.call.map(str::to_owned),
            status: content.status,
            sidechain: false,
            reports_external: false,
            place: self.state.places.place().cloned(),
            via: Via::Message,
            mentions,
            retracts: Vec::new(),
        }));
    }
}

/// A message's origin and text, without the elements that hosts write into it. A message of such
/// elements alone is the host's own.
pub(crate) fn unwrapped(words: &str) -> (Origin, Cow<'_, str>) {
    let unwrapped = wrappers::unwrap(words, ELEMENTS);
    if unwrapped.rest.is_empty() && !unwrapped.elements.is_empty() {
        return (Origin::Harness, Cow::Borrowed(words));
    }
    (Origin::Human, unwrapped.rest)
}

impl State {
    fn id(&mut self, content: &ChatContent<'_>) -> EventId {
        let session = [AGENT, self.session.as_deref().unwrap_or_default()];
        let call = content.call.unwrap_or_default();
        let parts = [content.origin.as_str(), call, &content.text];
        self.turn.identify(&session, &parts)
    }
}

impl TranscriptReader for ChatReader<'_> {
    fn line(
        &mut self,
        number: u32,
        bytes: &[u8],
        out: &mut Vec<TranscriptItem>,
    ) -> Result<(), BadLine> {
        if std::mem::take(&mut self.must_repeat_session)
            && let Some(host_id) = self.state.session.clone()
        {
            self.update_session(host_id, out);
        }
        match self.messages(number, bytes, out) {
            Ok(()) => Ok(()),
            Err(bad) => match json::repaired(bytes) {
                Some(repaired) => self.messages(number, &repaired, out),
                None => Err(bad),
            },
        }
    }

    fn state(&self) -> String {
        serde_json::to_string(&self.state).unwrap_or_default()
    }
}

impl<'t> ChatContent<'t> {
    /// Content that is text alone.
    fn plain(origin: Origin, text: impl Into<Cow<'t, str>>) -> Self {
        Self {
            origin,
            text: text.into(),
            tool: None,
            call: None,
            status: None,
        }
    }
}

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;

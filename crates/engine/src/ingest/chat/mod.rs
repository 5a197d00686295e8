//! Reading messages as chat interfaces take them: a role and content.
//!
//! One message per line, or the members of a document's list (see `elements.rs`). Nothing names a
//! message, so that its identity is its content, its turn, and how often it was said there.
//!
//! Not here: whose chat it is. A session takes the id that its document states before the first
//! message, else the name that it is given.

mod message;

use std::borrow::Cow;

use daybook_domain::{EventId, Origin, SessionKind, Timestamp, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use self::message::{Message, Piece, prose};
use super::calls::OpenCalls;
use super::json;
use super::kept::event_text;
use super::lenient::{Content, Part};
use super::parsed::{BadLine, BadState, Parsed, RawEvent, Reader, SessionHint, Via};
use super::place::{GitCommonDir, Whereabouts};
use super::turn::Turn;
use super::{calls, recalled, wrappers};

/// The agent's name in session ids.
pub const AGENT: &str = "chat";

/// Elements that hosts write into a person's message.
const ELEMENTS: &[&str] = &["system-reminder", "environment_context", "user_info"];

/// Reads one chat.
pub struct ChatReader<'a> {
    git: GitCommonDir<'a>,
    name: String,
    state: State,
    /// The session was said to an earlier reader only.
    untold: bool,
}

/// What a later message needs to know of earlier ones.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct State {
    /// The session's id, once said.
    session: Option<String>,
    at: Timestamp,
    whereabouts: Whereabouts,
    turn: Turn,
    /// The tools of calls without an answer yet.
    calls: OpenCalls<String>,
}

/// What an event says.
struct Said<'t> {
    origin: Origin,
    text: Cow<'t, str>,
    tool: Option<&'t str>,
    call: Option<&'t str>,
    status: Option<ToolStatus>,
}

impl<'a> ChatReader<'a> {
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

    fn messages(
        &mut self,
        number: u32,
        bytes: &[u8],
        out: &mut Vec<Parsed>,
    ) -> Result<(), BadLine> {
        for (message, _) in json::objects::<Message<'_>>(bytes)? {
            match number {
                0 => self.opening(&message, out),
                number => self.message(number, &message, out),
            }
        }
        Ok(())
    }

    /// What a document says before its messages. Another document begins another session.
    fn opening(&mut self, message: &Message<'_>, out: &mut Vec<Parsed>) {
        self.state = State::default();
        let start = message.session_start.read().or(message.created_at.read());
        self.state.at = start.unwrap_or_default();
        self.state.whereabouts.at(&message.cwd, None, self.git);
        let ids = [&message.session_id, &message.conversation_id, &message.id];
        let id = ids.into_iter().find_map(|id| id.get());
        let id = id.unwrap_or(&self.name).to_owned();
        self.tell(id, out);
    }

    fn tell(&mut self, host_id: String, out: &mut Vec<Parsed>) {
        out.push(Parsed::Session(SessionHint {
            host_id: host_id.clone(),
            agent: AGENT,
            kind: SessionKind::Root,
            memory_off: false,
            forked_from: None,
            surface: None,
            parent: None,
            cwd: self.state.whereabouts.cwd().map(str::to_owned),
            branch: None,
            remote: None,
        }));
        self.state.session = Some(host_id);
    }

    fn message(&mut self, number: u32, message: &Message<'_>, out: &mut Vec<Parsed>) {
        if self.state.session.is_none() {
            self.tell(self.name.clone(), out);
        }
        if let Some(at) = message.timestamp.read().or(message.created_at.read()) {
            self.state.at = at;
        }
        match (&*message.role, &*message.kind) {
            ("user" | "human", _) => self.spoken(number, Origin::Human, message, out),
            ("assistant" | "model" | "ai", _) => {
                self.spoken(number, Origin::Assistant, message, out)
            }
            ("tool" | "function", _) => self.answer(number, message, out),
            ("", "tool_call" | "function_call") => {
                if let Some(function) = &message.function.0 {
                    let arguments = function.arguments.or(message.arguments);
                    self.call(number, "", &function.name, arguments, out);
                }
            }
            ("", "tool_result" | "function_result") => {
                let said = Said {
                    tool: message.name.get(),
                    ..Said::plain(Origin::ToolResult, json::as_text(message.result))
                };
                self.say(number, &said, out);
            }
            ("", _) => {}
            _ => self.spoken(number, Origin::Harness, message, out),
        }
    }

    /// A message of prose, with the calls that an assistant makes in it.
    fn spoken(
        &mut self,
        number: u32,
        origin: Origin,
        message: &Message<'_>,
        out: &mut Vec<Parsed>,
    ) {
        let mut words: Vec<Cow<'_, str>> = Vec::new();
        match &message.content {
            Content::Nothing => words.extend(message.message.get().map(Cow::Borrowed)),
            Content::Text(text) => words.push(Cow::Borrowed(text)),
            Content::Parts(parts) => {
                for part in parts {
                    match part {
                        Part::Text(text) => words.push(Cow::Borrowed(text)),
                        Part::Object(piece) => match piece.said() {
                            Some(said) => words.push(said),
                            None => self.piece(number, piece, out),
                        },
                        Part::Other => {}
                    }
                }
            }
        }
        let words = words.join("\n");
        match origin {
            Origin::Human => self.person(number, &words, out),
            _ => self.say(number, &Said::plain(origin, words), out),
        }
        if let Content::Parts(calls) = &message.tool_calls {
            for call in calls {
                if let Part::Object(call) = call
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

    fn person(&mut self, number: u32, words: &str, out: &mut Vec<Parsed>) {
        let (origin, said) = unwrapped(words);
        self.say(number, &Said::plain(origin, said), out);
    }

    /// A piece of a message that is no prose.
    fn piece(&mut self, number: u32, piece: &Piece<'_>, out: &mut Vec<Parsed>) {
        match &*piece.kind {
            "tool_use" => self.call(number, &piece.id, &piece.name, piece.input, out),
            "tool_result" => {
                let tool = self.state.calls.answered(&piece.tool_use_id);
                let said = Said {
                    tool: tool.as_deref(),
                    call: piece.tool_use_id.get(),
                    status: piece.is_error.0.then_some(ToolStatus::Failed),
                    ..Said::plain(Origin::ToolResult, piece.inner())
                };
                self.say(number, &said, out);
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
        out: &mut Vec<Parsed>,
    ) {
        let said = Said {
            tool: Some(tool).filter(|tool| !tool.is_empty()),
            call: Some(id).filter(|id| !id.is_empty()),
            ..Said::plain(
                Origin::ToolCall,
                calls::rendered(tool, &json::as_text(arguments)),
            )
        };
        self.say(number, &said, out);
        self.state.calls.open(id, tool.to_owned());
    }

    /// What a tool answered.
    fn answer(&mut self, number: u32, message: &Message<'_>, out: &mut Vec<Parsed>) {
        let tool = self.state.calls.answered(&message.tool_call_id);
        let said = Said {
            tool: tool.as_deref().or(message.name.get()),
            call: message.tool_call_id.get(),
            status: message.is_error.0.then_some(ToolStatus::Failed),
            ..Said::plain(Origin::ToolResult, prose(&message.content))
        };
        self.say(number, &said, out);
    }

    fn say(&mut self, number: u32, said: &Said<'_>, out: &mut Vec<Parsed>) {
        let (origin, text) = recalled::said(said.origin, &said.text);
        if text.trim().is_empty() && origin != Origin::ToolResult {
            return;
        }
        if said.origin == Origin::Human {
            self.state.turn.begin();
        }
        out.push(Parsed::Event(RawEvent {
            id: self.state.id(said),
            line: number,
            origin,
            at: self.state.at,
            text: event_text(text),
            tool: said.tool.map(str::to_owned),
            call: said.call.map(str::to_owned),
            status: said.status,
            sidechain: false,
            place: self.state.whereabouts.place().cloned(),
            via: Via::Message,
        }));
    }
}

/// What a person says in a message, without what hosts wrap around it. A message of nothing else
/// is the host's own.
pub(super) fn unwrapped(words: &str) -> (Origin, Cow<'_, str>) {
    let unwrapped = wrappers::unwrap(words, ELEMENTS);
    if unwrapped.said.is_empty() && !unwrapped.elements.is_empty() {
        return (Origin::Harness, Cow::Borrowed(words));
    }
    (Origin::Human, unwrapped.said)
}

impl State {
    fn id(&mut self, said: &Said<'_>) -> EventId {
        let session = [AGENT, self.session.as_deref().unwrap_or_default()];
        let call = said.call.unwrap_or_default();
        let parts = [said.origin.word(), call, &said.text];
        self.turn.identify(&session, &parts)
    }
}

impl Reader for ChatReader<'_> {
    fn line(&mut self, number: u32, bytes: &[u8], out: &mut Vec<Parsed>) -> Result<(), BadLine> {
        if std::mem::take(&mut self.untold)
            && let Some(host_id) = self.state.session.clone()
        {
            self.tell(host_id, out);
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

impl<'t> Said<'t> {
    /// Words, with nothing else to be said of them.
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

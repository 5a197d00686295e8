//! Reading messages as chat interfaces take them: a role and content.
//!
//! One message per line, or the members of a document's list (see `elements.rs`). Nothing names a
//! message, so that its identity is its content, its turn, and how often it was said there.
//!
//! Not here: whose chat it is. A session takes the id that its document states before the first
//! message, else the name that it is given.

use std::borrow::Cow;
use std::collections::BTreeMap;

use daybook_domain::{EventId, Origin, SessionKind, Timestamp, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::json::{self, Content, Flag, Object, Part, Text, When};
use super::kept::{blob, event_text, image_at};
use super::parsed::{BadLine, BadState, Parsed, RawEvent, Reader, SessionHint};
use super::place::{GitCommonDir, Whereabouts};
use super::recalled::{self, Stripped};
use super::{calls, wrappers};

/// The agent's name in session ids.
pub const AGENT: &str = "chat";

/// Texts of one turn whose repetitions are counted.
const TEXTS_OF_TURN: usize = 256;
/// Calls whose tool is remembered.
const CALLS: usize = 256;
/// Elements that hosts write into a person's message.
const ELEMENTS: &[&str] = &["system-reminder", "environment_context", "user_info"];

/// Reads one chat.
pub struct ChatReader<'a> {
    git: GitCommonDir<'a>,
    name: String,
    state: State,
}

/// What a later message needs to know of earlier ones.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct State {
    /// The session's id, once said.
    session: Option<String>,
    at: Timestamp,
    whereabouts: Whereabouts,
    /// Human messages so far.
    turn: u64,
    /// How often each text was said in this turn, by fingerprint.
    said: BTreeMap<String, u32>,
    /// Tools by call.
    calls: BTreeMap<String, String>,
}

/// A message, or what a document says before its first one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'j> {
    #[serde(borrow)]
    role: Text<'j>,
    #[serde(rename = "type")]
    kind: Text<'j>,
    content: Content<'j, Piece<'j>>,
    name: Text<'j>,
    tool_calls: Content<'j, Call<'j>>,
    function_call: Object<Function<'j>>,
    tool_call_id: Text<'j>,
    is_error: Flag,
    timestamp: When<'j>,
    created_at: When<'j>,
    // A call or its result on a line of its own.
    function: Object<Function<'j>>,
    #[serde(borrow)]
    arguments: Option<&'j RawValue>,
    #[serde(borrow)]
    result: Option<&'j RawValue>,
    // What a document says of its session.
    #[serde(alias = "conversation_id", alias = "sessionId", alias = "id")]
    session_id: Text<'j>,
    cwd: Text<'j>,
    #[serde(alias = "start_time")]
    session_start: When<'j>,
}

/// A piece of content.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Piece<'j> {
    #[serde(rename = "type", borrow)]
    kind: Text<'j>,
    text: Text<'j>,
    image_url: Content<'j, Address<'j>>,
    source: Object<Source<'j>>,
    id: Text<'j>,
    name: Text<'j>,
    #[serde(borrow)]
    input: Option<&'j RawValue>,
    tool_use_id: Text<'j>,
    #[serde(borrow)]
    content: Option<&'j RawValue>,
    is_error: Flag,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Address<'j> {
    #[serde(borrow)]
    url: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Source<'j> {
    #[serde(borrow)]
    media_type: Text<'j>,
    data: Text<'j>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Call<'j> {
    #[serde(borrow)]
    id: Text<'j>,
    function: Object<Function<'j>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Function<'j> {
    #[serde(borrow)]
    name: Text<'j>,
    #[serde(borrow)]
    arguments: Option<&'j RawValue>,
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
        let state = match state {
            Some(state) => serde_json::from_str(state).map_err(|_| BadState)?,
            None => State::default(),
        };
        Ok(Self {
            git,
            name: name.to_owned(),
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
        let id = message.session_id.get().unwrap_or(&self.name).to_owned();
        self.tell(id, out);
    }

    fn tell(&mut self, host_id: String, out: &mut Vec<Parsed>) {
        out.push(Parsed::Session(SessionHint {
            host_id: host_id.clone(),
            agent: AGENT,
            kind: SessionKind::Root,
            memory_off: false,
            forked_from: None,
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
            Content::Nothing => {}
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
        let unwrapped = wrappers::unwrap(words, ELEMENTS);
        if unwrapped.said.is_empty() && !unwrapped.elements.is_empty() {
            return self.say(number, &Said::plain(Origin::Harness, words), out);
        }
        self.say(number, &Said::plain(Origin::Human, unwrapped.said), out);
    }

    /// A piece of a message that is no prose.
    fn piece(&mut self, number: u32, piece: &Piece<'_>, out: &mut Vec<Parsed>) {
        match &*piece.kind {
            "tool_use" => self.call(number, &piece.id, &piece.name, piece.input, out),
            "tool_result" => {
                let tool = self.state.calls.get(&*piece.tool_use_id).cloned();
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
        if !id.is_empty() && self.state.calls.len() < CALLS {
            self.state.calls.insert(id.to_owned(), tool.to_owned());
        }
    }

    /// What a tool answered.
    fn answer(&mut self, number: u32, message: &Message<'_>, out: &mut Vec<Parsed>) {
        let tool = self.state.calls.remove(&*message.tool_call_id);
        let said = Said {
            tool: tool.as_deref().or(message.name.get()),
            call: message.tool_call_id.get(),
            status: message.is_error.0.then_some(ToolStatus::Failed),
            ..Said::plain(Origin::ToolResult, prose(&message.content))
        };
        self.say(number, &said, out);
    }

    fn say(&mut self, number: u32, said: &Said<'_>, out: &mut Vec<Parsed>) {
        let (origin, text) = match recalled::strip(&said.text) {
            Stripped::OnlyRecalled => (Origin::Recalled, Cow::Borrowed(&*said.text)),
            Stripped::Said(text) => (said.origin, text),
        };
        if text.trim().is_empty() && origin != Origin::ToolResult {
            return;
        }
        if said.origin == Origin::Human {
            self.state.turn += 1;
            self.state.said.clear();
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
        }));
    }
}

impl State {
    fn id(&mut self, said: &Said<'_>) -> EventId {
        let (turn, call) = (self.turn.to_string(), said.call.unwrap_or_default());
        let content = [said.origin.word(), call, &said.text].map(str::as_bytes);
        let text = json::hex(EventId::of(&content))[..16].to_owned();
        let mut times = 0;
        if self.said.len() < TEXTS_OF_TURN || self.said.contains_key(&text) {
            let known = self.said.entry(text).or_default();
            times = *known;
            *known += 1;
        }
        let times = times.to_string();
        let session = self.session.as_deref().unwrap_or_default();
        let mut parts = [AGENT, session, &turn].map(str::as_bytes).to_vec();
        parts.extend(content);
        parts.push(times.as_bytes());
        EventId::of(&parts)
    }
}

impl Reader for ChatReader<'_> {
    fn line(&mut self, number: u32, bytes: &[u8], out: &mut Vec<Parsed>) -> Result<(), BadLine> {
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

impl<'j> Piece<'j> {
    /// What it says, or what stands for it; `None` for calls and answers.
    fn said(&self) -> Option<Cow<'_, str>> {
        if let Some(text) = self.text.get() {
            return Some(Cow::Borrowed(text));
        }
        let image = match &self.image_url {
            Content::Nothing => match &self.source.0 {
                Some(source) => blob("image", &source.media_type, &source.data),
                None => return None,
            },
            Content::Text(address) => image_at(address),
            Content::Parts(parts) => match parts.first() {
                Some(Part::Object(address)) => image_at(&address.url),
                Some(Part::Text(_) | Part::Other) | None => return None,
            },
        };
        Some(Cow::Owned(image))
    }

    /// The prose within the piece.
    fn inner(&self) -> String {
        let content = self.content.map(RawValue::get).unwrap_or("null");
        let content: Content<'j, Piece<'j>> = serde_json::from_str(content).unwrap_or_default();
        prose(&content)
    }
}

fn prose(content: &Content<'_, Piece<'_>>) -> String {
    match content {
        Content::Nothing => String::new(),
        Content::Text(text) => text.to_string(),
        Content::Parts(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                Part::Text(text) => Some(Cow::Borrowed(&**text)),
                Part::Object(piece) => piece.said(),
                Part::Other => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
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

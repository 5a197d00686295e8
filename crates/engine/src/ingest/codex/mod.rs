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
//! - [`message`] tells a person's words from the host's;
//! - [`output`] reads how a call ended.
//!
//! Not here: compressed files, see `stream.rs`.

mod item;
mod message;
mod output;

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use daybook_domain::{EventId, Origin, SessionKind, Timestamp, ToolStatus};
use serde::{Deserialize, Serialize};

use self::item::{Item, Line, Meta, Notice, Source, SubAgent, TurnContext};
use super::json::{self, Object};
use super::kept::event_text;
use super::parsed::{BadLine, BadState, Parsed, RawEvent, Reader, SessionHint};
use super::place::{GitCommonDir, Whereabouts, normalised_remote};
use super::recalled::{self, Stripped};

/// The agent's name in session ids.
pub const AGENT: &str = "codex";

/// Calls without an output yet that are remembered.
const OPEN_CALLS: usize = 256;
/// Newest events that a rollback can retract.
const RETRACTABLE: usize = 1024;
/// Texts of one turn whose repetitions are counted.
const TEXTS_OF_TURN: usize = 256;
/// How long after a fork's beginning its lines are still its parent's.
const FORKING: Duration = Duration::from_secs(2);

/// Reads one rollout.
pub struct CodexReader<'a> {
    git: GitCommonDir<'a>,
    /// Stands for the session's id where the rollout names none.
    name: String,
    state: State,
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
    /// Human messages so far.
    turn: u64,
    /// How often each text was said in this turn, by fingerprint.
    said: BTreeMap<String, u32>,
    /// Calls without an output yet, oldest first.
    calls: VecDeque<Call>,
    /// Events of the newest turns, in hexadecimal digits.
    turns: VecDeque<Vec<String>>,
}

/// A call that waits for its output.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Call {
    id: String,
    tool: String,
    /// What a person was asked: id and question.
    questions: Vec<(String, String)>,
}

/// What was said of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Told {
    host_id: String,
    kind: Kind,
    memory_off: bool,
    forked_from: Option<String>,
    parent: Option<String>,
    remote: Option<String>,
    cwd: Option<String>,
    branch: Option<String>,
}

/// Who holds the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    #[default]
    Root,
    SubAgent,
    MemoryAgent,
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

    /// What the rollout says of its session. A fork's file holds its parent's words on this, too;
    /// the first count.
    fn meta(&mut self, meta: &Meta<'_>, out: &mut Vec<Parsed>) {
        if self.state.session.is_some() || meta.id.is_empty() {
            return;
        }
        let git = meta.git.0.as_ref();
        let branch = git.and_then(|git| git.branch.get());
        self.state.whereabouts.at(&meta.cwd, branch, self.git);
        if let Some(at) = meta.timestamp.read() {
            self.state.at = at;
        }
        let forked_from = meta.forked_from_id.owned();
        self.state.forking_until = forked_from.as_ref().map(|_| self.state.at.plus(FORKING));
        let (kind, parent) = kind(meta);
        self.tell(
            Told {
                host_id: meta.id.to_string(),
                kind,
                memory_off: matches!(&*meta.memory_mode, "off" | "disabled" | "polluted"),
                forked_from,
                parent,
                remote: git.and_then(|git| normalised_remote(&git.repository_url)),
                ..Told::default()
            },
            out,
        );
    }

    /// Says whose events follow, if that is new.
    fn tell(&mut self, mut told: Told, out: &mut Vec<Parsed>) {
        told.cwd = self.state.whereabouts.cwd().map(str::to_owned);
        told.branch = self.state.whereabouts.branch().map(str::to_owned);
        if self.state.session.as_ref() != Some(&told) {
            out.push(Parsed::Session(told.hint()));
            self.state.session = Some(told);
        }
    }

    /// Names the session after its file if nothing was said of it.
    fn ensure_session(&mut self, out: &mut Vec<Parsed>) {
        if self.state.session.is_none() {
            let told = Told {
                host_id: self.name.clone(),
                ..Told::default()
            };
            self.tell(told, out);
        }
    }

    fn turn_context(&mut self, context: &TurnContext<'_>, out: &mut Vec<Parsed>) {
        self.state.whereabouts.moved(&context.cwd, self.git);
        if let Some(told) = self.state.session.clone() {
            self.tell(told, out);
        }
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

    /// Adds an event to the log and to its turn, unless nothing was said.
    fn say(&mut self, number: u32, said: &Said<'_>, out: &mut Vec<Parsed>) {
        self.ensure_session(out);
        if said.origin == Origin::Human {
            self.state.turn += 1;
            self.state.said.clear();
            self.state.turns.push_back(Vec::new());
        }
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
        let (origin, text) = match recalled::strip(&said.text) {
            Stripped::OnlyRecalled => (Origin::Recalled, Cow::Borrowed(&*said.text)),
            Stripped::Said(text) => (said.origin, text),
        };
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
        })
    }

    fn id(&mut self, said: &Said<'_>) -> EventId {
        let turn = self.state.turn.to_string();
        let times;
        let session = self.first_session().to_owned();
        let mut parts = vec![AGENT, &session];
        match said.key {
            Key::Item(id) => parts.extend(["item", id]),
            Key::Call(id, kind) => parts.extend(["call", kind, id]),
            Key::Content => {
                times = self.state.times(said).to_string();
                parts.extend(["turn", &turn, said.origin.word(), &said.text, &times]);
            }
        }
        parts.push(said.part);
        let parts: Vec<&[u8]> = parts.into_iter().map(str::as_bytes).collect();
        EventId::of(&parts)
    }

    /// The session that said it first: the parent, while a fork repeats it.
    fn first_session(&self) -> &str {
        let Some(told) = &self.state.session else {
            return &self.name;
        };
        let forking = self
            .state
            .forking_until
            .is_some_and(|until| self.state.at <= until);
        match &told.forked_from {
            Some(parent) if forking => parent,
            Some(_) | None => &told.host_id,
        }
    }

    fn is_sub_agent(&self) -> bool {
        self.state
            .session
            .as_ref()
            .is_some_and(|told| told.kind != Kind::Root)
    }
}

impl State {
    /// How often it was said before in this turn.
    fn times(&mut self, said: &Said<'_>) -> u32 {
        let text = [said.origin.word().as_bytes(), said.text.as_bytes()];
        let text = json::hex(EventId::of(&text))[..16].to_owned();
        if self.said.len() >= TEXTS_OF_TURN && !self.said.contains_key(&text) {
            return 0;
        }
        let times = self.said.entry(text).or_default();
        *times += 1;
        *times - 1
    }
}

impl Reader for CodexReader<'_> {
    fn line(&mut self, number: u32, bytes: &[u8], out: &mut Vec<Parsed>) -> Result<(), BadLine> {
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

impl Told {
    fn hint(&self) -> SessionHint {
        SessionHint {
            host_id: self.host_id.clone(),
            agent: AGENT,
            kind: match self.kind {
                Kind::Root => SessionKind::Root,
                Kind::SubAgent => SessionKind::SubAgent,
                Kind::MemoryAgent => SessionKind::MemoryAgent,
            },
            memory_off: self.memory_off,
            forked_from: self.forked_from.clone(),
            parent: self.parent.clone(),
            cwd: self.cwd.clone(),
            branch: self.branch.clone(),
            remote: self.remote.clone(),
        }
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
        }
    }
}

/// Whether another agent holds the conversation, and which session called it.
fn kind(meta: &Meta<'_>) -> (Kind, Option<String>) {
    let source = meta
        .source
        .and_then(|source| serde_json::from_str::<Object<Source<'_>>>(source.get()).ok())
        .and_then(|source| source.0)
        .unwrap_or_default();
    let Some(by) = source.subagent.or(source.internal) else {
        return (Kind::Root, None);
    };
    if by.get().contains("memory") {
        return (Kind::MemoryAgent, None);
    }
    let spawned = serde_json::from_str::<Object<SubAgent<'_>>>(by.get());
    let spawn = spawned
        .ok()
        .and_then(|by| by.0)
        .and_then(|by| by.thread_spawn.0);
    let parent = meta
        .parent_thread_id
        .owned()
        .or_else(|| spawn.and_then(|spawn| spawn.parent_thread_id.owned()));
    (Kind::SubAgent, parent)
}

fn object<'j, T: Deserialize<'j> + Default>(bytes: &'j [u8]) -> Result<T, BadLine> {
    serde_json::from_slice::<Object<T>>(bytes)
        .map(|object| object.0.unwrap_or_default())
        .map_err(|error| json::bad(&error))
}

#[cfg(test)]
#[path = "codex_tests.rs"]
mod tests;

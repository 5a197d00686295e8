//! Yields sessions and events for the format of one host.
//!
//! All formats need the same of a session: it is named before its first event, a working directory becomes a place, a
//! call's result finds its tool again, what a host took back is retracted, and an event keeps its identity in every copy
//! of the file. In a sub-agent's session the words in a person's place are the calling agent's.
//!
//! Not here: who wrote what; that is each format's.

use std::borrow::Cow;
use std::collections::VecDeque;

use daybook_domain::{EventId, Origin, SessionKind, Timestamp, ToolStatus, Venue};
use serde::{Deserialize, Serialize};

use super::item::{RawEvent, SessionHint, SessionTitle, TitleTarget, TranscriptItem, Via};
use super::json::HexEventId;
use super::turn::Turn;
use super::when;
use crate::places::folding::{GitCommonDir, PlaceTracker};
use daybook_text::calls::{self, OpenCalls};
use daybook_text::cut::event_text;
use daybook_text::lenient::When;
use daybook_text::mentions::mentions;
use daybook_text::recalled;

/// Newest events that a host can take back.
const RETRACTABLE: usize = 1024;

/// A session's description so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SessionFields {
    /// The host's id; empty until a line names it.
    pub(super) host_id: String,
    pub(super) is_sub_agent: bool,
    pub(super) memory_off: bool,
    pub(super) forked_from: Option<String>,
    pub(super) surface: Option<String>,
    pub(super) user: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) remote: Option<String>,
    #[serde(skip_serializing_if = "Venue::is_empty")]
    pub(super) venue: Venue,
}

/// What later lines need of earlier ones, in every format.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct WriterState {
    fields: SessionFields,
    /// The session as it was yielded last, with its folder and branch.
    yielded: Option<(SessionFields, Option<String>, Option<String>)>,
    at: Timestamp,
    places: PlaceTracker,
    turn: Turn,
    /// The tools of calls without a result yet.
    calls: OpenCalls<String>,
    /// The newest records and their events.
    records: VecDeque<(String, Vec<HexEventId>)>,
    /// The number of events in `records`.
    recorded: usize,
}

impl WriterState {
    pub(super) fn has_session(&self) -> bool {
        self.yielded.is_some()
    }
}

/// The basis of an event's identity.
#[derive(Debug, Clone, Copy)]
pub(super) enum EventKey<'t> {
    /// An id that no other record of this host has.
    Global(&'t str),
    /// An id that no other record of the session has.
    InSession(&'t str),
    /// Its content, where the host gives no id.
    Content,
}

/// The content of an event, apart from what the writer's state adds.
#[derive(Debug)]
pub(super) struct EventContent<'t> {
    pub(super) key: EventKey<'t>,
    /// Distinguishes it from other events of the same record.
    pub(super) part: &'t str,
    pub(super) origin: Origin,
    pub(super) text: Cow<'t, str>,
    pub(super) tool: Option<&'t str>,
    pub(super) call: Option<&'t str>,
    pub(super) status: Option<ToolStatus>,
    pub(super) sidechain: bool,
    pub(super) via: Via,
    pub(super) retracts: Vec<EventId>,
}

impl<'t> EventContent<'t> {
    /// Content that is text alone.
    pub(super) fn plain(key: EventKey<'t>, origin: Origin, text: impl Into<Cow<'t, str>>) -> Self {
        Self {
            key,
            part: "",
            origin,
            text: text.into(),
            tool: None,
            call: None,
            status: None,
            sidechain: false,
            via: Via::Message,
            retracts: Vec::new(),
        }
    }

    /// The same content as another part of its record.
    pub(super) fn part(self, part: &'t str) -> Self {
        Self { part, ..self }
    }
}

/// How a call ended, and its output.
#[derive(Debug, Clone)]
pub(super) struct CallResult<'t> {
    pub(super) tool: Option<&'t str>,
    pub(super) text: Cow<'t, str>,
    pub(super) status: Option<ToolStatus>,
}

/// Appends the items of one line.
pub(super) struct ItemWriter<'w> {
    agent: &'static str,
    name: &'w str,
    git: GitCommonDir<'w>,
    number: u32,
    state: &'w mut WriterState,
    out: &'w mut Vec<TranscriptItem>,
}

impl<'w> ItemWriter<'w> {
    pub(super) fn new(
        agent: &'static str,
        name: &'w str,
        git: GitCommonDir<'w>,
        number: u32,
        state: &'w mut WriterState,
        out: &'w mut Vec<TranscriptItem>,
    ) -> Self {
        Self {
            agent,
            name,
            git,
            number,
            state,
            out,
        }
    }

    /// Sets the time of the events that follow, if the field holds one.
    pub(super) fn set_time(&mut self, field: &When<'_>) {
        if let Some(at) = when::parse_field(field) {
            self.state.at = at;
        }
    }

    /// Sets the working directory of the events that follow.
    pub(super) fn set_folder(&mut self, cwd: &str, branch: Option<&str>) {
        self.state.places.set_folder(cwd, branch, self.git);
    }

    /// Begins the next session of a file that holds several.
    pub(super) fn begin_session(&mut self) {
        *self.state = WriterState::default();
    }

    pub(super) fn session(&self) -> &SessionFields {
        &self.state.fields
    }

    /// Changes the session's description, which is yielded with the next event.
    pub(super) fn describe(&mut self, change: impl FnOnce(&mut SessionFields)) {
        change(&mut self.state.fields);
    }

    /// Has the session yielded again with the next event, after the reader resumed from a state.
    pub(super) fn repeat_session(&mut self) {
        self.state.yielded = None;
    }

    /// Yields the session whose event follows, if anything of it changed.
    fn yield_session(&mut self) {
        let places = &self.state.places;
        if let Some((fields, cwd, branch)) = &self.state.yielded
            && *fields == self.state.fields
            && cwd.as_deref() == places.cwd()
            && branch.as_deref() == places.branch()
        {
            return;
        }
        let cwd = places.cwd().map(str::to_owned);
        let branch = places.branch().map(str::to_owned);
        let now = (self.state.fields.clone(), cwd, branch);
        let (fields, cwd, branch) = now.clone();
        self.out.push(TranscriptItem::Session(SessionHint {
            host_id: match fields.host_id.is_empty() {
                true => self.name.to_owned(),
                false => fields.host_id,
            },
            agent: Cow::Borrowed(self.agent),
            kind: match fields.is_sub_agent {
                true => SessionKind::SubAgent,
                false => SessionKind::Root,
            },
            memory_off: fields.memory_off,
            forked_from: fields.forked_from,
            surface: fields.surface,
            user: fields.user,
            venue: fields.venue,
            parent: fields.parent,
            cwd,
            branch,
            remote: fields.remote,
        }));
        self.state.yielded = Some(now);
    }

    /// Yields a title of the session.
    pub(super) fn title(&mut self, text: &str) {
        let id = match self.state.fields.host_id.as_str() {
            "" => self.name,
            id => id,
        };
        if !text.trim().is_empty() {
            self.out.push(TranscriptItem::Title(SessionTitle {
                of: TitleTarget::Session(id.to_owned()),
                text: text.to_owned(),
            }));
        }
    }

    /// Yields a call of a tool. `id` is the host's, or empty.
    pub(super) fn call(&mut self, key: EventKey<'_>, id: &str, tool: &str, arguments: &str) {
        self.push(EventContent {
            part: "call",
            tool: Some(tool).filter(|tool| !tool.is_empty()),
            call: Some(id).filter(|id| !id.is_empty()),
            ..EventContent::plain(key, Origin::ToolCall, calls::render(tool, arguments))
        });
        self.state.calls.open(id, tool.to_owned());
    }

    /// Yields the result of a call. Its tool is the call's where the result names none.
    pub(super) fn result(&mut self, key: EventKey<'_>, id: &str, result: CallResult<'_>) {
        let opened = self.state.calls.close(id);
        self.push(EventContent {
            part: "result",
            tool: result.tool.or(opened.as_deref()),
            call: Some(id).filter(|id| !id.is_empty()),
            status: result.status,
            ..EventContent::plain(key, Origin::ToolResult, result.text)
        });
    }

    /// Begins a record: the events that follow are taken back with it.
    pub(super) fn begin_record(&mut self, id: &str) {
        let last = self.state.records.back();
        if last.is_none_or(|(last, _)| last != id) {
            self.state.records.push_back((id.to_owned(), Vec::new()));
        }
    }

    /// The tool of a call without a result yet.
    pub(super) fn open_tool(&self, id: &str) -> Option<&str> {
        self.state.calls.get(id).map(String::as_str)
    }

    /// Whether a record is among the newest ones.
    pub(super) fn knows_record(&self, id: &str) -> bool {
        self.state.records.iter().any(|(known, _)| known == id)
    }

    /// Retracts a record and all behind it; none if it is not known.
    pub(super) fn retract_from(&mut self, id: &str) {
        let records = &self.state.records;
        if let Some(first) = records.iter().position(|(known, _)| known == id) {
            self.retract(first);
        }
    }

    /// Retracts one record; none if it is not known.
    pub(super) fn retract_record(&mut self, id: &str) {
        let records = &mut self.state.records;
        if let Some(place) = records.iter().rposition(|(known, _)| known == id) {
            let events = records.remove(place).map(|(_, events)| events);
            self.retract_events(events.unwrap_or_default());
        }
    }

    /// Retracts all records that are known.
    pub(super) fn retract_all(&mut self) {
        self.retract(0);
    }

    /// Retracts all records behind one; none if it is not known.
    pub(super) fn retract_behind(&mut self, id: &str) {
        let records = &self.state.records;
        if let Some(last) = records.iter().position(|(known, _)| known == id) {
            self.retract(last + 1);
        }
    }

    fn retract(&mut self, from: usize) {
        let cut = self.state.records.split_off(from).into_iter();
        self.retract_events(cut.flat_map(|(_, events)| events).collect());
    }

    fn retract_events(&mut self, events: Vec<HexEventId>) {
        let events: Vec<EventId> = events.into_iter().map(|id| id.0).collect();
        self.state.recorded -= events.len().min(self.state.recorded);
        let Some(first) = events.first().copied().map(super::json::hex) else {
            return;
        };
        self.push(EventContent {
            part: "taken back",
            retracts: events,
            ..EventContent::plain(EventKey::Global(&first), Origin::Retraction, "")
        });
    }

    /// Yields an event, unless it has neither text nor events to retract.
    pub(super) fn push(&mut self, content: EventContent<'_>) {
        let written_by = match content.origin {
            Origin::Human if self.state.fields.is_sub_agent || content.sidechain => {
                Origin::Assistant
            }
            origin => origin,
        };
        let (origin, text) = recalled::strip_event(written_by, &content.text);
        // A result and a retraction are events without text; nothing else is.
        let is_kept = written_by == Origin::ToolResult || !content.retracts.is_empty();
        if text.trim().is_empty() && !is_kept {
            return;
        }
        self.yield_session();
        if written_by == Origin::Human {
            self.state.turn.begin();
        }
        let id = self.id(&content);
        let mentions = mentions(written_by, origin, &content.text);
        let event = RawEvent {
            id,
            line: self.number.max(1),
            origin,
            at: self.state.at,
            text: event_text(text),
            tool: content.tool.map(str::to_owned),
            call: content.call.map(str::to_owned),
            status: content.status,
            sidechain: content.sidechain || self.state.fields.is_sub_agent,
            reports_external: false,
            place: self.state.places.place().cloned(),
            via: content.via,
            mentions,
            retracts: content.retracts,
        };
        if event.retracts.is_empty() {
            self.remember(id);
        }
        self.out.push(TranscriptItem::Event(event));
    }

    /// Adds an event to the present record, and drops the oldest records beyond the bound.
    fn remember(&mut self, id: EventId) {
        let state = &mut *self.state;
        let Some((_, events)) = state.records.back_mut() else {
            return;
        };
        if events.len() < RETRACTABLE && !events.contains(&HexEventId(id)) {
            events.push(HexEventId(id));
            state.recorded += 1;
        }
        while state.records.len() > RETRACTABLE
            || state.records.len() > 1 && state.recorded > RETRACTABLE
        {
            let oldest = state.records.pop_front();
            let dropped = oldest.map_or(0, |(_, events)| events.len());
            state.recorded -= dropped.min(state.recorded);
        }
    }

    fn id(&mut self, content: &EventContent<'_>) -> EventId {
        let session = match self.state.fields.host_id.as_str() {
            "" => self.name,
            id => id,
        };
        let parts = match content.key {
            EventKey::Global(id) => [self.agent, "record", id, content.part],
            EventKey::InSession(id) => {
                let parts = [self.agent, session, "record", id, content.part];
                return EventId::of(&parts.map(str::as_bytes));
            }
            EventKey::Content => {
                let call = content.call.unwrap_or_default();
                let parts = [content.origin.as_str(), call, &*content.text, content.part];
                let session = [self.agent, session];
                return self.state.turn.identify(&session, &parts);
            }
        };
        EventId::of(&parts.map(str::as_bytes))
    }
}

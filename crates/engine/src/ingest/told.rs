//! Events that a program tells of, instead of a transcript that is read.
//!
//! Telling the same again adds nothing: an event is known by the id that its teller gives it, else
//! by who said what and when. Without a time either, the same words of the same role are one event
//! of their session, however often they are told; within one telling they count as often as they
//! stand there.
//!
//! Not here: how a telling reaches us, and what may be asked of it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use daybook_domain::seams::{Append, Appended};
use daybook_domain::{
    EventId, EventSeq, NewEvent, Origin, Place, RemoteEvidence, SessionId, SessionKind,
    SessionMeta, StoreError, Timestamp,
};

use tracing::debug_span;
use tracing::field::Empty;

use super::batches::split_batches;
use super::import::Intake;
use super::raw::{RawEvent, Via};
use super::redact::Redactor;
use super::settle::output_evidence;
use super::{chat, prepared, recalled};
use crate::stage::within;

/// Who speaks, in the words of chat interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A person.
    User,
    /// The agent; with a tool's name, its call of that tool.
    Assistant,
    /// A tool, answering.
    Tool,
    /// The host.
    System,
}

/// One event as it is told.
#[derive(Debug, Clone)]
pub struct Told {
    /// The teller's own name for it, unique within the session.
    pub id: Option<String>,
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub text: String,
    /// When; the present time where it is not told.
    pub at: Option<Timestamp>,
    /// The tool that is called, or answers.
    pub tool: Option<String>,
}

/// Some events of one session, in order.
#[derive(Debug, Clone)]
pub struct Telling {
    /// Which session.
    pub session: SessionId,
    /// What sort of conversation; what is known of it where it is not told.
    pub kind: Option<SessionKind>,
    /// Whose words its human events are, where that is not the person of the data folder.
    pub user: Option<String>,
    /// Where it happened.
    pub place: Option<Place>,
    /// What was said.
    pub events: Vec<Told>,
}

/// Appends what is told. All of it is on disk when this returns; when it fails, telling it again
/// adds what is missing.
///
/// # Errors
/// The store's.
pub async fn append_told(intake: &Intake, telling: Telling) -> Result<Appended, StoreError> {
    let session = &telling.session;
    let span = debug_span!("append", %session, events = Empty, known = Empty, outcome = Empty);
    within(span, append(intake, telling), |span, appended| {
        let known = appended.added == 0;
        span.record("events", appended.added);
        span.record("known", appended.known);
        span.record("outcome", if known { "nothing_new" } else { "added" });
    })
    .await
}

async fn append(intake: &Intake, telling: Telling) -> Result<Appended, StoreError> {
    let (store, now) = (&intake.store, intake.clock.now());
    let known = store.session(&telling.session).await?;
    let meta = SessionMeta {
        id: telling.session.clone(),
        // A sub-agent's session stays one until somebody says otherwise.
        kind: telling
            .kind
            .or(known.as_ref().map(|known| known.kind))
            .unwrap_or(SessionKind::Root),
        memory_off: known.as_ref().is_some_and(|known| known.memory_off),
        forked_from: None,
        user: telling.user.clone(),
        surface: None,
    };
    let mut appended = Appended {
        added: 0,
        known: 0,
        last: known.map_or(EventSeq(0), |known| known.events),
    };
    let (events, mut remotes) = events(&intake.redactor, telling, now);
    for events in split_batches(events) {
        let ids: HashSet<EventId> = events.iter().map(|event| event.id).collect();
        let is_here = |shown: &RemoteEvidence| shown.event.is_some_and(|id| ids.contains(&id));
        let (shown, later) = remotes.into_iter().partition(is_here);
        remotes = later;
        let append = Append {
            session: meta.clone(),
            events,
            remotes: shown,
            source: None,
            import: None,
            patience: intake.patience,
            urgent: None,
            switches: intake.switches.clone(),
            now,
        };
        let part = store.append(&append).await?;
        appended.added += part.added;
        appended.known += part.known;
        appended.last = part.last;
    }
    Ok(appended)
}

/// What is told, ready for the log, and what it shows of folders' remotes.
fn events(
    redactor: &Redactor,
    telling: Telling,
    now: Timestamp,
) -> (Vec<NewEvent>, Vec<RemoteEvidence>) {
    let Telling { place, events, .. } = telling;
    let mut said: HashMap<EventId, u64> = HashMap::new();
    let mut remotes = Vec::new();
    let events = events
        .into_iter()
        .map(|told| {
            let (id, at) = (told.id.clone(), told.at);
            let raw = raw(redactor, told, place.clone(), now);
            let shown = output_evidence(redactor, &raw);
            let (mut event, _) = prepared(redactor, raw);
            event.id = match id {
                Some(id) => EventId::of(&[b"id", id.as_bytes()]),
                None => unnamed(&event, at, &mut said),
            };
            remotes.extend(shown.map(|shown| RemoteEvidence {
                event: Some(event.id),
                ..shown
            }));
            event
        })
        .collect();
    (events, remotes)
}

/// The identity of an event that its teller does not name. It is made of what is kept: a
/// fingerprint of a secret would let it be guessed.
fn unnamed(event: &NewEvent, at: Option<Timestamp>, said: &mut HashMap<EventId, u64>) -> EventId {
    let at = at.map(|at| at.0.to_le_bytes());
    let at = at.as_ref().map_or(&[][..], |at| at);
    let tool = event.tool.as_deref().unwrap_or_default();
    let parts = [
        b"told".as_slice(),
        event.origin.word().as_bytes(),
        tool.as_bytes(),
        event.text.as_bytes(),
        at,
    ];
    let times = said.entry(EventId::of(&parts)).or_default();
    *times += 1;
    let mut parts = parts.to_vec();
    let times = times.to_le_bytes();
    parts.push(&times);
    EventId::of(&parts)
}

fn raw(redactor: &Redactor, told: Told, place: Option<Place>, now: Timestamp) -> RawEvent {
    let (origin, text) = match (told.role, &told.tool) {
        (Role::User, _) => chat::unwrapped(&told.text),
        (Role::Assistant, Some(_)) => (Origin::ToolCall, Cow::Borrowed(&*told.text)),
        (Role::Assistant, None) => (Origin::Assistant, Cow::Borrowed(&*told.text)),
        (Role::Tool, _) => (Origin::ToolResult, Cow::Borrowed(&*told.text)),
        (Role::System, _) => (Origin::Harness, Cow::Borrowed(&*told.text)),
    };
    let (origin, text) = recalled::said(origin, &text);
    RawEvent {
        id: EventId(0),
        line: 0,
        origin,
        at: told.at.unwrap_or(now),
        text: text.into_owned(),
        tool: told
            .tool
            .map(|tool| redactor.redact(&tool).text.into_owned()),
        call: None,
        status: None,
        sidechain: false,
        place,
        via: Via::Message,
    }
}

#[cfg(test)]
#[path = "told_tests.rs"]
mod tests;

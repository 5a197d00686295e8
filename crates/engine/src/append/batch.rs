//! Appends events that a program reports itself, instead of leaving a transcript to import.
//!
//! Appending a batch again adds nothing: an event is identified by the id that the program gives it,
//! else by its role, text and time. Without a time too, the same text of the same role is one event of
//! its session, however many batches hold it; within one batch it counts as often as it occurs.
//!
//! Not here: the interfaces that receive batches, and the limits of their requests.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use daybook_domain::limits::APPEND_BYTES;
use daybook_domain::seams::{Append, AppendOutcome, Store};
use daybook_domain::{
    EventId, EventSeq, NewEvent, Origin, Place, RemoteEvidence, SessionId, SessionKind,
    SessionMeta, StoreError, Timestamp, Venue,
};

use tracing::debug_span;
use tracing::field::Empty;

use super::IngestContext;
use super::split::split_batches;
use crate::projects::moved_sessions::MovedSession;
use crate::projects::output_evidence::{OutputReader, shown_remote, with_event};
use crate::stage::within;
use crate::transcripts::chat;
use crate::uses::{EventMention, note_mentions};
use daybook_text::mentions::mentions;
use daybook_text::names::{redact_session, redact_session_id};
use daybook_text::raw::{RawEvent, Via};
use daybook_text::redact::Redactor;
use daybook_text::{prepare_event, recalled};

/// Most events before an output among which its command is looked for.
const COMMANDS_BEFORE: u32 = 64;

/// The speaker of an event, as chat interfaces name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpeakerRole {
    /// A person.
    User,
    /// The agent; with a tool's name, its call of that tool.
    Assistant,
    /// A tool, with its result.
    Tool,
    /// The host.
    System,
}

/// One event as a program reports it.
#[derive(Debug, Clone)]
pub struct ReportedEvent {
    /// The program's own id for it, unique within the session.
    pub id: Option<String>,
    /// The speaker.
    pub role: SpeakerRole,
    /// Its text.
    pub text: String,
    /// When; the present time if `None`.
    pub at: Option<Timestamp>,
    /// The tool that is called, or whose result it is.
    pub tool: Option<String>,
    /// Whether the program states that it brings text from outside: a page, a mail, another person's words.
    pub external: bool,
}

impl ReportedEvent {
    /// A person's words, now.
    pub fn user(text: impl Into<String>) -> Self {
        Self::of(SpeakerRole::User, text.into())
    }

    /// The agent's words, now.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::of(SpeakerRole::Assistant, text.into())
    }

    /// The agent's call of a tool, now, with its arguments.
    pub fn tool_call(tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self {
            tool: Some(tool.into()),
            ..Self::of(SpeakerRole::Assistant, arguments.into())
        }
    }

    /// The result of a tool, now.
    pub fn tool_result(tool: impl Into<String>, result: impl Into<String>) -> Self {
        Self {
            tool: Some(tool.into()),
            ..Self::of(SpeakerRole::Tool, result.into())
        }
    }

    fn of(role: SpeakerRole, text: String) -> Self {
        Self {
            id: None,
            role,
            text,
            at: None,
            tool: None,
            external: false,
        }
    }
}

/// Some events of one session, in order.
#[derive(Debug, Clone)]
pub struct AppendBatch {
    /// Which session.
    pub session: SessionId,
    /// The kind of conversation; the stored kind if `None`.
    pub kind: Option<SessionKind>,
    /// The user who wrote its human events, unless that is the person of the data folder.
    pub user: Option<String>,
    /// Where it happened.
    pub place: Option<Place>,
    /// The room, the thread and the team that hold it. All batches of a session name the same, or none.
    pub venue: Venue,
    /// The events, oldest first.
    pub events: Vec<ReportedEvent>,
}

/// Appends a batch. All of it is on disk when this returns; after a failure, appending it again adds
/// what is missing.
///
/// # Errors
/// The store's.
pub async fn append_batch(
    intake: &IngestContext,
    batch: AppendBatch,
) -> Result<AppendOutcome, StoreError> {
    let session = redact_session_id(&intake.redactor, batch.session);
    let batch = AppendBatch { session, ..batch };
    let session = &batch.session;
    let span = debug_span!("append", %session, events = Empty, known = Empty, outcome = Empty);
    within(span, append(intake, batch), |span, appended| {
        let known = appended.added == 0;
        span.record("events", appended.added);
        span.record("known", appended.known);
        span.record("outcome", if known { "nothing_new" } else { "added" });
    })
    .await
}

async fn append(intake: &IngestContext, batch: AppendBatch) -> Result<AppendOutcome, StoreError> {
    let (store, now) = (&intake.store, intake.clock.now());
    let known = store.session(&batch.session).await?;
    let meta = SessionMeta {
        id: batch.session.clone(),
        // A sub-agent's session stays one until a batch gives another kind.
        kind: batch
            .kind
            .or(known.as_ref().map(|known| known.kind))
            .unwrap_or(SessionKind::Root),
        memory_off: known.as_ref().is_some_and(|known| known.memory_off),
        forked_from: None,
        user: batch.user.clone(),
        surface: None,
        venue: batch.venue.clone(),
    };
    let meta = redact_session(&intake.redactor, meta);
    let mut appended = AppendOutcome {
        added: 0,
        known: 0,
        polluted: false,
        last: known.map_or(EventSeq(0), |known| known.events),
    };
    let outputs = commands_before(&**store, &batch, appended.last).await?;
    let PreparedBatch {
        mut events,
        mut remotes,
        mentioned,
    } = prepare_batch(&intake.redactor, batch, outputs, now);
    if let Some(moved) = MovedSession::load(&**store, &meta.id).await? {
        moved.relocate(&mut events);
    }
    note_mentions(&**store, &meta, &intake.switches, mentioned, now).await?;
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
            rules: intake.redactor.revision(),
            now,
        };
        let part = store.append(&append).await?;
        appended.added += part.added;
        appended.known += part.known;
        appended.polluted |= part.polluted;
        appended.last = part.last;
    }
    Ok(appended)
}

/// A batch's events, ready for the log.
struct PreparedBatch {
    events: Vec<NewEvent>,
    /// Evidence of folders' remotes in them.
    remotes: Vec<RemoteEvidence>,
    /// The memories that they cite.
    mentioned: Vec<EventMention>,
}

/// The commands of the session whose outputs are to come, where one is in the batch that shows a remote.
async fn commands_before(
    store: &dyn Store,
    batch: &AppendBatch,
    upto: EventSeq,
) -> Result<OutputReader, StoreError> {
    let mut outputs = OutputReader::default();
    let shows = |event: &ReportedEvent| {
        event.role == SpeakerRole::Tool && shown_remote(&event.text).is_some()
    };
    if !batch.events.iter().any(shows) {
        return Ok(outputs);
    }
    let after = EventSeq(upto.0.saturating_sub(COMMANDS_BEFORE.into()));
    let limit = COMMANDS_BEFORE as usize;
    for event in store
        .events(&batch.session, after, upto, limit, APPEND_BYTES)
        .await?
    {
        outputs.reread_here(&event);
    }
    Ok(outputs)
}

fn prepare_batch(
    redactor: &Redactor,
    batch: AppendBatch,
    mut outputs: OutputReader,
    now: Timestamp,
) -> PreparedBatch {
    let AppendBatch { place, events, .. } = batch;
    let mut seen: HashMap<EventId, u64> = HashMap::new();
    let (mut remotes, mut mentioned) = (Vec::new(), Vec::new());
    let events = events
        .into_iter()
        .map(|reported| {
            let (id, at) = (reported.id.clone(), reported.at);
            let mut raw = raw_event(reported, place.clone(), now);
            let named: Vec<EventMention> = EventMention::take_from(&mut raw).collect();
            let shown = outputs.read_raw_here(redactor, &raw);
            let (mut event, _) = prepare_event(redactor, raw);
            event.id = match id {
                Some(id) => EventId::of(&[b"id", id.as_bytes()]),
                None => derived_id(&event, at, &mut seen),
            };
            mentioned.extend(named.into_iter().map(|one| one.with_event(event.id)));
            remotes.extend(shown.map(|shown| with_event(shown, event.id)));
            event
        })
        .collect();
    PreparedBatch {
        events,
        remotes,
        mentioned,
    }
}

/// The identity of an event without an id of its program. It is made of the redacted text: a
/// fingerprint of a secret would let the secret be guessed.
fn derived_id(
    event: &NewEvent,
    at: Option<Timestamp>,
    seen: &mut HashMap<EventId, u64>,
) -> EventId {
    let at = at.map(|at| at.0.to_le_bytes());
    let at = at.as_ref().map_or(&[][..], |at| at);
    let tool = event.tool.as_deref().unwrap_or_default();
    let parts = [
        b"told".as_slice(),
        event.origin.as_str().as_bytes(),
        tool.as_bytes(),
        event.text.as_bytes(),
        at,
    ];
    let times = seen.entry(EventId::of(&parts)).or_default();
    *times += 1;
    let mut parts = parts.to_vec();
    let times = times.to_le_bytes();
    parts.push(&times);
    EventId::of(&parts)
}

fn raw_event(reported: ReportedEvent, place: Option<Place>, now: Timestamp) -> RawEvent {
    let (origin, text) = match (reported.role, &reported.tool) {
        (SpeakerRole::User, _) => chat::unwrapped(&reported.text),
        (SpeakerRole::Assistant, Some(_)) => (Origin::ToolCall, Cow::Borrowed(&*reported.text)),
        (SpeakerRole::Assistant, None) => (Origin::Assistant, Cow::Borrowed(&*reported.text)),
        (SpeakerRole::Tool, _) => (Origin::ToolResult, Cow::Borrowed(&*reported.text)),
        (SpeakerRole::System, _) => (Origin::Harness, Cow::Borrowed(&*reported.text)),
    };
    let speaker = origin;
    let (origin, rest) = recalled::strip_event(speaker, &text);
    RawEvent {
        id: EventId(0),
        line: 0,
        origin,
        at: reported.at.unwrap_or(now),
        text: rest.into_owned(),
        tool: reported.tool,
        call: None,
        status: None,
        sidechain: false,
        reports_external: reported.external,
        place,
        via: Via::Message,
        mentions: mentions(speaker, origin, &text),
        retracts: Vec::new(),
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;

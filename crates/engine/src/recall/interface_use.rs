//! Records which events an interface without a transcript (CLI, HTTP, MCP) has shown to an agent or a person.
//!
//! One interface uses each event at most once a day, however often the event is shown.
//!
//! Not here: uses and citations in transcripts, which `ingest` records.

use daybook_domain::limits::USES_AT_ONCE;
use daybook_domain::seams::{SessionCatalog, SessionLog, UseStore};
use daybook_domain::{
    Citation, Event, EventSeq, Origin, SessionId, StoreError, Tenant, Timestamp, Use, UseKind,
    UsedBy,
};

use super::search::RankedAnswer;
use crate::uses::cited_events;
use daybook_text::mentions::mentions;

/// What an interface returned to its caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InterfaceUse {
    /// Answers that rest on these events.
    Answers(Vec<(SessionId, EventSeq)>),
    /// A text that cites events in the form of our element.
    Text(String),
    /// These events, opened with their words.
    Opened(Vec<(SessionId, EventSeq)>),
}

impl InterfaceUse {
    /// The events that answers rest on.
    #[must_use]
    pub fn of_answers(answers: &[RankedAnswer]) -> Self {
        let on = answers.iter().filter_map(|answer| {
            let session = answer.session.as_ref()?;
            Some(answer.events.iter().map(|event| (session.clone(), *event)))
        });
        Self::Answers(on.flatten().collect())
    }

    /// The events of a session whose lines `citation` names. A citation of a whole session names none, and events
    /// that are shown around the cited lines do not count.
    #[must_use]
    pub fn of_words(citation: &str, session: &SessionId, events: &[Event]) -> Self {
        let lines = Citation::parse(citation).map_or_else(Vec::new, |cited| cited.lines);
        let is_named = |event: &&Event| {
            let mut stretches = lines.iter();
            stretches.any(|(from, to)| (*from..=*to).contains(&event.line))
        };
        let named = events.iter().filter(is_named);
        Self::Opened(named.map(|event| (session.clone(), event.seq)).collect())
    }
}

/// Stores the uses of what `interface` returned on `day`: `cli` on `2026-11-22`. The first [`USES_AT_ONCE`] events
/// count.
///
/// # Errors
/// When the store fails. The answer itself does not depend on it.
pub async fn record_interface_use(
    store: &(impl SessionLog + SessionCatalog + UseStore + ?Sized),
    tenant: &Tenant,
    (interface, day): (&str, &str),
    used: &InterfaceUse,
    now: Timestamp,
) -> Result<(), StoreError> {
    let kind = match used {
        InterfaceUse::Answers(_) | InterfaceUse::Text(_) => UseKind::Shown,
        InterfaceUse::Opened(_) => UseKind::Cited,
    };
    let mut events = match used {
        InterfaceUse::Answers(events) | InterfaceUse::Opened(events) => events.clone(),
        InterfaceUse::Text(text) => events_in(store, tenant, text).await?,
    };
    events.sort();
    events.dedup();
    let by = UsedBy::Interface(format!("{interface}/{day}"));
    let uses = events.into_iter().map(|(session, event)| Use {
        session,
        event,
        kind,
        by: by.clone(),
        at: now,
    });
    let uses: Vec<Use> = uses.take(USES_AT_ONCE).collect();
    if !uses.is_empty() {
        store.note_uses(tenant, &uses, now).await?;
    }
    Ok(())
}

/// The events that a text of Daybook cites.
async fn events_in(
    store: &(impl SessionLog + SessionCatalog + ?Sized),
    tenant: &Tenant,
    text: &str,
) -> Result<Vec<(SessionId, EventSeq)>, StoreError> {
    let mut events = Vec::new();
    for mention in mentions(Origin::ToolResult, Origin::Recalled, text) {
        events.extend(cited_events(store, tenant, &mention.citation).await?);
        if events.len() >= USES_AT_ONCE {
            break;
        }
    }
    Ok(events)
}

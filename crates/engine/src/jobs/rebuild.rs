//! Rebuilds the index from the session logs and the observations.
//!
//! The index is disposable: the same questions have the same answers afterwards, and meanwhile: each
//! document is replaced in one transaction, and a document whose source cannot be read stays. The remotes
//! of folders that the log shows are stored beside its events once more: earlier versions did not store
//! them.

use std::collections::HashMap;

use daybook_domain::eligibility::Switches;
use daybook_domain::page::{read_all, read_first};
use daybook_domain::seams::{Append, SessionCatalog, SessionLog};
use daybook_domain::trigger::DueLimits;
use daybook_domain::{
    Event, EventId, EventSeq, RemoteEvidence, Session, SessionId, SessionMeta, StoreError,
};

use super::WorkerContext;
use crate::places::checkout::CommonDirs;
use crate::projects::output_evidence::{OutputLine, OutputReader, with_event};
use daybook_text::indexed_tokens;

/// Most sessions that are indexed; a data folder holds fewer.
const SESSIONS: usize = 10_000_000;
/// Events indexed at once.
const EVENTS: usize = daybook_domain::limits::APPEND_EVENTS;
/// Most bytes of their text.
const BYTES: usize = daybook_domain::limits::APPEND_BYTES;

/// Counts of what was indexed again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RebuildReport {
    /// Events.
    pub events: u64,
    /// Observations.
    pub observations: u64,
    /// Sessions of which some events cannot be read, and why. Their documents are unchanged.
    pub unread: Vec<(SessionId, String)>,
}

/// Indexes all events and observations again, replacing their old documents. If it is interrupted or fails,
/// one part of the index is new and the rest unchanged.
///
/// # Errors
/// When the store fails.
pub async fn rebuild_index(worker: &WorkerContext) -> Result<RebuildReport, StoreError> {
    let mut rebuilt = RebuildReport::default();
    let mut sessions = read_first(SESSIONS, |page| {
        SessionCatalog::sessions(&*worker.store, &worker.tenant, page)
    })
    .await?;
    // Oldest first: the order of arrival decides between equals.
    sessions.sort_by(|a, b| (a.first_at, &a.id).cmp(&(b.first_at, &b.id)));
    for session in sessions {
        match index_session(worker, &session).await {
            Ok(events) => rebuilt.events += events,
            Err(StoreError::Corrupt(why)) => rebuilt.unread.push((session.id, why)),
            Err(error) => return Err(error),
        }
    }
    for state in read_all(|page| worker.store.scopes(&worker.tenant, page)).await? {
        worker.store.index_observations(&state.scope).await?;
        rebuilt.observations += state.observations;
    }
    Ok(rebuilt)
}

async fn index_session(worker: &WorkerContext, session: &Session) -> Result<u64, StoreError> {
    let (id, upto) = (&session.id, session.events);
    let (mut outputs, common_dirs) = (OutputReader::default(), CommonDirs::default());
    let mut after = EventSeq(0);
    let mut indexed = 0;
    loop {
        let events = SessionLog::events(&*worker.store, id, after, upto, EVENTS, BYTES).await?;
        let Some(last) = events.last() else {
            return Ok(indexed);
        };
        after = last.seq;
        let tokens: Vec<(EventSeq, String)> = events
            .iter()
            .map(|event| (event.seq, indexed_tokens(event.origin, &event.text)))
            .filter(|(_, tokens)| !tokens.is_empty())
            .collect();
        indexed += tokens.len() as u64;
        if !tokens.is_empty() {
            worker.store.index_events(id, &tokens).await?;
        }
        let shown = read_remotes(&mut outputs, &common_dirs, &events);
        store_remotes(worker, session, shown).await?;
    }
}

/// The remotes of folders that events of a session show.
fn read_remotes(
    outputs: &mut OutputReader,
    common_dirs: &CommonDirs,
    events: &[Event],
) -> Vec<(EventSeq, RemoteEvidence)> {
    let shown = events.iter().filter_map(|event| {
        let line = OutputLine::of(event);
        let shown = outputs.read(line, &|folder| common_dirs.of(folder))?;
        Some((event.seq, shown))
    });
    shown.collect()
}

/// Stores evidence of a session's events.
async fn store_remotes(
    worker: &WorkerContext,
    session: &Session,
    shown: Vec<(EventSeq, RemoteEvidence)>,
) -> Result<(), StoreError> {
    if shown.is_empty() {
        return Ok(());
    }
    let ids = worker.store.event_ids(&session.id).await?;
    let ids: HashMap<EventSeq, EventId> = ids.into_iter().collect();
    let remotes = shown
        .into_iter()
        .filter_map(|(seq, shown)| Some(with_event(shown, *ids.get(&seq)?)));
    let append = Append {
        session: SessionMeta {
            id: session.id.clone(),
            kind: session.kind,
            memory_off: session.memory_off,
            forked_from: None,
            user: None,
            surface: None,
            venue: daybook_domain::Venue::default(),
        },
        events: Vec::new(),
        remotes: remotes.collect(),
        source: None,
        import: None,
        patience: DueLimits::default(),
        urgent: None,
        switches: Switches::default(),
        rules: worker.redactor.revision(),
        now: worker.clock.now(),
    };
    worker.store.append(&append).await?;
    Ok(())
}

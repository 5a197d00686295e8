//! Making the index anew from the log and what was extracted. The index is disposable: the same
//! questions have the same answers afterwards, and meanwhile: each document is replaced in one
//! transaction, and what cannot be read keeps the document that it has. What the log shows of folders'
//! remotes is stored beside its events once more: versions before kept nothing of it.

use std::collections::HashMap;

use daybook_domain::eligibility::Switches;
use daybook_domain::seams::{Append, SessionStore};
use daybook_domain::trigger::Patience;
use daybook_domain::{
    Event, EventId, EventSeq, RemoteEvidence, Session, SessionId, SessionMeta, StoreError,
};

use super::Workshop;
use crate::ingest::indexed_tokens;
use crate::ingest::settle::shown_by_output;

/// Sessions that are looked at; a root holds fewer.
const SESSIONS: usize = 10_000_000;
/// Events indexed at once.
const EVENTS: usize = daybook_domain::limits::APPEND_EVENTS;
/// Most bytes of their text.
const BYTES: usize = daybook_domain::limits::APPEND_BYTES;

/// What was indexed again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Events.
    pub events: u64,
    /// Observations.
    pub observations: u64,
    /// Sessions of which some events cannot be read, and why. Their documents are as they were.
    pub unread: Vec<(SessionId, String)>,
}

/// Indexes all events and observations again, in place of what the index holds of them. Interrupted, or
/// ended by an error, it leaves an index of which a part is new and the rest as it was.
///
/// # Errors
/// When the store fails.
pub async fn rebuild_index(shop: &Workshop) -> Result<Rebuilt, StoreError> {
    let mut rebuilt = Rebuilt::default();
    let mut sessions = SessionStore::sessions(&*shop.store, &shop.tenant, SESSIONS).await?;
    // Oldest first: the order in which they came in decides between equals.
    sessions.sort_by(|a, b| (a.first_at, &a.id).cmp(&(b.first_at, &b.id)));
    for session in sessions {
        match index_session(shop, &session).await {
            Ok(events) => rebuilt.events += events,
            Err(StoreError::Corrupt(why)) => rebuilt.unread.push((session.id, why)),
            Err(error) => return Err(error),
        }
    }
    for state in shop.store.scopes(&shop.tenant).await? {
        shop.store.index_observations(&state.scope).await?;
        rebuilt.observations += state.observations;
    }
    Ok(rebuilt)
}

async fn index_session(shop: &Workshop, session: &Session) -> Result<u64, StoreError> {
    let (id, upto) = (&session.id, session.events);
    let mut after = EventSeq(0);
    let mut indexed = 0;
    loop {
        let events = SessionStore::events(&*shop.store, id, after, upto, EVENTS, BYTES).await?;
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
            shop.store.index_events(id, &tokens).await?;
        }
        store_remotes(shop, session, &events).await?;
    }
}

/// Stores what events of a session show of folders' remotes beside them.
async fn store_remotes(
    shop: &Workshop,
    session: &Session,
    events: &[Event],
) -> Result<(), StoreError> {
    let shown = events.iter().filter_map(|event| {
        let shown = shown_by_output(event.origin, event.place.as_ref(), &event.text)?;
        Some((event.seq, shown))
    });
    let shown: Vec<(EventSeq, RemoteEvidence)> = shown.collect();
    if shown.is_empty() {
        return Ok(());
    }
    let ids = shop.store.event_ids(&session.id).await?;
    let ids: HashMap<EventSeq, EventId> = ids.into_iter().collect();
    let remotes = shown.into_iter().filter_map(|(seq, shown)| {
        let event = Some(*ids.get(&seq)?);
        Some(RemoteEvidence { event, ..shown })
    });
    let append = Append {
        session: SessionMeta {
            id: session.id.clone(),
            kind: session.kind,
            memory_off: session.memory_off,
            forked_from: None,
            user: None,
            surface: None,
        },
        events: Vec::new(),
        remotes: remotes.collect(),
        source: None,
        import: None,
        patience: Patience::default(),
        urgent: None,
        switches: Switches::default(),
        now: shop.clock.now(),
    };
    shop.store.append(&append).await?;
    Ok(())
}

//! Making the index anew from the log and what was extracted. The index is disposable: the same
//! questions have the same answers afterwards.

use daybook_domain::seams::{Index, SessionStore};
use daybook_domain::{EventSeq, SessionId, StoreError};

use super::Workshop;
use crate::ingest::indexed_tokens;

/// Sessions that are looked at; a root holds fewer.
const SESSIONS: usize = 10_000_000;
/// Events indexed at once.
const EVENTS: usize = daybook_domain::limits::APPEND_EVENTS;
/// Most bytes of their text.
const BYTES: usize = daybook_domain::limits::APPEND_BYTES;

/// What was indexed again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Events.
    pub events: u64,
    /// Observations.
    pub observations: u64,
}

/// Forgets the index and feeds it again. Interrupted, it leaves an index that knows less, and says
/// so by its counts; running it again completes it.
///
/// # Errors
/// When the store fails.
pub async fn rebuild_index(shop: &Workshop) -> Result<Rebuilt, StoreError> {
    let mut rebuilt = Rebuilt::default();
    Index::clear(&*shop.store, &shop.tenant).await?;
    let mut sessions = SessionStore::sessions(&*shop.store, &shop.tenant, SESSIONS).await?;
    // Oldest first: the order in which they came in decides between equals.
    sessions.sort_by(|a, b| (a.first_at, &a.id).cmp(&(b.first_at, &b.id)));
    for session in sessions {
        rebuilt.events += index_session(shop, &session.id, session.events).await?;
    }
    for state in shop.store.scopes(&shop.tenant).await? {
        shop.store.index_observations(&state.scope).await?;
        rebuilt.observations += state.observations;
    }
    Ok(rebuilt)
}

async fn index_session(
    shop: &Workshop,
    session: &SessionId,
    upto: EventSeq,
) -> Result<u64, StoreError> {
    let mut after = EventSeq(0);
    let mut indexed = 0;
    loop {
        let events =
            SessionStore::events(&*shop.store, session, after, upto, EVENTS, BYTES).await?;
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
            shop.store.index_events(session, &tokens).await?;
        }
    }
}

//! Records the memories that a thread's events cite, once the events are stored.
//!
//! Not here: which citations count (`daybook_text::mentions`).

use std::collections::HashMap;

use daybook_domain::eligibility::Switches;
use daybook_domain::seams::{SessionCatalog, SessionLog, UseStore};
use daybook_domain::working::ThreadEvent;
use daybook_domain::{
    EventId, EventSeq, SessionId, SessionKind, SessionMeta, StoreError, Timestamp,
};

use crate::uses::{EventMention, note_mentions};
use daybook_text::mentions::Mention;
use daybook_working::mentions_of;

/// Records the memories that events of a thread cite. Each event comes with its position in the log.
///
/// # Errors
/// When the store fails; the events are stored all the same.
pub async fn note_thread_uses(
    store: &(impl SessionLog + SessionCatalog + UseStore + ?Sized),
    switches: &Switches,
    thread: &SessionId,
    events: impl Iterator<Item = (&ThreadEvent, EventSeq)> + Send,
    now: Timestamp,
) -> Result<(), StoreError> {
    let naming = events.map(|(event, seq)| (mentions_of(event), seq));
    let naming: Vec<(Vec<Mention>, EventSeq)> = naming.filter(|(it, _)| !it.is_empty()).collect();
    if naming.is_empty() {
        return Ok(());
    }
    let ids: HashMap<EventSeq, EventId> = store.event_ids(thread).await?.into_iter().collect();
    let mentioned = naming.into_iter().flat_map(|(mentions, seq)| {
        let id = ids.get(&seq).copied().unwrap_or(EventId(0));
        let named = mentions.into_iter();
        named.map(move |mention| EventMention::new(id, now, mention))
    });
    let meta = SessionMeta {
        id: thread.clone(),
        kind: SessionKind::Root,
        memory_off: false,
        forked_from: None,
        user: None,
        surface: None,
        venue: daybook_domain::Venue::default(),
    };
    note_mentions(store, &meta, switches, mentioned.collect(), now).await?;
    Ok(())
}

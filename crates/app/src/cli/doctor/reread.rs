//! Reading events again from the transcripts that they came from.
//!
//! The transcripts are imported into a memory of their own, which ends with this process: what an event
//! becomes is decided where it always is.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use daybook_domain::eligibility::Switches;
use daybook_domain::limits::{APPEND_BYTES, APPEND_EVENTS};
use daybook_domain::page::read_all;
use daybook_domain::seams::{SessionCatalog, Store};
use daybook_domain::trigger::DueLimits;
use daybook_domain::{Event, EventId, EventSeq, Tenant};
use daybook_engine::append::IngestContext;
use daybook_engine::import::{FileReport, ImportProgress, import, scan};
use daybook_engine::stop::Stop;
use daybook_store::MemoryStore;
use daybook_text::redact::Redactor;

use crate::clock::SystemClock;

struct SilentReread;

impl ImportProgress for SilentReread {
    fn bytes(&self, _: u64) {}
    fn file(&self, _: &FileReport) {}
}

/// The events of those of the transcripts that are still there, by their identity.
pub(super) async fn reread_events(paths: &[String]) -> Result<HashMap<EventId, Event>> {
    let paths: Vec<PathBuf> = paths
        .iter()
        .map(PathBuf::from)
        .filter(|path| path.is_file())
        .collect();
    let mut known = HashMap::new();
    if paths.is_empty() {
        return Ok(known);
    }
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let tenant = Tenant::local();
    let intake = IngestContext {
        teams: Default::default(),
        store: Arc::clone(&store),
        clock: Arc::new(SystemClock),
        tenant: tenant.clone(),
        patience: DueLimits::default(),
        switches: Switches::default(),
        redactor: Arc::new(Redactor::current()),
        readers: 1,
    };
    import(
        &intake,
        "repair",
        scan(&paths),
        &Stop::default(),
        &SilentReread,
    )
    .await?;
    let list = |page| SessionCatalog::sessions(&*store, &tenant, page);
    for session in read_all(list).await? {
        let ids: HashMap<EventSeq, EventId> =
            store.event_ids(&session.id).await?.into_iter().collect();
        let mut after = EventSeq(0);
        loop {
            let events = store
                .events(
                    &session.id,
                    after,
                    session.events,
                    APPEND_EVENTS,
                    APPEND_BYTES,
                )
                .await?;
            let Some(last) = events.last() else { break };
            after = last.seq;
            let named = events
                .into_iter()
                .filter_map(|event| Some((*ids.get(&event.seq)?, event)));
            known.extend(named);
        }
    }
    Ok(known)
}

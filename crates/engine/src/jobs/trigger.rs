//! What happened to a session makes its extraction due, sooner or later.
//!
//! Asks no model and waits for no worker. Safe to repeat.
//!
//! Not here: the table of what is due when. That is `domain::trigger`.

use daybook_domain::eligibility::{Ineligible, eligible};
use daybook_domain::seams::Store;
use daybook_domain::time::Clock;
use daybook_domain::trigger::{Patience, TURN_LIMIT};
use daybook_domain::{
    EventSeq, JobKey, Origin, Priority, SessionId, StoreError, Timestamp, Trigger,
};

use crate::extract::window::{WINDOW_BYTES, WINDOW_EVENTS};

/// What a trigger did.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Triggered {
    /// The session is extracted then at the earliest, with this priority.
    DueAt(Timestamp, Priority),
    /// All that was said has been extracted already.
    NothingNew,
    /// Memory is never made from this session.
    Never(Ineligible),
}

/// Takes note of what happened to `session`.
///
/// # Errors
/// [`StoreError::NotFound`] for a session that nothing was appended to; otherwise the store's.
pub async fn trigger(
    store: &dyn Store,
    clock: &dyn Clock,
    session: &SessionId,
    what: Trigger,
    patience: Patience,
) -> Result<Triggered, StoreError> {
    let Some(known) = store.session(session).await? else {
        return Err(StoreError::NotFound(format!("session {session}")));
    };
    if let Err(why) = eligible(&known) {
        return Ok(Triggered::Never(why));
    }
    let key = JobKey::Extract(session.clone());
    let done = store.job(&key).await?.map_or(0, |job| job.done);
    let turns = match what {
        Trigger::Turn => turns_after(store, session, EventSeq(done), known.events).await?,
        Trigger::Sleep | Trigger::End | Trigger::Compaction | Trigger::Reset => 0,
    };
    let mark = what.mark(known.events.0, turns, clock.now(), patience);
    store.mark(&key, mark).await?;
    let job = store.job(&key).await?;
    Ok(
        match job.and_then(|job| Some((job.due_at()?, job.priority))) {
            Some((due, priority)) => Triggered::DueAt(due, priority),
            None => Triggered::NothingNew,
        },
    )
}

/// Turns of the session that wait, counted no further than past the limit, and in no more events
/// than one window holds.
async fn turns_after(
    store: &dyn Store,
    session: &SessionId,
    done: EventSeq,
    last: EventSeq,
) -> Result<usize, StoreError> {
    let events = store
        .events(session, done, last, WINDOW_EVENTS, WINDOW_BYTES)
        .await?;
    let begins = events
        .iter()
        .filter(|event| event.origin == Origin::Human && !event.sidechain);
    Ok(begins.take(TURN_LIMIT + 1).count())
}

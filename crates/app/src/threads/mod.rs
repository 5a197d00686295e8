//! Operations on threads that the command line and HTTP share.
//!
//! Events and states have Team9's field names; answers about them have Daybook's own.
//!
//! Not here: how threads are stored (the store), and how states follow from events (`working`).

mod answers;
mod context;

use std::time::Duration;

use anyhow::{Error, Result, bail};
use daybook_domain::seams::SessionCatalog;
use daybook_domain::working::{
    BlockingReason, ChunkId, StateId, StateMetadata, ThreadEvent, ThreadState,
};
use daybook_domain::{SessionId, Timestamp};
use daybook_engine::jobs::note_thread_uses;
use daybook_text::redact::Redactor;
use daybook_working::manager::{CreateThread, DispatchReceipt, MemoryManager, WorkingError};
use serde_json::{Map, Value};
use tracing::debug;

pub(crate) use answers::{CreatedThread, EventResult, PastState, ThreadChange, ThreadListing};
pub(crate) use context::{MessageFormat, ThreadContextQuery, context};

use crate::service::RequestError;
use crate::service::append_api::{self, ReportedVenue};
use crate::service::sessions::parse_id;
use crate::terminal::suggest;
use crate::wiring::Daybook;
use crate::wiring::thread_manager::DEFAULT_AGENT;

/// Most threads that a list names.
pub(crate) const LISTED: usize = 1_000;

/// A request for a thread: a new one, a fork, or one of an existing session.
#[derive(Debug, Clone, Default)]
pub(crate) struct ThreadRequest {
    /// Its name, or that of a session that it continues.
    pub(crate) name: Option<String>,
    pub(crate) agent: Option<String>,
    /// The user whose messages it holds; the person of the data folder by default.
    pub(crate) user: Option<String>,
    /// Where it is held.
    pub(crate) held: ReportedVenue,
    /// The thread that it is forked from, and the state to fork.
    pub(crate) from: Option<(String, Option<StateId>)>,
}

impl ThreadRequest {
    /// Whether it leaves everything to the thread that it is forked from.
    fn names_nothing(&self) -> bool {
        self.agent.is_none() && self.user.is_none() && self.held.is_empty()
    }

    fn new_thread(
        &self,
        daybook: &Daybook,
        agent: String,
        host_id: Option<String>,
    ) -> Result<CreateThread> {
        append_api::check_user(&Redactor::current(), self.user.as_deref())?;
        let venue = self
            .held
            .resolve(daybook, &agent, (self.user.as_deref(), None))?;
        Ok(CreateThread {
            agent: Some(agent),
            host_id,
            user: self.user.clone(),
            venue,
            ..CreateThread::default()
        })
    }
}

/// Creates a thread; an existing one is returned unchanged.
pub(crate) async fn create(daybook: &Daybook, request: &ThreadRequest) -> Result<CreatedThread> {
    let manager = daybook.thread_manager()?;
    let made = match (&request.from, &request.name) {
        (Some((from, state)), None) if request.names_nothing() => {
            let from = find(daybook, from).await?;
            manager.fork(&from, state.as_ref()).await
        }
        (Some(_), _) => bail!(RequestError::Invalid(
            "a thread that is made from another one has its agent, user, room and team, and gets a name of its \
             own; leave these out"
                .to_owned()
        )),
        (None, Some(name)) => {
            let id = resolve_or_new_id(daybook, name, request.agent.as_deref()).await?;
            let new = request.new_thread(daybook, id.agent, Some(id.host_id))?;
            manager.create_thread_with(new).await
        }
        (None, None) => {
            let agent = request.agent.as_deref().unwrap_or(DEFAULT_AGENT);
            // The thread's name is generated later; the agent's name is checked here.
            let agent = append_api::session_id(daybook, agent, "new")?.agent;
            let new = request.new_thread(daybook, agent, None)?;
            manager.create_thread_with(new).await
        }
    };
    let (thread, state) = made.map_err(request_error)?;
    Ok(CreatedThread::of(&thread, &state))
}

/// The id of the session of that name, or the id for a new one.
async fn resolve_or_new_id(
    daybook: &Daybook,
    name: &str,
    agent: Option<&str>,
) -> Result<SessionId> {
    if let Some(agent) = agent {
        return append_api::session_id(daybook, agent, name);
    }
    let exact = parse_id(daybook, name);
    if let Some(id) = exact
        && SessionCatalog::session(&*daybook.store, &id)
            .await?
            .is_some()
    {
        return Ok(id);
    }
    let mut found = daybook.store.find_sessions(&daybook.tenant, name).await?;
    found.retain(|session| session.label == name || session.id.host_id == name);
    match found.len() {
        0 => append_api::session_id(daybook, DEFAULT_AGENT, name),
        1 => Ok(found.remove(0).id),
        _ => bail!(ambiguous_name(
            name,
            found.iter().map(|session| &session.id)
        )),
    }
}

/// The thread of that name: its label, the beginning of its id, or `agent:id`.
pub(crate) async fn find(daybook: &Daybook, name: &str) -> Result<SessionId> {
    if let Some(id) = parse_id(daybook, name)
        && SessionCatalog::session(&*daybook.store, &id)
            .await?
            .is_some()
    {
        return Ok(id);
    }
    let mut found = daybook.store.find_sessions(&daybook.tenant, name).await?;
    if found.len() > 1 {
        found.retain(|session| session.label == name || session.id.host_id == name);
    }
    match found.len() {
        1 => Ok(found.remove(0).id),
        0 => bail!(RequestError::NotFound(format!(
            "there is no thread {name}; `{}` lists the threads",
            suggest::command("threads list"),
        ))),
        _ => bail!(ambiguous_name(
            name,
            found.iter().map(|session| &session.id)
        )),
    }
}

fn ambiguous_name<'a>(name: &str, ids: impl Iterator<Item = &'a SessionId>) -> RequestError {
    let ids: Vec<String> = ids.map(ToString::to_string).collect();
    RequestError::Invalid(format!("{name} may be any of {}", ids.join(", ")))
}

/// Parses an event with Team9's field names. Without `timestamp` it happens `now`.
///
/// # Errors
/// The field that is wrong, and the reason.
pub(crate) fn event_from_json(value: Value, now: Timestamp) -> Result<ThreadEvent, String> {
    let Value::Object(mut fields) = value else {
        return Err("an event is a JSON object with a \"type\"".to_owned());
    };
    fields
        .entry("timestamp")
        .or_insert_with(|| Value::from(now.0));
    parse_event(fields)
}

/// A message that may quote an event.
fn without_secrets(message: &str) -> String {
    Redactor::current().redact(message).text.into_owned()
}

fn parse_event(fields: Map<String, Value>) -> Result<ThreadEvent, String> {
    serde_json::from_value(Value::Object(fields))
        .map_err(|error| without_secrets(&error.to_string()))
}

/// Refuses a session that is no thread.
pub(crate) async fn check_exists(manager: &MemoryManager, thread: &SessionId) -> Result<()> {
    match manager.thread(thread).await.map_err(request_error)? {
        Some(_) => Ok(()),
        None => Err(request_error(WorkingError::ThreadNotFound(thread.clone()))),
    }
}

/// Stores events, and returns the result of each. An event that waits for longer than `patience`, or in a paused
/// thread, is reported as waiting.
pub(crate) async fn dispatch(
    daybook: &Daybook,
    manager: &MemoryManager,
    thread: &SessionId,
    events: &[ThreadEvent],
    patience: Duration,
) -> Result<Vec<EventResult>> {
    let receipts = manager.dispatch_within(thread, events, patience).await;
    let receipts = receipts.map_err(request_error)?;
    record_uses(daybook, thread, events, &receipts).await;
    let reason = manager.blocking_reason(thread);
    let reason = reason.unwrap_or(BlockingReason::Compacting);
    let receipts = events.iter().zip(&receipts);
    let receipts = receipts.map(|(event, receipt)| EventResult::of(event, receipt, reason));
    Ok(receipts.collect())
}

/// Stores events without waiting until they are applied.
pub(crate) async fn append(
    daybook: &Daybook,
    manager: &MemoryManager,
    thread: &SessionId,
    events: &[ThreadEvent],
) -> Result<Vec<EventResult>> {
    let receipts = manager
        .dispatch_within(thread, events, Duration::ZERO)
        .await;
    let receipts = receipts.map_err(request_error)?;
    record_uses(daybook, thread, events, &receipts).await;
    let receipts = events.iter().zip(receipts);
    let receipts = receipts.map(|(event, receipt)| EventResult::stored(event, receipt.seq));
    Ok(receipts.collect())
}

/// Records uses of the memories that stored events cite.
async fn record_uses(
    daybook: &Daybook,
    thread: &SessionId,
    events: &[ThreadEvent],
    receipts: &[DispatchReceipt],
) {
    let placed = events
        .iter()
        .zip(receipts.iter().map(|receipt| receipt.seq));
    let (store, now) = (&*daybook.store, daybook.clock.now());
    let recording = note_thread_uses(store, &daybook.settings.switches, thread, placed, now);
    // The events are stored even when this fails.
    if let Err(error) = recording.await {
        debug!(%error, %thread, outcome = "not_noted");
    }
}

/// Compacts these chunks, or all that can be compacted. `None` when it takes longer than `patience`; the compaction
/// continues.
pub(crate) async fn compact(
    manager: &MemoryManager,
    thread: &SessionId,
    chunks: &[ChunkId],
    patience: Duration,
) -> Result<Option<ThreadChange>> {
    let (manager, thread, chunks) = (manager.clone(), thread.clone(), chunks.to_vec());
    // In a task of its own: a caller that stops waiting leaves no thread blocked.
    let work = tokio::spawn(async move {
        let named = (!chunks.is_empty()).then_some(chunks.as_slice());
        manager.trigger_compaction(&thread, named).await
    });
    match tokio::time::timeout(patience, work).await {
        Ok(done) => Ok(Some(ThreadChange::compacted(
            &done?.map_err(request_error)?,
        ))),
        Err(_) => Ok(None),
    }
}

/// A state of a thread: the named one, or the current one.
pub(crate) async fn state(
    daybook: &Daybook,
    thread: &SessionId,
    state: Option<&StateId>,
) -> Result<ThreadState> {
    let manager = daybook.thread_manager()?;
    let found = match state {
        Some(state) => manager.state(thread, state).await,
        None => manager.current_state(thread).await,
    };
    found.map_err(request_error)
}

/// The states that led to a thread's current state, oldest first.
pub(crate) async fn history(daybook: &Daybook, thread: &SessionId) -> Result<Vec<PastState>> {
    let history = daybook.thread_manager()?.state_history(thread).await;
    let history = history.map_err(request_error)?.into_iter();
    Ok(history
        .map(|(id, metadata): (StateId, StateMetadata)| PastState { id, metadata })
        .collect())
}

/// Pauses a thread.
pub(crate) async fn pause(daybook: &Daybook, thread: &SessionId) -> Result<()> {
    daybook
        .thread_manager()?
        .pause(thread)
        .await
        .map_err(request_error)
}

/// Resumes a paused thread; false when it was not paused.
pub(crate) async fn resume(daybook: &Daybook, thread: &SessionId) -> Result<bool> {
    daybook
        .thread_manager()?
        .resume(thread)
        .await
        .map_err(request_error)
}

/// Ends the session of a thread.
pub(crate) async fn end(daybook: &Daybook, thread: &SessionId) -> Result<ThreadChange> {
    let ended = daybook.thread_manager()?.end_session(thread).await;
    Ok(ThreadChange::dispatched(&ended.map_err(request_error)?))
}

/// Deletes a thread, but not its session's log.
pub(crate) async fn delete(daybook: &Daybook, thread: &SessionId) -> Result<()> {
    match daybook.thread_manager()?.delete_thread(thread).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(request_error(WorkingError::ThreadNotFound(thread.clone()))),
        Err(error) => Err(request_error(error)),
    }
}

/// Most threads that a list goes through, over all of its pages.
const WALKED: usize = 10_000;

/// Some threads, and where the list goes on.
pub(crate) struct ThreadPage {
    pub(crate) threads: Vec<ThreadListing>,
    /// The value of `after` for the next page.
    pub(crate) next: Option<String>,
}

/// A page of the tenant's threads, newest activity first: those behind the thread `after`.
pub(crate) async fn page(
    daybook: &Daybook,
    after: Option<&str>,
    limit: usize,
) -> Result<ThreadPage> {
    let all = list(daybook, if after.is_some() { WALKED } else { limit + 1 }).await?;
    let from = match after {
        None => 0,
        Some(after) => match all.iter().position(|one| one.thread == after) {
            Some(place) => place + 1,
            None => {
                return Err(RequestError::NotFound(format!(
                    "there is no thread {after} any more; list from the beginning"
                ))
                .into());
            }
        },
    };
    let is_last = from + limit >= all.len();
    let threads: Vec<ThreadListing> = all.into_iter().skip(from).take(limit).collect();
    let last = threads.last().filter(|_| !is_last);
    let next = last.map(|one| one.thread.clone());
    Ok(ThreadPage { threads, next })
}

/// The tenant's threads, newest activity first.
pub(crate) async fn list(daybook: &Daybook, limit: usize) -> Result<Vec<ThreadListing>> {
    let threads = daybook
        .thread_manager()?
        .threads(limit)
        .await
        .map_err(request_error)?;
    Ok(threads.iter().map(ThreadListing::of).collect())
}

/// Waits for the compactions of this process to end, unless the thread is paused.
pub(crate) async fn settle(manager: &MemoryManager, thread: &SessionId) -> Result<()> {
    match manager.wait_while_compacting(thread).await {
        Ok(_) | Err(WorkingError::ThreadNotFound(_)) => Ok(()),
        Err(error) => Err(request_error(error)),
    }
}

/// Converts an error to the class that tells the client what to do.
fn request_error(error: WorkingError) -> Error {
    match error {
        WorkingError::ThreadNotFound(_)
        | WorkingError::StateNotFound(_)
        | WorkingError::ChunkNotFound(_)
        | WorkingError::Deleted(_) => RequestError::NotFound(error.to_string()).into(),
        WorkingError::Blocked(_)
        | WorkingError::TooManyWaiting { .. }
        | WorkingError::NotCompacted(_) => RequestError::Conflict(error.to_string()).into(),
        WorkingError::Immutable(_) | WorkingError::Reducer { .. } => {
            RequestError::Invalid(error.to_string()).into()
        }
        WorkingError::Store(error) => error.into(),
    }
}

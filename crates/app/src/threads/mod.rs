//! What can be asked of threads, whichever door the question comes in by: the command line or HTTP.
//!
//! Events and states have the seed's names, what is said about them Daybook's own.
//!
//! Not here: how threads are kept (the engine), what they are kept with (`working`).

mod context;
mod shown;

use std::time::Duration;

use anyhow::{Error, Result, bail};
use daybook_domain::seams::SessionStore;
use daybook_domain::working::{
    BlockingReason, ChunkId, State, StateId, StateMetadata, ThreadEvent,
};
use daybook_domain::{SessionId, Timestamp};
use daybook_engine::working::manager::{CreateThread, MemoryManager, WorkingError};
use serde_json::{Map, Value};

pub(crate) use context::{ContextAsked, Manner, context};
pub(crate) use shown::{Applied, Changed, Created, Listed, Past};

use crate::desk::Unfit;
use crate::suggest;
use crate::telling;
use crate::wiring::Daybook;
use crate::working::AGENT;

/// Most threads that a list names.
pub(crate) const LISTED: usize = 1_000;

/// A thread that somebody wants.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// Its name, or that of a session that it shall go on with.
    pub(crate) name: Option<String>,
    pub(crate) agent: Option<String>,
    /// The thread that it is made from, and the state of it.
    pub(crate) from: Option<(String, Option<StateId>)>,
}

/// Makes a thread; one that is there already is given back as it is.
pub(crate) async fn create(daybook: &Daybook, wanted: &Wanted) -> Result<Created> {
    let manager = daybook.manager()?;
    let made = match (&wanted.from, &wanted.name) {
        (Some((from, state)), None) if wanted.agent.is_none() => {
            let from = find(daybook, from).await?;
            manager.fork(&from, state.as_ref()).await
        }
        (Some(_), _) => bail!(Unfit::Request(
            "a thread that is made from another one has its agent, and gets a name of its own; \
             leave name and agent out"
                .to_owned()
        )),
        (None, Some(name)) => {
            let id = named(daybook, name, wanted.agent.as_deref()).await?;
            let new = CreateThread {
                agent: Some(id.agent),
                host_id: Some(id.host_id),
                ..CreateThread::default()
            };
            manager.create_thread_with(new).await
        }
        (None, None) => {
            let agent = wanted.agent.as_deref().unwrap_or(AGENT);
            // Whatever its name will be: the agent's has to make sense.
            let agent = telling::session(daybook, agent, "new")?.agent;
            let new = CreateThread {
                agent: Some(agent),
                ..CreateThread::default()
            };
            manager.create_thread_with(new).await
        }
    };
    let (thread, state) = made.map_err(unfit)?;
    Ok(Created::of(&thread, &state))
}

/// The session of that name, if there is one, else a new one's identity.
async fn named(daybook: &Daybook, name: &str, agent: Option<&str>) -> Result<SessionId> {
    if let Some(agent) = agent {
        return telling::session(daybook, agent, name);
    }
    let exact = spelled(daybook, name);
    if let Some(id) = exact
        && SessionStore::session(&*daybook.store, &id).await?.is_some()
    {
        return Ok(id);
    }
    let mut found = daybook.store.find_sessions(&daybook.tenant, name).await?;
    found.retain(|session| session.label == name || session.id.host_id == name);
    match found.len() {
        0 => telling::session(daybook, AGENT, name),
        1 => Ok(found.remove(0).id),
        _ => bail!(several(name, found.iter().map(|session| &session.id))),
    }
}

/// The thread of that name: its label, the beginning of its id, or `agent:id`.
pub(crate) async fn find(daybook: &Daybook, name: &str) -> Result<SessionId> {
    if let Some(id) = spelled(daybook, name)
        && SessionStore::session(&*daybook.store, &id).await?.is_some()
    {
        return Ok(id);
    }
    let mut found = daybook.store.find_sessions(&daybook.tenant, name).await?;
    if found.len() > 1 {
        found.retain(|session| session.label == name || session.id.host_id == name);
    }
    match found.len() {
        1 => Ok(found.remove(0).id),
        0 => bail!(Unfit::Missing(format!(
            "there is no thread {name}; `{}` names those that there are",
            suggest::command("threads list"),
        ))),
        _ => bail!(several(name, found.iter().map(|session| &session.id))),
    }
}

fn spelled(daybook: &Daybook, name: &str) -> Option<SessionId> {
    let (agent, host_id) = name.split_once(':')?;
    Some(SessionId {
        tenant: daybook.tenant.clone(),
        agent: agent.to_owned(),
        host_id: host_id.to_owned(),
    })
}

fn several<'a>(name: &str, ids: impl Iterator<Item = &'a SessionId>) -> Unfit {
    let ids: Vec<String> = ids.map(ToString::to_string).collect();
    Unfit::Request(format!("{name} may be any of {}", ids.join(", ")))
}

/// An event as a host writes it, with the seed's names. Without `timestamp` it happens `now`.
///
/// # Errors
/// What is wrong with it, and in which field.
pub(crate) fn event(value: Value, now: Timestamp) -> Result<ThreadEvent, String> {
    let Value::Object(mut fields) = value else {
        return Err("an event is a JSON object with a \"type\"".to_owned());
    };
    fields
        .entry("timestamp")
        .or_insert_with(|| Value::from(now.0));
    read(fields)
}

fn read(fields: Map<String, Value>) -> Result<ThreadEvent, String> {
    serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())
}

/// Refuses a session that is no thread.
pub(crate) async fn is_there(manager: &MemoryManager, thread: &SessionId) -> Result<()> {
    match manager.thread(thread).await.map_err(unfit)? {
        Some(_) => Ok(()),
        None => Err(unfit(WorkingError::ThreadNotFound(thread.clone()))),
    }
}

/// Stores events, and says what each came to; of those that wait for longer than `patience`, and of all in
/// a paused thread, that they wait.
pub(crate) async fn dispatch(
    manager: &MemoryManager,
    thread: &SessionId,
    events: &[ThreadEvent],
    patience: Duration,
) -> Result<Vec<Applied>> {
    let told = manager.dispatch_within(thread, events, patience).await;
    let told = told.map_err(unfit)?;
    let reason = manager.blocking_reason(thread);
    let reason = reason.unwrap_or(BlockingReason::Compacting);
    let told = events.iter().zip(&told);
    let told = told.map(|(event, told)| Applied::of(event, told, reason));
    Ok(told.collect())
}

/// Stores events, and waits for nothing.
pub(crate) async fn append(
    manager: &MemoryManager,
    thread: &SessionId,
    events: &[ThreadEvent],
) -> Result<Vec<Applied>> {
    let told = manager
        .dispatch_within(thread, events, Duration::ZERO)
        .await;
    let told = told.map_err(unfit)?;
    let told = events.iter().zip(told);
    let told = told.map(|(event, told)| Applied::stored(event, told.seq));
    Ok(told.collect())
}

/// Compacts these chunks, or all that can be. Nothing when it takes longer than `patience`: it goes on.
pub(crate) async fn compact(
    manager: &MemoryManager,
    thread: &SessionId,
    chunks: &[ChunkId],
    patience: Duration,
) -> Result<Option<Changed>> {
    let (manager, thread, chunks) = (manager.clone(), thread.clone(), chunks.to_vec());
    // On its own: whoever stops waiting leaves no thread blocked.
    let work = tokio::spawn(async move {
        let named = (!chunks.is_empty()).then_some(chunks.as_slice());
        manager.trigger_compaction(&thread, named).await
    });
    match tokio::time::timeout(patience, work).await {
        Ok(done) => Ok(Some(Changed::compacted(&done?.map_err(unfit)?))),
        Err(_) => Ok(None),
    }
}

/// A state of a thread; the present one unless another is named.
pub(crate) async fn state(
    daybook: &Daybook,
    thread: &SessionId,
    state: Option<&StateId>,
) -> Result<State> {
    let manager = daybook.manager()?;
    let found = match state {
        Some(state) => manager.state(thread, state).await,
        None => manager.current_state(thread).await,
    };
    found.map_err(unfit)
}

/// The descent of a thread's state, the first one first.
pub(crate) async fn history(daybook: &Daybook, thread: &SessionId) -> Result<Vec<Past>> {
    let history = daybook.manager()?.state_history(thread).await;
    let history = history.map_err(unfit)?.into_iter();
    Ok(history
        .map(|(id, metadata): (StateId, StateMetadata)| Past { id, metadata })
        .collect())
}

/// Has a thread stand still.
pub(crate) async fn pause(daybook: &Daybook, thread: &SessionId) -> Result<()> {
    daybook.manager()?.pause(thread).await.map_err(unfit)
}

/// Has a paused thread go on; false when it was not paused.
pub(crate) async fn resume(daybook: &Daybook, thread: &SessionId) -> Result<bool> {
    daybook.manager()?.resume(thread).await.map_err(unfit)
}

/// The session is over.
pub(crate) async fn end(daybook: &Daybook, thread: &SessionId) -> Result<Changed> {
    let ended = daybook.manager()?.end_session(thread).await;
    Ok(Changed::dispatched(&ended.map_err(unfit)?))
}

/// Deletes a thread, and not its session's log.
pub(crate) async fn delete(daybook: &Daybook, thread: &SessionId) -> Result<()> {
    match daybook.manager()?.delete_thread(thread).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(unfit(WorkingError::ThreadNotFound(thread.clone()))),
        Err(error) => Err(unfit(error)),
    }
}

/// The tenant's threads, newest activity first.
pub(crate) async fn list(daybook: &Daybook, limit: usize) -> Result<Vec<Listed>> {
    let threads = daybook.manager()?.threads(limit).await.map_err(unfit)?;
    Ok(threads.iter().map(Listed::of).collect())
}

/// Lets the compactions of this process come to their end, unless the thread is paused.
pub(crate) async fn settle(manager: &MemoryManager, thread: &SessionId) -> Result<()> {
    match manager.wait_while_compacting(thread).await {
        Ok(_) | Err(WorkingError::ThreadNotFound(_)) => Ok(()),
        Err(error) => Err(unfit(error)),
    }
}

/// What went wrong, by what its teller can do about it.
fn unfit(error: WorkingError) -> Error {
    match error {
        WorkingError::ThreadNotFound(_)
        | WorkingError::StateNotFound(_)
        | WorkingError::ChunkNotFound(_)
        | WorkingError::Deleted(_) => Unfit::Missing(error.to_string()).into(),
        WorkingError::Blocked(_)
        | WorkingError::TooManyWaiting { .. }
        | WorkingError::NotCompacted(_) => Unfit::Conflict(error.to_string()).into(),
        WorkingError::Immutable(_) | WorkingError::Reducer { .. } => {
            Unfit::Request(error.to_string()).into()
        }
        WorkingError::Store(error) => error.into(),
    }
}

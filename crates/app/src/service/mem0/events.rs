//! What became of conversations that mem0's programs added: mem0 calls each an event.
//!
//! An event is the extraction of the conversation's session; its name is that of the session.
//!
//! Not here: adding a conversation (`adding`).

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use daybook_domain::page::read_all;
use daybook_domain::{Job, JobKey, JobKind, SessionId};
use daybook_engine::jobs::memories::Memory;
use serde::Serialize;

use super::reading::{Wanted, found};
use super::{Mem0Memory, NO_OWNER};
use crate::service::RequestError;
use crate::service::append_api::session_id;
use crate::terminal::output::rfc3339;
use crate::wiring::Daybook;

/// Beginning of the host's id of a session that holds such a conversation.
pub(super) const CONVERSATION: &str = "mem0-";

/// The state of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum EventStatus {
    Pending,
    Running,
    Succeeded,
    Failed,
}

/// An event, in mem0's words.
#[derive(Debug, Serialize)]
pub(crate) struct Mem0Event {
    id: String,
    event_type: &'static str,
    status: EventStatus,
    results: Vec<Learned>,
    error: Option<&'static str>,
    created_at: Option<String>,
    updated_at: Option<String>,
}

/// A memory that was learned from a conversation.
#[derive(Debug, Clone, Serialize)]
struct Learned {
    id: String,
    memory: String,
    event: &'static str,
}

/// What of all conversations is read once for many of them.
struct Extractions {
    jobs: BTreeMap<SessionId, Job>,
    /// Sessions of which a part was given up.
    failed: BTreeSet<SessionId>,
    memories: Vec<(Memory, Mem0Memory)>,
}

/// The name of the event of a session.
pub(super) fn name_of(session: &SessionId) -> String {
    format!("{}:{}", session.agent, session.host_id)
}

/// The event of this name.
///
/// # Errors
/// [`RequestError::NotFound`].
pub(crate) async fn event(daybook: &Daybook, name: &str) -> Result<Mem0Event> {
    let session = match name.split_once(':') {
        Some((agent, id)) => session_id(daybook, agent, id)?,
        None => session_id(daybook, NO_OWNER, name)?,
    };
    let extractions = Extractions::read(daybook).await?;
    match extractions.event(daybook, &session, name).await? {
        Some(event) => Ok(event),
        None => bail!(RequestError::NotFound(format!("there is no event {name}"))),
    }
}

/// A page of the events of conversations that mem0's programs added, newest first, and how many there are.
pub(crate) async fn events(
    daybook: &Daybook,
    (page, size): (usize, usize),
) -> Result<(usize, Vec<Mem0Event>)> {
    let sessions = read_all(|page| daybook.store.sessions(&daybook.tenant, page)).await?;
    let ids = sessions.into_iter().map(|session| session.id);
    let extractions = Extractions::read(daybook).await?;
    let is_event =
        |id: &SessionId| id.host_id.starts_with(CONVERSATION) && extractions.jobs.contains_key(id);
    let ids: Vec<SessionId> = ids.filter(is_event).collect();
    let mut events = Vec::new();
    for id in ids.iter().skip((page - 1).saturating_mul(size)).take(size) {
        events.extend(extractions.event(daybook, id, &name_of(id)).await?);
    }
    Ok((ids.len(), events))
}

impl Extractions {
    async fn read(daybook: &Daybook) -> Result<Self> {
        let session_of = |key: &JobKey| match key {
            JobKey::Extract(session) => Some(session.clone()),
            _ => None,
        };
        let jobs = daybook.jobs(JobKind::Extract).await?.into_iter();
        let jobs = jobs.filter_map(|job| Some((session_of(&job.key)?, job)));
        let gaps = daybook.gaps().await?;
        Ok(Self {
            jobs: jobs.collect(),
            failed: gaps.iter().filter_map(|gap| session_of(&gap.job)).collect(),
            memories: found(daybook, &Wanted::default()).await?,
        })
    }

    /// The event of a session; `None` if it has none.
    async fn event(
        &self,
        daybook: &Daybook,
        session: &SessionId,
        name: &str,
    ) -> Result<Option<Mem0Event>> {
        let Some(job) = self.jobs.get(session) else {
            return Ok(None);
        };
        let status = match (job.is_ahead(), job.lease.is_some()) {
            (false, _) if self.failed.contains(session) => EventStatus::Failed,
            (false, _) => EventStatus::Succeeded,
            (true, true) => EventStatus::Running,
            (true, false) => EventStatus::Pending,
        };
        let learned = self.memories.iter();
        let learned = learned.filter(|(memory, _)| rests_on(memory, session));
        let times = daybook.store.session(session).await?;
        Ok(Some(Mem0Event {
            id: name.to_owned(),
            event_type: "ADD",
            status,
            results: learned.map(|(_, shown)| Learned::of(shown)).collect(),
            error: (status == EventStatus::Failed).then_some("`daybook jobs` says why"),
            created_at: times.as_ref().and_then(|session| rfc3339(session.first_at)),
            updated_at: times.as_ref().and_then(|session| rfc3339(session.last_at)),
        }))
    }
}

impl Learned {
    fn of(memory: &Mem0Memory) -> Self {
        Self {
            id: memory.id.clone(),
            memory: memory.memory.clone(),
            event: "ADD",
        }
    }
}

fn rests_on(memory: &Memory, session: &SessionId) -> bool {
    let evidence = memory.observations.iter().flat_map(|one| &one.evidence);
    evidence
        .into_iter()
        .any(|evidence| evidence.session == *session)
}

//! Sessions as they are listed, and how far each has been learned from.

use anyhow::{Result, bail};
use daybook_domain::eligibility::{Ineligible, Switches, eligible};
use daybook_domain::page::PageRequest;
use daybook_domain::seams::SessionKey;
use daybook_domain::{Job, JobKey, PollutionCause, Reach, Session, SessionId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::RequestError;
use super::caller::reaches_session;
use crate::terminal::output::rfc3339;
use crate::wiring::Daybook;

/// Separates the two parts of a cursor.
const CURSOR: char = '~';

/// Some sessions, and where the list goes on.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionList {
    /// The sessions of this page, newest activity first.
    pub(crate) sessions: Vec<ListedSession>,
    /// The value of `after` for the next page; `null` on the last.
    pub(crate) next: Option<String>,
}

/// One session.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListedSession {
    /// The session, as `agent:id`.
    #[schema(example = "harbour-bot:2026-03-02-tides")]
    id: String,
    /// Its short name in citations.
    #[schema(example = "7f78")]
    label: String,
    /// How many events it has.
    events: u64,
    /// When its first event was, RFC 3339; `null` when unknown.
    #[schema(format = DateTime)]
    first: Option<String>,
    /// When its last event was, RFC 3339; `null` when unknown.
    #[schema(format = DateTime)]
    last: Option<String>,
    /// How many of its events have been learned from.
    extracted: u64,
    /// How far it has been learned from, in words.
    #[schema(example = "extracted")]
    state: String,
    /// Whose words it holds, where that is not the person of the data folder.
    user: Option<String>,
    /// The room that it is held in.
    room_id: Option<String>,
    /// The team that holds it.
    team: Option<String>,
}

impl ListedSession {
    fn of(session: &Session, job: Option<&Job>, switches: &Switches) -> Self {
        Self {
            id: session.id.to_string(),
            label: session.label.clone(),
            events: session.events.0,
            first: rfc3339(session.first_at),
            last: rfc3339(session.last_at),
            extracted: job.map_or(0, |job| job.done),
            state: state(session, job, switches),
            user: session.user.clone(),
            room_id: session.venue.room_id.clone(),
            team: session.venue.team.clone(),
        }
    }
}

/// Lists the sessions that a caller reaches, newest activity first.
pub(crate) async fn list_sessions(
    daybook: &Daybook,
    reach: &Reach,
    after: Option<&str>,
    limit: usize,
) -> Result<SessionList> {
    let (found, next) = page_of_sessions(daybook, reach, after, limit).await?;
    let switches = daybook.switches();
    let sessions = found
        .iter()
        .map(|(session, job)| ListedSession::of(session, job.as_ref(), &switches))
        .collect();
    Ok(SessionList { sessions, next })
}

/// Sessions that a caller reaches, each with the job that learns from it, newest activity first; and where they go on.
pub(crate) async fn page_of_sessions(
    daybook: &Daybook,
    reach: &Reach,
    after: Option<&str>,
    limit: usize,
) -> Result<(Vec<(Session, Option<Job>)>, Option<String>)> {
    let mut after = after
        .map(|cursor| parse_cursor(daybook, cursor))
        .transpose()?;
    let mut found: Vec<Session> = Vec::new();
    while found.len() <= limit {
        let request = PageRequest {
            after: after.clone(),
            limit: limit + 1,
        };
        let page = daybook.store.sessions(&daybook.tenant, request).await?;
        for session in page.items {
            if found.len() <= limit && reaches_session(daybook, reach, &session).await? {
                found.push(session);
            }
        }
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| has_more);
    let next = next.map(|last| format!("{}{CURSOR}{}", last.last_at.0, last.id));
    let mut sessions = Vec::new();
    for session in found {
        let job = JobKey::Extract(session.id.clone());
        let job = daybook.store.job(&job).await?;
        sessions.push((session, job));
    }
    Ok((sessions, next))
}

/// The id that `agent:id` stands for; `None` for a label, or a part of an id.
pub(crate) fn parse_id(daybook: &Daybook, name: &str) -> Option<SessionId> {
    let (agent, host_id) = name.split_once(':')?;
    Some(SessionId {
        tenant: daybook.tenant.clone(),
        agent: agent.to_owned(),
        host_id: host_id.to_owned(),
    })
}

fn parse_cursor(daybook: &Daybook, cursor: &str) -> Result<SessionKey> {
    let parsed = cursor
        .split_once(CURSOR)
        .and_then(|(at, id)| Some((Timestamp(at.parse().ok()?), parse_id(daybook, id)?)));
    match parsed {
        Some(key) => Ok(key),
        None => bail!(RequestError::Invalid(
            "after is not the value of next of a list; begin without it".to_owned()
        )),
    }
}

/// How far a session has been learned from, in a word or two.
pub(crate) fn state(session: &Session, job: Option<&Job>, switches: &Switches) -> String {
    if let Err(why) = eligible(session, switches) {
        return match polluted_by(session).filter(|_| why == Ineligible::Polluted) {
            Some(call) => format!("not extracted: {call}"),
            None => format!("not extracted: {}", why.reason()),
        };
    }
    match job {
        None => "waiting".to_owned(),
        Some(job) if !job.is_ahead() => "extracted".to_owned(),
        Some(job) => match &job.last_failure {
            Some(failure) => format!("waiting after a failure: {}", failure.message),
            None if job.done == 0 => "waiting".to_owned(),
            None => format!("extracted up to {} of {}", job.done, job.input),
        },
    }
}

/// The call that polluted a session, as the end of "left out of memory: …"; `None` for a clean session.
pub(crate) fn polluted_by(session: &Session) -> Option<String> {
    let pollution = session.pollution.as_ref()?;
    let caller = pollution.tool.as_deref().unwrap_or(match pollution.cause {
        PollutionCause::Web => "a web search",
        PollutionCause::ToolSearch => "a search for tools",
        PollutionCause::McpServer => "an MCP server",
        PollutionCause::ExternalOutput => "an output",
    });
    Some(format!(
        "{caller} brought text from outside into it [{}:L{}]",
        session.label, pollution.line
    ))
}

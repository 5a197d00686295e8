//! Appends events to sessions and records triggers, for programs that report their sessions through any interface.
//!
//! Not here: reading transcripts (`import`).

use std::path::Path;

use anyhow::{Result, bail};
use daybook_domain::seams::AppendOutcome;
use daybook_domain::{Place, SessionId, SessionKind, Trigger, Venue};
use daybook_engine::append::batch::{AppendBatch, ReportedEvent, append_batch};
use daybook_engine::jobs::notes_session;
use daybook_engine::places::checkout::checkout;
use daybook_engine::places::folding::fold_root;
use daybook_engine::projects::settle::settle_new_roots;
use daybook_engine::triggers::TriggerOutcome;
use daybook_text::names::redact_place;
use daybook_text::redact::Redactor;

use super::RequestError;
use super::caller::{NamedCaller, check_name, own_scope};
use crate::wiring::Daybook;

/// Longest name of an agent, in bytes.
pub(crate) const MAX_AGENT_BYTES: usize = 64;
/// Longest id of a session, in bytes.
pub(crate) const MAX_SESSION_BYTES: usize = 200;
/// Longest name of a user, in bytes.
pub(crate) const MAX_USER_BYTES: usize = 200;
/// Longest path of a folder, in bytes.
pub(crate) const MAX_FOLDER_BYTES: usize = 4096;
/// Longest name of a branch, in bytes.
pub(crate) const MAX_BRANCH_BYTES: usize = 255;

/// The place of a session, as its program names it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReportedPlace {
    pub(crate) folder: Option<String>,
    /// `None` for the branch that is checked out in the folder.
    pub(crate) branch: Option<String>,
}

/// Events for one session.
pub(crate) struct SessionAppend {
    pub(crate) session: SessionId,
    pub(crate) kind: Option<SessionKind>,
    /// The user whose messages it holds; the person of the data folder by default.
    pub(crate) user: Option<String>,
    pub(crate) at: ReportedPlace,
    pub(crate) held: ReportedVenue,
    pub(crate) events: Vec<ReportedEvent>,
}

/// Where a session is held, as its program names it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReportedVenue {
    pub(crate) room_id: Option<String>,
    pub(crate) thread_id: Option<String>,
    /// A team by its name, its id or its members.
    pub(crate) team: Option<String>,
    /// The scope for what is learned, which the caller takes part in.
    pub(crate) scope: Option<String>,
}

impl ReportedVenue {
    /// Whether nothing is named.
    pub(crate) fn is_empty(&self) -> bool {
        self.room_id.is_none()
            && self.thread_id.is_none()
            && self.team.is_none()
            && self.scope.is_none()
    }

    /// The venue, where `agent` may speak for its team and takes part in the scope. `user` and `project` are those of the
    /// session.
    pub(crate) fn resolve(
        &self,
        daybook: &Daybook,
        agent: &str,
        (user, project): (Option<&str>, Option<String>),
    ) -> Result<Venue> {
        check_name("thread_id", self.thread_id.as_deref())?;
        if self.thread_id.is_some() && self.room_id.is_none() {
            bail!(RequestError::Invalid(
                "thread_id names a thread of a room; give its room_id, too".to_owned()
            ));
        }
        let named = NamedCaller {
            agent: Some(agent.to_owned()),
            user: user.map(str::to_owned),
            room_id: self.room_id.clone(),
            team: self.team.clone(),
            project,
        };
        let caller = named.resolve(&daybook.settings)?;
        let scope = self.scope.as_deref();
        let scope = scope.map(|name| own_scope(&daybook.settings, &caller, name));
        Ok(Venue {
            room_id: self.room_id.clone(),
            thread_id: self.thread_id.clone(),
            team: caller.team,
            filed_in: scope.transpose()?.map(|scope| scope.to_string()),
        })
    }
}

/// Appends to a session, creating it when it is new. Events are on disk when this returns.
pub(crate) async fn append(daybook: &Daybook, append: SessionAppend) -> Result<AppendOutcome> {
    let redactor = Redactor::current();
    let place = resolve_place(&redactor, &append.at)?;
    check_user(&redactor, append.user.as_deref())?;
    let project = match &place {
        Some(place) if append.held.scope.is_some() => {
            assign_project(daybook, place).await?;
            let (store, tenant) = (&*daybook.store, &daybook.tenant);
            store.project_of_root(tenant, &place.root).await?
        }
        _ => None,
    };
    let (agent, user) = (&append.session.agent, append.user.as_deref());
    let venue = append.held.resolve(daybook, agent, (user, project))?;
    let telling = AppendBatch {
        session: append.session,
        kind: append.kind,
        user: append.user,
        place: place.clone(),
        venue,
        events: append.events,
    };
    let appended = append_batch(&daybook.intake(), telling).await?;
    if let Some(place) = place {
        assign_project(daybook, &place).await?;
    }
    Ok(appended)
}

/// A trigger that a program reports of a session.
pub(crate) struct SessionTrigger {
    pub(crate) session: SessionId,
    pub(crate) user: Option<String>,
    pub(crate) trigger: Trigger,
    /// The session that replaces it.
    pub(crate) successor: Option<SessionId>,
}

/// Applies a trigger to the jobs of its session.
pub(crate) async fn apply_trigger(
    daybook: &Daybook,
    reported: SessionTrigger,
) -> Result<TriggerOutcome> {
    let SessionTrigger {
        session,
        user,
        trigger,
        successor,
    } = reported;
    check_user(&Redactor::current(), user.as_deref())?;
    let triggers = daybook.triggers();
    let Some(successor) = successor else {
        return Ok(triggers.handle(&session, user.as_deref(), trigger).await?);
    };
    if !matches!(trigger, Trigger::Compaction | Trigger::Reset) {
        bail!(RequestError::Invalid(format!(
            "{} replaces no session; only compaction and reset have a successor",
            trigger.as_str()
        )));
    }
    Ok(triggers
        .start_successor(&session, successor, trigger)
        .await?)
}

pub(crate) fn check_user(redactor: &Redactor, user: Option<&str>) -> Result<()> {
    let Some(user) = user else { return Ok(()) };
    if user.is_empty() || user.len() > MAX_USER_BYTES || user.contains(char::is_control) {
        bail!(RequestError::Invalid(format!(
            "user is 1 to {MAX_USER_BYTES} bytes without control characters"
        )));
    }
    if redactor.redact(user).text != user {
        bail!(secret_error("user"));
    }
    Ok(())
}

/// Checks the names of an agent and its session, and makes them a session id.
pub(crate) fn session_id(daybook: &Daybook, agent: &str, id: &str) -> Result<SessionId> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if agent.is_empty() || agent.len() > MAX_AGENT_BYTES || !agent.chars().all(plain) {
        bail!(RequestError::Invalid(format!(
            "agent is 1 to {MAX_AGENT_BYTES} letters, digits, dots, dashes and underscores, such as harbour-bot"
        )));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "._~:@+|=#/-".contains(c);
    if id.is_empty() || id.len() > MAX_SESSION_BYTES || !id.chars().all(plain) {
        bail!(RequestError::Invalid(format!(
            "session is 1 to {MAX_SESSION_BYTES} letters, digits and . _ ~ : @ + | = # / -"
        )));
    }
    let redactor = Redactor::current();
    for (field, text) in [("agent", agent), ("session", id)] {
        if !redactor.redact(text).findings.is_empty() {
            bail!(secret_error(field));
        }
    }
    let session = SessionId {
        tenant: daybook.tenant.clone(),
        agent: agent.to_owned(),
        host_id: id.to_owned(),
    };
    if session.agent == notes_session(&daybook.tenant).agent {
        bail!(RequestError::Invalid(format!(
            "the agent {agent} is Daybook itself; choose another name"
        )));
    }
    Ok(session)
}

fn resolve_place(redactor: &Redactor, at: &ReportedPlace) -> Result<Option<Place>> {
    let named = [
        ("folder", &at.folder, MAX_FOLDER_BYTES),
        ("branch", &at.branch, MAX_BRANCH_BYTES),
    ];
    for (field, text, most) in named {
        let Some(text) = text else { continue };
        if text.is_empty() || text.len() > most || text.contains(char::is_control) {
            bail!(RequestError::Invalid(format!(
                "{field} is 1 to {most} bytes without control characters"
            )));
        }
        if redactor.redact(text).text != *text {
            bail!(secret_error(field));
        }
    }
    let Some(folder) = &at.folder else {
        return Ok(None);
    };
    if !Path::new(folder).is_absolute() {
        bail!(RequestError::Invalid(format!(
            "folder {folder} is not a whole path; write for example /home/ada/tidepool"
        )));
    }
    let found = checkout(Path::new(folder));
    let common_dir = |_: &Path| found.as_ref().map(|found| found.common_dir.clone());
    let root = fold_root(folder, at.branch.as_deref(), &common_dir);
    let branch = at
        .branch
        .clone()
        .or_else(|| found.as_ref().and_then(|found| found.branch.clone()));
    Ok(Some(redact_place(redactor, Place { root, branch })))
}

fn secret_error(field: &str) -> RequestError {
    RequestError::Invalid(format!(
        "{field} holds a secret, and it would be kept as it is; leave it out"
    ))
}

/// Assigns a new place to its project, before anything is extracted from its sessions.
async fn assign_project(daybook: &Daybook, place: &Place) -> Result<()> {
    // A root may change its project, but is never without one again.
    if daybook.settled_roots.contains(&daybook.tenant, &place.root) {
        return Ok(());
    }
    let (store, tenant) = (&*daybook.store, &daybook.tenant);
    if store.project_of_root(tenant, &place.root).await?.is_some() {
        daybook.settled_roots.insert(&daybook.tenant, &place.root);
    } else {
        let now = daybook.clock.now();
        settle_new_roots(store, tenant, now).await?;
    }
    Ok(())
}

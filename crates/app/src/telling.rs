//! What agents tell of their sessions while they work, whichever door they tell it at.
//!
//! Not here: reading transcripts; that is `import`.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail};
use daybook_domain::seams::Appended;
use daybook_domain::{Place, SessionId, SessionKind, Tenant, Trigger};
use daybook_engine::ingest::checkout::checkout;
use daybook_engine::ingest::place::fold_root;
use daybook_engine::ingest::redact::Redactor;
use daybook_engine::ingest::settle::settle_new_roots;
use daybook_engine::ingest::told::{Telling, Told, append_told};
use daybook_engine::jobs::notes_session;
use daybook_engine::triggers::Triggered;

use crate::desk::Unfit;
use crate::wiring::Daybook;

/// Longest name of an agent, in bytes.
pub(crate) const AGENT: usize = 64;
/// Longest id of a session, in bytes.
pub(crate) const SESSION: usize = 200;
/// Longest name of a user, in bytes.
pub(crate) const USER: usize = 200;
/// Longest path of a folder, in bytes.
pub(crate) const FOLDER: usize = 4096;
/// Longest name of a branch, in bytes.
pub(crate) const BRANCH: usize = 255;
/// Most roots that are remembered as settled; beyond it they are forgotten, and looked up again.
const SETTLED_ROOTS: usize = 4_096;

/// Where something was said, as its teller names it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Where {
    pub(crate) folder: Option<String>,
    /// The one that is checked out in the folder, unless it is named.
    pub(crate) branch: Option<String>,
}

/// What was said in a session.
pub(crate) struct Said {
    pub(crate) session: SessionId,
    pub(crate) kind: Option<SessionKind>,
    /// Whose words it holds; the person of the data folder unless it is said.
    pub(crate) user: Option<String>,
    pub(crate) at: Where,
    pub(crate) events: Vec<Told>,
}

/// Appends to a session, creating it when it is new. What is acknowledged is on disk.
pub(crate) async fn append(daybook: &Daybook, said: Said) -> Result<Appended> {
    let redactor = Redactor::standard();
    let place = place(&redactor, &said.at)?;
    if redactor.redact(&said.session.host_id).text != said.session.host_id {
        bail!(secret("session"));
    }
    check_user(&redactor, said.user.as_deref())?;
    let telling = Telling {
        session: said.session,
        kind: said.kind,
        user: said.user,
        place: place.clone(),
        events: said.events,
    };
    let appended = append_told(&daybook.intake(), telling).await?;
    if let Some(place) = place {
        settle(daybook, &place).await?;
    }
    Ok(appended)
}

/// What happened to a session.
pub(crate) struct Happened {
    pub(crate) session: SessionId,
    pub(crate) user: Option<String>,
    pub(crate) what: Trigger,
    /// The session that replaces it.
    pub(crate) successor: Option<SessionId>,
}

/// Takes note of what happened to a session.
pub(crate) async fn happened(daybook: &Daybook, happened: Happened) -> Result<Triggered> {
    let Happened {
        session,
        user,
        what,
        successor,
    } = happened;
    check_user(&Redactor::standard(), user.as_deref())?;
    let triggers = daybook.triggers();
    let Some(successor) = successor else {
        return Ok(triggers.happened(&session, user.as_deref(), what).await?);
    };
    if !matches!(what, Trigger::Compaction | Trigger::Reset) {
        bail!(Unfit::Request(format!(
            "{} replaces no session; only compaction and reset have a successor",
            what.word()
        )));
    }
    Ok(triggers.succeed(&session, successor, what).await?)
}

fn check_user(redactor: &Redactor, user: Option<&str>) -> Result<()> {
    let Some(user) = user else { return Ok(()) };
    if user.is_empty() || user.len() > USER || user.contains(char::is_control) {
        bail!(Unfit::Request(format!(
            "user is 1 to {USER} bytes without control characters"
        )));
    }
    if redactor.redact(user).text != user {
        bail!(secret("user"));
    }
    Ok(())
}

/// The session that an agent and its own id name.
pub(crate) fn session(daybook: &Daybook, agent: &str, id: &str) -> Result<SessionId> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if agent.is_empty() || agent.len() > AGENT || !agent.chars().all(plain) {
        bail!(Unfit::Request(format!(
            "agent is 1 to {AGENT} letters, digits, dots, dashes and underscores, such as harbour-bot"
        )));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "._~:@+|=#/-".contains(c);
    if id.is_empty() || id.len() > SESSION || !id.chars().all(plain) {
        bail!(Unfit::Request(format!(
            "session is 1 to {SESSION} letters, digits and . _ ~ : @ + | = # / -"
        )));
    }
    let session = SessionId {
        tenant: daybook.tenant.clone(),
        agent: agent.to_owned(),
        host_id: id.to_owned(),
    };
    if session.agent == notes_session(&daybook.tenant).agent {
        bail!(Unfit::Request(format!(
            "the agent {agent} is Daybook itself; choose another name"
        )));
    }
    Ok(session)
}

fn place(redactor: &Redactor, at: &Where) -> Result<Option<Place>> {
    let named = [
        ("folder", &at.folder, FOLDER),
        ("branch", &at.branch, BRANCH),
    ];
    for (field, text, most) in named {
        let Some(text) = text else { continue };
        if text.is_empty() || text.len() > most || text.contains(char::is_control) {
            bail!(Unfit::Request(format!(
                "{field} is 1 to {most} bytes without control characters"
            )));
        }
        if redactor.redact(text).text != *text {
            bail!(secret(field));
        }
    }
    let Some(folder) = &at.folder else {
        return Ok(None);
    };
    if !Path::new(folder).is_absolute() {
        bail!(Unfit::Request(format!(
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
    Ok(Some(Place { root, branch }))
}

fn secret(field: &str) -> Unfit {
    Unfit::Request(format!(
        "{field} holds a secret, and it would be kept as it is; leave it out"
    ))
}

/// Roots that were seen to belong to a project, so that appends there need not look again.
#[derive(Default)]
pub(crate) struct SettledRoots(Mutex<HashSet<(Tenant, String)>>);

impl SettledRoots {
    fn contains(&self, tenant: &Tenant, root: &str) -> bool {
        let roots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        roots.contains(&(tenant.clone(), root.to_owned()))
    }

    fn insert(&self, tenant: &Tenant, root: &str) {
        let mut roots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if roots.len() >= SETTLED_ROOTS {
            roots.clear();
        }
        roots.insert((tenant.clone(), root.to_owned()));
    }
}

/// A place that is new gets its project before anything is learned from it.
async fn settle(daybook: &Daybook, place: &Place) -> Result<()> {
    // A root may change its project, but is never without one again.
    if daybook.settled.contains(&daybook.tenant, &place.root) {
        return Ok(());
    }
    let places = daybook.store.places(&daybook.tenant).await?;
    let settled = places
        .iter()
        .any(|(known, key)| known.root == place.root && key.is_some());
    if settled {
        daybook.settled.insert(&daybook.tenant, &place.root);
    } else {
        let now = daybook.clock.now();
        settle_new_roots(&*daybook.store, &daybook.tenant, now).await?;
    }
    Ok(())
}

//! Finds the job that a person names.

use anyhow::{Result, bail};
use daybook_domain::eligibility::{Ineligible, eligible};
use daybook_domain::seams::SessionCatalog;
use daybook_domain::{Gap, Job, JobKey, Scope, ScopeKind, SessionId};

use crate::service::sessions::parse_id;
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// The job of this name: a session's label or the beginning of its id, `extract/` before it or not or `redact/` for its
/// rescan, or `consolidate/<kind>/<name>`.
pub(super) async fn job(daybook: &Daybook, name: &str) -> Result<Job> {
    let key = if let Some(scope) = name.strip_prefix("consolidate/") {
        consolidation(daybook, scope)?
    } else if let Some(session) = name.strip_prefix("redact/") {
        JobKey::Redact(session_named(daybook, session).await?)
    } else {
        let session = name.strip_prefix("extract/").unwrap_or(name);
        JobKey::Extract(session_named(daybook, session).await?)
    };
    match daybook.store.job(&key).await? {
        Some(job) => Ok(job),
        None => {
            let why = match key {
                JobKey::Redact(_) => "its texts were redacted by the present rules as they arrived",
                JobKey::Extract(_) | JobKey::Consolidate(_) => {
                    "no event that memory is made from has arrived there"
                }
            };
            bail!("{key} does not exist: {why}")
        }
    }
}

fn consolidation(daybook: &Daybook, scope: &str) -> Result<JobKey> {
    let parsed = scope
        .split_once('/')
        .and_then(|(kind, name)| Some((kind.parse::<ScopeKind>().ok()?, name)));
    let Some((kind, name)) = parsed else {
        bail!("{scope} is not a scope; write for example consolidate/project/tidepool");
    };
    Ok(JobKey::Consolidate(Scope {
        tenant: daybook.tenant.clone(),
        kind,
        name: name.to_owned(),
    }))
}

async fn session_named(daybook: &Daybook, name: &str) -> Result<SessionId> {
    if let Some(id) = parse_id(daybook, name) {
        return Ok(id);
    }
    let found = daybook.store.find_sessions(&daybook.tenant, name).await?;
    match found.as_slice() {
        [one] => Ok(one.id.clone()),
        [] => bail!(
            "there is no session {name}; `{}` and `{}` list them",
            suggest::command("sessions"),
            suggest::command("jobs"),
        ),
        several => {
            let ids: Vec<String> = several
                .iter()
                .map(|session| session.id.to_string())
                .collect();
            bail!("{name} may be any of {}; write more of it", ids.join(", "))
        }
    }
}

/// The gaps of a job.
pub(super) async fn gaps(daybook: &Daybook, key: &JobKey) -> Result<Vec<Gap>> {
    Ok(daybook.store.gaps_of(key).await?)
}

/// Why the job's session is never extracted, if it is not.
pub(super) async fn eligibility(daybook: &Daybook, key: &JobKey) -> Result<Option<Ineligible>> {
    let JobKey::Extract(id) = key else {
        return Ok(None);
    };
    let session = SessionCatalog::session(&*daybook.store, id).await?;
    Ok(session.and_then(|session| eligible(&session, &daybook.switches()).err()))
}

//! The keys that listings are paged by, and where a page begins.

use daybook_domain::seams::{ProjectKey, SessionKey};
use daybook_domain::{Project, Session};
#[cfg(any(feature = "postgres", feature = "sqlite"))]
use daybook_domain::{Scope, ScopeKind, Timestamp};

/// The place of a session in the listing of sessions.
pub(crate) fn key_of_session(session: &Session) -> SessionKey {
    (session.last_at, session.id.clone())
}

/// The place of a project's identity in the listing of projects.
pub(crate) fn key_of_project(project: &Project) -> ProjectKey {
    (project.key.clone(), project.identity.clone())
}

/// The last activity, agent and host id behind which a page of sessions begins.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn place_before_page(after: Option<&SessionKey>) -> (Timestamp, &str, &str) {
    match after {
        Some((last_at, id)) => (*last_at, &id.agent, &id.host_id),
        None => (Timestamp(i64::MAX), "", ""),
    }
}

/// The kinds of scopes in their order from that of `after` on, each with the name behind which a page of scopes
/// begins.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn kinds_behind(after: Option<&Scope>) -> Vec<(ScopeKind, Option<&str>)> {
    let mut kinds = ScopeKind::ALL;
    kinds.sort();
    let behind = kinds.into_iter().filter_map(|kind| match after {
        Some(after) if kind < after.kind => None,
        Some(after) if kind == after.kind => Some((kind, Some(after.name.as_str()))),
        Some(_) | None => Some((kind, None)),
    });
    behind.collect()
}

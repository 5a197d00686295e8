//! The sessions and scopes of a tenant that operations act on.

use daybook_domain::{Scope, SessionId, Tenant};

use crate::fixtures::{project_scope, session, user_scope};

/// The sessions of a tenant.
#[must_use]
pub(crate) fn sessions_of(tenant: &Tenant) -> [SessionId; 3] {
    let mut sessions = ["aaaa-one", "aaaa-two", "bb"].map(session);
    sessions[2].agent = "codex".to_owned();
    sessions.map(|id| SessionId {
        tenant: tenant.clone(),
        ..id
    })
}

/// The scopes of a tenant.
#[must_use]
pub(crate) fn scopes_of(tenant: &Tenant) -> [Scope; 3] {
    [
        project_scope("left"),
        project_scope("right"),
        user_scope("ada"),
    ]
    .map(|scope| Scope {
        tenant: tenant.clone(),
        ..scope
    })
}

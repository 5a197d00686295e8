//! Decides which sessions are accounted for in a scope: those of its person, or those that its room, its team or its
//! agent holds.

use std::collections::BTreeMap;

use daybook_domain::seams::SessionCatalog;
use daybook_domain::{Scope, ScopeKind, SessionId, StoreError};

/// Decides which sessions are accounted for in a scope.
pub(super) struct PersonSessions<'a> {
    store: &'a dyn SessionCatalog,
    /// The person of a session that names no user.
    person: &'a str,
    /// The scope whose sessions are selected.
    scope: &'a Scope,
    known: BTreeMap<SessionId, bool>,
}

impl<'a> PersonSessions<'a> {
    pub(super) fn new(store: &'a dyn SessionCatalog, person: &'a str, scope: &'a Scope) -> Self {
        Self {
            store,
            person,
            scope,
            known: BTreeMap::new(),
        }
    }

    pub(super) async fn contains(&mut self, session: &SessionId) -> Result<bool, StoreError> {
        if let Some(&own) = self.known.get(session) {
            return Ok(own);
        }
        let own = match self.store.session(session).await? {
            Some(session) => session.account_scope(self.person) == *self.scope,
            None => self.scope.kind == ScopeKind::User && self.scope.name == self.person,
        };
        self.known.insert(session.clone(), own);
        Ok(own)
    }
}

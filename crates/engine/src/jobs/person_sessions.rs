//! Decides which sessions belong to the person of a scope.

use std::collections::BTreeMap;

use daybook_domain::seams::SessionCatalog;
use daybook_domain::{Scope, SessionId, StoreError};

/// Decides which sessions belong to the person of a scope.
pub(super) struct PersonSessions<'a> {
    store: &'a dyn SessionCatalog,
    /// The person of a session that names no user.
    person: &'a str,
    /// The person whose sessions are selected.
    whose: &'a str,
    known: BTreeMap<SessionId, bool>,
}

impl<'a> PersonSessions<'a> {
    pub(super) fn new(store: &'a dyn SessionCatalog, person: &'a str, scope: &'a Scope) -> Self {
        Self {
            store,
            person,
            whose: &scope.name,
            known: BTreeMap::new(),
        }
    }

    pub(super) async fn contains(&mut self, session: &SessionId) -> Result<bool, StoreError> {
        if let Some(&own) = self.known.get(session) {
            return Ok(own);
        }
        let user = self
            .store
            .session(session)
            .await?
            .and_then(|session| session.user);
        let own = user.as_deref().unwrap_or(self.person) == self.whose;
        self.known.insert(session.clone(), own);
        Ok(own)
    }
}

//! Which sessions hold the words of the person that a scope belongs to.

use std::collections::BTreeMap;

use daybook_domain::seams::{SessionStore, Store};
use daybook_domain::{Scope, SessionId, StoreError};

/// Which sessions hold the words of the person that a scope belongs to: what one person says never
/// reaches another's memory.
pub(super) struct OwnSessions<'a> {
    store: &'a dyn Store,
    /// Whose words a session holds that names no user.
    person: &'a str,
    /// Whose words are looked for.
    whose: &'a str,
    known: BTreeMap<SessionId, bool>,
}

impl<'a> OwnSessions<'a> {
    pub(super) fn of(store: &'a dyn Store, person: &'a str, scope: &'a Scope) -> Self {
        Self {
            store,
            person,
            whose: &scope.name,
            known: BTreeMap::new(),
        }
    }

    pub(super) async fn has(&mut self, session: &SessionId) -> Result<bool, StoreError> {
        if let Some(&own) = self.known.get(session) {
            return Ok(own);
        }
        let user = SessionStore::session(self.store, session)
            .await?
            .and_then(|session| session.user);
        let own = user.as_deref().unwrap_or(self.person) == self.whose;
        self.known.insert(session.clone(), own);
        Ok(own)
    }
}

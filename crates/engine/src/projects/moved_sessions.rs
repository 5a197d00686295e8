//! Names the folders of sessions that a person moved to another project.
//!
//! A folder belongs to one project, and a moved session to another than its folder. So its events happen in a folder
//! of its own: the folder's path, with the session behind it. The person's decision is stored like that about a
//! project: as an identity, here of the session, whose key is the project's. It stays when the session's file is
//! imported again, when it is extracted anew, and when it goes on in another folder. Evidence of a folder's remote
//! stays evidence of that folder, whichever session shows it.
//!
//! Not here: carrying a decision out (`jobs`).

use daybook_domain::seams::PlaceStore;
use daybook_domain::{NewEvent, Place, SessionId, StoreError};

/// How the identity of a moved session begins. No folder and no remote begins so.
const SESSION: &str = "session ";

/// The identity by which the decision about a session is stored.
#[must_use]
pub fn decision(session: &SessionId) -> String {
    format!("{SESSION}{}/{}", session.agent, session.host_id)
}

/// Whether a project's identity is the decision about a session.
#[must_use]
pub fn is_decision(identity: &str) -> bool {
    identity.starts_with(SESSION)
}

/// The decision that a moved session's folder belongs to, and nothing for any other folder.
#[must_use]
pub fn decision_of_root(root: &str) -> Option<&str> {
    let inner = root.strip_suffix(')')?;
    let at = inner.rfind(" (session ")?;
    Some(&inner[at + 2..])
}

/// The folder that a moved session's folder stands for.
#[must_use]
pub fn folder_of_root(root: &str) -> &str {
    match decision_of_root(root) {
        Some(decision) => &root[..root.len() - decision.len() - 3],
        None => root,
    }
}

/// A session that a person moved to another project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedSession {
    decision: String,
}

impl MovedSession {
    /// Loads the decision about a session; `None` for a session that was not moved.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn load(
        store: &dyn PlaceStore,
        session: &SessionId,
    ) -> Result<Option<Self>, StoreError> {
        let decision = decision(session);
        let project = store.project_of_root(&session.tenant, &decision).await?;
        Ok(project.map(|_| Self { decision }))
    }

    /// The session's own folder in place of `root`. Its own folder gives itself.
    #[must_use]
    pub fn root(&self, root: &str) -> String {
        match decision_of_root(root) {
            Some(decision) if decision == self.decision => root.to_owned(),
            _ => format!("{root} ({})", self.decision),
        }
    }

    /// The session's own place in place of `place`.
    #[must_use]
    pub fn place(&self, place: Place) -> Place {
        Place {
            root: self.root(&place.root),
            ..place
        }
    }

    /// Puts new events of the session in its own folders.
    pub fn relocate(&self, events: &mut [NewEvent]) {
        for event in events {
            event.place = event.place.take().map(|place| self.place(place));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use daybook_domain::Tenant;

    #[test]
    fn a_moved_sessions_folder_names_its_decision_and_its_folder() {
        let session = SessionId {
            tenant: Tenant("local".to_owned()),
            agent: "claude-code".to_owned(),
            host_id: "7f78aa00".to_owned(),
        };
        let moved = MovedSession {
            decision: decision(&session),
        };
        let root = moved.root("/home/ada/reef (old)");
        assert_eq!(root, "/home/ada/reef (old) (session claude-code/7f78aa00)");
        assert_eq!(moved.root(&root), root);
        assert_eq!(
            decision_of_root(&root),
            Some("session claude-code/7f78aa00")
        );
        assert_eq!(folder_of_root(&root), "/home/ada/reef (old)");
        assert_eq!(decision_of_root("/home/ada/reef (old)"), None);
        assert_eq!(
            folder_of_root("/home/ada/reef (old)"),
            "/home/ada/reef (old)"
        );
    }
}

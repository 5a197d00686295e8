//! The entities of the person whose session is extracted: where memory agents read and stage, and how
//! what they staged gets into the person's files.
//!
//! Not here: what may be believed of a write (`extract`), how files are written (`files`).

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::seams::Store;
use daybook_domain::{FailureClass, Scope, ScopeKind, Session, Staged, StoreError, Wait};
use tracing::warn;

use super::filing::person_scope;
use super::{OwnSessions, WorkError, Workshop};
use crate::extract::ExtractError;
use crate::extract::entity_tools::{Shelf, Shelves};
use crate::files::WriterLock;
use crate::files::entities::{FolderShelf, WINDOWS, is_blocked, post_staged};
use crate::files::layout::folder;
use crate::files::stamp::Stamp;
use crate::files::write::WriteOutcome;
use crate::ingest::redact::Redactor;

/// The entities of whoever's session it is, in the memory folders below a root.
pub struct PersonShelves {
    /// Where staged writes wait.
    pub store: Arc<dyn Store>,
    /// The data folder.
    pub root: PathBuf,
    /// Whose words a session holds that names no user.
    pub person: String,
}

#[async_trait]
impl Shelves for PersonShelves {
    async fn open(&self, session: &Session) -> Result<Box<dyn Shelf>, ExtractError> {
        let person = session.user.as_deref().unwrap_or(&self.person);
        let scope = person_scope(&session.id.tenant, person);
        let unreadable = |message: String| ExtractError {
            class: FailureClass::Outage,
            message,
            wait: Wait::Unsaid,
        };
        let waiting = staged_for(&*self.store, &scope, &self.person).await;
        let waiting = waiting.map_err(|error| unreadable(error.to_string()))?;
        let shelf = FolderShelf::open(&folder(&self.root, &scope), &waiting);
        Ok(Box::new(
            shelf.map_err(|error| unreadable(error.to_string()))?,
        ))
    }
}

/// What waits to be written to the entities of a scope. Only people have entities that agents keep.
pub(super) async fn staged_for(
    store: &dyn Store,
    scope: &Scope,
    person: &str,
) -> Result<Vec<Staged>, StoreError> {
    if scope.kind != ScopeKind::User {
        return Ok(Vec::new());
    }
    let mut own = OwnSessions::of(store, person, scope);
    let mut theirs = Vec::new();
    for staged in store.staged(&scope.tenant).await? {
        if own.has(&staged.session).await? {
            theirs.push(staged);
        }
    }
    Ok(theirs)
}

/// Writes what is staged for a scope; its folder is held. What is written, or passed over because
/// somebody has written there since, waits no longer. False when the lease was lost on the way.
pub(super) async fn write_staged(
    shop: &Workshop,
    staged: &[Staged],
    lock: &WriterLock<'_>,
    stamp: &Stamp,
    holds_lease: &(dyn Fn() -> bool + Sync),
) -> Result<bool, WorkError> {
    // What waits for a place that something else has taken goes on waiting.
    let skipped = lock.settle(stamp)?.skipped;
    let (_, free): (Vec<_>, Vec<_>) = staged
        .iter()
        .cloned()
        .partition(|staged| is_blocked(staged, &skipped));
    for some in free.chunks(WINDOWS) {
        let posted = post_staged(lock, stamp, &Redactor::standard(), some, holds_lease)?;
        if posted.passed_over > 0 {
            let passed_over = posted.passed_over;
            warn!(
                passed_over,
                "somebody has written there since it was staged"
            );
        }
        match posted.outcome {
            WriteOutcome::Written(_) | WriteOutcome::Unchanged(_) => {
                shop.store.unstage(some).await?;
            }
            WriteOutcome::LeaseLost => return Ok(false),
        }
    }
    Ok(true)
}

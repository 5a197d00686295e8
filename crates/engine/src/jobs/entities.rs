//! The entities of a session's person, or of the room or the team that holds it: what memory agents read and stage, and
//! writing staged changes to their files.
//!
//! Not here: validating a write (`extract`), writing files (`files`).

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::seams::{SessionCatalog, StagedWrites, Store};
use daybook_domain::{
    FailureClass, RetryWait, Scope, ScopeKind, Session, StagedEntityWrite, StoreError,
};
use tracing::warn;

use super::{PersonSessions, WorkError, WorkerContext};
use crate::extract::ExtractError;
use crate::extract::entity_tools::{EntityRepositories, EntityRepository};
use crate::files::WriterLock;
use crate::files::entities::{
    FolderEntityRepository, WINDOWS_PER_COMMIT, commit_staged, is_blocked,
};
use crate::files::layout::folder;
use crate::files::stamp::CommitStamp;
use crate::files::write::WriteOutcome;
use daybook_text::redact::Redactor;

/// Opens the entities of a session's person, in the memory folders below a root.
pub struct PersonEntityRepositories {
    /// The store of staged writes.
    pub store: Arc<dyn Store>,
    /// The data folder.
    pub root: PathBuf,
    /// The person of a session that names no user.
    pub person: String,
}

#[async_trait]
impl EntityRepositories for PersonEntityRepositories {
    async fn open(&self, session: &Session) -> Result<Box<dyn EntityRepository>, ExtractError> {
        let scope = session.account_scope(&self.person);
        let unreadable = |message: String| ExtractError {
            class: FailureClass::Outage,
            message,
            wait: RetryWait::Unspecified,
        };
        let waiting = staged_for((&*self.store, &*self.store), &scope, &self.person).await;
        let waiting = waiting.map_err(|error| unreadable(error.to_string()))?;
        let repository = FolderEntityRepository::open(&folder(&self.root, &scope), &waiting);
        Ok(Box::new(
            repository.map_err(|error| unreadable(error.to_string()))?,
        ))
    }
}

/// Staged writes to the entities of a scope: of a person, or of those who share a room or a team. Projects have no
/// entities that agents keep.
pub(super) async fn staged_for(
    (staged, sessions): (&dyn StagedWrites, &dyn SessionCatalog),
    scope: &Scope,
    person: &str,
) -> Result<Vec<StagedEntityWrite>, StoreError> {
    if scope.kind == ScopeKind::Project {
        return Ok(Vec::new());
    }
    let mut own = PersonSessions::new(sessions, person, scope);
    let mut theirs = Vec::new();
    for staged in staged.staged(&scope.tenant).await? {
        if own.contains(&staged.session).await? {
            theirs.push(staged);
        }
    }
    Ok(theirs)
}

/// Applies the staged writes of a scope to its locked folder. Writes that are applied, or skipped because
/// their place was edited since, are removed from the store. False when the lease was lost on the way.
pub(super) async fn write_staged(
    worker: &WorkerContext,
    staged: &[StagedEntityWrite],
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    holds_lease: &(dyn Fn() -> bool + Sync),
) -> Result<bool, WorkError> {
    // A write whose path is blocked stays staged.
    let skipped = lock.settle(stamp)?.skipped;
    let (_, free): (Vec<_>, Vec<_>) = staged
        .iter()
        .cloned()
        .partition(|staged| is_blocked(staged, &skipped));
    for some in free.chunks(WINDOWS_PER_COMMIT) {
        let posted = commit_staged(lock, stamp, &Redactor::current(), some, holds_lease)?;
        if posted.passed_over > 0 {
            let passed_over = posted.passed_over;
            warn!(
                passed_over,
                "somebody has written there since it was staged"
            );
        }
        match posted.outcome {
            WriteOutcome::Written(_) | WriteOutcome::Unchanged(_) => {
                worker.store.unstage(some).await?;
            }
            WriteOutcome::LeaseLost => return Ok(false),
        }
    }
    Ok(true)
}

//! Carries out a person's word that something was filed under the wrong project.
//!
//! `split` gives checkouts a project of their own, the opposite of a merge; `move_session` moves one session to
//! another project than its folder's. Both are stored as decisions, which outweigh all evidence: also later imports,
//! a redo and remotes that are shown later. What was learned moves with the checkouts or the session, and the files
//! of both projects are consolidated anew. A person's own lines stay in the file where they stand.
//!
//! Not here: merging and renaming (`projects`), which move a person's lines too.

use std::collections::BTreeSet;

use daybook_domain::rescan::TextField;
use daybook_domain::{Digest, Project, Session};

use super::{WorkError, WorkerContext};
use crate::projects::moved_sessions::{MovedSession, decision};

/// Why checkouts could not be split off.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    /// A path is no checkout of the project.
    #[error("{root} is no checkout of {project}")]
    NoCheckout {
        /// The path.
        root: String,
        /// The project.
        project: String,
    },
    /// No checkout of the project would be left.
    #[error("that is all of {0}: rename it instead")]
    NothingLeft(String),
    /// The store failed.
    #[error(transparent)]
    Work(#[from] WorkError),
}

/// Assigns `roots`, checkouts of `project`, to the new project `into`. May be repeated after an interruption.
///
/// # Errors
/// [`SplitError`]. Nothing changes when a path is no checkout, or nothing would be left.
pub async fn split(
    worker: &WorkerContext,
    project: &str,
    roots: &BTreeSet<String>,
    into: &str,
) -> Result<(), SplitError> {
    let places = worker.store.places(&worker.tenant).await;
    let places = places.map_err(WorkError::from)?;
    let of = |key: &str| -> BTreeSet<&String> {
        let own = places.iter().filter(|(_, of)| of.as_deref() == Some(key));
        own.map(|(place, _)| &place.root).collect()
    };
    let (left, split_before) = (of(project), of(into));
    for root in roots {
        if !left.contains(root) && !split_before.contains(root) {
            return Err(SplitError::NoCheckout {
                root: root.clone(),
                project: project.to_owned(),
            });
        }
    }
    if left.iter().all(|root| roots.contains(*root)) {
        return Err(SplitError::NothingLeft(project.to_owned()));
    }
    for root in roots {
        let own = Project {
            key: into.to_owned(),
            identity: root.clone(),
            guessed: false,
        };
        let now = worker.clock.now();
        let assigned = worker.store.assign_root(&worker.tenant, root, &own, now);
        assigned.await.map_err(WorkError::from)?;
    }
    Ok(())
}

/// Moves a session to `project`. Its events and what was learned from them follow with the session's next rescan,
/// which is raised here. May be repeated.
///
/// # Errors
/// When the store fails; repeating continues.
pub async fn move_session(
    worker: &WorkerContext,
    session: &Session,
    project: &str,
) -> Result<(), WorkError> {
    let identity = decision(&session.id);
    let target = Project {
        key: project.to_owned(),
        identity: identity.clone(),
        guessed: false,
    };
    let now = worker.clock.now();
    // No event happens in a folder of this name: it stores the decision alone.
    worker
        .store
        .assign_root(&session.id.tenant, &identity, &target, now)
        .await?;
    // Before events are there: none of them is filed without a project meanwhile.
    for root in own_roots(worker, session).await? {
        let assigned = worker
            .store
            .assign_root(&session.id.tenant, &root, &target, now);
        assigned.await?;
    }
    let rules = worker.redactor.revision();
    worker.store.raise_rescan(&session.id, rules, now).await?;
    Ok(())
}

/// The session's own folders in place of those that something was learned in.
async fn own_roots(
    worker: &WorkerContext,
    session: &Session,
) -> Result<BTreeSet<String>, WorkError> {
    let Some(moved) = MovedSession::load(&*worker.store, &session.id).await? else {
        return Ok(BTreeSet::new());
    };
    let stored = worker.store.session_texts(&session.id).await?;
    let digests = stored.texts.iter();
    let digests = digests.filter(|(field, _)| *field == TextField::Digest);
    let digests = digests.filter_map(|(_, json)| serde_json::from_str::<Digest>(json).ok());
    let evidence = stored
        .evidence
        .iter()
        .filter_map(|piece| piece.root.clone());
    let roots = digests.filter_map(|digest| digest.root).chain(evidence);
    Ok(roots.map(|root| moved.root(&root)).collect())
}

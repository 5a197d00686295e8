//! Deletes a history in whose place the folder takes over another.
//!
//! Its objects are recorded before the branch moves, and deleted afterwards, like those that a rewrite replaces. Branches
//! and tags that a person made keep what they refer to.

use gix::ObjectId;

use crate::files::atomic;
use crate::files::commit::CommitContext;
use crate::files::error::FilesError;
use crate::files::integrity;

use super::{prune, references};

/// Records what `head` and the reflogs reach as what is to be deleted.
pub(in crate::files) fn record_given_up(
    context: &CommitContext<'_>,
    head: ObjectId,
) -> Result<(), FilesError> {
    let mut roots = vec![head];
    roots.extend(references::logged(context.folder)?);
    let (objects, _) = integrity::reachable_objects(&context.repo, roots);
    prune::record(context.folder, objects.iter())
}

/// Deletes what was recorded and is not referred to any more, and the reflogs of the shared branch.
pub(in crate::files) fn forget_given_up(context: &CommitContext<'_>) -> Result<(), FilesError> {
    let logs = context.folder.git_dir().join("logs");
    let branch = context.branch()?;
    for place in [logs.join("HEAD"), logs.join(branch.file()?)] {
        atomic::remove(&place).map_err(FilesError::io("delete", &place))?;
    }
    prune::finish(context.folder)?;
    Ok(())
}

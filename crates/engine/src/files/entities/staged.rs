//! Writes what memory agents have staged to their person's files, in one commit.
//!
//! Invariants: each write is applied once, also if a worker vanishes before it records the result: the
//! commit names the windows whose writes it holds. A place that differs from what the staged write replaced
//! was edited since, by a person or by another agent, and that edit wins.
//!
//! Not here: where staged writes are stored.

use std::collections::BTreeSet;

use daybook_domain::{EventId, StagedEntityWrite};

use super::change::{Overlay, check_change};
use super::{EntityError, SUBJECT, is_entity_commit, text};
use crate::files::changes::FileChanges;
use crate::files::error::FilesError;
use crate::files::lock::WriterLock;
use crate::files::stamp::CommitStamp;
use crate::files::write::WriteOutcome;
use daybook_text::redact::Redactor;

/// Most windows whose writes go into one commit: their names fit its message.
pub const WINDOWS_PER_COMMIT: usize = 100;
/// Most commits that are searched for windows written before. A worker vanishes between the commit and
/// recording it; only other commits made until the job is claimed again lie in between.
const COMMITS_BACK: usize = 200;
/// Prefix of a commit message's line that names a window.
const WINDOW: &str = "Staged: ";

/// Result of writing staged changes.
#[derive(Debug)]
pub struct StagedReport {
    /// The commit, if one was needed.
    pub outcome: WriteOutcome,
    /// Number of writes that were skipped because their place was edited since.
    pub passed_over: usize,
}

/// Writes the staged changes of at most [`WINDOWS_PER_COMMIT`] windows, in their order.
///
/// # Errors
/// When the memory folder cannot be read or written.
pub fn commit_staged(
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    redactor: &Redactor,
    staged: &[StagedEntityWrite],
    holds_lease: &dyn Fn() -> bool,
) -> Result<StagedReport, FilesError> {
    let posted = committed_windows(lock)?;
    let fresh = staged.iter().take(WINDOWS_PER_COMMIT);
    let fresh: Vec<&StagedEntityWrite> = fresh
        .filter(|staged| !posted.contains(&name(staged)))
        .collect();
    let mut passed_over = 0;
    let outcome = lock.write(stamp, &message(&fresh), holds_lease, |snapshot| {
        let mut overlay = Overlay::over(|path| text(snapshot, path));
        for write in fresh.iter().flat_map(|staged| &staged.writes) {
            // Redaction rules may have improved since it was staged.
            let stands = match check_change(redactor, &write.entity, &write.change) {
                Ok((again, _)) => overlay.apply_staged(&daybook_domain::EntityWrite {
                    over: write.over,
                    ..again
                })?,
                Err(EntityError::Refused(_)) => false,
                Err(EntityError::Files(error)) => return Err(error),
            };
            passed_over += usize::from(!stands);
        }
        let mut changes = FileChanges::none();
        for (path, text) in overlay.into_texts() {
            changes.write(path, text);
        }
        Ok(changes)
    })?;
    Ok(StagedReport {
        outcome,
        passed_over,
    })
}

fn message(staged: &[&StagedEntityWrite]) -> String {
    let mut message = format!("{SUBJECT}post writes of {} windows\n\n", staged.len());
    for one in staged {
        let (from, to) = (one.from.0, one.to.0);
        message.push_str(&format!(
            "{WINDOW}{} {} {from}-{to}\n",
            name(one),
            one.label
        ));
    }
    message
}

/// The name that identifies a window's writes in commit messages.
fn name(staged: &StagedEntityWrite) -> String {
    let which = format!(
        "{} {} {} {:?}",
        staged.session, staged.from.0, staged.to.0, staged.writes
    );
    format!("{:032x}", EventId::of(&[which.as_bytes()]).0)
}

/// Names of the windows that the newest commits hold.
fn committed_windows(lock: &WriterLock<'_>) -> Result<BTreeSet<String>, FilesError> {
    let folder = lock.folder();
    let mut names = BTreeSet::new();
    let mut next: Vec<_> = folder.head()?.into_iter().collect();
    let mut seen: BTreeSet<_> = next.iter().copied().collect();
    for _ in 0..COMMITS_BACK {
        let Some(id) = next.pop() else { break };
        let commit = folder.commit(id)?;
        if is_entity_commit(&commit.subject) {
            let message = folder.message(id)?;
            let lines = message.lines().filter_map(|line| line.strip_prefix(WINDOW));
            names.extend(lines.filter_map(|line| Some(line.split(' ').next()?.to_owned())));
        }
        next.extend(commit.parents.into_iter().filter(|id| seen.insert(*id)));
    }
    Ok(names)
}

#[cfg(test)]
#[path = "staged_tests.rs"]
mod tests;

//! Posting what memory agents have staged to their person's files, in one commit.
//!
//! What holds: each write is made once, also if whoever made it vanished before saying so: the commit
//! names the windows whose writes it holds. What stands otherwise than when a write was staged was
//! written since, by a person or by another agent, and wins.
//!
//! Not here: where staged writes wait.

use std::collections::BTreeSet;

use daybook_domain::{EventId, Staged};

use super::change::{Overlay, checked};
use super::{EntityError, SUBJECT, made_here, text};
use crate::files::changes::Changes;
use crate::files::error::FilesError;
use crate::files::lock::WriterLock;
use crate::files::stamp::Stamp;
use crate::files::write::WriteOutcome;
use crate::ingest::redact::Redactor;

/// Most windows whose writes make one commit: their names fit its message.
pub const WINDOWS: usize = 100;
/// Most commits that are looked at for windows that were posted before. A worker vanishes between the
/// commit and its word for it; only what others commit until the job is taken up again lies in between.
const BACK: usize = 200;
/// How the line of a commit's message begins that names a window.
const WINDOW: &str = "Staged: ";

/// What became of staged writes.
#[derive(Debug)]
pub struct Posted {
    /// The commit, if one was needed.
    pub outcome: WriteOutcome,
    /// Writes that were not made, as somebody has written there since.
    pub passed_over: usize,
}

/// Posts the writes of at most [`WINDOWS`] windows, in their order.
///
/// # Errors
/// What the disk says.
pub fn post_staged(
    lock: &WriterLock<'_>,
    stamp: &Stamp,
    redactor: &Redactor,
    staged: &[Staged],
    holds_lease: &dyn Fn() -> bool,
) -> Result<Posted, FilesError> {
    let posted = posted_before(lock)?;
    let fresh = staged.iter().take(WINDOWS);
    let fresh: Vec<&Staged> = fresh
        .filter(|staged| !posted.contains(&name(staged)))
        .collect();
    let mut passed_over = 0;
    let outcome = lock.write(stamp, &message(&fresh), holds_lease, |snapshot| {
        let mut overlay = Overlay::over(|path| text(snapshot, path));
        for write in fresh.iter().flat_map(|staged| &staged.writes) {
            // Rules may have become better since it was staged.
            let stands = match checked(redactor, &write.entity, &write.change) {
                Ok((again, _)) => overlay.make_staged(&daybook_domain::EntityWrite {
                    over: write.over,
                    ..again
                })?,
                Err(EntityError::Refused(_)) => false,
                Err(EntityError::Files(error)) => return Err(error),
            };
            passed_over += usize::from(!stands);
        }
        let mut changes = Changes::none();
        for (path, text) in overlay.into_texts() {
            changes.write(path, text);
        }
        Ok(changes)
    })?;
    Ok(Posted {
        outcome,
        passed_over,
    })
}

fn message(staged: &[&Staged]) -> String {
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

/// By which a window's writes are known.
fn name(staged: &Staged) -> String {
    let which = format!(
        "{} {} {} {:?}",
        staged.session, staged.from.0, staged.to.0, staged.writes
    );
    format!("{:032x}", EventId::of(&[which.as_bytes()]).0)
}

/// Names of the windows in the newest commits.
fn posted_before(lock: &WriterLock<'_>) -> Result<BTreeSet<String>, FilesError> {
    let folder = lock.folder();
    let mut names = BTreeSet::new();
    let mut next: Vec<_> = folder.head()?.into_iter().collect();
    let mut seen: BTreeSet<_> = next.iter().copied().collect();
    for _ in 0..BACK {
        let Some(id) = next.pop() else { break };
        let commit = folder.commit(id)?;
        if made_here(&commit.subject) {
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

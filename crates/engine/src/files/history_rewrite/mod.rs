//! Takes text out of a folder's history: secrets that the present rules hide, and what a person purged.
//!
//! Commits keep their authors and dates, and their messages where nothing is taken out of them; their trees and parents
//! change, and with them their names. A person's text stays as it was. The steps, each of which may be interrupted and repeated:
//!
//! 1. the rewritten objects are added to the history, where nothing refers to them yet;
//! 2. the names of the replaced objects are recorded;
//! 3. each branch moves from the old to the rewritten commit, by compare-and-set, and the reflogs follow;
//! 4. the replaced objects that nothing refers to any more are deleted, and the record is cleared.
//!
//! Until step 3 the old history is whole, and afterwards the new one is. The next call finishes what was begun.
//!
//! Not here: whose text is whose (`own_secrets`), what was purged (`purged_text`).

mod edit;
mod given_up;
mod mapping;
mod prune;
mod references;

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::RulesRevision;
use daybook_text::redact::Redactor;
use gix::ObjectId;

use super::atomic;
use super::changes::FileChanges;
use super::commit::MAX_ATTEMPTS;
use super::error::FilesError;
use super::folder::Folder;
use super::lock::WriterLock;
use super::objects::StagingPurpose;
use super::own_secrets::{FileOwner, hide_own};
use super::stamp::CommitStamp;
use super::write::WriteOutcome;
use edit::HideSecrets;
pub(super) use edit::{FileEdit, HistoryEdit};
pub(super) use given_up::{forget_given_up, record_given_up};
use mapping::HistoryMap;

/// Name of the private file with the revision of the rules by which the folder was redacted.
const RULES: &str = "rules";
/// Message of the commit that hides secrets in the present files.
const MESSAGE: &str = "Hide secrets by newer rules";

/// What was taken out of a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HistoryRewrite {
    /// Commits that were made anew.
    pub commits: usize,
    /// Objects that were deleted.
    pub deleted: usize,
}

impl Folder {
    /// Whether the files and the history were redacted by these rules.
    ///
    /// # Errors
    /// When the disk cannot be read.
    pub fn is_redacted_by(&self, rules: RulesRevision) -> Result<bool, FilesError> {
        let place = self.private_path(RULES);
        let bytes = atomic::read(&place).map_err(FilesError::io("read", place))?;
        Ok(bytes.is_some_and(|bytes| bytes == rules_text(rules).as_bytes()))
    }

    /// Notes that the files and the history are redacted by these rules.
    ///
    /// # Errors
    /// When the disk cannot be written.
    pub fn note_redacted(&self, rules: RulesRevision) -> Result<(), FilesError> {
        let place = self.private_path(RULES);
        let part = self.private_path("rules.part");
        let written = atomic::write_new(&part, rules_text(rules).as_bytes());
        written
            .and_then(|()| std::fs::rename(&part, &place))
            .map_err(FilesError::io("write", place))
    }
}

fn rules_text(rules: RulesRevision) -> String {
    format!("{:016x}\n", rules.0)
}

impl WriterLock<'_> {
    /// Hides the secrets in the engine's own text: in the files by a commit, then in all earlier commits. Safe to
    /// repeat; a folder of which that was noted is left alone. The caller notes it, once what machines share has
    /// followed.
    ///
    /// # Errors
    /// When the disk fails, or a person's git command is in the way; the next call continues.
    pub fn redact_history(
        &self,
        redactor: &Redactor,
        stamp: &CommitStamp,
    ) -> Result<HistoryRewrite, FilesError> {
        let rules = redactor.revision();
        let mut done = HistoryRewrite::default();
        if self.folder().is_redacted_by(rules)? {
            return Ok(done);
        }
        self.settle(stamp)?;
        done.deleted += prune::finish(self.folder())?;
        self.redact_files(redactor, stamp)?;
        let rewritten = self.rewrite_history(&HideSecrets(redactor), stamp)?;
        done.commits += rewritten.commits;
        done.deleted += rewritten.deleted;
        Ok(done)
    }

    /// Rewrites all that branches, tags and reflogs refer to. Finishes a rewrite that was interrupted first.
    ///
    /// # Errors
    /// When the disk fails, or a person's git command is in the way; the next call continues.
    pub(super) fn rewrite_history(
        &self,
        edit: &dyn HistoryEdit,
        stamp: &CommitStamp,
    ) -> Result<HistoryRewrite, FilesError> {
        let mut done = HistoryRewrite::default();
        done.deleted += prune::finish(self.folder())?;
        for _ in 0..MAX_ATTEMPTS {
            let Some(rewritten) = rewrite_once(self, edit, stamp)? else {
                // A person moved a branch meanwhile: the rewrite begins anew, with their commit.
                continue;
            };
            done.commits += rewritten.commits;
            done.deleted += rewritten.deleted;
            return Ok(done);
        }
        Err(FilesError::PersonAtWork {
            path: self.folder().root().to_owned(),
            doing: "moving the branch again and again",
        })
    }

    /// The files that a person's commits changed, in all of the history.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub(super) fn edited_files(&self, stamp: &CommitStamp) -> Result<BTreeSet<String>, FilesError> {
        let context = self.context(stamp)?;
        let redactor = Redactor::current();
        let edit = HideSecrets(&redactor);
        let mut history = HistoryMap::new(self.folder(), &context.repo, &edit);
        history.edited_files(context.branch()?.commit()?)
    }

    /// Commits the files without the secrets in the engine's own text.
    fn redact_files(&self, redactor: &Redactor, stamp: &CommitStamp) -> Result<(), FilesError> {
        let edited = self.edited_files(stamp)?;
        let always = || true;
        let outcome = self.write(stamp, MESSAGE, &always, |snapshot| {
            let mut changes = FileChanges::none();
            for (path, _) in snapshot.files() {
                let owner = FileOwner::of(path.as_str(), || edited.contains(path.as_str()));
                let Some(bytes) = snapshot.read(path)? else {
                    continue;
                };
                let text = String::from_utf8(bytes).ok();
                let hidden = text.and_then(|text| hide_own(redactor, owner, &text));
                if let Some(hidden) = hidden.filter(|_| snapshot.skipped_at(path).is_none()) {
                    changes.write(path.clone(), hidden);
                }
            }
            Ok(changes)
        })?;
        match outcome {
            WriteOutcome::Written(_) | WriteOutcome::Unchanged(_) | WriteOutcome::LeaseLost => {}
        }
        Ok(())
    }
}

/// Rewrites all that is reachable. `None` if a person moved a branch meanwhile.
fn rewrite_once(
    lock: &WriterLock<'_>,
    edit: &dyn HistoryEdit,
    stamp: &CommitStamp,
) -> Result<Option<HistoryRewrite>, FilesError> {
    let folder = lock.folder();
    let context = lock.context(stamp)?;
    // Also refuses a merge and the like, whose state names commits.
    let branch = context.branch()?;
    let references = references::direct(folder, &context.repo)?;
    let logged = references::logged(folder)?;
    let mut map = HistoryMap::new(folder, &context.repo, edit);
    let head = branch.commit()?;
    map.edited = map.edited_files(head)?;
    let roots = references.values().chain(&logged).chain(&head);
    let roots: Vec<ObjectId> = roots.copied().collect();
    let mut staging = context.staging(StagingPurpose::Now);
    for root in &roots {
        map.map_commit(&mut staging, *root)?;
    }
    let loose = prune::unwanted(folder, &context.repo, &map)?;
    if map.replaced.is_empty() && loose.is_empty() {
        return Ok(Some(HistoryRewrite::default()));
    }
    staging.publish()?;
    prune::record(folder, map.replaced.iter().chain(&loose))?;
    let moves: BTreeMap<_, _> = references
        .iter()
        .map(|(name, from)| (name.clone(), (*from, map.new_name(*from))))
        .filter(|(_, (from, to))| from != to)
        .collect();
    for (name, (from, to)) in &moves {
        if !references::advance(folder, &context.repo, name, (*from, *to))? {
            return Ok(None);
        }
    }
    references::rewrite_logs(folder, edit, |id| map.new_name(id))?;
    Ok(Some(HistoryRewrite {
        commits: map.rewritten_commits(),
        deleted: prune::finish(folder)?,
    }))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

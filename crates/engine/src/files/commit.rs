//! Makes commits: the engine's own, and those of a person's edits.
//!
//! Not here: changing the work tree (`replace_file`), finishing an interrupted write (`recover`).

use std::sync::{Arc, Mutex, PoisonError};

use gix::ObjectId;
use gix::actor::Signature;

use super::error::FilesError;
use super::folder::Folder;
use super::git_index::GitIndex;
use super::objects::{Staging, StagingPurpose};
use super::refs::{AdvanceOutcome, Branch};
use super::scan::{self, WorkTreeScan};
use super::stamp::CommitStamp;
use super::tree::{self, FileChange, Head, TreeFiles};
use super::unwritten_pages;

/// Most attempts when a person moves the branch during a commit.
pub(super) const MAX_ATTEMPTS: usize = 8;
/// Longest commit message, in bytes; the rest is cut off.
const MAX_MESSAGE_BYTES: usize = 16 * 1024;

/// Most trees that a writer keeps: those of the newest commit, of the one before, and of the one after.
const KEPT_TREES: usize = 3;

/// What one call of a writer works with: the folder, its repository, and the author and time of commits.
pub(super) struct CommitContext<'a> {
    pub(super) folder: &'a Folder,
    pub(super) repo: gix::Repository,
    pub(super) stamp: &'a CommitStamp,
    trees: &'a CommitTrees,
}

/// The trees that a writer read last, by commit: a commit's tree never changes.
#[derive(Debug, Default)]
pub(super) struct CommitTrees(Mutex<Vec<(ObjectId, Arc<TreeFiles>)>>);

impl CommitTrees {
    fn get(&self, commit: ObjectId) -> Option<Arc<TreeFiles>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept = kept.iter();
        kept.find(|(id, _)| *id == commit)
            .map(|(_, tree)| Arc::clone(tree))
    }

    fn keep(&self, commit: ObjectId, tree: &Arc<TreeFiles>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(0, (commit, Arc::clone(tree)));
        kept.truncate(KEPT_TREES);
    }
}

/// The result of one scan of the work tree, with all edits in it committed.
#[derive(Debug)]
pub(super) struct SettledTree {
    pub(super) head: Head,
    pub(super) scan: WorkTreeScan,
    pub(super) edits: Option<ObjectId>,
}

impl<'a> CommitContext<'a> {
    pub(super) fn new(
        folder: &'a Folder,
        stamp: &'a CommitStamp,
        trees: &'a CommitTrees,
    ) -> Result<Self, FilesError> {
        Ok(Self {
            folder,
            repo: folder.repository()?,
            stamp,
            trees,
        })
    }

    pub(super) fn branch(&self) -> Result<Branch<'_>, FilesError> {
        Branch::current(self.folder, &self.repo)
    }

    pub(super) fn head(&self) -> Result<Head, FilesError> {
        let commit = self.branch()?.commit()?;
        Ok(Head {
            commit,
            tree: self.tree_of(commit)?,
        })
    }

    pub(super) fn tree_of(&self, commit: Option<ObjectId>) -> Result<Arc<TreeFiles>, FilesError> {
        let Some(id) = commit else {
            return Ok(Arc::default());
        };
        if let Some(known) = self.trees.get(id) {
            return Ok(known);
        }
        let tree = TreeFiles::of_commit(self.folder, &self.repo, commit)?;
        let tree = Arc::new(tree);
        self.trees.keep(id, &tree);
        Ok(tree)
    }

    pub(super) fn staging(&self, purpose: StagingPurpose) -> Staging<'_> {
        Staging::new(self.folder, &self.repo, purpose)
    }

    /// Commits the person's edits since HEAD under the person's name, byte for byte.
    pub(super) fn commit_edits(&self) -> Result<SettledTree, FilesError> {
        for _ in 0..MAX_ATTEMPTS {
            let head = self.head()?;
            unwritten_pages::restore_unblocked(self.folder, &self.repo, &head)?;
            let mut staging = self.staging(StagingPurpose::Now);
            let scan = scan::scan(
                self.folder,
                &GitIndex::read(self.folder),
                &head.tree,
                &mut staging,
            )?;
            unwritten_pages::record_blocked(self.folder, &scan.skipped)?;
            let edits = scan.edits(&head.tree);
            if edits.is_empty() {
                return Ok(SettledTree {
                    head,
                    scan,
                    edits: None,
                });
            }
            let subject = subject_of(&edits);
            if let Some(commit) = self.commit(
                &head,
                staging,
                &edits,
                &self.stamp.person_signature(),
                &subject,
            )? {
                let tree = self.tree_of(Some(commit))?;
                let head = Head {
                    commit: Some(commit),
                    tree,
                };
                return Ok(SettledTree {
                    head,
                    scan,
                    edits: Some(commit),
                });
            }
        }
        Err(self.branch_contended())
    }

    /// Commits `changes` on top of `head` and advances the branch. `None` if the branch has moved
    /// meanwhile. If the changes are already in `head`, no commit is made and `head` is returned.
    pub(super) fn commit(
        &self,
        head: &Head,
        mut staging: Staging<'_>,
        changes: &[FileChange],
        who: &Signature,
        message: &str,
    ) -> Result<Option<ObjectId>, FilesError> {
        let Some(commit) = self.stage_commit(&mut staging, head, changes, who, message)? else {
            return Ok(head.commit);
        };
        staging.publish()?;
        match self.branch()?.advance(head.commit, commit, who, message)? {
            AdvanceOutcome::Done => Ok(Some(commit)),
            AdvanceOutcome::Elsewhere => Ok(None),
        }
    }

    /// Commits the person's message with the files of the newest commit.
    pub(super) fn commit_note(&self, message: &str) -> Result<ObjectId, FilesError> {
        let who = self.stamp.person_signature();
        for _ in 0..MAX_ATTEMPTS {
            let head = self.branch()?.commit()?;
            let mut staging = self.staging(StagingPurpose::Now);
            let tree = tree::build_tree(&self.repo, &mut staging, head, &[])?;
            let parents = head.into_iter().collect();
            let commit = stage_commit_object(&mut staging, tree, parents, &who, message)?;
            staging.publish()?;
            if self.branch()?.advance(head, commit, &who, message)? == AdvanceOutcome::Done {
                return Ok(commit);
            }
        }
        Err(self.branch_contended())
    }

    /// Stages a commit; `None` if its tree would equal that of `head`.
    pub(super) fn stage_commit(
        &self,
        staging: &mut Staging<'_>,
        head: &Head,
        changes: &[FileChange],
        who: &Signature,
        message: &str,
    ) -> Result<Option<ObjectId>, FilesError> {
        let edits: Vec<_> = changes.iter().map(|c| c.as_edit(&head.tree)).collect();
        let tree = tree::build_tree(&self.repo, staging, head.commit, &edits)?;
        if let Some(commit) = head.commit {
            let present = tree::tree_of(&self.repo, commit);
            if present.map_err(FilesError::git("read a commit", self.folder.root()))? == tree {
                return Ok(None);
            }
        }
        let parents = head.commit.into_iter().collect();
        stage_commit_object(staging, tree, parents, who, message).map(Some)
    }

    pub(super) fn branch_contended(&self) -> FilesError {
        FilesError::PersonAtWork {
            path: self.folder.root().to_owned(),
            doing: "moving the branch again and again",
        }
    }
}

/// Stages a commit of a tree.
pub(super) fn stage_commit_object(
    staging: &mut Staging<'_>,
    tree: ObjectId,
    parents: Vec<ObjectId>,
    who: &Signature,
    message: &str,
) -> Result<ObjectId, FilesError> {
    staging.put_object(&gix::objs::Commit {
        tree,
        parents: parents.into(),
        author: who.clone(),
        committer: who.clone(),
        encoding: None,
        message: as_message(message).into(),
        extra_headers: Vec::new(),
    })
}

fn subject_of(edits: &[FileChange]) -> String {
    match edits {
        [
            FileChange {
                path, base: None, ..
            },
        ] => format!("Add {path}"),
        [
            FileChange {
                path, new: None, ..
            },
        ] => format!("Delete {path}"),
        [FileChange { path, .. }] => format!("Edit {path}"),
        edits => format!("Edit {} files", edits.len()),
    }
}

fn as_message(text: &str) -> String {
    let text = text.trim();
    let mut end = text.len().min(MAX_MESSAGE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = text[..end].replace('\0', "");
    if text.is_empty() {
        "Write memory files\n".to_owned()
    } else {
        text + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_never_empty_endless_or_unfinished() {
        assert_eq!(as_message(" \n"), "Write memory files\n");
        assert_eq!(as_message("Keep\n\nwhy\n\n"), "Keep\n\nwhy\n");
        assert_eq!(
            as_message(&"ä".repeat(MAX_MESSAGE_BYTES)).len(),
            MAX_MESSAGE_BYTES + 1
        );
    }
}

//! Making commits: ours, and a person's on their behalf.
//!
//! Not here: touching the work tree (`swap`), finishing what was begun (`recover`).

use gix::ObjectId;
use gix::actor::Signature;

use super::error::FilesError;
use super::folder::Folder;
use super::index::Index;
use super::objects::{StagedFor, Staging};
use super::refs::{Branch, Moved};
use super::scan::{self, Scan};
use super::stamp::Stamp;
use super::tree::{self, Change, TreeFiles};
use super::unwritten;

/// Most times that we start over because a person moved the branch under us.
pub(super) const MAX_ATTEMPTS: usize = 8;
/// Longest commit message, in bytes; the rest is cut off.
const MAX_MESSAGE_BYTES: usize = 16 * 1024;

/// One call of a writer: the folder, and in whose name and when it commits.
pub(super) struct Work<'a> {
    pub(super) folder: &'a Folder,
    pub(super) repo: gix::Repository,
    pub(super) stamp: &'a Stamp,
}

/// The newest commit and what it holds.
#[derive(Debug, Clone, Default)]
pub(super) struct Head {
    pub(super) commit: Option<ObjectId>,
    pub(super) tree: TreeFiles,
}

/// What the work tree held when it was looked at, all edits of it committed.
pub(super) struct Settling {
    pub(super) head: Head,
    pub(super) scan: Scan,
    pub(super) edits: Option<ObjectId>,
}

impl<'a> Work<'a> {
    pub(super) fn new(folder: &'a Folder, stamp: &'a Stamp) -> Result<Self, FilesError> {
        Ok(Self {
            folder,
            repo: folder.repository()?,
            stamp,
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

    pub(super) fn tree_of(&self, commit: Option<ObjectId>) -> Result<TreeFiles, FilesError> {
        TreeFiles::of_commit(self.folder, &self.repo, commit)
    }

    pub(super) fn staging(&self, purpose: StagedFor) -> Staging<'_> {
        Staging::new(self.folder, &self.repo, purpose)
    }

    /// Commits what the person has done since HEAD as theirs, byte for byte.
    pub(super) fn commit_edits(&self) -> Result<Settling, FilesError> {
        for _ in 0..MAX_ATTEMPTS {
            let head = self.head()?;
            unwritten::restore(self.folder, &self.repo, &head)?;
            let mut staging = self.staging(StagedFor::Now);
            let scan = scan::scan(
                self.folder,
                &Index::read(self.folder),
                &head.tree,
                &mut staging,
            )?;
            unwritten::note_blocked(self.folder, &scan.skipped)?;
            let edits = scan.edits(&head.tree);
            if edits.is_empty() {
                return Ok(Settling {
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
                return Ok(Settling {
                    head,
                    scan,
                    edits: Some(commit),
                });
            }
        }
        Err(self.gave_up())
    }

    /// Commits `changes` on top of `head` and moves the branch there. Nothing if the branch has moved
    /// meanwhile. A commit that would change nothing is not made: that is `head` itself.
    pub(super) fn commit(
        &self,
        head: &Head,
        mut staging: Staging<'_>,
        changes: &[Change],
        who: &Signature,
        message: &str,
    ) -> Result<Option<ObjectId>, FilesError> {
        let Some(commit) = self.stage_commit(&mut staging, head, changes, who, message)? else {
            return Ok(head.commit);
        };
        staging.publish()?;
        match self.branch()?.advance(head.commit, commit, who, message)? {
            Moved::Done => Ok(Some(commit)),
            Moved::Elsewhere => Ok(None),
        }
    }

    /// Stages a commit; nothing if it would be like `head`.
    pub(super) fn stage_commit(
        &self,
        staging: &mut Staging<'_>,
        head: &Head,
        changes: &[Change],
        who: &Signature,
        message: &str,
    ) -> Result<Option<ObjectId>, FilesError> {
        let edits: Vec<_> = changes.iter().map(|c| c.as_edit(&head.tree)).collect();
        let tree = tree::build(&self.repo, staging, head.commit, &edits)?;
        if let Some(commit) = head.commit {
            let present = tree::tree_of(&self.repo, commit);
            if present.map_err(FilesError::git("read a commit", self.folder.root()))? == tree {
                return Ok(None);
            }
        }
        let parents = head.commit.into_iter().collect();
        put_commit(staging, tree, parents, who, message).map(Some)
    }

    pub(super) fn gave_up(&self) -> FilesError {
        FilesError::PersonAtWork {
            path: self.folder.root().to_owned(),
            doing: "moving the branch again and again",
        }
    }
}

/// Stages a commit of a tree.
pub(super) fn put_commit(
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

fn subject_of(edits: &[Change]) -> String {
    match edits {
        [
            Change {
                path, base: None, ..
            },
        ] => format!("Add {path}"),
        [
            Change {
                path, new: None, ..
            },
        ] => format!("Delete {path}"),
        [Change { path, .. }] => format!("Edit {path}"),
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

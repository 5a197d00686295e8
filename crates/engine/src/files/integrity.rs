//! Checks whether a folder's history has every object that it refers to.
//!
//! A history is intact when every commit that a branch or a tag reaches can be read, with its parents, its
//! trees and its files, and the content of each object matches its name. The file system can lose objects,
//! and versions of Daybook before this check could leave some on another machine; `git log` fails on the
//! first one.
//!
//! Not here: fetching missing objects (`shared`).

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use gix::ObjectId;
use gix::objs::Kind;
use gix::objs::tree::EntryKind;

use super::error::FilesError;
use super::folder::Folder;
use super::objects;

/// Most broken objects named in a message.
const NAMED: usize = 3;

/// Result of checking a whole history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IntegrityReport {
    /// Objects that were read.
    pub objects: u64,
    /// Objects that the history refers to and that are missing, unreadable or do not match their name.
    pub(super) broken: BTreeSet<ObjectId>,
}

impl IntegrityReport {
    /// Whether nothing is missing or unreadable.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.broken.is_empty()
    }

    /// How many objects are missing or unreadable. Objects reachable only through them are not counted.
    #[must_use]
    pub fn broken(&self) -> usize {
        self.broken.len()
    }
}

impl fmt::Display for IntegrityReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_intact() {
            return write!(f, "{} objects, each readable", self.objects);
        }
        let (count, verb) = match self.broken.len() {
            1 => ("1 object".to_owned(), "is"),
            many => (format!("{many} objects"), "are"),
        };
        let names: Vec<String> = self.broken.iter().take(NAMED).map(short_id).collect();
        let more = match self.broken.len() > NAMED {
            true => ", …",
            false => "",
        };
        write!(
            f,
            "{count} of its history {verb} missing or unreadable: {}{more}",
            names.join(", ")
        )
    }
}

fn short_id(id: &ObjectId) -> String {
    id.to_hex_with_len(12).to_string()
}

impl Folder {
    /// Reads every object that the folder's branches, tags and HEAD reach. The time grows with the history;
    /// ordinary writes never do this.
    ///
    /// # Errors
    /// If the repository or its branches cannot be read. A broken object is a result, not an error.
    pub fn check_history(&self) -> Result<IntegrityReport, FilesError> {
        let repo = self.repository()?;
        let roots = roots(&repo).map_err(FilesError::git("list the branches", self.root()))?;
        Ok(check(&repo, roots))
    }
}

/// The objects that the branches, the tags and HEAD point at.
pub(super) fn roots(repo: &gix::Repository) -> gix::Result<Vec<ObjectId>> {
    let mut roots = Vec::new();
    for reference in repo.references()?.all()? {
        let reference = reference.map_err(gix::Error::from_error)?;
        roots.extend(reference.try_id().map(gix::Id::detach));
    }
    roots.extend(repo.head()?.id().map(gix::Id::detach));
    Ok(roots)
}

/// Checks all objects that `roots` reach.
pub(super) fn check(repo: &gix::Repository, roots: Vec<ObjectId>) -> IntegrityReport {
    let (readable, broken) = reachable_objects(repo, roots);
    IntegrityReport {
        objects: readable.len() as u64,
        broken,
    }
}

/// All objects that `roots` reach: those that can be read, and those that cannot.
pub(super) fn reachable_objects(
    repo: &gix::Repository,
    roots: Vec<ObjectId>,
) -> (HashSet<ObjectId>, BTreeSet<ObjectId>) {
    let (mut readable, mut broken) = (HashSet::new(), BTreeSet::new());
    let mut open = roots;
    while let Some(id) = open.pop() {
        if readable.contains(&id) || broken.contains(&id) {
            continue;
        }
        match references(repo, id) {
            Some(referred) => {
                readable.insert(id);
                open.extend(referred);
            }
            None => {
                broken.insert(id);
            }
        }
    }
    (readable, broken)
}

/// The objects that an object refers to; `None` if it is broken.
fn references(repo: &gix::Repository, id: ObjectId) -> Option<Vec<ObjectId>> {
    // The repository pretends to have the empty tree; git does not.
    if !objects::has_object(repo, id) {
        return None;
    }
    let object = repo.find_object(id).ok()?;
    let name = gix::objs::compute_hash(gix::hash::Kind::Sha1, object.kind, &object.data);
    if name.ok()? != id {
        return None;
    }
    match object.kind {
        Kind::Blob => Some(Vec::new()),
        Kind::Tag => Some(vec![object.try_into_tag().ok()?.target_id().ok()?.detach()]),
        Kind::Commit => {
            let commit = object.try_into_commit().ok()?;
            let mut referred: Vec<ObjectId> = commit.parent_ids().map(gix::Id::detach).collect();
            referred.push(commit.tree_id().ok()?.detach());
            Some(referred)
        }
        Kind::Tree => {
            let tree = object.try_into_tree().ok()?;
            let mut referred = Vec::new();
            for entry in tree.iter() {
                let entry = entry.ok()?;
                match entry.kind() {
                    EntryKind::Tree
                    | EntryKind::Blob
                    | EntryKind::BlobExecutable
                    | EntryKind::Link => referred.push(entry.object_id()),
                    // A repository of its own inside the folder: its commits are elsewhere.
                    EntryKind::Commit => {}
                }
            }
            Some(referred)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::files::folder_test_support::TestFolder;

    fn memory() -> TestFolder {
        let memory = TestFolder::new();
        let _ = memory.write(&[("MEMORY.md", Some("one\n")), ("daily/1.md", Some("day\n"))]);
        let _ = memory.write(&[("MEMORY.md", Some("two\n"))]);
        memory
    }

    #[test]
    fn a_history_without_a_commit_is_whole() {
        assert!(
            TestFolder::new()
                .folder
                .check_history()
                .unwrap()
                .is_intact()
        );
    }

    #[test]
    fn every_object_that_is_lost_or_changed_is_noticed() {
        let whole = memory();
        let found = whole.folder.check_history().unwrap();
        assert!(found.is_intact() && found.objects == 8, "{found}");
        for id in whole.loose_objects() {
            let lost = whole.copied();
            fs::remove_file(lost.object(&id)).unwrap();
            let found = lost.folder.check_history().unwrap();
            assert_eq!(found.broken(), 1, "{found}");
            assert!(found.to_string().contains(&id[..12]), "{found}");

            let changed = whole.copied();
            changed.flip_byte(&id);
            let found = changed.folder.check_history().unwrap();
            assert_eq!(found.broken(), 1, "{found}");
        }
    }
}

//! Objects on their way between a folder and the store.

use std::collections::{BTreeSet, HashSet};

use daybook_domain::{ObjectKind, ObjectName, TreeObject};
use gix::ObjectId;
use gix::objs::Kind;
use gix::objs::tree::EntryKind;

use crate::files::commit::Work;
use crate::files::error::FilesError;
use crate::files::objects::{self, StagedFor};

pub(super) fn name_of(id: ObjectId) -> ObjectName {
    let mut name = ObjectName([0; 20]);
    name.0.copy_from_slice(id.as_slice());
    name
}

pub(super) fn id_of(name: ObjectName) -> ObjectId {
    ObjectId::from(name.0)
}

/// Makes objects part of the folder's history; those that are `broken` there are replaced. One that is
/// not what its name says is refused.
pub(super) fn take_in(
    work: &Work<'_>,
    objects: &[TreeObject],
    broken: &BTreeSet<ObjectId>,
) -> Result<(), FilesError> {
    let mut staging = work.staging(StagedFor::Now);
    for object in objects {
        let kind = kind_of(object.kind);
        let id = match broken.contains(&id_of(object.name)) {
            true => staging.put_anew(kind, &object.bytes)?,
            false => staging.put(kind, &object.bytes)?,
        };
        if id != id_of(object.name) {
            return Err(FilesError::Git {
                doing: "read the shared history",
                path: work.folder.root().to_owned(),
                source: format!("object {} is named {id} by git", object.name).into(),
            });
        }
    }
    staging.publish()
}

/// Whether everything that `new` has and `whole` has not is in the folder's history, given that the
/// history of `whole` is. Does not look at older commits.
pub(super) fn is_whole_since(work: &Work<'_>, whole: Option<ObjectId>, new: ObjectId) -> bool {
    // Whatever keeps the history from being read is found, and named, by comparing all of it.
    let has = |id: &ObjectId| objects::is_known(&work.repo, *id);
    unshared(work, whole, new).is_ok_and(|names| names.iter().all(has))
}

/// The names of what `new` has and `shared` has not, each object before those that name it.
pub(super) fn unshared(
    work: &Work<'_>,
    shared: Option<ObjectId>,
    new: ObjectId,
) -> Result<Vec<ObjectId>, FilesError> {
    let mut found = Found {
        repo: &work.repo,
        seen: HashSet::new(),
        objects: Vec::new(),
    };
    found
        .all(shared, new)
        .map_err(FilesError::git("read the history", work.folder.root()))?;
    Ok(found.objects)
}

/// An object as the store keeps it.
pub(super) fn read(work: &Work<'_>, id: ObjectId) -> Result<TreeObject, FilesError> {
    let object = work
        .repo
        .find_object(id)
        .map_err(FilesError::git("read the history", work.folder.root()))?;
    let kind = match object.kind {
        Kind::Blob => ObjectKind::Blob,
        Kind::Tree => ObjectKind::Tree,
        Kind::Commit | Kind::Tag => ObjectKind::Commit,
    };
    Ok(TreeObject {
        name: name_of(id),
        kind,
        bytes: object.detach().data,
    })
}

fn kind_of(kind: ObjectKind) -> Kind {
    match kind {
        ObjectKind::Blob => Kind::Blob,
        ObjectKind::Tree => Kind::Tree,
        ObjectKind::Commit => Kind::Commit,
    }
}

struct Found<'a> {
    repo: &'a gix::Repository,
    seen: HashSet<ObjectId>,
    objects: Vec<ObjectId>,
}

impl Found<'_> {
    fn all(&mut self, shared: Option<ObjectId>, new: ObjectId) -> gix::Result<()> {
        if let Some(shared) = shared {
            let tree = self.repo.find_commit(shared)?.tree_id()?.detach();
            self.tree(tree)?;
            self.objects.clear();
        }
        let walk = self.repo.rev_walk([new]).with_hidden(shared);
        let mut commits = Vec::new();
        for commit in walk.all()? {
            commits.push(commit?.id);
        }
        for commit in commits.into_iter().rev() {
            let tree = self.repo.find_commit(commit)?.tree_id()?.detach();
            self.tree(tree)?;
            self.objects.push(commit);
        }
        Ok(())
    }

    fn tree(&mut self, tree: ObjectId) -> gix::Result<()> {
        if !self.seen.insert(tree) {
            return Ok(());
        }
        for entry in self.repo.find_tree(tree)?.iter() {
            let entry = entry?;
            let id = entry.object_id();
            match entry.kind() {
                EntryKind::Tree => self.tree(id)?,
                EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Link => {
                    if self.seen.insert(id) {
                        self.objects.push(id);
                    }
                }
                // A repository of its own inside the folder: not ours to carry.
                EntryKind::Commit => {}
            }
        }
        self.objects.push(tree);
        Ok(())
    }
}

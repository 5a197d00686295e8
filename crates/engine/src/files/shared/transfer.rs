//! Reads and imports objects that are transferred between a folder and the store.

use std::collections::{BTreeSet, HashSet};

use daybook_domain::{ObjectKind, ObjectName, TreeObject};
use gix::ObjectId;
use gix::objs::Kind;
use gix::objs::tree::EntryKind;

use crate::files::commit::CommitContext;
use crate::files::error::FilesError;
use crate::files::objects::{self, StagingPurpose};

pub(super) fn name_of(id: ObjectId) -> ObjectName {
    let mut name = ObjectName([0; 20]);
    name.0.copy_from_slice(id.as_slice());
    name
}

pub(super) fn id_of(name: ObjectName) -> ObjectId {
    ObjectId::from(name.0)
}

/// Adds objects to the folder's history; those that are `broken` there are replaced. An object whose
/// content does not match its name is refused.
pub(super) fn import_objects(
    context: &CommitContext<'_>,
    objects: &[TreeObject],
    broken: &BTreeSet<ObjectId>,
) -> Result<(), FilesError> {
    let mut staging = context.staging(StagingPurpose::Now);
    for object in objects {
        let kind = kind_of(object.kind);
        let id = match broken.contains(&id_of(object.name)) {
            true => staging.put_replacing(kind, &object.bytes)?,
            false => staging.put(kind, &object.bytes)?,
        };
        if id != id_of(object.name) {
            return Err(FilesError::Git {
                doing: "read the shared history",
                path: context.folder.root().to_owned(),
                source: format!("object {} is named {id} by git", object.name).into(),
            });
        }
    }
    staging.publish()
}

/// Whether the folder has every object that `new` has and `whole` has not, given that the history of
/// `whole` is complete. Does not check older commits.
pub(super) fn is_complete_since(
    context: &CommitContext<'_>,
    whole: Option<ObjectId>,
    new: ObjectId,
) -> bool {
    // An unreadable history is found, and reported, by the comparison of all of it.
    let has = |id: &ObjectId| objects::has_object(&context.repo, *id);
    unshared_objects(context, whole, new).is_ok_and(|names| names.iter().all(has))
}

/// The names of the objects that `new` has and `shared` has not, each object before those that refer to it.
pub(super) fn unshared_objects(
    context: &CommitContext<'_>,
    shared: Option<ObjectId>,
    new: ObjectId,
) -> Result<Vec<ObjectId>, FilesError> {
    let mut found = UnsharedWalk {
        repo: &context.repo,
        seen: HashSet::new(),
        objects: Vec::new(),
    };
    found
        .walk(shared, new)
        .map_err(FilesError::git("read the history", context.folder.root()))?;
    Ok(found.objects)
}

/// Reads an object in the store's form.
pub(super) fn read(context: &CommitContext<'_>, id: ObjectId) -> Result<TreeObject, FilesError> {
    let object = context
        .repo
        .find_object(id)
        .map_err(FilesError::git("read the history", context.folder.root()))?;
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

struct UnsharedWalk<'a> {
    repo: &'a gix::Repository,
    seen: HashSet<ObjectId>,
    objects: Vec<ObjectId>,
}

impl UnsharedWalk<'_> {
    fn walk(&mut self, shared: Option<ObjectId>, new: ObjectId) -> gix::Result<()> {
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
                // A repository of its own inside the folder is not transferred.
                EntryKind::Commit => {}
            }
        }
        self.objects.push(tree);
        Ok(())
    }
}

//! What a commit holds: its memory files, and what else a person has put there.
//!
//! Ours are the regular files with a [`FilePath`]. Everything else in a tree (hidden files, symbolic
//! links, submodules, names that are not UTF-8) is *foreign*: a person committed it with git, and it
//! is carried from commit to commit untouched.
//!
//! Not here: the work tree (`scan`), writing objects (`objects`).

use std::collections::BTreeMap;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::objs::tree::{Editor, EntryKind};

use super::error::FilesError;
use super::folder::Folder;
use super::objects::Staging;
use super::path::FilePath;

/// Deepest tree that is looked into. Nobody has one; a made-up one must not exhaust the stack.
const MAX_TREE_DEPTH: usize = 256;

/// A memory file in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeFile {
    pub(super) id: ObjectId,
    /// [`EntryKind::Blob`] or its executable sibling, which a person may have committed.
    pub(super) kind: EntryKind,
}

/// Something in a tree that is not ours to touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Foreign {
    pub(super) path: BString,
    pub(super) id: ObjectId,
    pub(super) kind: EntryKind,
}

/// A whole tree, flat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TreeFiles {
    pub(super) files: BTreeMap<FilePath, TreeFile>,
    pub(super) foreign: Vec<Foreign>,
}

/// What a commit does to one file. Never both `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: FilePath,
    pub(super) base: Option<ObjectId>,
    pub(super) new: Option<ObjectId>,
}

impl TreeFiles {
    /// Reads the tree of `commit`; of no commit, the empty tree.
    pub(super) fn of_commit(
        folder: &Folder,
        repo: &gix::Repository,
        commit: Option<ObjectId>,
    ) -> Result<Self, FilesError> {
        let mut found = Self::default();
        if let Some(commit) = commit {
            let tree =
                tree_of(repo, commit).map_err(FilesError::git("read a commit", folder.root()))?;
            found
                .add_tree(repo, tree, BStr::new(""), 0)
                .map_err(FilesError::git("read a tree", folder.root()))?;
        }
        Ok(found)
    }

    fn add_tree(
        &mut self,
        repo: &gix::Repository,
        tree: ObjectId,
        prefix: &BStr,
        depth: usize,
    ) -> gix::Result<()> {
        for entry in repo.find_tree(tree)?.iter() {
            let entry = entry?;
            let mut path = prefix.to_owned();
            path.extend_from_slice(entry.filename());
            let (id, kind) = (entry.object_id(), entry.kind());
            match (kind, our_path(path.as_bstr())) {
                (EntryKind::Tree, _) if depth < MAX_TREE_DEPTH => {
                    path.push(b'/');
                    self.add_tree(repo, id, path.as_bstr(), depth + 1)?;
                }
                (EntryKind::Blob | EntryKind::BlobExecutable, Some(path)) => {
                    self.files.insert(path, TreeFile { id, kind });
                }
                (EntryKind::Tree, _) => {}
                (
                    EntryKind::Blob
                    | EntryKind::BlobExecutable
                    | EntryKind::Link
                    | EntryKind::Commit,
                    _,
                ) => {
                    self.foreign.push(Foreign { path, id, kind });
                }
            }
        }
        Ok(())
    }
}

/// The memory file that a path inside the repository names, if it is ours.
pub(super) fn our_path(path: &BStr) -> Option<FilePath> {
    FilePath::new(path.to_str().ok()?).ok()
}

pub(super) fn tree_of(repo: &gix::Repository, commit: ObjectId) -> gix::Result<ObjectId> {
    Ok(repo.find_commit(commit)?.tree_id()?.detach())
}

/// What leads from one tree to another, ordered by path. The order numbers the changes of an intent.
pub(super) fn changes_between(base: &TreeFiles, new: &TreeFiles) -> Vec<Change> {
    let paths: std::collections::BTreeSet<_> = base.files.keys().chain(new.files.keys()).collect();
    let id_in = |tree: &TreeFiles, path| tree.files.get(path).map(|file| file.id);
    paths
        .into_iter()
        .map(|path| Change {
            path: path.clone(),
            base: id_in(base, path),
            new: id_in(new, path),
        })
        .filter(|change| change.base != change.new)
        .collect()
}

/// What becomes of one path of a tree, ours or foreign.
pub(super) struct Edit {
    pub(super) path: BString,
    /// Nothing: it goes.
    pub(super) new: Option<(EntryKind, ObjectId)>,
}

impl Change {
    /// The same, for a tree in which files are of the kinds that `files` says.
    pub(super) fn as_edit(&self, files: &TreeFiles) -> Edit {
        let kind = files.files.get(&self.path).map(|file| file.kind);
        let kind = kind.unwrap_or(EntryKind::Blob);
        Edit {
            path: self.path.as_str().into(),
            new: self.new.map(|id| (kind, id)),
        }
    }
}

/// Stages the tree of `base` with `edits` made, and returns its id.
pub(super) fn build(
    repo: &gix::Repository,
    staging: &mut Staging<'_>,
    base: Option<ObjectId>,
    edits: &[Edit],
) -> Result<ObjectId, FilesError> {
    let failed = || FilesError::git("build a tree", staging.folder().root());
    let root = match base {
        Some(base) => tree_of(repo, base)
            .and_then(|tree| Ok(repo.find_tree(tree)?.decode()?.into_owned()))
            .map_err(failed())?,
        None => gix::objs::Tree::default(),
    };
    let mut editor = Editor::new(root, &repo.objects, repo.object_hash());
    // What goes makes room first: a file may take the name of a folder that is emptied here.
    for edit in edits.iter().filter(|edit| edit.new.is_none()) {
        editor
            .remove_leaf(edit.path.split_str("/").map(BStr::new))
            .map_err(failed())?;
    }
    for edit in edits {
        if let Some((kind, id)) = edit.new {
            editor
                .upsert(edit.path.split_str("/").map(BStr::new), kind, id)
                .map_err(failed())?;
        }
    }
    editor.write(|tree| staging.put_object(tree))
}

//! Reads and builds the tree of a commit: memory files, and entries that a person added.
//!
//! Memory files are the regular files with a [`FilePath`]. Everything else in a tree (hidden files,
//! symbolic links, submodules, names that are not UTF-8) is *foreign*: a person committed it with git, and
//! it is carried from commit to commit unchanged.
//!
//! Not here: the work tree (`scan`), writing objects (`objects`).

use std::collections::BTreeMap;
use std::sync::Arc;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::objs::tree::{Editor, EntryKind};

use super::error::FilesError;
use super::folder::Folder;
use super::objects::Staging;
use super::path::FilePath;

/// Deepest tree that is read. Real trees are flatter; a made-up one must not exhaust the stack.
const MAX_TREE_DEPTH: usize = 256;

/// A memory file in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeFile {
    pub(super) id: ObjectId,
    /// [`EntryKind::Blob`] or its executable sibling, which a person may have committed.
    pub(super) kind: EntryKind,
}

/// An entry of a tree that the engine does not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ForeignEntry {
    pub(super) path: BString,
    pub(super) id: ObjectId,
    pub(super) kind: EntryKind,
}

/// A whole tree, flat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TreeFiles {
    pub(super) files: BTreeMap<FilePath, TreeFile>,
    pub(super) foreign: Vec<ForeignEntry>,
}

/// The newest commit and its tree.
#[derive(Debug, Clone, Default)]
pub(super) struct Head {
    pub(super) commit: Option<ObjectId>,
    pub(super) tree: Arc<TreeFiles>,
}

/// The change of one file in a commit. Never both `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileChange {
    pub(super) path: FilePath,
    pub(super) base: Option<ObjectId>,
    pub(super) new: Option<ObjectId>,
}

impl TreeFiles {
    /// Reads the tree of `commit`; the empty tree for `None`.
    pub(super) fn of_commit(
        folder: &Folder,
        repo: &gix::Repository,
        commit: Option<ObjectId>,
    ) -> Result<Self, FilesError> {
        let files = commit.map(|commit| Self::read(repo, commit)).transpose();
        let files = files.map_err(FilesError::git("read a tree", folder.root()))?;
        Ok(files.unwrap_or_default())
    }

    /// Reads the tree of `commit`.
    pub(super) fn read(repo: &gix::Repository, commit: ObjectId) -> gix::Result<Self> {
        let mut found = Self::default();
        found.add_tree(repo, tree_of(repo, commit)?, BStr::new(""), 0)?;
        Ok(found)
    }

    /// Reads a folder of `commit`, with paths relative to it; the empty tree if there is no such folder.
    pub(super) fn of_subtree(
        repo: &gix::Repository,
        commit: ObjectId,
        path: &str,
    ) -> gix::Result<Self> {
        let mut found = Self::default();
        let root = repo.find_tree(tree_of(repo, commit)?)?;
        let entry = root.lookup_entry(path.split('/'))?;
        if let Some(entry) = entry.filter(|entry| entry.mode().is_tree()) {
            found.add_tree(repo, entry.object_id(), BStr::new(""), 0)?;
        }
        Ok(found)
    }

    /// Reads one top-level folder of `commit`.
    pub(super) fn of_folder(
        folder: &Folder,
        repo: &gix::Repository,
        (commit, name): (ObjectId, &str),
    ) -> Result<Self, FilesError> {
        let mut found = Self::default();
        let read = || -> gix::Result<Self> {
            let root = repo.find_tree(tree_of(repo, commit)?)?;
            let entry = root.lookup_entry([name.as_bytes()])?;
            if let Some(entry) = entry.filter(|entry| entry.mode().is_tree()) {
                let prefix = format!("{name}/");
                found.add_tree(repo, entry.object_id(), BStr::new(&prefix), 1)?;
            }
            Ok(found)
        };
        read().map_err(FilesError::git("read a tree", folder.root()))
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
                    self.foreign.push(ForeignEntry { path, id, kind });
                }
            }
        }
        Ok(())
    }
}

/// The memory file at a path inside the repository; `None` for a foreign path.
pub(super) fn our_path(path: &BStr) -> Option<FilePath> {
    FilePath::new(path.to_str().ok()?).ok()
}

pub(super) fn tree_of(repo: &gix::Repository, commit: ObjectId) -> gix::Result<ObjectId> {
    Ok(repo.find_commit(commit)?.tree_id()?.detach())
}

/// The changes from one tree to another, ordered by path. The order numbers the changes of an intent.
pub(super) fn changes_between(base: &TreeFiles, new: &TreeFiles) -> Vec<FileChange> {
    let paths: std::collections::BTreeSet<_> = base.files.keys().chain(new.files.keys()).collect();
    let id_in = |tree: &TreeFiles, path| tree.files.get(path).map(|file| file.id);
    paths
        .into_iter()
        .map(|path| FileChange {
            path: path.clone(),
            base: id_in(base, path),
            new: id_in(new, path),
        })
        .filter(|change| change.base != change.new)
        .collect()
}

/// The change of one path of a tree, memory file or foreign.
pub(super) struct TreeEdit {
    pub(super) path: BString,
    /// `None` removes the path.
    pub(super) new: Option<(EntryKind, ObjectId)>,
}

impl FileChange {
    /// The same change as an edit of a tree, keeping the file kinds in `files`.
    pub(super) fn as_edit(&self, files: &TreeFiles) -> TreeEdit {
        let kind = files.files.get(&self.path).map(|file| file.kind);
        let kind = kind.unwrap_or(EntryKind::Blob);
        TreeEdit {
            path: self.path.as_str().into(),
            new: self.new.map(|id| (kind, id)),
        }
    }
}

/// Stages the tree of `base` with `edits` applied, and returns its id.
pub(super) fn build_tree(
    repo: &gix::Repository,
    staging: &mut Staging<'_>,
    base: Option<ObjectId>,
    edits: &[TreeEdit],
) -> Result<ObjectId, FilesError> {
    let failed = || FilesError::git("build a tree", staging.folder().root());
    let root = match base {
        Some(base) => tree_of(repo, base)
            .and_then(|tree| Ok(repo.find_tree(tree)?.decode()?.into_owned()))
            .map_err(failed())?,
        None => gix::objs::Tree::default(),
    };
    let mut editor = Editor::new(root, &repo.objects, repo.object_hash());
    // Deletions come first: a file may take the name of a folder that they empty.
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

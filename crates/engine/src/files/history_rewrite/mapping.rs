//! The objects that take the place of those that a rewrite changes: blobs, trees and commits, found from any commit.
//!
//! An object that nothing is changed in is its own replacement. Each object is examined once.

use std::collections::{BTreeSet, HashMap};

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::Kind;
use gix::objs::tree::EntryKind;

use crate::files::error::FilesError;
use crate::files::folder::Folder;
use crate::files::history::CommitHash;
use crate::files::objects::{self, Staging};
use crate::files::own_secrets::FileOwner;
use crate::files::stamp::ENGINE;
use crate::files::tree::{TreeFiles, changes_between};

use super::edit::{FileEdit, HistoryEdit};

/// Deepest tree that is rewritten. Real trees are flatter.
const MAX_TREE_DEPTH: usize = 256;

/// Which object takes the place of which.
pub(super) struct HistoryMap<'a> {
    folder: &'a Folder,
    repo: &'a gix::Repository,
    edit: &'a dyn HistoryEdit,
    /// Files of entities that a person has edited.
    pub(super) edited: BTreeSet<String>,
    /// `None` in the place of an object that is removed.
    blobs: HashMap<(ObjectId, String), Option<ObjectId>>,
    trees: HashMap<(ObjectId, String), Option<ObjectId>>,
    commits: HashMap<ObjectId, ObjectId>,
    /// Objects in whose place there is another.
    pub(super) replaced: BTreeSet<ObjectId>,
}

/// A commit as git stores it, in parts.
struct RawCommit<'a> {
    /// Lines before the message, without those that a signature of the old content would make wrong.
    header: Vec<&'a [u8]>,
    message: &'a [u8],
}

impl<'a> HistoryMap<'a> {
    pub(super) fn new(
        folder: &'a Folder,
        repo: &'a gix::Repository,
        edit: &'a dyn HistoryEdit,
    ) -> Self {
        Self {
            folder,
            repo,
            edit,
            edited: BTreeSet::new(),
            blobs: HashMap::new(),
            trees: HashMap::new(),
            commits: HashMap::new(),
            replaced: BTreeSet::new(),
        }
    }

    pub(super) fn edit(&self) -> &dyn HistoryEdit {
        self.edit
    }

    /// The object that stands in the place of a commit, or of anything that is no rewritten commit.
    pub(super) fn new_name(&self, id: ObjectId) -> ObjectId {
        self.commits.get(&id).copied().unwrap_or(id)
    }

    pub(super) fn rewritten_commits(&self) -> usize {
        self.commits.iter().filter(|(old, new)| old != new).count()
    }

    /// The files that a person's commits changed, in all of the history before `head`.
    pub(super) fn edited_files(
        &mut self,
        head: Option<ObjectId>,
    ) -> Result<BTreeSet<String>, FilesError> {
        let mut edited = BTreeSet::new();
        let mut next: Vec<ObjectId> = head.into_iter().collect();
        let mut seen: BTreeSet<ObjectId> = next.iter().copied().collect();
        while let Some(id) = next.pop() {
            let commit = self.folder.commit(CommitHash(id))?;
            let parents: Vec<ObjectId> = commit.parents.iter().map(|parent| parent.0).collect();
            if !commit.is_by_engine() {
                let tree = TreeFiles::of_commit(self.folder, self.repo, Some(id))?;
                let before = parents.first().copied();
                let before = TreeFiles::of_commit(self.folder, self.repo, before)?;
                let changes = changes_between(&before, &tree).into_iter();
                edited.extend(changes.map(|change| change.path.as_str().to_owned()));
            }
            next.extend(parents.into_iter().filter(|id| seen.insert(*id)));
        }
        Ok(edited)
    }

    /// Stages what takes the place of a commit and of all before it. What is no commit stays.
    pub(super) fn map_commit(
        &mut self,
        staging: &mut Staging<'_>,
        root: ObjectId,
    ) -> Result<(), FilesError> {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.commits.contains_key(&id) {
                stack.pop();
                continue;
            }
            let Some((kind, bytes)) = self.history_object(id)? else {
                self.commits.insert(id, id);
                continue;
            };
            let before = referred(&bytes);
            let waiting = before.iter().filter(|id| !self.commits.contains_key(*id));
            let waiting: Vec<ObjectId> = waiting.copied().collect();
            if waiting.is_empty() {
                let new = self.rewrite_commit(staging, kind, &bytes)?;
                self.note(id, Some(new));
                self.commits.insert(id, new);
                stack.pop();
            }
            stack.extend(waiting);
        }
        Ok(())
    }

    /// The content of a commit or a tag; `None` for another kind of object, and for one that is missing.
    fn history_object(&self, id: ObjectId) -> Result<Option<(Kind, Vec<u8>)>, FilesError> {
        let found = self.repo.try_find_object(id);
        let found = found.map_err(FilesError::git("read the history", self.folder.root()))?;
        let found = found.filter(|object| matches!(object.kind, Kind::Commit | Kind::Tag));
        Ok(found.map(|object| (object.kind, object.detach().data)))
    }

    fn note(&mut self, old: ObjectId, new: Option<ObjectId>) {
        if new != Some(old) {
            self.replaced.insert(old);
        }
    }

    fn rewrite_commit(
        &mut self,
        staging: &mut Staging<'_>,
        kind: Kind,
        bytes: &[u8],
    ) -> Result<ObjectId, FilesError> {
        let commit = RawCommit::parse(bytes);
        let mut header = Vec::with_capacity(bytes.len());
        for line in &commit.header {
            let id = |prefix: &[u8]| line.strip_prefix(prefix).and_then(parse_id);
            if let Some(tree) = id(b"tree ") {
                let tree = match self.map_tree(staging, tree, String::new(), 0)? {
                    Some(tree) => tree,
                    None => staging.put_object(&gix::objs::Tree::empty())?,
                };
                header.extend_from_slice(format!("tree {tree}").as_bytes());
            } else if let Some(parent) = id(b"parent ") {
                header.extend_from_slice(format!("parent {}", self.new_name(parent)).as_bytes());
            } else if let Some(tagged) = id(b"object ") {
                header.extend_from_slice(format!("object {}", self.new_name(tagged)).as_bytes());
            } else {
                header.extend_from_slice(line);
            }
            header.push(b'\n');
        }
        let mut new = header;
        new.push(b'\n');
        new.extend_from_slice(&self.message_of(&commit));
        // A signature is left out only where it no longer fits.
        let unsigned = commit.rejoined();
        match unsigned == new {
            true => objects::hash(self.folder, kind, bytes),
            false => staging.put(kind, &new),
        }
    }

    /// The message as it is to be.
    fn message_of(&self, commit: &RawCommit<'_>) -> Vec<u8> {
        let is_ours = commit
            .header
            .iter()
            .any(|line| line.starts_with(format!("author {ENGINE} <").as_bytes()));
        match commit.message.to_str() {
            Ok(message) => self.edit.message(message, is_ours).into_bytes(),
            Err(_) => commit.message.to_vec(),
        }
    }

    /// The tree in the place of one; `None` where nothing is left of it.
    fn map_tree(
        &mut self,
        staging: &mut Staging<'_>,
        id: ObjectId,
        prefix: String,
        depth: usize,
    ) -> Result<Option<ObjectId>, FilesError> {
        let key = (id, prefix);
        if let Some(&known) = self.trees.get(&key) {
            return Ok(known);
        }
        let failed = || FilesError::git("read a tree", self.folder.root());
        let tree = self.repo.find_tree(id).map_err(failed())?;
        let decoded = tree.decode().map_err(gix::Error::from_error);
        let mut tree = decoded.map_err(failed())?.into_owned();
        let entries = std::mem::take(&mut tree.entries);
        let had_entries = !entries.is_empty();
        let mut changed = false;
        for mut entry in entries {
            let path = format!("{}{}", key.1, entry.filename.to_str_lossy());
            let new = match entry.mode.kind() {
                EntryKind::Tree if depth < MAX_TREE_DEPTH => {
                    self.map_tree(staging, entry.oid, format!("{path}/"), depth + 1)?
                }
                EntryKind::Blob | EntryKind::BlobExecutable => {
                    self.map_blob(staging, entry.oid, path)?
                }
                EntryKind::Tree | EntryKind::Link | EntryKind::Commit => Some(entry.oid),
            };
            changed |= new != Some(entry.oid);
            if let Some(new) = new {
                entry.oid = new;
                tree.entries.push(entry);
            }
        }
        let new = match (changed, tree.entries.is_empty() && had_entries) {
            (_, true) => None,
            (true, false) => Some(staging.put_object(&tree)?),
            (false, false) => Some(id),
        };
        self.note(id, new);
        self.trees.insert(key, new);
        Ok(new)
    }

    fn map_blob(
        &mut self,
        staging: &mut Staging<'_>,
        id: ObjectId,
        path: String,
    ) -> Result<Option<ObjectId>, FilesError> {
        let owner = FileOwner::of(&path, || self.edited.contains(&path));
        let key = (id, path);
        if let Some(&known) = self.blobs.get(&key) {
            return Ok(known);
        }
        let bytes = objects::read_blob(self.folder, self.repo, id)?;
        let text = String::from_utf8(bytes).ok();
        let edit = text.map_or(FileEdit::Keep, |text| self.edit.file(&key.1, owner, &text));
        let new = match edit {
            FileEdit::Keep => Some(id),
            FileEdit::Replace(text) => Some(staging.put_blob(text.as_bytes())?),
            FileEdit::Remove => None,
        };
        self.note(id, new);
        self.blobs.insert(key, new);
        Ok(new)
    }
}

impl<'a> RawCommit<'a> {
    fn parse(bytes: &'a [u8]) -> Self {
        let (header, message) = match bytes.find(b"\n\n") {
            Some(at) => (&bytes[..at], &bytes[at + 2..]),
            None => (bytes, &bytes[bytes.len()..]),
        };
        let mut kept = Vec::new();
        let mut is_signature = false;
        for line in header.split(|byte| *byte == b'\n') {
            is_signature = match line.first() {
                Some(b' ') => is_signature,
                _ => line.starts_with(b"gpgsig"),
            };
            if !is_signature {
                kept.push(line);
            }
        }
        Self {
            header: kept,
            message,
        }
    }

    /// The commit without its signature.
    fn rejoined(&self) -> Vec<u8> {
        let mut all = self.header.join(&b'\n');
        all.extend_from_slice(b"\n\n");
        all.extend_from_slice(self.message);
        all
    }
}

/// The parents of a commit, or what a tag names.
fn referred(bytes: &[u8]) -> Vec<ObjectId> {
    let commit = RawCommit::parse(bytes);
    let id = |line: &&[u8]| {
        let parent = line.strip_prefix(b"parent ".as_slice());
        parent
            .or_else(|| line.strip_prefix(b"object ".as_slice()))
            .and_then(parse_id)
    };
    commit.header.iter().filter_map(id).collect()
}

fn parse_id(hex: &[u8]) -> Option<ObjectId> {
    ObjectId::from_hex(hex).ok()
}

//! Reads a folder's history: its commits, and a file's content in one of them.
//!
//! Readers take no lock. A commit never changes, and HEAD moves in one step, so a reader sees one
//! consistent state, though perhaps no longer the newest.
//!
//! Not here: changing anything (`write`).

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;

use super::error::FilesError;
use super::folder::Folder;
use super::path::FilePath;
use super::stamp::ENGINE;
use super::tree::TreeFiles;

/// Id of a commit, as `git log` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitHash(pub(super) ObjectId);

/// Id of a file's content: equal bytes have equal ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(pub(super) ObjectId);

impl fmt::Display for CommitHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for CommitHash {
    type Err = FilesError;

    /// Takes all forty digits; a shorter id may become ambiguous.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let no_such = |_| FilesError::NoSuchCommit {
            commit: text.to_owned(),
            path: ".".into(),
        };
        text.parse().map(Self).map_err(no_such)
    }
}

/// One entry of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub id: CommitHash,
    /// When it was made, in milliseconds since 1970; always whole seconds.
    pub time_ms: i64,
    /// Who made the changes: `Daybook`, or a person's name.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
    /// Its parents; of a merge, the side that was merged into comes first.
    pub parents: Vec<CommitHash>,
}

impl Commit {
    /// Whether the engine made the changes, and no person.
    #[must_use]
    pub fn is_by_engine(&self) -> bool {
        self.author == ENGINE
    }
}

impl Folder {
    /// The newest commit; `None` before the first.
    ///
    /// # Errors
    /// If the history is damaged, like everything below.
    pub fn head(&self) -> Result<Option<CommitHash>, FilesError> {
        let repo = self.repository()?;
        Ok(self.head_of(&repo)?.map(CommitHash))
    }

    /// The newest `limit` commits, newest first. Of a merge that a person made, only the side that was
    /// merged into is followed.
    pub fn log(&self, limit: usize) -> Result<Vec<Commit>, FilesError> {
        let repo = self.repository()?;
        let mut commits = Vec::new();
        let mut next = self.head_of(&repo)?;
        while let Some(id) = next.filter(|_| commits.len() < limit) {
            let commit = describe(&repo, id).map_err(self.damaged())?;
            next = commit.parents.first().map(|parent| parent.0);
            commits.push(commit);
        }
        Ok(commits)
    }

    /// One commit.
    pub fn commit(&self, id: CommitHash) -> Result<Commit, FilesError> {
        let repo = self.repository()?;
        describe(&repo, id.0).map_err(self.damaged())
    }

    /// All of a commit's message.
    pub(super) fn message(&self, id: CommitHash) -> Result<String, FilesError> {
        let repo = self.repository()?;
        let commit = self.find_commit(&repo, id)?;
        let message = commit.message_raw().map_err(gix::Error::from_error);
        Ok(message.map_err(self.damaged())?.to_str_lossy().into_owned())
    }

    /// The content of the file at `path` in `commit`; `None` if there was none.
    ///
    /// # Errors
    /// [`FilesError::NoSuchCommit`].
    pub fn read_at(
        &self,
        commit: CommitHash,
        path: &FilePath,
    ) -> Result<Option<Vec<u8>>, FilesError> {
        let repo = self.repository()?;
        let tree = self
            .find_commit(&repo, commit)?
            .tree()
            .map_err(self.damaged())?;
        let found = tree
            .lookup_entry(path.components().map(str::as_bytes))
            .map_err(self.damaged())?;
        let is_file = |kind| matches!(kind, EntryKind::Blob | EntryKind::BlobExecutable);
        match found.filter(|entry| is_file(entry.mode().kind())) {
            None => Ok(None),
            Some(entry) => Ok(Some(entry.object().map_err(self.damaged())?.detach().data)),
        }
    }

    /// The content id of the file at `path` in `commit`; `None` if there was none.
    pub(super) fn blob_at(
        &self,
        commit: CommitHash,
        path: &FilePath,
    ) -> Result<Option<BlobId>, FilesError> {
        let repo = self.repository()?;
        let tree = self
            .find_commit(&repo, commit)?
            .tree()
            .map_err(self.damaged())?;
        let found = tree
            .lookup_entry(path.components().map(str::as_bytes))
            .map_err(self.damaged())?;
        Ok(found.map(|entry| BlobId(entry.object_id())))
    }

    /// The memory files in `commit`.
    ///
    /// # Errors
    /// [`FilesError::NoSuchCommit`].
    pub fn files_at(&self, commit: CommitHash) -> Result<BTreeMap<FilePath, BlobId>, FilesError> {
        let repo = self.repository()?;
        self.find_commit(&repo, commit)?;
        self.files_of(&repo, Some(commit.0))
    }

    /// The memory files in the newest commit. A person's edits since then are not in it.
    pub fn head_files(&self) -> Result<BTreeMap<FilePath, BlobId>, FilesError> {
        let repo = self.repository()?;
        let head = self.head_of(&repo)?;
        self.files_of(&repo, head)
    }

    /// The memory files of one top-level folder in `commit`.
    pub(super) fn files_below(
        &self,
        commit: CommitHash,
        name: &str,
    ) -> Result<Vec<FilePath>, FilesError> {
        let repo = self.repository()?;
        let tree = TreeFiles::of_folder(self, &repo, (commit.0, name))?;
        Ok(tree.files.into_keys().collect())
    }

    fn head_of(&self, repo: &gix::Repository) -> Result<Option<ObjectId>, FilesError> {
        let mut head = repo.head().map_err(self.damaged())?;
        Ok(head
            .try_peel_to_id()
            .map_err(self.damaged())?
            .map(gix::Id::detach))
    }

    fn files_of(
        &self,
        repo: &gix::Repository,
        commit: Option<ObjectId>,
    ) -> Result<BTreeMap<FilePath, BlobId>, FilesError> {
        let tree = TreeFiles::of_commit(self, repo, commit)?;
        Ok(tree
            .files
            .into_iter()
            .map(|(path, file)| (path, BlobId(file.id)))
            .collect())
    }

    fn find_commit<'r>(
        &self,
        repo: &'r gix::Repository,
        commit: CommitHash,
    ) -> Result<gix::Commit<'r>, FilesError> {
        let found = repo.try_find_object(commit.0).map_err(self.damaged())?;
        found
            .and_then(|object| object.try_into_commit().ok())
            .ok_or_else(|| FilesError::NoSuchCommit {
                commit: commit.to_string(),
                path: self.root().to_owned(),
            })
    }

    fn damaged(&self) -> impl FnOnce(gix::Error) -> FilesError {
        FilesError::git("read the history", self.root())
    }
}

fn describe(repo: &gix::Repository, id: ObjectId) -> gix::Result<Commit> {
    let commit = repo.find_commit(id)?;
    let author = commit.author()?;
    Ok(Commit {
        id: CommitHash(id),
        time_ms: commit.time()?.seconds.saturating_mul(1000),
        author: author.name.to_str_lossy().trim().to_owned(),
        subject: commit.message()?.summary().to_str_lossy().into_owned(),
        parents: commit
            .parent_ids()
            .map(|id| CommitHash(id.detach()))
            .collect(),
    })
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;

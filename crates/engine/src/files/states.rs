//! Finds states of a memory folder: by the id of a commit, or by a time.
//!
//! Not here: what changed between two states (`diff`), going back to one (`take_back`).

use daybook_domain::Timestamp;

use super::error::FilesError;
use super::folder::Folder;
use super::history::{Commit, CommitHash};
use super::path::FilePath;

/// Most commits that are searched, newest first.
pub const SEARCHED_COMMITS: usize = 100_000;
/// Fewest digits that name a commit; with fewer, a word of a file's name could pass for one.
pub const ID_DIGITS: usize = 4;

/// The name of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateName {
    /// The first digits of a commit's id, in lower case.
    Commit(String),
    /// The newest commit at this time.
    At(Timestamp),
}

impl StateName {
    /// Parses the first digits of an id; `None` for any other text.
    #[must_use]
    pub fn of_commit(text: &str) -> Option<Self> {
        let is_id = (ID_DIGITS..=40).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id.then(|| Self::Commit(text.to_lowercase()))
    }
}

/// The state that a name leads to.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundState {
    /// This commit.
    One(Commit),
    /// No commit has the name, or none is as old.
    None,
    /// More than one id begins with these digits.
    Several,
}

impl Folder {
    /// Finds a state in the history that leads to the newest commit.
    ///
    /// # Errors
    /// If the history is damaged, like everything below.
    pub fn find_state(&self, name: &StateName) -> Result<FoundState, FilesError> {
        let mut commits = self.log(SEARCHED_COMMITS)?.into_iter();
        let found: Vec<Commit> = match name {
            StateName::Commit(digits) => commits
                .filter(|commit| commit.id.to_string().starts_with(digits))
                .take(2)
                .collect(),
            // git keeps whole seconds, so a commit of the same second counts.
            StateName::At(at) => commits
                .find(|commit| commit.time_ms / 1000 <= at.0.div_euclid(1000))
                .into_iter()
                .collect(),
        };
        Ok(match <[Commit; 1]>::try_from(found) {
            Ok([one]) => FoundState::One(one),
            Err(found) if found.is_empty() => FoundState::None,
            Err(_) => FoundState::Several,
        })
    }

    /// The newest `limit` commits that changed the file at `path`, newest first.
    ///
    /// # Errors
    /// See [`Folder::find_state`].
    pub fn log_of(&self, path: &FilePath, limit: usize) -> Result<Vec<Commit>, FilesError> {
        let mut found = Vec::new();
        for commit in self.log(SEARCHED_COMMITS)? {
            let before = match commit.parents.first() {
                Some(parent) => self.blob_at(*parent, path)?,
                None => None,
            };
            if self.blob_at(commit.id, path)? != before {
                found.push(commit);
            }
            if found.len() == limit {
                break;
            }
        }
        Ok(found)
    }

    /// The text of a file in a commit; `None` if it did not exist or is not UTF-8.
    pub(crate) fn text_at(
        &self,
        commit: CommitHash,
        path: &FilePath,
    ) -> Result<Option<String>, FilesError> {
        let bytes = self.read_at(commit, path)?;
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
    }
}

//! Errors of memory files, sorted by who can resolve them.
//!
//! Not here: ordinary outcomes. A folder that another process is writing, a lost lease and a conflicting
//! edit of a person are outcomes of the calls that meet them.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::bounded::FileRefusal;

/// A cause from a library below.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why memory files could not be read or written. No variant means that data was lost: an interrupted write
/// is finished by the next write or by `settle`.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// Repeat later: a person is in the middle of a git operation.
    #[error("{} is in the middle of {doing}: finish or abort it with git", .path.display())]
    PersonAtWork {
        /// The memory folder.
        path: PathBuf,
        /// What git is doing there.
        doing: &'static str,
    },
    /// Repeat later: a git command holds a lock file for longer than the configured wait.
    #[error("git holds {}: wait for the command to end, or remove the file if none is running", .path.display())]
    GitLocked {
        /// The lock file.
        path: PathBuf,
    },
    /// A person can act, then repeat.
    #[error("no space is left to write {}: free some disk space", .path.display())]
    DiskFull {
        /// What was being written.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A person can act, then repeat.
    #[error("{} may not be read or written: check its owner and permissions", .path.display())]
    Denied {
        /// What was refused.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A person can act, then repeat.
    #[error("{} is not a repository that can be used: move it away, and a new one is made", .path.display())]
    NotARepository {
        /// The `.git` in question.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: BoxError,
    },
    /// A person can act, then repeat.
    #[error("{} is missing together with its history: `daybook doctor --repair` makes it again from what is stored", .path.display())]
    Missing {
        /// The memory folder.
        path: PathBuf,
    },
    /// A person can act, then repeat.
    #[error("{} holds more than {limit} files: move some of them elsewhere", .path.display())]
    TooManyFiles {
        /// The memory folder.
        path: PathBuf,
        /// `FilesConfig::max_files`.
        limit: usize,
    },
    /// A person can act, then repeat.
    #[error("{} is not used as memory, because {why}: put what belongs there in its place", .path.display())]
    Refused {
        /// The path that is no memory file or folder.
        path: PathBuf,
        /// What is wrong with it.
        why: SkipReason,
    },
    /// The request is wrong; repeating will not help.
    #[error("{path:?} cannot name a memory file: {why}")]
    BadPath {
        /// The path as the caller passed it.
        path: String,
        /// The rule that it breaks.
        why: &'static str,
    },
    /// The request is wrong; repeating will not help.
    #[error("{path} cannot be written: {other} is in the way")]
    PathConflict {
        /// The path to be written.
        path: String,
        /// The conflicting file: one of its folders, or a file inside it.
        other: String,
    },
    /// The request is wrong; repeating will not help.
    #[error("{path} would be {bytes} bytes long; the limit is {limit}")]
    TooLarge {
        /// The path to be written.
        path: String,
        /// Its length.
        bytes: u64,
        /// `FilesConfig::max_file_bytes`.
        limit: u64,
    },
    /// The request is wrong; repeating will not help.
    #[error("commit {commit} does not exist in {}", .path.display())]
    NoSuchCommit {
        /// The requested commit.
        commit: String,
        /// The memory folder.
        path: PathBuf,
    },
    /// The disk or the system failed; repeating may help.
    #[error("could not {doing} {}", .path.display())]
    Io {
        /// The operation, as a verb.
        doing: &'static str,
        /// The path it was applied to.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The history is damaged; `git fsck` shows where.
    #[error("could not {doing} in {}: run `git fsck` there", .path.display())]
    Git {
        /// The operation, as a verb.
        doing: &'static str,
        /// The memory folder.
        path: PathBuf,
        /// The error of the git library.
        #[source]
        source: BoxError,
    },
}

/// Why a path in a memory folder is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// It is not a readable file, or is of the wrong kind for the engine's path.
    Refused(FileRefusal),
    /// Its name is not UTF-8, or no [`FilePath`](super::path::FilePath) can hold it.
    BadName,
    /// The folder is a git repository of its own.
    OwnRepository,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => why.fmt(f),
            Self::BadName => f.write_str("its name cannot be kept on every file system"),
            Self::OwnRepository => f.write_str("it is a git repository of its own"),
        }
    }
}

impl FilesError {
    /// For `map_err`: the operation and its path.
    pub(crate) fn io(
        doing: &'static str,
        path: impl AsRef<Path>,
    ) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::from_io(doing, path.as_ref().to_owned(), source)
    }

    /// For `map_err` of git calls. A full disk or a missing permission below git becomes its own variant.
    pub(super) fn git(
        doing: &'static str,
        path: impl AsRef<Path>,
    ) -> impl FnOnce(gix::Error) -> Self {
        move |error| {
            let path = path.as_ref().to_owned();
            match error.downcast_any_ref::<io::Error>().map(io::Error::kind) {
                Some(kind) if is_user_fixable(kind) => {
                    Self::from_io(doing, path, io::Error::new(kind, error))
                }
                Some(_) | None => Self::Git {
                    doing,
                    path,
                    source: Box::new(error),
                },
            }
        }
    }

    pub(super) fn from_io(doing: &'static str, path: PathBuf, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::DiskFull { path, source }
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::Denied { path, source }
            }
            _ => Self::Io {
                doing,
                path,
                source,
            },
        }
    }
}

fn is_user_fixable(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(
        kind,
        StorageFull | QuotaExceeded | PermissionDenied | ReadOnlyFilesystem
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_for_a_full_disk_and_missing_permissions_name_the_remedy() {
        let full = FilesError::io("write", "/m/a.md")(io::ErrorKind::StorageFull.into());
        assert_eq!(
            full.to_string(),
            "no space is left to write /m/a.md: free some disk space"
        );
        let denied = FilesError::io("write", "/m/a.md")(io::ErrorKind::PermissionDenied.into());
        assert_eq!(
            denied.to_string(),
            "/m/a.md may not be read or written: check its owner and permissions"
        );
    }
}

//! What can go wrong with memory files, sorted by who can do something about it.
//!
//! Not here: ordinary life. A folder that someone else is writing, a lost lease, a person's edit in
//! the way are outcomes of the calls that meet them.

use std::io;
use std::path::{Path, PathBuf};

use super::reader::Refused;
use super::refused::WhySkipped;
use crate::bounded::Refusal;

/// A cause that belongs to a library below us.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why memory files could not be read or written. No variant means that something was lost: what was
/// begun is finished by the next write or by `settle`.
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
    /// Repeat later: a git command holds a lock file for longer than we wait.
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
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// A person can act, then repeat.
    #[error("{} may not be read or written: check its owner and permissions", .path.display())]
    Denied {
        /// What was refused.
        path: PathBuf,
        /// The system's answer.
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
        /// What stands where a memory file or folder belongs.
        path: PathBuf,
        /// What is wrong with it.
        why: WhySkipped,
    },
    /// The request is wrong; repeating will not help.
    #[error("{path:?} cannot name a memory file: {why}")]
    BadPath {
        /// As it was given.
        path: String,
        /// The rule that it breaks.
        why: &'static str,
    },
    /// The request is wrong; repeating will not help.
    #[error("{path} cannot be written: {other} is in the way")]
    Clash {
        /// What was to be written.
        path: String,
        /// The file that is a folder of it, or lies in it.
        other: String,
    },
    /// The request is wrong; repeating will not help.
    #[error("{path} would be {bytes} bytes long; the limit is {limit}")]
    TooLarge {
        /// What was to be written.
        path: String,
        /// Its length.
        bytes: u64,
        /// `FilesConfig::max_file_bytes`.
        limit: u64,
    },
    /// The request is wrong; repeating will not help.
    #[error("commit {commit} does not exist in {}", .path.display())]
    NoSuchCommit {
        /// What was asked for.
        commit: String,
        /// The memory folder.
        path: PathBuf,
    },
    /// The disk or the system failed; repeating may help.
    #[error("could not {doing} {}", .path.display())]
    Io {
        /// The deed.
        doing: &'static str,
        /// What it was done to.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The history is damaged; `git fsck` shows where.
    #[error("could not {doing} in {}: run `git fsck` there", .path.display())]
    Git {
        /// The deed.
        doing: &'static str,
        /// The memory folder.
        path: PathBuf,
        /// What was found.
        #[source]
        source: BoxError,
    },
}

impl From<Refused> for FilesError {
    fn from(refused: Refused) -> Self {
        let Refused { path, why } = refused;
        match why {
            Refusal::Failed(kind) => Self::from_io("read", path, kind.into()),
            Refusal::Link
            | Refusal::Folder
            | Refusal::NotAFolder
            | Refusal::Pipe
            | Refusal::Socket
            | Refusal::Device
            | Refusal::TooLarge { .. } => Self::Refused {
                path,
                why: WhySkipped::Refused(why),
            },
        }
    }
}

impl FilesError {
    /// For `map_err`: what was done to which path.
    pub(super) fn io(
        doing: &'static str,
        path: impl AsRef<Path>,
    ) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::from_io(doing, path.as_ref().to_owned(), source)
    }

    /// For `map_err` of git calls. A full disk or a refusal below git is shown as such.
    pub(super) fn git(
        doing: &'static str,
        path: impl AsRef<Path>,
    ) -> impl FnOnce(gix::Error) -> Self {
        move |error| {
            let path = path.as_ref().to_owned();
            match error.downcast_any_ref::<io::Error>().map(io::Error::kind) {
                Some(kind) if is_for_a_person(kind) => {
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

    fn from_io(doing: &'static str, path: PathBuf, source: io::Error) -> Self {
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

fn is_for_a_person(kind: io::ErrorKind) -> bool {
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
    fn a_full_disk_and_a_refusal_say_what_a_person_can_do() {
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

//! Where work happens: folders, branches, and the projects that they belong to.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::ids::EventId;
use crate::time::Timestamp;

/// Where an event happened. Events, not sessions, carry it: a session may change branch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The checkout's main folder: worktrees and subfolders are folded into it.
    pub root: String,
    /// The branch, when known.
    pub branch: Option<String>,
}

/// Number of a [`Place`] in one store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceNo(pub i64);

/// A code base or other undertaking, which any number of checkouts belong to, by one of its
/// identities. Several identities share a key where a person merged projects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Project {
    /// The name of its scope.
    pub key: String,
    /// What identifies it: a normalised remote (`github.com/ada/engine`) or a folder.
    pub identity: String,
    /// Only a folder is known, and that folder is gone: the identity is a guess.
    pub guessed: bool,
}

/// How a session showed which repository a folder is a checkout of; the strongest first.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum RemoteSource {
    /// The host wrote the repository's remote beside the session.
    Host,
    /// The session's work became a pull request of that repository.
    PullRequest,
    /// The output of a command that ran in the folder named the remote.
    #[strum(serialize = "command")]
    Output,
    /// An output named the remote, and the folder is that of the session: older versions did not read in which
    /// folder the command ran. It counts for nothing.
    #[strum(serialize = "output")]
    UnplacedOutput,
}

impl RemoteSource {
    /// The word that is stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Evidence that a folder is a checkout of a repository. It is stored with the event that shows it,
/// and goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteEvidence {
    /// The event; `None` means the session's last one.
    pub event: Option<EventId>,
    /// The folder, as a place's root.
    pub root: String,
    /// The repository's remote, normalised (`github.com/ada/engine`).
    pub remote: String,
    /// What showed it.
    pub source: RemoteSource,
}

/// How many sessions show one remote of a folder in one way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemoteCount {
    /// What showed it.
    pub source: RemoteSource,
    /// The remote, normalised.
    pub remote: String,
    /// Sessions with such an event.
    pub sessions: u64,
}

/// What a store holds of a folder that events happened in, as far as it decides its project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootRecord {
    /// The folder.
    pub root: String,
    /// Key of the project that it belongs to at present.
    pub project: Option<String>,
    /// The present project rests on stored evidence or on a guess, and follows them. False where the
    /// folder itself or a person decided.
    pub derived: bool,
    /// When the earliest session began that was there; zero where none has a time.
    pub first_at: Timestamp,
    /// Remotes that sessions showed, in the order of [`RemoteCount`].
    pub remotes: Vec<RemoteCount>,
}

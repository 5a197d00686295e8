//! Where work happens: folders, branches, and the projects that they belong to.

use serde::{Deserialize, Serialize};

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

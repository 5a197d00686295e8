//! Homes: the folders in which Codex, MindRoom and Daycare keep their memory, file by file.
//!
//! [`recognize()`] lists the files of a home by what they hold. [`memory_entries`] parses one memory file into entries,
//! each with the bytes that state it, so that [`edited`] can change or remove one entry and leave every other byte.
//! [`new_entries`] renders memories that the home has not had, in the form of its system.
//!
//! Everything here is a function of paths and bytes: the same file always has the same entries.
//!
//! Not here: whose memory an entry becomes, and what holds of it today (`jobs::homes`); transcripts (`transcripts`).

mod codex;
mod daycare;
mod edits;
mod entry;
mod ledger;
mod markdown;
mod mindroom;
mod recognize;
mod render;

pub use edits::{EntryChange, edited};
pub use entry::{HomeEntry, HomeOwner};
pub use ledger::{LearnedSessions, is_row_learned, is_transcript_learned, learned_sessions};
pub use recognize::{FileRole, Home, HomeFile, recognize};
pub use render::{NewMemory, new_entries};

use strum::{EnumString, IntoStaticStr, VariantArray};

/// Longest memory file that is read, in bytes.
pub const FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Longest entry, in bytes. A longer one is named and left out.
pub const ENTRY_BYTES: usize = 16 * 1024;

/// The system whose folder a home is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "lowercase")]
pub enum HomeKind {
    /// Codex: `memories/` and `sessions/`.
    Codex,
    /// MindRoom: a storage folder with `agents/`.
    Mindroom,
    /// Daycare: a user's folder with `memory/`, or all of `users/`.
    Daycare,
}

impl HomeKind {
    /// Its word on the command line, and the agent of the sessions that hold its files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Its name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Codex => "Codex",
            Self::Mindroom => "MindRoom",
            Self::Daycare => "Daycare",
        }
    }
}

/// Parses a memory file of a home, at `path` below it.
#[must_use]
pub fn memory_entries(kind: HomeKind, path: &str, text: &str) -> Vec<HomeEntry> {
    match kind {
        HomeKind::Codex => codex::entries(path, text),
        HomeKind::Mindroom => mindroom::entries(path, text),
        HomeKind::Daycare => daycare::entries(path, text),
    }
}

/// Whose memory a memory file of a home is, by its path below it. Single entries of Codex name a folder besides.
#[must_use]
pub fn owner(kind: HomeKind, path: &str) -> HomeOwner {
    match kind {
        HomeKind::Codex => HomeOwner::Person,
        HomeKind::Mindroom => mindroom::owner(path),
        HomeKind::Daycare => daycare::owner(path),
    }
}

#[cfg(test)]
#[path = "homes_tests.rs"]
mod tests;

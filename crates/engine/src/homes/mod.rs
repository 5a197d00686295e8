//! Homes: the folders and files in which other systems keep their memory, file by file.
//!
//! [`recognize()`] lists the files of a home by what they hold. [`memory_entries`] parses one memory file into entries,
//! each with the bytes that state it, so that [`edited`] can change or remove one entry and leave every other byte.
//! [`new_entries`] renders memories that the home has not had, in the form of its system.
//!
//! Everything here is a function of paths and bytes: the same file always has the same entries.
//!
//! Not here: whose memory an entry becomes, and what holds of it today (`jobs::homes`); transcripts (`transcripts`).

mod claude;
mod codex;
mod daycare;
mod edits;
mod entry;
mod graph;
mod head;
mod ledger;
mod markdown;
mod mem0;
mod mindroom;
mod notes;
mod recognize;
mod render;

pub use edits::{EntryChange, edited};
pub use entry::{EntryAuthor, HomeEntry, HomeOwner};
pub use ledger::{LearnedSessions, is_row_learned, is_transcript_learned, learned_sessions};
pub use recognize::{FileRole, Home, HomeFile, recognize};
pub use render::{NewMemory, new_entries};

use notes::NoteKeeper;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Longest memory file that is read, in bytes.
pub const FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Longest entry, in bytes. A longer one is named and left out.
pub const ENTRY_BYTES: usize = 16 * 1024;

/// The system whose folder a home is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum HomeKind {
    /// Codex: `memories/` and `sessions/`.
    Codex,
    /// MindRoom: a storage folder with `agents/`.
    Mindroom,
    /// Daycare: a user's folder with `memory/`, or all of `users/`.
    Daycare,
    /// Claude Code: a `CLAUDE.md`, its own folder, or a folder of a project's memory.
    Claude,
    /// The file of MCP's memory server.
    ServerMemory,
    /// An export of mem0.
    Mem0,
    /// A folder of basic-memory.
    BasicMemory,
    /// A vault of Obsidian.
    Obsidian,
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
            Self::Claude => "Claude Code",
            Self::ServerMemory => "MCP's memory server",
            Self::Mem0 => "mem0",
            Self::BasicMemory => "basic-memory",
            Self::Obsidian => "Obsidian",
        }
    }

    /// The format of its memory files in reports.
    #[must_use]
    pub fn format(self) -> String {
        let kind = self.as_str().trim_end_matches("-memory");
        format!("{kind}-memory")
    }
}

/// Parses a memory file of a home, at `path` below it.
#[must_use]
pub fn memory_entries(kind: HomeKind, path: &str, text: &str) -> Vec<HomeEntry> {
    match kind {
        HomeKind::Codex => codex::entries(path, text),
        HomeKind::Mindroom => mindroom::entries(path, text),
        HomeKind::Daycare => daycare::entries(path, text),
        HomeKind::Claude => claude::entries(path, text),
        HomeKind::ServerMemory => graph::entries(text),
        HomeKind::Mem0 => mem0::entries(path, text),
        HomeKind::BasicMemory => notes::entries(NoteKeeper::BasicMemory, path, text),
        HomeKind::Obsidian => notes::entries(NoteKeeper::Obsidian, path, text),
    }
}

/// Lines of a memory file that hold no memory of its form, with what they are, in order. Only forms whose every line is a
/// memory have such lines.
#[must_use]
pub fn unreadable_lines(kind: HomeKind, text: &str) -> Vec<(u32, String)> {
    match kind {
        HomeKind::ServerMemory => graph::unreadable_lines(text),
        HomeKind::Codex
        | HomeKind::Mindroom
        | HomeKind::Daycare
        | HomeKind::Claude
        | HomeKind::Mem0
        | HomeKind::BasicMemory
        | HomeKind::Obsidian => Vec::new(),
    }
}

/// The folder that a memory file of a home is about, where its place names one.
#[must_use]
pub fn folder(home: &Home, path: &str) -> Option<String> {
    match home.kind {
        HomeKind::Claude => claude::folder(&home.root, path),
        HomeKind::Codex
        | HomeKind::Mindroom
        | HomeKind::Daycare
        | HomeKind::ServerMemory
        | HomeKind::Mem0
        | HomeKind::BasicMemory
        | HomeKind::Obsidian => None,
    }
}

/// Whose memory a memory file of a home is, by its path below it. Single entries of Codex name a folder besides.
#[must_use]
pub fn owner(kind: HomeKind, path: &str) -> HomeOwner {
    match kind {
        HomeKind::Codex
        | HomeKind::Claude
        | HomeKind::ServerMemory
        | HomeKind::BasicMemory
        | HomeKind::Obsidian => HomeOwner::Person,
        HomeKind::Mem0 => mem0::owner(path),
        HomeKind::Mindroom => mindroom::owner(path),
        HomeKind::Daycare => daycare::owner(path),
    }
}

#[cfg(test)]
#[path = "homes_tests.rs"]
mod tests;

#[cfg(test)]
mod peers_tests;

//! Files that events came from, and the imports that took them in.

use serde::{Deserialize, Serialize};

use crate::ids::SessionId;
use crate::time::Timestamp;

/// How far a file has been taken in. Stored in the same transaction as the events it yielded, so
/// that a killed import neither loses nor repeats one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptSource {
    /// The file, as an absolute path; `-` and a fingerprint for standard input.
    pub path: String,
    /// What it was recognised as: `codex`, `claude-code`, `chat`, or `unknown`.
    pub format: String,
    /// The session that its events went to; `None` while it yielded none.
    pub session: Option<SessionId>,
    /// The host id that the file claims for its session, where another session has that id already;
    /// `None` when it is the session's own.
    pub claimed_id: Option<String>,
    /// Size when last looked at, in bytes.
    pub size: u64,
    /// Modification time when last looked at, in nanoseconds since 1970.
    pub modified: i64,
    /// Bytes taken in: the end of the last whole line.
    pub offset: u64,
    /// Lines taken in.
    pub lines: u32,
    /// Fingerprint of the first bytes, and of the last bytes before `offset`: distinguishes a file
    /// that grew from one that was rewritten.
    pub fingerprint: (u64, u64),
    /// Lines that could not be read, and the first of them with the reason.
    pub bad_lines: u32,
    /// The first bad line and why it was bad.
    pub first_bad: Option<(u32, String)>,
    /// Secrets that were hidden.
    pub secrets: u32,
    /// Reader's state at `offset`, in the reader's own format: what reading a later line needs of
    /// earlier ones.
    pub state: String,
    /// Why the last import of it failed, in at most [`crate::limits::FAILURE_TEXT`] characters; `None`
    /// once one succeeded.
    pub failure: Option<String>,
    /// Version of what is kept of a file's lines. A file that was taken in under an older one is read
    /// from its beginning once more; events that are known add nothing.
    pub reading: u32,
}

/// Number of one import in its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ImportNo(pub i64);

/// One run of `import`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportRun {
    /// Its number.
    pub no: ImportNo,
    /// When it began.
    pub began_at: Timestamp,
    /// When it ended; `None` when it was interrupted or still runs.
    pub ended_at: Option<Timestamp>,
    /// What the import was asked to read.
    pub what: String,
    /// Events that it added.
    pub events: u64,
    /// Files that it read from.
    pub files: u64,
}

/// What undoing an import removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoneImport {
    /// Events removed.
    pub events: u64,
    /// Sessions removed whole.
    pub sessions: u64,
    /// Sessions that keep older events and are extracted anew.
    pub shortened: u64,
    /// Observations withdrawn.
    pub observations: u64,
}

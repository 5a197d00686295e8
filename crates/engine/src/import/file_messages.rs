//! What a reading thread reports about its file, and how far the file has been read.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read as _};
use std::path::Path;

use daybook_domain::source::TranscriptSource;
use daybook_domain::{EventId, NewEvent, RemoteEvidence};

use super::FileStatus;
use crate::bounded;
use crate::transcripts::SessionHint;
use crate::transcripts::stream::TranscriptStream;
use crate::uses::EventMention;

/// Bytes at either end of the imported part that are compared to tell a grown file from a rewritten one.
const PRINT: u64 = 4096;

/// A message of a reading thread about its file.
pub(super) enum FileMessage {
    /// The file's format and status, before any of its events.
    Begun { format: String, status: FileStatus },
    /// Events of one session, with the file's progress after them.
    Batch(Box<ParsedBatch>),
    /// The file's end.
    Ended(Box<FileEnding>),
    /// Reading broke off.
    Failed(FileStatus),
}

/// Events of one session.
pub(super) struct ParsedBatch {
    pub(super) session: SessionHint,
    pub(super) events: Vec<NewEvent>,
    /// The file's progress after them, if they end with a line.
    pub(super) progress: Option<ReadProgress>,
    /// Evidence of folders' remotes: of these events, or of the session's last one.
    pub(super) remotes: Vec<RemoteEvidence>,
    /// The citations of these events, or of later ones of the session.
    pub(super) mentioned: Vec<EventMention>,
    /// The events that its retractions retract, by the retraction. Positions are known once earlier events are stored.
    pub(super) retracts: BTreeMap<EventId, Vec<EventId>>,
}

/// How a file ended.
pub(super) struct FileEnding {
    pub(super) status: Option<FileStatus>,
    pub(super) partial_line: bool,
    pub(super) progress: ReadProgress,
    pub(super) secrets: BTreeMap<String, u64>,
    /// All events of a rewritten file: those that are missing from it are retracted.
    pub(super) all_ids: Option<HashSet<EventId>>,
}

/// How far a file has been read.
#[derive(Debug, Clone, Default)]
pub(super) struct ReadProgress {
    pub(super) offset: u64,
    pub(super) lines: u32,
    pub(super) bad_lines: u32,
    pub(super) first_bad: Option<(u32, String)>,
    pub(super) secrets: u32,
    pub(super) state: String,
    pub(super) fingerprint: (u64, u64),
}

impl ReadProgress {
    /// The progress that is stored with a file.
    pub(super) fn of(known: &TranscriptSource) -> Self {
        Self {
            offset: known.offset,
            lines: known.lines,
            bad_lines: known.bad_lines,
            first_bad: known.first_bad.clone(),
            secrets: known.secrets,
            state: known.state.clone(),
            fingerprint: known.fingerprint,
        }
    }
}

/// Of the first and the last bytes of the first `offset` bytes of a file's text. A compressed file
/// is written once, and decoding it for a print costs more than reading it anew.
pub(super) fn fingerprint(path: &Path, offset: u64) -> io::Result<(u64, u64)> {
    if path.extension().is_some_and(|extension| extension == "zst") {
        return Ok((0, 0));
    }
    let print = |from: u64| -> io::Result<u64> {
        let mut bytes = Vec::new();
        let part = PRINT.min(offset - from);
        TranscriptStream::at(bounded::open(path)?, from)?
            .take(part)
            .read_to_end(&mut bytes)?;
        let short = bytes.len() as u64 != part;
        Ok(if short {
            0
        } else {
            EventId::of(&[&bytes]).0 as u64
        })
    };
    Ok((print(0)?, print(offset.saturating_sub(PRINT))?))
}

//! Counts what the readers find in transcripts: events by origin and by way, results of calls, and
//! files that are copies of one session. Nothing is stored.
//!
//! `cargo run --release -p daybook-bench -- understanding` counts the real transcripts with it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use daybook_domain::{EventId, Origin, SessionKind, ToolStatus};

use super::beside::pieces_beside;
use super::detect::detect;
use super::item::{RawEvent, TranscriptItem, Via};
use super::lines::PieceStep;
use super::pieces::{PieceReader, head};
use super::readers::reader;
use crate::bounded;
use crate::places::checkout::CommonDirs;

/// The counts. Every event counts once, however many files hold it.
#[derive(Debug, Default)]
pub struct Census {
    /// Files that are transcripts.
    pub files: u64,
    /// Files that are not transcripts, and why.
    pub unknown: Vec<(PathBuf, String)>,
    /// Lines that could not be read.
    pub bad_lines: u64,
    /// Sessions, by agent and the host's id, with the files that hold them.
    pub sessions: BTreeMap<(Cow<'static, str>, String), BTreeSet<PathBuf>>,
    /// Files all of whose events are in a longer file too.
    pub copies: u64,
    /// Files of sub-agents whose session is among the files.
    pub joined: u64,
    /// Files of sub-agents whose session is not among the files.
    pub orphans: u64,
    /// Files of one session that have no event in common with it: two conversations with one id.
    pub same_id: u64,
    /// Events by origin.
    pub origins: BTreeMap<&'static str, u64>,
    /// A person's messages by the way they came.
    pub human: BTreeMap<Via, u64>,
    /// Results of calls by how they ended; `None` where the transcript does not record it.
    pub results: BTreeMap<Option<&'static str>, u64>,
    /// Titles of sessions, most of them of other sessions than that of their file.
    pub titles: u64,
    /// Events that another file repeats.
    pub repeated: u64,
    /// Folders that work was done in, worktrees folded, with their branches.
    pub places: BTreeMap<String, BTreeSet<String>>,
    /// All messages of persons, in order, with file and line.
    pub said: Vec<(PathBuf, u32, Via, String)>,
}

impl Census {
    /// Counts these files, the longest first.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn of(files: &[PathBuf]) -> io::Result<Self> {
        let mut census = Self::default();
        let mut seen: HashSet<EventId> = HashSet::new();
        let mut looked = Vec::new();
        for path in files {
            let Some(found) = census.read(path)? else {
                continue;
            };
            let (fresh, repeated): (Vec<RawEvent>, Vec<RawEvent>) = found
                .events
                .into_iter()
                .partition(|event| seen.insert(event.id));
            for event in &fresh {
                census.count(path, event);
            }
            census.repeated += repeated.len() as u64;
            census.copies += u64::from(fresh.is_empty() && !repeated.is_empty());
            looked.push(FileRecord {
                path: path.clone(),
                sessions: found.sessions,
                stands_alone: repeated.is_empty() && !fresh.is_empty(),
            });
        }
        census.join(&looked);
        Ok(census)
    }

    fn join(&mut self, looked: &[FileRecord]) {
        let all = || looked.iter().flat_map(|file| &file.sessions);
        let roots: BTreeSet<(&str, &str)> = all()
            .filter(|session| session.kind != SessionKind::SubAgent)
            .map(|session| (&*session.agent, &*session.host_id))
            .collect();
        let mut alone: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for file in looked {
            for session in &file.sessions {
                let key = (&*session.agent, &*session.host_id);
                if session.kind == SessionKind::SubAgent {
                    match roots.contains(&key) {
                        true => self.joined += 1,
                        false => self.orphans += 1,
                    }
                } else if file.stands_alone {
                    *alone.entry(key).or_default() += 1;
                }
                let files = self
                    .sessions
                    .entry((session.agent.clone(), session.host_id.clone()));
                files.or_default().insert(file.path.clone());
            }
        }
        self.same_id = alone.values().map(|files| files - 1).sum();
    }

    fn count(&mut self, path: &Path, event: &RawEvent) {
        *self.origins.entry(event.origin.as_str()).or_default() += 1;
        match event.origin {
            Origin::Human => {
                *self.human.entry(event.via).or_default() += 1;
                let said = (path.to_owned(), event.line, event.via, event.text.clone());
                self.said.push(said);
            }
            Origin::ToolResult => {
                let status = event.status.map(ToolStatus::as_str);
                *self.results.entry(status).or_default() += 1;
            }
            Origin::Assistant
            | Origin::ToolCall
            | Origin::Harness
            | Origin::Synthetic
            | Origin::Recalled
            | Origin::Retraction => {}
        }
        if let Some(place) = &event.place {
            let branches = self.places.entry(place.root.clone()).or_default();
            branches.extend(place.branch.clone());
        }
    }

    /// One file; `None` when it is no transcript.
    fn read(&mut self, path: &Path) -> io::Result<Option<FileContent>> {
        let format = detect(&head(bounded::open(path)?)?);
        let dirs = CommonDirs::default();
        let git = |folder: &Path| dirs.of(folder);
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let Ok(Some(mut reader)) = reader(&format, &name, &git, None) else {
            self.unknown.push((path.to_owned(), format!("{format:?}")));
            return Ok(None);
        };
        let mut pieces = PieceReader::new(bounded::open(path)?, &format)?;
        let mut out = Vec::new();
        for (number, piece) in pieces_beside(path, &format) {
            self.bad_lines += u64::from(reader.line(number, &piece, &mut out).is_err());
        }
        loop {
            let line = match pieces.step()? {
                PieceStep::Piece(line) => line,
                PieceStep::TooLong { .. } => {
                    self.bad_lines += 1;
                    continue;
                }
                PieceStep::Partial { .. } => match pieces.finish_partial() {
                    Some(line) => line,
                    None => break,
                },
                PieceStep::End => break,
            };
            if reader.line(line.number, line.bytes, &mut out).is_err() {
                self.bad_lines += 1;
            }
        }
        self.files += 1;
        let mut found = FileContent::default();
        for parsed in out {
            match parsed {
                TranscriptItem::Event(event) => found.events.push(event),
                TranscriptItem::Session(hint) => {
                    // A later hint replaces an earlier one.
                    found.sessions.retain(|known| known.host_id != hint.host_id);
                    found.sessions.push(Session {
                        agent: hint.agent,
                        host_id: hint.host_id,
                        kind: hint.kind,
                    });
                }
                TranscriptItem::Title(_) => self.titles += 1,
                TranscriptItem::PullRequest(_) => {}
            }
        }
        Ok(Some(found))
    }
}

/// The content of one file.
#[derive(Default)]
struct FileContent {
    events: Vec<RawEvent>,
    sessions: Vec<Session>,
}

struct Session {
    agent: Cow<'static, str>,
    host_id: String,
    kind: SessionKind,
}

/// A file's record until all files are read.
struct FileRecord {
    path: PathBuf,
    sessions: Vec<Session>,
    /// Whether it has events, none of which an earlier file has.
    stands_alone: bool,
}

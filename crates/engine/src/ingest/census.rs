//! Counting what is understood of transcripts: who said what, and by which way; what became of
//! calls; which files are copies of one session. Nothing is stored.
//!
//! `cargo run --release -p daybook-bench -- understanding` counts the real transcripts with it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use daybook_domain::{EventId, Origin, SessionKind, ToolStatus};

use super::checkout::CommonDirs;
use super::detect::detect;
use super::lines::Step;
use super::parsed::{Parsed, RawEvent, Via};
use super::pieces::{Pieces, head};
use super::readers::reader;
use crate::bounded;

/// What was counted. Every event counts once, in however many files it stands.
#[derive(Debug, Default)]
pub struct Census {
    /// Files that are transcripts.
    pub files: u64,
    /// Files that are not, and why.
    pub unknown: Vec<(PathBuf, String)>,
    /// Lines that could not be read.
    pub bad_lines: u64,
    /// Sessions, by agent and the host's id, with the files that they stand in.
    pub sessions: BTreeMap<(&'static str, String), BTreeSet<PathBuf>>,
    /// Files all of whose events stand in a longer file, too.
    pub copies: u64,
    /// Files of sub-agents that joined a session which is here.
    pub joined: u64,
    /// Files of sub-agents whose session is not here.
    pub orphans: u64,
    /// Files of one session that have no event in common with it: two conversations with one id.
    pub same_id: u64,
    /// Events by who said them.
    pub origins: BTreeMap<&'static str, u64>,
    /// A person's words by the way they came.
    pub human: BTreeMap<Via, u64>,
    /// Results of calls by how they ended; `None` where the transcript does not tell.
    pub results: BTreeMap<Option<&'static str>, u64>,
    /// Titles of sessions, most of them of others than the one they stand in.
    pub titles: u64,
    /// Events that were said again in another file.
    pub repeated: u64,
    /// Folders that work was done in, worktrees folded, with their branches.
    pub places: BTreeMap<String, BTreeSet<String>>,
    /// All that persons said, in order, with the file and line.
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
            looked.push(Looked {
                path: path.clone(),
                sessions: found.sessions,
                stands_alone: repeated.is_empty() && !fresh.is_empty(),
            });
        }
        census.join(&looked);
        Ok(census)
    }

    fn join(&mut self, looked: &[Looked]) {
        let all = || looked.iter().flat_map(|file| &file.sessions);
        let roots: BTreeSet<(&str, &str)> = all()
            .filter(|session| session.kind != SessionKind::SubAgent)
            .map(|session| (session.agent, &*session.host_id))
            .collect();
        let mut alone: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for file in looked {
            for session in &file.sessions {
                let key = (session.agent, &*session.host_id);
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
                    .entry((session.agent, session.host_id.clone()));
                files.or_default().insert(file.path.clone());
            }
        }
        self.same_id = alone.values().map(|files| files - 1).sum();
    }

    fn count(&mut self, path: &Path, event: &RawEvent) {
        *self.origins.entry(event.origin.word()).or_default() += 1;
        match event.origin {
            Origin::Human => {
                *self.human.entry(event.via).or_default() += 1;
                let said = (path.to_owned(), event.line, event.via, event.text.clone());
                self.said.push(said);
            }
            Origin::ToolResult => {
                let status = event.status.map(ToolStatus::word);
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
    fn read(&mut self, path: &Path) -> io::Result<Option<Found>> {
        let format = detect(&head(bounded::open(path)?)?);
        let dirs = CommonDirs::default();
        let git = |folder: &Path| dirs.of(folder);
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let Ok(Some(mut reader)) = reader(&format, &name, &git, None) else {
            self.unknown.push((path.to_owned(), format!("{format:?}")));
            return Ok(None);
        };
        let mut pieces = Pieces::new(bounded::open(path)?, &format)?;
        let mut out = Vec::new();
        loop {
            let line = match pieces.step()? {
                Step::Line(line) => line,
                Step::TooLong { .. } => {
                    self.bad_lines += 1;
                    continue;
                }
                Step::Partial { .. } => match pieces.finish_partial() {
                    Some(line) => line,
                    None => break,
                },
                Step::End => break,
            };
            if reader.line(line.number, line.bytes, &mut out).is_err() {
                self.bad_lines += 1;
            }
        }
        self.files += 1;
        let mut found = Found::default();
        for parsed in out {
            match parsed {
                Parsed::Event(event) => found.events.push(event),
                Parsed::Session(hint) => {
                    // A later hint knows better.
                    found.sessions.retain(|known| known.host_id != hint.host_id);
                    found.sessions.push(Session {
                        agent: hint.agent,
                        host_id: hint.host_id,
                        kind: hint.kind,
                    });
                }
                Parsed::Title(_) => self.titles += 1,
                Parsed::PullRequest(_) => {}
            }
        }
        Ok(Some(found))
    }
}

/// What was read of one file.
#[derive(Default)]
struct Found {
    events: Vec<RawEvent>,
    sessions: Vec<Session>,
}

struct Session {
    agent: &'static str,
    host_id: String,
    kind: SessionKind,
}

/// What is kept of a file until all were read.
struct Looked {
    path: PathBuf,
    sessions: Vec<Session>,
    /// It has events, and no other file that was read before has any of them.
    stands_alone: bool,
}

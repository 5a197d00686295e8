//! Plans the files of a hand-back: the home's own bytes, but for entries that a person changed or forgot here, and what
//! was learned since.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use daybook_domain::seams::SessionCatalog;
use daybook_domain::{EventId, EventSeq, ObservationId};

use super::standing::{HeldEntry, HeldMemories, homes_taken_over};
use super::take_over::stamp;
use super::{entry_event, file_session};
use crate::bounded;
use crate::homes::{
    EntryChange, FILE_BYTES, FileRole, Home, HomeKind, edited, memory_entries, new_entries,
    recognize,
};
use crate::jobs::{WorkError, WorkerContext};
use crate::places::stored_path::{path_on_disk, stored_path};

/// What becomes of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileChange {
    /// Entries with other words.
    pub reworded: u64,
    /// Entries that are left out.
    pub removed: u64,
    /// Whether memories that the home has not had are added.
    pub is_added_to: bool,
}

impl FileChange {
    /// Whether the file is the same bytes as the home's.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandBackSource {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The bytes of the home's file.
    Copy(PathBuf),
}

/// A file of a hand-back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandBackFile {
    /// Its content.
    pub source: HandBackSource,
    /// How it differs from the home's.
    pub change: FileChange,
}

/// The files of a hand-back.
#[derive(Debug, Default)]
pub struct HandBack {
    /// The home that was taken over; `None` where none was, or it is gone.
    pub home: Option<PathBuf>,
    /// Each file, by its path.
    pub files: BTreeMap<String, HandBackFile>,
    /// Files of the home that are left out, and why.
    pub left: Vec<(String, String)>,
    /// Memories that the home has not had, and that are added.
    pub added: u64,
    /// Memories that the system has no place for: of agents, teams, rooms or other users.
    pub unplaced: u64,
}

/// How a home for a hand-back was chosen.
#[must_use]
#[derive(Debug)]
pub enum PlanOutcome {
    /// The files.
    Planned(HandBack),
    /// Several homes were taken over: the caller names one of them.
    Several(Vec<PathBuf>),
    /// The named home was not taken over.
    NotTakenOver,
}

/// Plans the hand-back of the home at `from`, or of the only one of `kind` that was taken over. Where none was, or it is
/// gone, everything that is remembered is new to it.
///
/// # Errors
/// When the store or the memory folders cannot be read.
pub async fn plan_hand_back(
    worker: &WorkerContext,
    kind: HomeKind,
    from: Option<&Path>,
) -> Result<PlanOutcome, WorkError> {
    let homes = homes_taken_over(worker, kind).await?;
    let chosen = match from {
        Some(from) => {
            let from = stored_path(&std::path::absolute(from).unwrap_or_else(|_| from.to_owned()));
            if !homes.contains(&from) {
                return Ok(PlanOutcome::NotTakenOver);
            }
            Some(from)
        }
        None if homes.len() > 1 => {
            let homes = homes.iter().map(|home| path_on_disk(home)).collect();
            return Ok(PlanOutcome::Several(homes));
        }
        None => homes.into_iter().next(),
    };
    let home = chosen.and_then(|home| recognize(&path_on_disk(&home)));
    let home = home.filter(|home| home.kind == kind);
    let held = HeldMemories::load(worker).await?;
    let mut planner = HandBackPlanner {
        worker,
        held: &held,
        plan: HandBack::default(),
        covered: BTreeSet::new(),
    };
    if let Some(home) = &home {
        planner.plan.home = Some(home.root.clone());
        for file in &home.files {
            planner.add(home, &file.path, file.role).await?;
        }
    }
    planner.add_new(kind, home.as_ref());
    Ok(PlanOutcome::Planned(planner.plan))
}

struct HandBackPlanner<'a> {
    worker: &'a WorkerContext,
    held: &'a HeldMemories,
    plan: HandBack,
    /// The first observation of each memory that a file of the home states.
    covered: BTreeSet<ObservationId>,
}

impl HandBackPlanner<'_> {
    async fn add(&mut self, home: &Home, path: &str, role: FileRole) -> Result<(), WorkError> {
        match role {
            FileRole::Memory => self.add_memory_file(home, path).await?,
            FileRole::Transcript => self.add_transcript(home, path).await?,
            FileRole::Ledger | FileRole::Companion(_) => self.copy(home, path),
            FileRole::Unknown(why) => self.leave(path, why),
        }
        Ok(())
    }

    fn leave(&mut self, path: &str, why: &str) {
        self.plan.left.push((path.to_owned(), why.to_owned()));
    }

    fn copy(&mut self, home: &Home, path: &str) {
        let file = HandBackFile {
            source: HandBackSource::Copy(home.at(path)),
            change: FileChange::default(),
        };
        self.plan.files.insert(path.to_owned(), file);
    }

    /// A transcript is handed back while its session is here: what was purged does not return.
    async fn add_transcript(&mut self, home: &Home, path: &str) -> Result<(), WorkError> {
        if path.ends_with(".db") {
            self.leave(path, "a database, which stays where it is");
            return Ok(());
        }
        let (store, tenant) = (&self.worker.store, &self.worker.tenant);
        let stored = stored_path(&home.at(path));
        let sources = store.sources_at(tenant, &[&stored]).await?;
        let session = sources.first().and_then(|source| source.session.as_ref());
        let is_here = match session {
            Some(session) => SessionCatalog::session(&**store, session).await?.is_some(),
            None => false,
        };
        match is_here {
            true => self.copy(home, path),
            false => self.leave(path, "its session is not in this memory"),
        }
        Ok(())
    }

    async fn add_memory_file(&mut self, home: &Home, path: &str) -> Result<(), WorkError> {
        let (store, tenant) = (&self.worker.store, &self.worker.tenant);
        let session = file_session(tenant, home, path);
        let file = home.at(path);
        let sources = store.sources_at(tenant, &[&stored_path(&file)]).await?;
        let source = sources
            .iter()
            .find(|source| source.session.as_ref() == Some(&session));
        let Some(source) = source else {
            self.leave(path, "it was not taken over");
            return Ok(());
        };
        let text = match bounded::read_text(&file, FILE_BYTES) {
            Ok(text) => text,
            Err(why) => {
                self.leave(path, &why.to_string());
                return Ok(());
            }
        };
        // An event that is missing was purged, unless the file has changed since: then its entry is new to Daybook.
        let is_unchanged = (source.size, source.modified) == stamp(&file);
        let ids = store.event_ids(&session).await?;
        let seqs: HashMap<EventId, EventSeq> = ids.into_iter().map(|(seq, id)| (id, seq)).collect();
        let mut changes = Vec::new();
        let mut change = FileChange::default();
        for entry in memory_entries(home.kind, path, &text) {
            let words = self.worker.redactor.redact(&entry.text);
            let seq = seqs.get(&entry_event(path, &words.text));
            let held = match seq {
                Some(seq) => self.held.of_event(&(session.clone(), *seq)),
                None if is_unchanged && entry.text.len() <= crate::homes::ENTRY_BYTES => {
                    HeldEntry::Gone
                }
                None => {
                    changes.push((entry, EntryChange::Unchanged));
                    continue;
                }
            };
            let made = match held {
                HeldEntry::Unchanged(id) => {
                    self.covered.insert(id);
                    EntryChange::Unchanged
                }
                HeldEntry::Reworded(id, words) => {
                    self.covered.insert(id);
                    change.reworded += 1;
                    EntryChange::Reworded(words.to_owned())
                }
                HeldEntry::Gone => {
                    change.removed += 1;
                    EntryChange::Removed
                }
            };
            changes.push((entry, made));
        }
        let source = match change.is_none() {
            true => HandBackSource::Copy(file),
            false => HandBackSource::Bytes(edited(&text, &changes).into_bytes()),
        };
        let file = HandBackFile { source, change };
        self.plan.files.insert(path.to_owned(), file);
        Ok(())
    }

    /// Adds memories that no file of the home states.
    fn add_new(&mut self, kind: HomeKind, home: Option<&Home>) {
        let person = &self.worker.person;
        let (new, unplaced) = self.held.rest(kind, person, &self.covered);
        self.plan.unplaced = unplaced;
        self.plan.added = new.len() as u64;
        let has_users =
            home.is_none_or(|home| home.paths(|_| true).any(|path| path.starts_with("users/")));
        for (path, text) in new_entries(kind, &new, !has_users) {
            let before = self.plan.files.remove(&path);
            let mut change = before.as_ref().map(|file| file.change).unwrap_or_default();
            change.is_added_to = true;
            let mut bytes = match before.map(|file| file.source) {
                Some(HandBackSource::Bytes(bytes)) => bytes,
                Some(HandBackSource::Copy(file)) => {
                    bounded::read(&file, FILE_BYTES).unwrap_or_default()
                }
                None => Vec::new(),
            };
            if !bytes.is_empty() && !bytes.ends_with(b"\n") {
                bytes.push(b'\n');
            }
            bytes.extend_from_slice(text.as_bytes());
            let source = HandBackSource::Bytes(bytes);
            self.plan
                .files
                .insert(path, HandBackFile { source, change });
        }
    }
}

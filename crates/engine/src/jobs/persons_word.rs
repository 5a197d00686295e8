//! Changes that a person requests of their memory: forget, edit, pin, undo, restore.
//!
//! Each is one commit of the person's in the scope's folder, which `undo` takes back. What is due anyway is written
//! before it as a commit of the engine's, so that the person's holds their change alone. Its effect on the store
//! follows in the same call; after a crash in between, the next consolidation derives it from the commit.
//!
//! Not here: finding what is meant (`memories`), confirming it.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::seams::ObservationStore;
use daybook_domain::{Observation, ObservationId, Scope, StoreError};

use super::consolidate::{commit_message, curated_orphans, index_files, orphans};
use super::memories::{Memory, ShownLine};
use super::scope_memory::{build, load_memory, memory_input, select_among, settle_memory};
use super::withdrawals::{reinstate_where, withdraw};
use super::{WorkError, WorkerContext};
use crate::consolidate::{Rollout, ScopeMemory};
use crate::files::entry::EntryId;
use crate::files::history::{Commit, CommitHash};
use crate::files::layout::{CURATED, folder};
use crate::files::line_edits::{
    LinePlace, edited_line, pinned_entry, with_line, without_entries, without_line,
};
use crate::files::page::Orphans;
use crate::files::parsed_texts::FolderTexts;
use crate::files::path::FilePath;
use crate::files::persons_changes::{accept_files, allow_changed};
use crate::files::persons_lines::PersonsLines;
use crate::files::reworded::record_reworded;
use crate::files::stamp::{CommitAuthor, CommitStamp, Person};
use crate::files::take_back::{MemoryTrailer, restore_changes, undo_changes};
use crate::files::write::WriteOutcome;
use crate::files::write_pages::{PersonsCommit, write_pages_with, write_persons_change};
use crate::files::{FilesConfig, Folder, LockOutcome, WriterLock};

/// Most characters of a memory's words in the subject of a commit.
const SUBJECT: usize = 60;

/// A person's change of one scope's memory.
#[derive(Debug, Clone)]
pub enum PersonsChange {
    /// The memories are gone from every file and from recall, and are not learned again from the same events.
    Forget(Vec<Memory>),
    /// A line gets other words.
    Edit(ShownLine, String),
    /// A memory stays in `MEMORY.md`, whatever ranks higher.
    Pin(Memory),
    /// It no longer does.
    Unpin(Memory),
    /// The changes of one commit are taken back; what was changed again since stays.
    Undo(Commit),
    /// All files are brought to their state in a commit.
    Restore(Commit),
}

/// Result of a person's change.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// It is made, as this commit.
    Made(CommitHash),
    /// Everything is as requested already, or was changed again since.
    Unchanged,
    /// Another process is writing the folder.
    Busy,
}

/// Makes a person's change. The files are written, shared where several machines have them, and indexed.
///
/// # Errors
/// When the store or the disk fails. Safe to repeat.
pub async fn change(
    worker: &WorkerContext,
    scope: &Scope,
    change: &PersonsChange,
    by: &Person,
) -> Result<ChangeOutcome, WorkError> {
    let folder = Folder::open(folder(&worker.root, scope), FilesConfig::default())?;
    let LockOutcome::Held(lock) = folder.try_lock(worker.limits.folder_wait)? else {
        return Ok(ChangeOutcome::Busy);
    };
    let stamp = CommitStamp {
        person: by.clone(),
        ..worker.stamp()
    };
    if let Some(sharing) = worker.folder_sync() {
        sharing.sync(scope, &lock, &stamp).await?;
    }
    let open = || OpenMemory::settled(worker, scope, &lock, &stamp);
    let outcome = match change {
        PersonsChange::Forget(memories) => open().await?.forget(memories).await?,
        PersonsChange::Edit(line, words) => open().await?.edit(line, words).await?,
        PersonsChange::Pin(memory) => open().await?.set_pin(memory, true).await?,
        PersonsChange::Unpin(memory) => open().await?.set_pin(memory, false).await?,
        PersonsChange::Undo(commit) => take_back(worker, scope, &lock, &stamp, commit).await?,
        PersonsChange::Restore(commit) => restore(worker, scope, &lock, &stamp, commit).await?,
    };
    index_files(worker, scope, (lock, &stamp), None).await?;
    Ok(outcome)
}

/// A locked folder whose pages show what the store holds.
struct OpenMemory<'a> {
    worker: &'a WorkerContext,
    scope: &'a Scope,
    lock: &'a WriterLock<'a>,
    stamp: &'a CommitStamp,
    orphans: Orphans,
    persons: PersonsLines,
    memory: ScopeMemory,
}

impl<'a> OpenMemory<'a> {
    /// Writes what is due as the engine's commit.
    async fn settled(
        worker: &'a WorkerContext,
        scope: &'a Scope,
        lock: &'a WriterLock<'a>,
        stamp: &'a CommitStamp,
    ) -> Result<Self, WorkError> {
        let (mut memory, _) = settle_memory(worker, scope, lock, stamp, None).await?;
        let orphans = orphans(worker, scope, lock).await?;
        let message = commit_message(&memory);
        let pages = curated_orphans(worker, lock, &mut memory, orphans)?;
        let _ = write_pages_with(lock, &memory, pages, stamp, &message, &|| true)?;
        Ok(Self {
            worker,
            scope,
            lock,
            stamp,
            orphans,
            persons: PersonsLines::load(lock.folder())?,
            memory,
        })
    }

    fn texts(&self) -> FolderTexts {
        FolderTexts::of(self.lock.folder().root())
    }

    async fn forget(&self, memories: &[Memory]) -> Result<ChangeOutcome, WorkError> {
        let mut shown: BTreeMap<ObservationId, EntryId> = BTreeMap::new();
        for memory in memories {
            let ids = memory.observations.iter().map(|observation| observation.id);
            let entry = memory.entry.as_ref();
            shown.extend(ids.filter_map(|id| Some((id, entry?.clone()))));
        }
        let held = ObservationStore::observations(&*self.worker.store, self.scope).await?;
        let (forgotten, left): (Vec<Observation>, Vec<Observation>) = held
            .into_iter()
            .partition(|observation| shown.contains_key(&observation.id));
        let gone = entries_without_rest(memories, &left);
        let persons = self.persons.clone().without(&gone);
        let persons = persons.with_forgotten(forgotten.iter());
        let source = self.worker.into();
        let texts = self.texts();
        let words = (&persons, &texts);
        let input = memory_input(&source, self.scope, left.clone(), words).await?;
        let mut memory = build(input, &texts);
        // An entry without observations would be in it still.
        memory.retain_entries(|entry| !gone.contains(&EntryId::of(&entry.key)));
        self.render_rollouts(&mut memory, (&persons, left)).await?;
        let subject = match memories {
            [one] => format!("Forget: {}", shortened(&one.words)),
            more => format!("Forget {} memories", more.len()),
        };
        let trailers = shown.keys().map(|id| MemoryTrailer::Forgot(*id));
        let message = with_trailers(&subject, trailers);
        let own_lines: Vec<&ShownLine> = memories
            .iter()
            .filter(|memory| memory.entry.is_none())
            .flat_map(|memory| &memory.lines)
            .collect();
        let before = |path: &FilePath, text: String| {
            let text = without_entries(&text, &gone);
            own_lines
                .iter()
                .filter(|line| line.file == *path)
                .fold(text, |text, line| without_line(&text, &line.text))
        };
        let outcome = self.commit(memory, &message, &before, &unchanged)?;
        withdraw(self.worker, self.scope, self.lock, &shown).await?;
        Ok(outcome)
    }

    async fn edit(&self, line: &ShownLine, words: &str) -> Result<ChangeOutcome, WorkError> {
        let edited = edited_line(&line.text, words);
        let persons = match &line.entry {
            Some(entry) => self.persons.clone().with_words(entry, &edited),
            None => self.persons.clone(),
        };
        let texts = self.texts();
        let mut memory = load_memory(&self.worker.into(), self.scope, &persons, &texts).await?;
        let held = ObservationStore::observations(&*self.worker.store, self.scope).await?;
        self.render_rollouts(&mut memory, (&persons, held)).await?;
        let message = format!("Edit: {}", shortened(words));
        let place = LinePlace {
            text: &line.text,
            entry: line.entry.as_ref(),
        };
        let before = |path: &FilePath, text: String| match *path == line.file {
            true => with_line(&text, &place, &edited),
            false => text,
        };
        self.commit(memory, &message, &before, &unchanged)
    }

    /// Renders the selected sessions as `memory` words them. A person's word changes no selection.
    async fn render_rollouts(
        &self,
        memory: &mut ScopeMemory,
        held: (&PersonsLines, Vec<Observation>),
    ) -> Result<(), WorkError> {
        let Some(selected) = &self.memory.rollouts else {
            return Ok(());
        };
        let _ = select_among(self.worker, self.scope, memory, held).await?;
        let rendered = memory.rollouts.take().unwrap_or_default();
        let find = |one: &Rollout| rendered.iter().find(|new| new.session == one.session);
        let shown = selected.iter().map(|one| find(one).unwrap_or(one).clone());
        memory.rollouts = Some(shown.collect());
        Ok(())
    }

    async fn set_pin(&self, memory: &Memory, pinned: bool) -> Result<ChangeOutcome, WorkError> {
        let Some(entry) = &memory.entry else {
            let why = "the line is your own: it stays where you put it".to_owned();
            return Err(StoreError::Refused(why).into());
        };
        let persons = self.persons.clone().with_pin(entry, pinned);
        let after = load_memory(&self.worker.into(), self.scope, &persons, &self.texts()).await?;
        let verb = if pinned { "Pin" } else { "Unpin" };
        let message = format!("{verb}: {}", shortened(&memory.words));
        let set = |path: &FilePath, text: String| match path.as_str() == CURATED {
            true => pinned_entry(&text, entry, pinned),
            false => text,
        };
        // A pin is set on an entry that the merge may just have added, and taken off one that the merge may drop.
        match pinned {
            true => self.commit(after, &message, &unchanged, &set),
            false => self.commit(after, &message, &set, &unchanged),
        }
    }

    fn commit(
        &self,
        memory: ScopeMemory,
        message: &str,
        before: &dyn Fn(&FilePath, String) -> String,
        after: &dyn Fn(&FilePath, String) -> String,
    ) -> Result<ChangeOutcome, WorkError> {
        let change = PersonsCommit {
            message,
            before,
            after,
        };
        let mut memory = memory;
        if memory.rollouts.is_none() {
            memory.rollouts.clone_from(&self.memory.rollouts);
        }
        if memory.rollouts.is_some() {
            memory.dated.drop_session_pages();
        }
        let orphans = curated_orphans(self.worker, self.lock, &mut memory, self.orphans)?;
        allow_changed(self.lock, &self.memory, &memory)?;
        let posted = write_persons_change(self.lock, &memory, orphans, self.stamp, &change)?;
        record_reworded(self.lock, &memory)?;
        Ok(outcome_of(&posted.outcome))
    }
}

fn outcome_of(outcome: &WriteOutcome) -> ChangeOutcome {
    match outcome {
        WriteOutcome::Written(written) => ChangeOutcome::Made(written.commit),
        WriteOutcome::Unchanged(settled) => settled
            .head
            .map_or(ChangeOutcome::Unchanged, ChangeOutcome::Made),
        WriteOutcome::LeaseLost => ChangeOutcome::Unchanged,
    }
}

fn unchanged(_: &FilePath, text: String) -> String {
    text
}

/// Takes one commit back.
async fn take_back(
    worker: &WorkerContext,
    scope: &Scope,
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    target: &Commit,
) -> Result<ChangeOutcome, WorkError> {
    let _ = OpenMemory::settled(worker, scope, lock, stamp).await?;
    let done = lock.folder().trailers(target.id)?;
    let trailers: Vec<MemoryTrailer> = done.into_iter().map(MemoryTrailer::inverse).collect();
    let subject = format!("Undo: {}", target.subject);
    let message = with_trailers(&subject, trailers.iter().copied());
    let person = CommitAuthor::Person;
    let outcome = lock.write_as(person, stamp, &message, &|| true, |snapshot| {
        undo_changes(lock.folder(), snapshot, target)
    })?;
    finish_going_back(worker, scope, lock, stamp, (&outcome, &message, &trailers)).await
}

/// Brings all files to their state in a commit.
async fn restore(
    worker: &WorkerContext,
    scope: &Scope,
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    target: &Commit,
) -> Result<ChangeOutcome, WorkError> {
    let _ = OpenMemory::settled(worker, scope, lock, stamp).await?;
    let trailers = lock.folder().trailers_back_to(target.id)?;
    let subject = format!("Restore the state of {}", &target.id.to_string()[..8]);
    let message = with_trailers(&subject, trailers.iter().copied());
    let person = CommitAuthor::Person;
    let outcome = lock.write_as(person, stamp, &message, &|| true, |snapshot| {
        restore_changes(lock.folder(), snapshot, target.id)
    })?;
    finish_going_back(worker, scope, lock, stamp, (&outcome, &message, &trailers)).await
}

/// Gives files that went back their effect on the store. The pages stay as they are until the next consolidation.
async fn finish_going_back(
    worker: &WorkerContext,
    scope: &Scope,
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    (outcome, message, trailers): (&WriteOutcome, &str, &[MemoryTrailer]),
) -> Result<ChangeOutcome, WorkError> {
    let made = match outcome {
        WriteOutcome::Written(written) => ChangeOutcome::Made(written.commit),
        WriteOutcome::Unchanged(_) if trailers.is_empty() => ChangeOutcome::Unchanged,
        WriteOutcome::Unchanged(_) => ChangeOutcome::Made(lock.note(stamp, message)?),
        WriteOutcome::LeaseLost => ChangeOutcome::Unchanged,
    };
    let back = |id: ObservationId| trailers.contains(&MemoryTrailer::Remembered(id));
    reinstate_where(worker, lock, |one| back(one.observation.id)).await?;
    let gone = trailers.iter().filter_map(|trailer| match trailer {
        MemoryTrailer::Forgot(id) => Some((*id, EntryId::of(&id.to_string()))),
        MemoryTrailer::Remembered(_) => None,
    });
    withdraw(worker, scope, lock, &gone.collect()).await?;
    let (mut memory, _) = settle_memory(worker, scope, lock, stamp, None).await?;
    let orphans = orphans(worker, scope, lock).await?;
    curated_orphans(worker, lock, &mut memory, orphans)?;
    accept_files(lock, &memory)?;
    record_reworded(lock, &memory)?;
    if made != ChangeOutcome::Unchanged {
        worker.store.touch_scope(scope, worker.clock.now()).await?;
    }
    Ok(made)
}

/// The entries of these memories that show nothing else. The entry of a value shows all values of its subject.
fn entries_without_rest(memories: &[Memory], left: &[Observation]) -> BTreeSet<EntryId> {
    let rest: BTreeSet<EntryId> = left
        .iter()
        .filter_map(|observation| observation.subject.as_ref())
        .map(|subject| EntryId::of(&format!("value/{subject}")))
        .collect();
    let entries = memories.iter().filter_map(|memory| memory.entry.clone());
    entries.filter(|entry| !rest.contains(entry)).collect()
}

fn with_trailers(subject: &str, trailers: impl Iterator<Item = MemoryTrailer>) -> String {
    let lines: Vec<String> = trailers.map(MemoryTrailer::line).collect();
    match lines.is_empty() {
        true => subject.to_owned(),
        false => format!("{subject}\n\n{}", lines.join("\n")),
    }
}

fn shortened(words: &str) -> String {
    let mut short: String = words.chars().take(SUBJECT).collect();
    if short.len() < words.len() {
        short.push('…');
    }
    short
}

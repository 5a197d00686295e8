//! Writes a memory's pages to its folder, merged with a person's text, in one commit.
//!
//! There are two steps, under one writer lock. [`withhold_deleted`] returns the entries that a person has
//! deleted, so that the caller can retract their observations; [`write_pages`] writes. After a crash
//! between the two, the first is repeated, which changes nothing more.
//!
//! Not here: the content of a memory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tracing::field::{Empty, display};
use tracing::{Span, info_span};

use super::changes::FileChanges;
use super::entities;
use super::entry::block::BlockEntry;
use super::entry::{EntryId, Marker};
use super::error::FilesError;
use super::folder::Folder;
use super::history::CommitHash;
use super::layout::{CURATED, SUMMARY, is_engine_page, pages};
use super::lock::WriterLock;
use super::page::{Orphans, deleted_markers, is_untouched, merge_page, render_page};
use super::path::FilePath;
use super::rollouts::{RolloutFiles, is_rollout_file, merge_blocks};
use super::stamp::CommitStamp;
use super::unwritten_pages::{UnwrittenPage, record_unwritten};
use super::withheld;
use super::write::{FolderSnapshot, SkippedPath, WriteOutcome};
use crate::consolidate::{MemoryPage, MemorySection, Rollout, ScopeMemory};
use crate::stage::inside;

/// Most commits that are searched for a person's deletions since the engine's last write.
const COMMITS_BACK: usize = 1000;
/// The engine's name as an author.
const ENGINE: &str = "Daybook";

/// Finds entries that a person has deleted since the engine's last write, and withholds them from now on.
///
/// # Errors
/// When the disk cannot be read or written.
pub fn withhold_deleted(
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
) -> Result<BTreeSet<EntryId>, FilesError> {
    let Some(head) = lock.settle(stamp)?.head else {
        return Ok(BTreeSet::new());
    };
    let mut withheld = withheld::load(lock)?;
    let mut gone = BTreeSet::new();
    let mut changed = false;
    for (path, markers) in removed_by_person(lock, head)? {
        let current = utf8_text(lock.folder().read_at(head, &path)?);
        // A person who deletes the whole of MEMORY.md or the summary wants it made anew.
        if current.is_none() && matches!(path.as_str(), CURATED | SUMMARY) {
            continue;
        }
        let current = entry_ids(current.as_deref().unwrap_or_default());
        for marker in markers {
            if current.contains(&marker.id()) {
                continue;
            }
            gone.insert(marker.id());
            changed |= withheld
                .entry(path.as_str().to_owned())
                .or_default()
                .insert(marker);
        }
    }
    if changed {
        withheld::save(lock, &withheld)?;
    }
    Ok(gone)
}

/// Entries of the engine's that a person's commits removed, by file, on all sides of merges back to the
/// engine's last write. An entry that one side lacks because the engine itself dropped it there is not a
/// person's deletion: so sides are never compared with each other.
fn removed_by_person(
    lock: &WriterLock<'_>,
    head: CommitHash,
) -> Result<BTreeMap<FilePath, BTreeSet<Marker>>, FilesError> {
    let folder = lock.folder();
    let (mut out, mut engine_wrote) = (BTreeMap::<_, BTreeSet<Marker>>::new(), false);
    let (mut next, mut seen) = (vec![head], BTreeSet::from([head]));
    for _ in 0..COMMITS_BACK {
        let Some(id) = next.pop() else { break };
        let commit = folder.commit(id)?;
        // Commits of entities lie in between, and they include a person's deletions, too.
        if commit.author == ENGINE && !entities::is_entity_commit(&commit.subject) {
            engine_wrote = true;
            continue;
        }
        if let [before] = commit.parents[..] {
            for (path, markers) in removed_in_commit(folder, before, id)? {
                out.entry(path).or_default().extend(markers);
            }
        }
        next.extend(commit.parents.into_iter().filter(|id| seen.insert(*id)));
    }
    Ok(if engine_wrote { out } else { BTreeMap::new() })
}

/// Entries of the engine's that one commit removed.
fn removed_in_commit(
    folder: &Folder,
    before: CommitHash,
    after: CommitHash,
) -> Result<Vec<(FilePath, Vec<Marker>)>, FilesError> {
    let left = folder.files_at(after)?;
    let mut removed = Vec::new();
    for (path, blob) in folder.files_at(before)? {
        if !is_engine_page(path.as_str()) || left.get(&path) == Some(&blob) {
            continue;
        }
        let Some(written) = utf8_text(folder.read_at(before, &path)?) else {
            continue;
        };
        let current = utf8_text(folder.read_at(after, &path)?).unwrap_or_default();
        removed.push((path, deleted_markers(&current, &written)));
    }
    Ok(removed)
}

/// The entries in a text, changed or not.
fn entry_ids(text: &str) -> BTreeSet<EntryId> {
    deleted_markers("", text).iter().map(Marker::id).collect()
}

/// Result of writing a memory's pages.
#[must_use]
#[derive(Debug)]
pub struct WritePagesReport {
    /// The outcome for the pages that could be written.
    pub outcome: WriteOutcome,
    /// Pages that could not be written. They do not affect other pages.
    pub unwritten: Vec<UnwrittenPage>,
}

/// Writes the memory's pages. A page that cannot be written is skipped, returned, and recorded in the
/// folder until it can be.
///
/// # Errors
/// When the disk fails. Nothing is half-written: the next writer finishes what was begun.
pub fn write_pages(
    lock: &WriterLock<'_>,
    memory: &ScopeMemory,
    orphans: Orphans,
    stamp: &CommitStamp,
    message: &str,
    holds_lease: &dyn Fn() -> bool,
) -> Result<WritePagesReport, FilesError> {
    let orphans = PageOrphans::all(orphans);
    write_pages_with(lock, memory, orphans, stamp, message, holds_lease)
}

/// What happens to the engine's entries that a page no longer has.
#[derive(Debug, Clone, Copy)]
pub struct PageOrphans {
    /// Those of `MEMORY.md`.
    pub curated: Orphans,
    /// Those of every other page.
    pub others: Orphans,
}

impl PageOrphans {
    /// The same for every page.
    #[must_use]
    pub fn all(orphans: Orphans) -> Self {
        Self {
            curated: orphans,
            others: orphans,
        }
    }

    fn of(self, path: &FilePath) -> Orphans {
        match path.as_str() == CURATED {
            true => self.curated,
            false => self.others,
        }
    }
}

/// [`write_pages`], with a rule of its own for `MEMORY.md`.
///
/// # Errors
/// Those of [`write_pages`].
pub fn write_pages_with(
    lock: &WriterLock<'_>,
    memory: &ScopeMemory,
    orphans: PageOrphans,
    stamp: &CommitStamp,
    message: &str,
    holds_lease: &dyn Fn() -> bool,
) -> Result<WritePagesReport, FilesError> {
    let span = info_span!("post", commit = Empty, unwritten = Empty, outcome = Empty);
    let work = || write_in_one_commit(lock, memory, orphans, stamp, message, holds_lease);
    inside(span, work, record_outcome)
}

fn record_outcome(span: &Span, posted: &WritePagesReport) {
    span.record("unwritten", posted.unwritten.len());
    let outcome = match &posted.outcome {
        WriteOutcome::Written(written) => {
            span.record("commit", display(&written.commit));
            "written"
        }
        WriteOutcome::Unchanged(_) => "unchanged",
        WriteOutcome::LeaseLost => "lost",
    };
    span.record("outcome", outcome);
}

fn write_in_one_commit(
    lock: &WriterLock<'_>,
    memory: &ScopeMemory,
    orphans: PageOrphans,
    stamp: &CommitStamp,
    message: &str,
    holds_lease: &dyn Fn() -> bool,
) -> Result<WritePagesReport, FilesError> {
    let withheld = withheld::load(lock)?;
    let none = BTreeSet::new();
    let pages = pages(memory);
    let rollouts = memory.rollouts.as_deref().map(RolloutFiles::of);
    let rollouts = rollouts.unwrap_or_default();
    let mut unwritten = Vec::new();
    let outcome = lock.write(stamp, message, holds_lease, |snapshot| {
        let mut changes = FileChanges::none();
        for (path, page) in &pages {
            let held = withheld.get(path.as_str()).unwrap_or(&none);
            let page_file = PageFile { snapshot, path };
            if let Some(new) = page_file.new_text(page, held, orphans.of(path))? {
                changes.write(path.clone(), new);
            }
        }
        add_rollouts(
            snapshot,
            &rollouts,
            &withheld,
            (&mut changes, orphans.others),
        )?;
        let is_current = |path: &FilePath| pages.contains_key(path) || rollouts.contains(path);
        remove_retired(snapshot, &is_current, &mut changes, orphans.others)?;
        changes.retain(|path| snapshot.skipped_at(path).is_none());
        unwritten = discard_impossible(snapshot, &mut changes)?;
        Ok(changes)
    })?;
    if let Some(settled) = outcome.settled() {
        let paths = pages.keys().chain(rollouts.iter().map(|(path, _)| path));
        unwritten.extend(blocked_pages(paths, &settled.skipped));
        record_unwritten(lock.folder(), &unwritten)?;
    }
    Ok(WritePagesReport { outcome, unwritten })
}

/// Writes the files of `rollouts` alone: evidence that a consolidation reads before it writes the pages. Other pages
/// stay as they are.
///
/// # Errors
/// As [`write_pages`].
pub fn write_rollouts(
    lock: &WriterLock<'_>,
    rollouts: &[Rollout],
    stamp: &CommitStamp,
    message: &str,
    holds_lease: &dyn Fn() -> bool,
) -> Result<WriteOutcome, FilesError> {
    let withheld = withheld::load(lock)?;
    let rollouts = RolloutFiles::of(rollouts);
    lock.write(stamp, message, holds_lease, |snapshot| {
        let mut changes = FileChanges::none();
        let orphans = Orphans::Remove;
        add_rollouts(snapshot, &rollouts, &withheld, (&mut changes, orphans))?;
        let is_current =
            |path: &FilePath| !is_rollout_file(path.as_str()) || rollouts.contains(path);
        remove_retired(snapshot, &is_current, &mut changes, orphans)?;
        changes.retain(|path| snapshot.skipped_at(path).is_none());
        discard_impossible(snapshot, &mut changes)?;
        Ok(changes)
    })
}

fn add_rollouts(
    snapshot: &FolderSnapshot<'_>,
    rollouts: &RolloutFiles,
    withheld: &withheld::Withheld,
    (changes, orphans): (&mut FileChanges, Orphans),
) -> Result<(), FilesError> {
    let none = BTreeSet::new();
    let is_wanted = !rollouts.is_empty();
    for (path, blocks) in rollouts.iter() {
        let held = withheld.get(path.as_str()).unwrap_or(&none);
        let file = PageFile { snapshot, path };
        if let Some(new) = file.new_blocks((blocks, is_wanted), held, orphans)? {
            changes.write(path.clone(), new);
        }
    }
    Ok(())
}

/// Removes from `changes`, one file after another, what no tree can hold beside the existing files.
fn discard_impossible(
    snapshot: &FolderSnapshot<'_>,
    changes: &mut FileChanges,
) -> Result<Vec<UnwrittenPage>, FilesError> {
    let mut unfit = Vec::new();
    while let Err(error) = snapshot.check(changes) {
        let (FilesError::PathConflict { path, .. } | FilesError::TooLarge { path, .. }) = &error
        else {
            return Err(error);
        };
        let page = FilePath::new(path.as_str())?;
        if !changes.discard(&page) {
            return Err(error);
        }
        let why = error.to_string();
        unfit.push(UnwrittenPage { page, why });
    }
    Ok(unfit)
}

/// Pages whose path is blocked. They are not committed either: if a person puts a page back there, it is
/// the last version they had, and must not look like a deletion of newer entries.
fn blocked_pages<'a>(
    pages: impl Iterator<Item = &'a FilePath> + 'a,
    skipped: &'a [SkippedPath],
) -> impl Iterator<Item = UnwrittenPage> + 'a {
    pages.filter_map(move |page| {
        let mut skipped = skipped.iter();
        let why = skipped.find(|skipped| Path::new(page.as_str()).starts_with(&skipped.path))?;
        Some(UnwrittenPage {
            page: page.clone(),
            why: why.to_string(),
        })
    })
}

struct PageFile<'a> {
    snapshot: &'a FolderSnapshot<'a>,
    path: &'a FilePath,
}

impl PageFile<'_> {
    /// The file's new text; `None` when it stays as it is, or is not to be created.
    fn new_text(
        &self,
        page: &MemoryPage,
        withheld: &BTreeSet<Marker>,
        orphans: Orphans,
    ) -> Result<Option<String>, FilesError> {
        let new = match self.snapshot.read(self.path)? {
            None => {
                let fresh = render_page(page, withheld);
                // The heading has a marker, too, and is no content by itself.
                let says_something = fresh.lines().skip(1).any(|line| line.contains(" ^"));
                return Ok(says_something.then_some(fresh));
            }
            Some(bytes) => match String::from_utf8(bytes) {
                // A file that is not UTF-8 is wholly a person's.
                Err(_) => return Ok(None),
                Ok(current) => {
                    let new = merge_page(page, &current, withheld, orphans);
                    (new != current).then_some(new)
                }
            },
        };
        Ok(new)
    }

    /// The same for a file of blocks. Without a file, one is made only if it is wanted.
    fn new_blocks(
        &self,
        (blocks, is_wanted): (&[BlockEntry], bool),
        withheld: &BTreeSet<Marker>,
        orphans: Orphans,
    ) -> Result<Option<String>, FilesError> {
        let current = match self.snapshot.read(self.path)?.map(String::from_utf8) {
            Some(Err(_)) => return Ok(None),
            Some(Ok(current)) => current,
            None if is_wanted => String::new(),
            None => return Ok(None),
        };
        let new = merge_blocks(blocks, &current, withheld, orphans);
        Ok((new != current).then_some(new))
    }
}

/// Deletes pages that the memory no longer has, if they are as the engine wrote them; a person's additions
/// stay.
fn remove_retired(
    snapshot: &FolderSnapshot<'_>,
    is_current: &dyn Fn(&FilePath) -> bool,
    changes: &mut FileChanges,
    orphans: Orphans,
) -> Result<(), FilesError> {
    if orphans == Orphans::Disown {
        return Ok(());
    }
    let empty = MemoryPage {
        heading: String::new(),
        sections: Vec::new(),
    };
    for (path, _) in snapshot.files() {
        if !is_engine_page(path.as_str()) || is_current(path) {
            continue;
        }
        let Some(current) = utf8_text(snapshot.read(path)?) else {
            continue;
        };
        if is_untouched(&any_titles(&current), &current) {
            changes.delete(path.clone());
            continue;
        }
        let left = merge_page(&empty, &current, &BTreeSet::new(), orphans);
        if left != current {
            changes.write(path.clone(), left);
        }
    }
    Ok(())
}

/// A page with the titles of the file itself: for a retired page it is unknown which titles were the
/// engine's, and without entries a title is no content.
fn any_titles(current: &str) -> MemoryPage {
    let titles = current.lines().filter_map(|line| line.strip_prefix("## "));
    let sections = titles.map(|title| MemorySection {
        title: title.trim().to_owned(),
        entries: Vec::new(),
    });
    MemoryPage {
        heading: String::new(),
        sections: sections.collect(),
    }
}

fn utf8_text(bytes: Option<Vec<u8>>) -> Option<String> {
    bytes.and_then(|bytes| String::from_utf8(bytes).ok())
}

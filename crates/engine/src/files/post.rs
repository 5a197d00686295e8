//! Posting a memory to its folder: pages put around what a person has written, in one commit.
//!
//! Two steps, under one writer lock. [`deletions`] says which entries a person has taken out, so
//! that the caller can withdraw what they said; [`post`] writes. A crash between the two repeats
//! the first, which changes nothing twice.
//!
//! Not here: what a memory says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tracing::field::{Empty, display};
use tracing::{Span, info_span};

use super::changes::Changes;
use super::entities;
use super::entry::{EntryId, Marker};
use super::error::FilesError;
use super::folder::Folder;
use super::history::CommitId;
use super::layout::{CURATED, SUMMARY, is_ours, pages};
use super::lock::WriterLock;
use super::page::{Orphans, deleted, fresh, is_untouched, merged};
use super::path::FilePath;
use super::stamp::Stamp;
use super::unwritten::{Unwritten, note_unwritten};
use super::withheld;
use super::write::{Skipped, Snapshot, WriteOutcome};
use crate::consolidate::{Memory, Page, Section};
use crate::stage::inside;

/// Most commits that are looked at for what a person took out since the engine wrote.
const BACK: usize = 1000;
/// The engine's name as an author.
const ENGINE: &str = "Daybook";

/// Entries that a person has deleted since the engine last wrote. They are withheld from now on.
///
/// # Errors
/// What the disk says.
pub fn deletions(lock: &WriterLock<'_>, stamp: &Stamp) -> Result<BTreeSet<EntryId>, FilesError> {
    let Some(head) = lock.settle(stamp)?.head else {
        return Ok(BTreeSet::new());
    };
    let mut withheld = withheld::load(lock)?;
    let mut gone = BTreeSet::new();
    let mut changed = false;
    for (path, markers) in taken_out(lock, head)? {
        let standing = text(lock.folder().read_at(head, &path)?);
        // Whoever deletes the whole of MEMORY.md or the summary wants it made anew.
        if standing.is_none() && matches!(path.as_str(), CURATED | SUMMARY) {
            continue;
        }
        let standing = ids(standing.as_deref().unwrap_or_default());
        for marker in markers {
            if standing.contains(&marker.id()) {
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

/// Entries of the engine's that a person's commits took out, by file, on all sides of merges back to
/// where the engine wrote. What one side lacks because the engine itself dropped it there is no
/// person's doing: so sides are never compared with each other.
fn taken_out(
    lock: &WriterLock<'_>,
    head: CommitId,
) -> Result<BTreeMap<FilePath, BTreeSet<Marker>>, FilesError> {
    let folder = lock.folder();
    let (mut out, mut engine_wrote) = (BTreeMap::<_, BTreeSet<Marker>>::new(), false);
    let (mut next, mut seen) = (vec![head], BTreeSet::from([head]));
    for _ in 0..BACK {
        let Some(id) = next.pop() else { break };
        let commit = folder.commit(id)?;
        // Entities are written in between, and their commits hold a person's deletions, too.
        if commit.author == ENGINE && !entities::made_here(&commit.subject) {
            engine_wrote = true;
            continue;
        }
        if let [before] = commit.parents[..] {
            for (path, markers) in removed(folder, before, id)? {
                out.entry(path).or_default().extend(markers);
            }
        }
        next.extend(commit.parents.into_iter().filter(|id| seen.insert(*id)));
    }
    Ok(if engine_wrote { out } else { BTreeMap::new() })
}

/// Entries of the engine's that one commit took out.
fn removed(
    folder: &Folder,
    before: CommitId,
    after: CommitId,
) -> Result<Vec<(FilePath, Vec<Marker>)>, FilesError> {
    let left = folder.files_at(after)?;
    let mut removed = Vec::new();
    for (path, blob) in folder.files_at(before)? {
        if !is_ours(path.as_str()) || left.get(&path) == Some(&blob) {
            continue;
        }
        let Some(written) = text(folder.read_at(before, &path)?) else {
            continue;
        };
        let current = text(folder.read_at(after, &path)?).unwrap_or_default();
        removed.push((path, deleted(&current, &written)));
    }
    Ok(removed)
}

/// The entries that stand in a text, changed or not.
fn ids(text: &str) -> BTreeSet<EntryId> {
    deleted("", text).iter().map(Marker::id).collect()
}

/// What posting a memory came to.
#[must_use]
#[derive(Debug)]
pub struct Posted {
    /// What became of the pages that could be written.
    pub outcome: WriteOutcome,
    /// Pages that could not be: each costs no other.
    pub unwritten: Vec<Unwritten>,
}

/// Writes the memory's pages. A page that cannot be written costs no other: it is named, and remembered
/// in the folder until it can.
///
/// # Errors
/// What the disk says. Nothing is half-written: the next writer finishes what was begun.
pub fn post(
    lock: &WriterLock<'_>,
    memory: &Memory,
    orphans: Orphans,
    stamp: &Stamp,
    message: &str,
    holds_lease: &dyn Fn() -> bool,
) -> Result<Posted, FilesError> {
    let span = info_span!("post", commit = Empty, unwritten = Empty, outcome = Empty);
    let work = || write(lock, memory, orphans, stamp, message, holds_lease);
    inside(span, work, note)
}

fn note(span: &Span, posted: &Posted) {
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

fn write(
    lock: &WriterLock<'_>,
    memory: &Memory,
    orphans: Orphans,
    stamp: &Stamp,
    message: &str,
    holds_lease: &dyn Fn() -> bool,
) -> Result<Posted, FilesError> {
    let withheld = withheld::load(lock)?;
    let none = BTreeSet::new();
    let pages = pages(memory);
    let mut unwritten = Vec::new();
    let outcome = lock.write(stamp, message, holds_lease, |snapshot| {
        let mut changes = Changes::none();
        for (path, page) in &pages {
            let held = withheld.get(path.as_str()).unwrap_or(&none);
            let standing = Standing { snapshot, path };
            if let Some(new) = standing.with(page, held, orphans)? {
                changes.write(path.clone(), new);
            }
        }
        retire(snapshot, &pages, &mut changes, orphans)?;
        changes.retain(|path| snapshot.skipped_at(path).is_none());
        unwritten = leave_out_unfit(snapshot, &mut changes)?;
        Ok(changes)
    })?;
    if let Some(settled) = outcome.settled() {
        unwritten.extend(blocked(&pages, &settled.skipped));
        note_unwritten(lock.folder(), &unwritten)?;
    }
    Ok(Posted { outcome, unwritten })
}

/// Takes out of `changes` what no tree can hold beside what stands there, one file after another.
fn leave_out_unfit(
    snapshot: &Snapshot<'_>,
    changes: &mut Changes,
) -> Result<Vec<Unwritten>, FilesError> {
    let mut unfit = Vec::new();
    while let Err(error) = snapshot.check(changes) {
        let (FilesError::Clash { path, .. } | FilesError::TooLarge { path, .. }) = &error else {
            return Err(error);
        };
        let page = FilePath::new(path.as_str())?;
        if !changes.leave(&page) {
            return Err(error);
        }
        let why = error.to_string();
        unfit.push(Unwritten { page, why });
    }
    Ok(unfit)
}

/// Pages in whose place something else stands. Nothing of them is committed either: what a person puts
/// back there is the last version that stood there, and must not look like a deletion of newer entries.
fn blocked<'a>(
    pages: &'a BTreeMap<FilePath, &Page>,
    skipped: &'a [Skipped],
) -> impl Iterator<Item = Unwritten> + 'a {
    pages.keys().filter_map(move |page| {
        let mut skipped = skipped.iter();
        let why = skipped.find(|skipped| Path::new(page.as_str()).starts_with(&skipped.path))?;
        Some(Unwritten {
            page: page.clone(),
            why: why.to_string(),
        })
    })
}

struct Standing<'a> {
    snapshot: &'a Snapshot<'a>,
    path: &'a FilePath,
}

impl Standing<'_> {
    /// The file's new text; `None` when it stays as it is, or is not to be made.
    fn with(
        &self,
        page: &Page,
        withheld: &BTreeSet<Marker>,
        orphans: Orphans,
    ) -> Result<Option<String>, FilesError> {
        let new = match self.snapshot.read(self.path)? {
            None => {
                let fresh = fresh(page, withheld);
                // The heading is marked, too, and says nothing by itself.
                let says_something = fresh.lines().skip(1).any(|line| line.contains(" ^"));
                return Ok(says_something.then_some(fresh));
            }
            Some(bytes) => match String::from_utf8(bytes) {
                // What is no text any more is a person's, whole.
                Err(_) => return Ok(None),
                Ok(current) => {
                    let new = merged(page, &current, withheld, orphans);
                    (new != current).then_some(new)
                }
            },
        };
        Ok(new)
    }
}

/// Pages that the memory no longer has: removed while they are as the engine wrote them; what a
/// person added stays.
fn retire(
    snapshot: &Snapshot<'_>,
    pages: &BTreeMap<FilePath, &Page>,
    changes: &mut Changes,
    orphans: Orphans,
) -> Result<(), FilesError> {
    if orphans == Orphans::Disown {
        return Ok(());
    }
    let empty = Page {
        heading: String::new(),
        sections: Vec::new(),
    };
    for (path, _) in snapshot.files() {
        if !is_ours(path.as_str()) || pages.contains_key(path) {
            continue;
        }
        let Some(current) = text(snapshot.read(path)?) else {
            continue;
        };
        if is_untouched(&any_titles(&current), &current) {
            changes.delete(path.clone());
            continue;
        }
        let left = merged(&empty, &current, &BTreeSet::new(), orphans);
        if left != current {
            changes.write(path.clone(), left);
        }
    }
    Ok(())
}

/// A page with the titles of the file itself: of a page that is not made any more, nobody knows
/// which titles were the engine's, and without entries a title says nothing.
fn any_titles(current: &str) -> Page {
    let titles = current.lines().filter_map(|line| line.strip_prefix("## "));
    let sections = titles.map(|title| Section {
        title: title.trim().to_owned(),
        entries: Vec::new(),
    });
    Page {
        heading: String::new(),
        sections: sections.collect(),
    }
}

fn text(bytes: Option<Vec<u8>>) -> Option<String> {
    bytes.and_then(|bytes| String::from_utf8(bytes).ok())
}

//! Writes a memory's pages to its folder, merged with a person's text, in one commit.
//!
//! There are two steps, under one writer lock. `persons_changes` returns the entries that a person has deleted or
//! brought back, so that the caller can retract or reinstate their observations; [`write_pages`] writes. After a
//! crash between the two, the first is repeated, which changes nothing more.
//!
//! Not here: the content of a memory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tracing::field::{Empty, display};
use tracing::{Span, info_span};

use super::changes::FileChanges;
use super::entry::Marker;
use super::entry::block::BlockEntry;
use super::error::FilesError;
use super::layout::{CURATED, LOG, MARKS, is_engine_page, pages};
use super::layout_record;
use super::lock::WriterLock;
use super::log_marks::{self, LogMarks};
use super::page::{Orphans, PageChoices, has_entries, is_untouched, merge_page, render_page};
use super::path::FilePath;
use super::remote::make_own;
use super::rollouts::{RolloutFiles, is_rollout_file, merge_blocks};
use super::settled_pages::{SettledPage, SettledPages};
use super::stamp::{CommitAuthor, CommitStamp};
use super::unwritten_pages::{UnwrittenPage, record_unwritten};
use super::withheld::{self, Withheld};
use super::write::{FolderSnapshot, SkippedPath, WriteOutcome};
use crate::consolidate::{MemoryPage, MemorySection, PlannedPage, Rollout, ScopeMemory};
use crate::stage::inside;

/// Result of writing a memory's pages.
#[must_use]
#[derive(Debug)]
pub struct WritePagesReport {
    /// The outcome for the pages that could be written.
    pub outcome: WriteOutcome,
    /// Pages that could not be written. They do not affect other pages.
    pub unwritten: Vec<UnwrittenPage>,
}

/// A person's change of their memory, as one commit of theirs: each page is changed, merged with the memory, and
/// changed again.
pub struct PersonsCommit<'a> {
    /// The message.
    pub message: &'a str,
    /// Changes the text of a page before the memory is merged into it.
    pub before: &'a dyn Fn(&FilePath, String) -> String,
    /// Changes the text of a page afterwards.
    pub after: &'a dyn Fn(&FilePath, String) -> String,
}

/// Writes the memory's pages with a person's change of them. Where they change nothing, the commit records the
/// message alone.
///
/// # Errors
/// As [`write_pages`].
pub fn write_persons_change(
    lock: &WriterLock<'_>,
    memory: &ScopeMemory,
    orphans: PageOrphans,
    stamp: &CommitStamp,
    change: &PersonsCommit<'_>,
) -> Result<WritePagesReport, FilesError> {
    let author = CommitAuthor::Person;
    let mut posted =
        write_in_one_commit(lock, memory, (orphans, change), (author, stamp), &|| true)?;
    if let WriteOutcome::Unchanged(settled) = &mut posted.outcome {
        settled.head = Some(lock.note(stamp, change.message)?);
    }
    Ok(posted)
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

    fn remove_all(self) -> bool {
        [self.curated, self.others] == [Orphans::Remove; 2]
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
    let unchanged = |_: &FilePath, text: String| text;
    let change = PersonsCommit {
        message,
        before: &unchanged,
        after: &unchanged,
    };
    let author = CommitAuthor::Engine;
    let work = || {
        write_in_one_commit(
            lock,
            memory,
            (orphans, &change),
            (author, stamp),
            holds_lease,
        )
    };
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
    (orphans, change): (PageOrphans, &PersonsCommit<'_>),
    (author, stamp): (CommitAuthor, &CommitStamp),
    holds_lease: &dyn Fn() -> bool,
) -> Result<WritePagesReport, FilesError> {
    let withheld = withheld::load(lock)?;
    let none = PageChoices::default();
    let rollouts = memory.rollouts.as_deref().map(RolloutFiles::of);
    let rollouts = rollouts.unwrap_or_default();
    // Headings without a line are no page: the files of a memory that has become empty are removed.
    let is_over = author == CommitAuthor::Engine
        && memory.is_empty()
        && rollouts.is_empty()
        && orphans.remove_all();
    let pages = if is_over {
        BTreeMap::new()
    } else {
        pages(memory)
    };
    let mut unwritten = Vec::new();
    let mut settled_pages = SettledPages::load(lock.folder().root());
    let outcome = lock.write_as(author, stamp, change.message, holds_lease, |snapshot| {
        let mut changes = FileChanges::none();
        for (path, page) in &pages {
            let chosen = withheld.get(path.as_str()).unwrap_or(&none);
            let page_file = PageFile {
                snapshot,
                path,
                change,
            };
            let rule = (chosen, orphans.of(path));
            // A person's change is made on every page that has a place for it.
            let new = match author {
                CommitAuthor::Engine => {
                    page_file.unsettled_text(*page, rule, &mut settled_pages)?
                }
                CommitAuthor::Person => page_file.new_text(&page.page(), rule.0, rule.1)?,
            };
            if let Some(new) = new {
                page_file.write(&mut changes, new)?;
            }
        }
        let retiring = RetiringPages {
            snapshot,
            is_current: &|path| pages.contains_key(path) || rollouts.contains(path),
            withheld: &withheld,
            change,
        };
        add_rollouts(
            (snapshot, change),
            &rollouts,
            &withheld,
            (&mut changes, orphans.others),
        )?;
        retiring.remove(&mut changes, orphans.others)?;
        changes.retain(|path| snapshot.skipped_at(path).is_none());
        unwritten = discard_impossible(snapshot, &mut changes)?;
        Ok(changes)
    })?;
    if let Some(settled) = outcome.settled() {
        let paths = pages.keys().chain(rollouts.iter().map(|(path, _)| path));
        unwritten.extend(blocked_pages(paths, &settled.skipped));
        record_unwritten(lock.folder(), &unwritten)?;
        layout_record::record(lock, memory.layout())?;
        make_own(lock, |file| markers_of(&pages, file))?;
        if author == CommitAuthor::Engine {
            settled_pages.save(lock)?;
        }
    }
    Ok(WritePagesReport { outcome, unwritten })
}

/// The versions of entries that a memory shows in a file.
fn markers_of(pages: &BTreeMap<FilePath, PlannedPage<'_>>, file: &str) -> BTreeSet<Marker> {
    let page = pages.iter().find(|(path, _)| path.as_str() == file);
    let Some((_, page)) = page else {
        return BTreeSet::new();
    };
    let page = page.page();
    let entries = page.sections.iter().flat_map(|section| &section.entries);
    entries.map(Marker::of).collect()
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
    let unchanged = |_: &FilePath, text: String| text;
    lock.write(stamp, message, holds_lease, |snapshot| {
        let mut changes = FileChanges::none();
        let orphans = Orphans::Remove;
        let change = PersonsCommit {
            message,
            before: &unchanged,
            after: &unchanged,
        };
        add_rollouts(
            (snapshot, &change),
            &rollouts,
            &withheld,
            (&mut changes, orphans),
        )?;
        let retiring = RetiringPages {
            snapshot,
            is_current: &|path| !is_rollout_file(path.as_str()) || rollouts.contains(path),
            withheld: &withheld,
            change: &change,
        };
        retiring.remove(&mut changes, orphans)?;
        changes.retain(|path| snapshot.skipped_at(path).is_none());
        discard_impossible(snapshot, &mut changes)?;
        Ok(changes)
    })
}

fn add_rollouts(
    (snapshot, change): (&FolderSnapshot<'_>, &PersonsCommit<'_>),
    rollouts: &RolloutFiles,
    withheld: &Withheld,
    (changes, orphans): (&mut FileChanges, Orphans),
) -> Result<(), FilesError> {
    let none = BTreeSet::new();
    let is_wanted = !rollouts.is_empty();
    for (path, blocks) in rollouts.iter() {
        let held = withheld.get(path.as_str());
        let held = held.map_or(&none, |choices| &choices.withheld);
        let file = PageFile {
            snapshot,
            path,
            change,
        };
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
    change: &'a PersonsCommit<'a>,
}

impl PageFile<'_> {
    /// The file's present text, of the log with its markers; `None` where there is none. `planned` is what is to be
    /// written: its blocks are known though the list of markers may be lost.
    fn current(
        &self,
        planned: Option<&MemoryPage>,
    ) -> Result<Option<Result<String, NotText>>, FilesError> {
        let Some(bytes) = self.snapshot.read(self.path)? else {
            return Ok(None);
        };
        let Ok(text) = String::from_utf8(bytes) else {
            return Ok(Some(Err(NotText)));
        };
        if self.path.as_str() != LOG {
            return Ok(Some(Ok(text)));
        }
        let planned = planned.map(LogMarks::planned).unwrap_or_default();
        let marks = self.marks()?.with_entries(planned);
        Ok(Some(log_marks::annotate(&text, &marks).ok_or(NotText)))
    }

    fn marks(&self) -> Result<LogMarks, FilesError> {
        let marks = utf8_text(self.snapshot.read(&FilePath::engine_file(MARKS))?);
        Ok(LogMarks::parse(&marks.unwrap_or_default()))
    }

    /// Whether the list beside the log is that of `text`; a person may have lost it.
    fn has_marks_of(&self, text: &str) -> Result<bool, FilesError> {
        if self.path.as_str() != LOG {
            return Ok(true);
        }
        let marks = utf8_text(self.snapshot.read(&FilePath::engine_file(MARKS))?);
        Ok(log_marks::files_of(text, &self.marks()?).1 == marks)
    }

    /// Requests the file's new text.
    fn write(&self, changes: &mut FileChanges, new: String) -> Result<(), FilesError> {
        if self.path.as_str() != LOG {
            changes.write(self.path.clone(), new);
            return Ok(());
        }
        let (text, marks) = log_marks::files_of(&new, &self.marks()?);
        changes.write(self.path.clone(), text);
        let beside = FilePath::engine_file(MARKS);
        match marks {
            Some(marks) => changes.write(beside, marks),
            None if self.snapshot.file_id(&beside).is_some() => changes.delete(beside),
            None => {}
        }
        Ok(())
    }

    /// [`PageFile::new_text`] of the engine's own commit, without reading a file that is known to stay as it is.
    fn unsettled_text(
        &self,
        planned: PlannedPage<'_>,
        (choices, orphans): (&PageChoices, Orphans),
        settled: &mut SettledPages,
    ) -> Result<Option<String>, FilesError> {
        if self.path.as_str() == LOG {
            // Its text depends on a second file.
            return self.new_text(&planned.page(), choices, orphans);
        }
        let file = self.snapshot.file_id(self.path);
        let present = file.map(|file| SettledPage::of(planned, file, choices, orphans));
        if present.is_some_and(|present| settled.keep(present)) {
            return Ok(None);
        }
        let page = &planned.page();
        let new = self.new_text(page, choices, orphans)?;
        match (&new, present) {
            (None, Some(present)) => settled.add(present),
            (Some(new), _) if merge_page(page, new, choices, orphans) == *new => {
                let file = self.snapshot.id_of(new)?;
                settled.add(SettledPage::of(planned, file, choices, orphans));
            }
            (None, None) | (Some(_), _) => {}
        }
        Ok(new)
    }

    /// The file's new text; `None` when it stays as it is, or is not to be created.
    fn new_text(
        &self,
        page: &MemoryPage,
        choices: &PageChoices,
        orphans: Orphans,
    ) -> Result<Option<String>, FilesError> {
        let after = |text: String| (self.change.after)(self.path, text);
        let new = match self.current(Some(page))? {
            None => {
                let fresh = after(render_page(page, &choices.withheld));
                // The heading has a marker, too, and is no content by itself.
                return Ok(has_entries(&fresh).then_some(fresh));
            }
            // It is wholly a person's.
            Some(Err(NotText)) => return Ok(None),
            Some(Ok(current)) => {
                let changed = (self.change.before)(self.path, current.clone());
                let new = after(merge_page(page, &changed, choices, orphans));
                (new != current || !self.has_marks_of(&new)?).then_some(new)
            }
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
        let changed = (self.change.before)(self.path, current.clone());
        let merged = merge_blocks(blocks, &changed, withheld, orphans);
        let new = (self.change.after)(self.path, merged);
        Ok((new != current).then_some(new))
    }
}

/// A file that is wholly a person's: not UTF-8, or with markers that are not the engine's.
struct NotText;

/// Pages that the memory no longer has.
struct RetiringPages<'a> {
    snapshot: &'a FolderSnapshot<'a>,
    is_current: &'a dyn Fn(&FilePath) -> bool,
    withheld: &'a Withheld,
    change: &'a PersonsCommit<'a>,
}

impl RetiringPages<'_> {
    /// Deletes those that are as the engine wrote them; a person's additions stay, and what they brought back.
    fn remove(&self, changes: &mut FileChanges, orphans: Orphans) -> Result<(), FilesError> {
        if orphans == Orphans::Disown {
            return Ok(());
        }
        let empty = MemoryPage {
            heading: String::new(),
            sections: Vec::new(),
        };
        let none = PageChoices::default();
        for (path, _) in self.snapshot.files() {
            if !is_engine_page(path.as_str()) || (self.is_current)(path) {
                continue;
            }
            let page_file = PageFile {
                snapshot: self.snapshot,
                path,
                change: self.change,
            };
            let Some(Ok(current)) = page_file.current(None)? else {
                continue;
            };
            let changed = (self.change.before)(path, current.clone());
            let chosen = self.withheld.get(path.as_str()).unwrap_or(&none);
            if chosen.kept.is_empty() && is_untouched(&any_titles(&changed), &changed) {
                changes.delete(path.clone());
                if path.as_str() == LOG {
                    changes.delete(FilePath::engine_file(MARKS));
                }
                continue;
            }
            let left = merge_page(&empty, &changed, chosen, orphans);
            if left != current {
                page_file.write(changes, left)?;
            }
        }
        Ok(())
    }
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

//! Finds what a person took out of the engine's pages and brought back, since the engine's last write.
//!
//! What counts is the person's commits, whatever made them: the next writer after an editor, `git revert`, `undo`. A
//! version of an entry that they removed is withheld from now on. One that they brought back is no longer withheld,
//! and is kept where the memory does not have it any more.
//!
//! Not here: the observations behind the entries (`jobs`).

use std::collections::{BTreeMap, BTreeSet};

use super::entities;
use super::entry::{EntryId, Marker};
use super::error::FilesError;
use super::folder::Folder;
use super::history::CommitHash;
use super::layout::{CURATED, SUMMARY, is_engine_page, pages};
use super::lock::WriterLock;
use super::page::{PageChoices, deleted_markers, own_markers, planned_heading};
use super::path::FilePath;
use super::stamp::CommitStamp;
use super::withheld;
use crate::consolidate::{MemoryPage, ScopeMemory};

/// Most commits that are searched for a person's changes since the engine's last write.
const COMMITS_BACK: usize = 1000;

/// Entries that a person deleted or brought back.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PersonsChanges {
    /// Deleted entries, by file.
    pub gone: BTreeMap<FilePath, BTreeSet<EntryId>>,
    /// Versions of the engine's that stand in a file again, by file.
    pub returned: BTreeMap<FilePath, BTreeSet<Marker>>,
}

/// Versions of entries that a person's commits removed from a file and added to it.
#[derive(Default)]
struct FileVersions {
    removed: BTreeSet<Marker>,
    added: BTreeSet<Marker>,
}

/// Finds what a person changed since the engine's last write, and withholds from now on what they removed.
///
/// # Errors
/// When the disk cannot be read or written.
pub fn persons_changes(
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
) -> Result<PersonsChanges, FilesError> {
    let mut changes = PersonsChanges::default();
    let Some(head) = lock.settle(stamp)?.head else {
        return Ok(changes);
    };
    let before = withheld::load(lock)?;
    let mut withheld = before.clone();
    for (path, versions) in changed_by_person(lock.folder(), head)? {
        let current = lock.folder().page_at(head, &path)?;
        // A person who deletes the whole of MEMORY.md or the summary wants it made anew.
        if current.is_none() && matches!(path.as_str(), CURATED | SUMMARY) {
            continue;
        }
        let current = current.unwrap_or_default();
        let (here, own) = (entry_ids(&current), own_markers(&current));
        let own_ids: BTreeSet<EntryId> = own.iter().map(Marker::id).collect();
        let choices = withheld.entry(path.as_str().to_owned()).or_default();
        for marker in versions.removed {
            let id = marker.id();
            if !here.contains(&id) && !own_ids.contains(&id) {
                changes.gone.entry(path.clone()).or_default().insert(id);
                choices.withheld.insert(marker);
            } else if own_ids.contains(&id) && !own.contains(&marker) {
                choices.withheld.insert(marker);
            }
        }
        let returned: BTreeSet<Marker> = versions.added.intersection(&own).cloned().collect();
        if !returned.is_empty() {
            changes.returned.insert(path, returned);
        }
    }
    withheld::prune(&mut withheld, |file| match FilePath::new(file) {
        Ok(path) => lock.folder().page_at(head, &path),
        Err(_) => Ok(None),
    })?;
    if withheld != before {
        withheld::save(lock, &withheld)?;
    }
    Ok(changes)
}

/// Keeps the versions that a person brought back and that the memory does not have.
///
/// # Errors
/// When the disk cannot be read or written.
pub fn keep_returned(
    lock: &WriterLock<'_>,
    changes: &PersonsChanges,
    memory: &ScopeMemory,
) -> Result<(), FilesError> {
    if changes.returned.is_empty() {
        return Ok(());
    }
    let pages = pages(memory);
    let before = withheld::load(lock)?;
    let mut withheld = before.clone();
    for (path, returned) in &changes.returned {
        let page = pages.get(path).map(|page| page.page());
        let sections = page.iter().flat_map(|page| &page.sections);
        let entries = sections.flat_map(|section| &section.entries);
        let mut planned: BTreeSet<EntryId> = entries.map(|entry| EntryId::of(&entry.key)).collect();
        planned.insert(EntryId::of("heading"));
        let lost = returned
            .iter()
            .filter(|marker| !planned.contains(&marker.id()));
        let choices = withheld.entry(path.as_str().to_owned()).or_default();
        choices.kept.extend(lost.cloned());
    }
    if withheld != before {
        withheld::save(lock, &withheld)?;
    }
    Ok(())
}

/// Makes the files, as they are, what the memory has to show: whatever it would write now is withheld, and what it
/// would remove is kept. For files that a person brought back to an earlier state.
///
/// # Errors
/// When the disk cannot be read or written.
pub fn accept_files(lock: &WriterLock<'_>, memory: &ScopeMemory) -> Result<(), FilesError> {
    let folder = lock.folder();
    let Some(head) = folder.head()? else {
        return Ok(());
    };
    let planned = planned_versions(memory);
    let files = folder.head_files()?.into_keys();
    let pages = files.filter(|path| is_engine_page(path.as_str()));
    let paths: BTreeSet<FilePath> = pages.chain(planned.keys().cloned()).collect();
    let mut withheld = withheld::load(lock)?;
    for path in paths {
        let text = folder.page_at(head, &path)?.unwrap_or_default();
        let (own, here) = (own_markers(&text), entry_ids(&text));
        let own_ids: BTreeSet<EntryId> = own.iter().map(Marker::id).collect();
        let wanted = planned.get(&path).cloned().unwrap_or_default();
        let wanted_ids: BTreeSet<EntryId> = wanted.iter().map(Marker::id).collect();
        let agreed: BTreeSet<EntryId> = wanted.intersection(&own).map(Marker::id).collect();
        let choices = withheld.entry(path.as_str().to_owned()).or_default();
        // An entry that is as it should be has no refused versions: they were of a state that is past.
        choices.withheld.retain(|old| !agreed.contains(&old.id()));
        let is_refused = |marker: &&Marker| {
            let id = marker.id();
            !own.contains(*marker) && (own_ids.contains(&id) || !here.contains(&id))
        };
        choices
            .withheld
            .extend(wanted.iter().filter(is_refused).cloned());
        let is_lost = |marker: &&Marker| !wanted_ids.contains(&marker.id());
        choices.kept.extend(own.iter().filter(is_lost).cloned());
    }
    withheld.retain(|_, choices| *choices != PageChoices::default());
    withheld::save(lock, &withheld)
}

/// Withholds no longer what a person's change makes of entries: a version that was refused in another state.
///
/// # Errors
/// When the disk cannot be read or written.
pub fn allow_changed(
    lock: &WriterLock<'_>,
    before: &ScopeMemory,
    after: &ScopeMemory,
) -> Result<(), FilesError> {
    let old = planned_versions(before);
    let all = withheld::load(lock)?;
    let mut withheld = all.clone();
    for (path, versions) in planned_versions(after) {
        let known = old.get(&path);
        let is_new = |marker: &Marker| {
            versions.contains(marker) && known.is_none_or(|known| !known.contains(marker))
        };
        if let Some(choices) = withheld.get_mut(path.as_str()) {
            choices.withheld.retain(|marker| !is_new(marker));
        }
    }
    match withheld == all {
        true => Ok(()),
        false => withheld::save(lock, &withheld),
    }
}

/// The versions of all entries and headings of a memory, by file.
fn planned_versions(memory: &ScopeMemory) -> BTreeMap<FilePath, BTreeSet<Marker>> {
    let versions = |page: &MemoryPage| {
        let entries = page.sections.iter().flat_map(|section| &section.entries);
        entries
            .map(Marker::of)
            .chain(planned_heading(page))
            .collect()
    };
    let pages = pages(memory).into_iter();
    pages
        .map(|(path, page)| (path, versions(&page.page())))
        .collect()
}

/// Versions of the engine's that a person's commits removed and added, by file, on all sides of merges back to the
/// engine's last write. An entry that one side lacks because the engine itself dropped it there is not a
/// person's deletion: so sides are never compared with each other.
fn changed_by_person(
    folder: &Folder,
    head: CommitHash,
) -> Result<BTreeMap<FilePath, FileVersions>, FilesError> {
    let (mut out, mut engine_wrote) = (BTreeMap::<_, FileVersions>::new(), false);
    let (mut next, mut seen) = (vec![head], BTreeSet::from([head]));
    for _ in 0..COMMITS_BACK {
        let Some(id) = next.pop() else { break };
        let commit = folder.commit(id)?;
        // Commits of entities lie in between, and they include a person's deletions, too.
        if commit.is_by_engine() && !entities::is_entity_commit(&commit.subject) {
            engine_wrote = true;
            continue;
        }
        if let [before] = commit.parents[..] {
            for (path, versions) in changed_in_commit(folder, before, id)? {
                let all = out.entry(path).or_default();
                all.removed.extend(versions.removed);
                all.added.extend(versions.added);
            }
        }
        next.extend(commit.parents.into_iter().filter(|id| seen.insert(*id)));
    }
    Ok(if engine_wrote { out } else { BTreeMap::new() })
}

/// Versions of the engine's that one commit removed and added.
fn changed_in_commit(
    folder: &Folder,
    before: CommitHash,
    after: CommitHash,
) -> Result<Vec<(FilePath, FileVersions)>, FilesError> {
    let (old, new) = (folder.files_at(before)?, folder.files_at(after)?);
    let paths: BTreeSet<&FilePath> = old.keys().chain(new.keys()).collect();
    let mut changed = Vec::new();
    for path in paths {
        if !is_engine_page(path.as_str()) || old.get(path) == new.get(path) {
            continue;
        }
        let (written, current) = folder.page_before_and_after((before, after), path)?;
        let (was, is) = (own_markers(&written), own_markers(&current));
        let mut versions = FileVersions {
            removed: was.difference(&is).cloned().collect(),
            added: is.difference(&was).cloned().collect(),
        };
        versions.removed.extend(deleted_markers(&current, &written));
        changed.push((path.clone(), versions));
    }
    Ok(changed)
}

/// The entries in a text, changed or not.
fn entry_ids(text: &str) -> BTreeSet<EntryId> {
    deleted_markers("", text).iter().map(Marker::id).collect()
}

//! Finds who removed entries from the pages of a folder: a person, or the rules.
//!
//! Not here: what becomes of an entry (`entry_merge`).

use std::collections::{BTreeMap, BTreeSet};

use super::entry_merge::entry_ids;
use crate::files::entry::EntryId;
use crate::files::error::FilesError;
use crate::files::folder::Folder;
use crate::files::history::{Commit, CommitHash};
use crate::files::path::FilePath;

/// Subject of the commit that brings what other machines wrote into a folder.
pub(super) const MERGE_SUBJECT: &str = "Take over memory files of other machines";
/// Beginning of the line of its message that names the state of the repository that is in it.
const MERGED: &str = "Merged: ";
/// Most commits that are searched for removals.
const COMMITS_BACK: usize = 1000;
/// Most commits that are searched for a merge whose record was lost to a kill: it is the last commit, or near it.
const MERGES_BACK: usize = 50;

/// Entries, by file.
pub(super) type FileEntries = BTreeMap<FilePath, BTreeSet<EntryId>>;

/// The message of a commit that has `state` of the repository in it.
pub(super) fn merge_message(state: CommitHash) -> String {
    format!("{MERGE_SUBJECT}\n\n{MERGED}{state}")
}

/// The state of the repository that was merged into a folder last, if that was not long ago.
pub(super) fn merged_state(folder: &Folder) -> Result<Option<CommitHash>, FilesError> {
    for commit in folder.log(MERGES_BACK)? {
        if commit.subject == MERGE_SUBJECT {
            let message = folder.message(commit.id)?;
            let mut lines = message.lines().filter_map(|line| line.strip_prefix(MERGED));
            return Ok(lines.next().and_then(|state| state.parse().ok()));
        }
    }
    Ok(None)
}

/// Those of `missing` that a person removed, by the newest commit that removed each.
pub(super) fn persons_removals(
    folder: &Folder,
    mut missing: FileEntries,
) -> Result<FileEntries, FilesError> {
    let mut removed = FileEntries::new();
    missing.retain(|_, ids| !ids.is_empty());
    if missing.is_empty() {
        return Ok(removed);
    }
    for commit in folder.log(COMMITS_BACK)? {
        let Some(before) = commit.parents.first().copied() else {
            break;
        };
        for (path, ids) in &mut missing {
            let gone = removed_in(folder, (before, commit.id), path)?;
            let found: Vec<EntryId> = ids.intersection(&gone).cloned().collect();
            ids.retain(|id| !gone.contains(id));
            if is_by_person(&commit) && !found.is_empty() {
                removed.entry(path.clone()).or_default().extend(found);
            }
        }
        missing.retain(|_, ids| !ids.is_empty());
        if missing.is_empty() {
            break;
        }
    }
    Ok(removed)
}

fn is_by_person(commit: &Commit) -> bool {
    !commit.is_by_engine() && commit.subject != MERGE_SUBJECT && commit.parents.len() == 1
}

/// The entries that a file had before a commit and has not after it.
fn removed_in(
    folder: &Folder,
    (before, after): (CommitHash, CommitHash),
    path: &FilePath,
) -> Result<BTreeSet<EntryId>, FilesError> {
    if folder.blob_at(before, path)? == folder.blob_at(after, path)? {
        return Ok(BTreeSet::new());
    }
    let (was, is) = folder.page_before_and_after((before, after), path)?;
    let left = entry_ids(&is);
    Ok(entry_ids(&was)
        .into_iter()
        .filter(|id| !left.contains(id))
        .collect())
}

//! Brings one memory folder and its files in the repository together.
//!
//! Files that neither side changed are not read. What leaves is redacted first, so the sides are compared without
//! secrets; a person's own line with one stays as it is in the folder here.
//!
//! Not here: how a page is merged (`entry_merge`), the commit of the repository (`mirror`).

use std::collections::{BTreeMap, BTreeSet};

use daybook_text::redact::Redactor;
use gix::ObjectId;

use super::entry_merge::{
    EntryOrigins, PageVersions, entry_ids, has_news, left_of_removed, merge_pages,
};
use super::is_exchanged;
use super::mirror::{FileUpdate, Mirror, RemoteFiles, RemoteFolder, RemovedEntries};
use super::received::{self, Received};
use super::removals::{FileEntries, merge_message, merged_state, persons_removals};
use crate::files::changes::FileChanges;
use crate::files::entry::{EntryId, Marker, is_own_heading};
use crate::files::error::FilesError;
use crate::files::history::CommitHash;
use crate::files::lock::WriterLock;
use crate::files::page::own_markers;
use crate::files::path::FilePath;
use crate::files::shared::union;
use crate::files::stamp::{CommitAuthor, CommitStamp};
use crate::files::withheld::{self, Withheld};
use crate::files::write::FolderSnapshot;

/// Result of merging one folder with the repository.
#[derive(Debug, Default)]
pub struct MergeReport {
    /// Files that changed here.
    pub taken: usize,
    /// Files in which secrets were hidden before they left.
    pub hidden: usize,
    /// What changes in the repository.
    pub updates: Vec<FileUpdate>,
    /// Entries that a person removed here.
    pub removed: RemovedEntries,
}

/// Merges a locked folder with `theirs`, its files in the repository. `exchanged` is the state that both had in common.
/// Safe to repeat.
///
/// # Errors
/// When the disk fails, or a file of theirs has no place here. Then the folder is as it was.
pub fn merge_folder(
    lock: &WriterLock<'_>,
    mirror: &Mirror,
    remote: &RemoteFolder,
    (exchanged, theirs): (Option<CommitHash>, Option<CommitHash>),
    stamp: &CommitStamp,
) -> Result<MergeReport, FilesError> {
    lock.settle(stamp)?;
    let base = common_state(lock, mirror, (exchanged, theirs))?;
    let removed_there = match (base, theirs) {
        (Some(base), Some(theirs)) => mirror.removed_between(base, theirs)?,
        _ => RemovedEntries::new(),
    };
    let folder_merge = FolderMerge {
        mirror,
        remote,
        redactor: Redactor::current(),
        base: mirror.files(base, remote)?,
        theirs: mirror.files(theirs, remote)?,
        received: received::load(lock.folder())?,
        withheld: withheld::load(lock)?,
        removed_there,
    };
    let mut merged = MergedFolder::default();
    let message = theirs.map_or_else(String::new, merge_message);
    let author = CommitAuthor::Person;
    let _ = lock.write_as(author, stamp, &message, &|| true, |snapshot| {
        merged = folder_merge.merge(snapshot)?;
        snapshot.check(&merged.here)?;
        merged.record_received(lock, &folder_merge)?;
        Ok(std::mem::take(&mut merged.here))
    })?;
    let by_path = |(path, ids): (FilePath, BTreeSet<EntryId>)| (remote.path_of(&path), ids);
    let mut removed = persons_removals(lock.folder(), merged.missing)?;
    for (path, ids) in merged.refused {
        removed.entry(path).or_default().extend(ids);
    }
    Ok(MergeReport {
        taken: merged.taken,
        hidden: merged.hidden,
        updates: merged.updates,
        removed: removed.into_iter().map(by_path).collect(),
    })
}

/// The newest state that both sides had in common. A merge whose record was lost to a kill is found in the folder's
/// history. A state that the repository does not contain is none: its history was replaced.
fn common_state(
    lock: &WriterLock<'_>,
    mirror: &Mirror,
    (exchanged, theirs): (Option<CommitHash>, Option<CommitHash>),
) -> Result<Option<CommitHash>, FilesError> {
    let Some(theirs) = theirs else {
        return Ok(None);
    };
    let is_there = |state: &CommitHash| mirror.has_ancestor(theirs, *state);
    let recorded = exchanged.filter(is_there);
    let merged = merged_state(lock.folder())?.filter(is_there);
    Ok(match (recorded, merged) {
        (Some(recorded), Some(merged)) if mirror.has_ancestor(recorded, merged) => Some(recorded),
        (recorded, merged) => merged.or(recorded),
    })
}

struct FolderMerge<'a> {
    mirror: &'a Mirror,
    remote: &'a RemoteFolder,
    redactor: Redactor,
    base: RemoteFiles,
    theirs: RemoteFiles,
    received: Received,
    withheld: Withheld,
    removed_there: RemovedEntries,
}

#[derive(Default)]
struct MergedFolder {
    here: FileChanges,
    taken: usize,
    hidden: usize,
    updates: Vec<FileUpdate>,
    /// Versions of other machines in the files that were merged.
    received: BTreeMap<String, BTreeSet<Marker>>,
    /// Entries that the repository or the common state has, and the result has not.
    missing: FileEntries,
    /// Those of them that a person refused here before.
    refused: FileEntries,
}

/// The versions of one file, without secrets.
struct FileVersions {
    base: Option<String>,
    ours: Option<String>,
    theirs: Option<String>,
}

impl FolderMerge<'_> {
    fn merge(&self, snapshot: &FolderSnapshot<'_>) -> Result<MergedFolder, FilesError> {
        let files = snapshot
            .files()
            .filter(|(path, _)| is_exchanged(path.as_str()));
        let ours: BTreeMap<&FilePath, ObjectId> = files.map(|(path, id)| (path, id.0)).collect();
        let mut paths: BTreeSet<&FilePath> = ours.keys().copied().collect();
        paths.extend(self.base.keys().chain(self.theirs.keys()));
        let mut merged = MergedFolder::default();
        for path in paths {
            let here = ours.get(path).copied();
            let (was, there) = (self.base.get(path).copied(), self.theirs.get(path).copied());
            if here == there && here == was {
                continue;
            }
            self.merge_file(snapshot, path, (was, there), &mut merged)?;
        }
        Ok(merged)
    }

    fn merge_file(
        &self,
        snapshot: &FolderSnapshot<'_>,
        path: &FilePath,
        (was, there): (Option<ObjectId>, Option<ObjectId>),
        merged: &mut MergedFolder,
    ) -> Result<(), FilesError> {
        let raw = snapshot.read(path)?.map(String::from_utf8).transpose();
        let (Ok(raw), Some(base), Some(theirs)) = (raw, self.text(was)?, self.text(there)?) else {
            // What is no text stays where it is: no rule can find a secret in it.
            return Ok(());
        };
        let hide = |text: &String| self.redactor.redact(text).text.into_owned();
        let ours = raw.as_ref().map(hide);
        let hidden = theirs.as_ref().map(hide);
        // A heading counts what one machine knows: it stays as it is on each, and alone is no change.
        let headed = |text: &String| with_heading_of(text, hidden.as_deref());
        let file = FileVersions {
            base: base.as_ref().map(headed),
            ours: ours.as_ref().map(headed),
            theirs: hidden.clone(),
        };
        let origins = self.origins(path);
        let text = file.merged(&origins);
        let local = text.as_ref();
        let local = local.map(|text| with_heading_of(text, ours.as_deref()));
        if text != theirs {
            merged.hidden += usize::from(text.is_some() && raw != ours);
            let path = self.remote.path_of(path);
            let text = local.clone();
            merged.updates.push(FileUpdate { path, text });
        }
        merged.note_entries(path, &file, text.as_deref(), &origins);
        if text == file.ours {
            return Ok(());
        }
        if let Some(skipped) = snapshot.skipped_at(path) {
            return Err(FilesError::Refused {
                path: skipped.path.clone(),
                why: skipped.why,
            });
        }
        merged.taken += 1;
        match (local, raw, &ours) {
            (None, _, _) => merged.here.delete(path.clone()),
            // A person's secret stays in their own line.
            (Some(text), Some(raw), Some(ours)) if raw != *ours => {
                merged.here.write(path.clone(), union(ours, &raw, &text));
            }
            (Some(text), _, _) => merged.here.write(path.clone(), text),
        }
        Ok(())
    }

    /// The text of a file, if there is a file; `None` if it is no text.
    #[expect(clippy::option_option, reason = "no file is a version like any other")]
    fn text(&self, id: Option<ObjectId>) -> Result<Option<Option<String>>, FilesError> {
        match id {
            None => Ok(Some(None)),
            Some(id) => Ok(self.mirror.text(id)?.map(Some)),
        }
    }

    fn origins(&self, path: &FilePath) -> EntryOrigins {
        let removed_there = self.removed_there.get(&self.remote.path_of(path));
        let withheld = self.withheld.get(path.as_str());
        EntryOrigins {
            received: self
                .received
                .get(path.as_str())
                .cloned()
                .unwrap_or_default(),
            refused: withheld
                .map(|choices| choices.withheld.clone())
                .unwrap_or_default(),
            removed_there: removed_there.cloned().unwrap_or_default(),
        }
    }
}

/// A page with the engine's heading of another version, if both have one.
fn with_heading_of(page: &str, other: Option<&str>) -> String {
    let own = |line: &&str| is_own_heading(line);
    let heading = other.and_then(|other| other.lines().find(own));
    match (page.lines().find(own), heading) {
        (Some(old), Some(new)) => page.replacen(old, new, 1),
        (None, _) | (_, None) => page.to_owned(),
    }
}

impl FileVersions {
    fn merged(&self, origins: &EntryOrigins) -> Option<String> {
        let Self { base, ours, theirs } = self;
        match (ours, theirs) {
            (Some(ours), Some(theirs)) => {
                let base = base.as_deref();
                Some(merge_pages(PageVersions { base, ours, theirs }, origins))
            }
            (Some(ours), None) => match base {
                Some(base) => left_of_removed(base, ours, origins),
                None => Some(ours.clone()),
            },
            (None, Some(theirs)) => match base {
                Some(base) if !has_news(base, theirs) => None,
                Some(_) | None => Some(theirs.clone()),
            },
            (None, None) => None,
        }
    }
}

impl MergedFolder {
    /// Notes whose the entries of a merged file are, and which are missing in it.
    fn note_entries(
        &mut self,
        path: &FilePath,
        file: &FileVersions,
        text: Option<&str>,
        origins: &EntryOrigins,
    ) {
        let text = text.unwrap_or_default();
        let known = own_markers(file.ours.as_deref().unwrap_or_default());
        let of_others =
            |marker: &Marker| origins.received.contains(marker) || !known.contains(marker);
        let received = own_markers(text).into_iter().filter(of_others).collect();
        self.received.insert(path.as_str().to_owned(), received);
        let left = entry_ids(text);
        let theirs = file.theirs.as_deref().unwrap_or_default();
        let mut missing = entry_ids(file.base.as_deref().unwrap_or_default());
        missing.extend(entry_ids(theirs));
        missing.retain(|id| !left.contains(id));
        let refused = own_markers(theirs).into_iter();
        let refused = refused.filter(|marker| origins.refused.contains(marker));
        let refused = refused
            .map(|marker| marker.id())
            .filter(|id| !left.contains(id));
        self.refused.insert(path.clone(), refused.collect());
        self.missing.insert(path.clone(), missing);
    }

    /// Records the entries of other machines before they are written: a kill in between must not make them ours. The
    /// next consolidation keeps them, though no row explains them.
    fn record_received(
        &self,
        lock: &WriterLock<'_>,
        before: &FolderMerge<'_>,
    ) -> Result<(), FilesError> {
        let (mut received, mut kept) = (before.received.clone(), before.withheld.clone());
        for (path, markers) in &self.received {
            received.insert(path.clone(), markers.clone());
            if !markers.is_empty() {
                let choices = kept.entry(path.clone()).or_default();
                choices.kept.extend(markers.iter().cloned());
            }
        }
        received.retain(|_, markers| !markers.is_empty());
        if received != before.received {
            received::save(lock, &received)?;
        }
        match kept == before.withheld {
            true => Ok(()),
            false => withheld::save(lock, &kept),
        }
    }
}

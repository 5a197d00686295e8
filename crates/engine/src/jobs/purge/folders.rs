//! Takes what was purged out of memory folders, one after the other.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use daybook_domain::index::{CandidateQuery, MemoryLayer, SearchFilter};
use daybook_domain::seams::PurgeStore;
use daybook_domain::{Scope, StoreError};

use super::intent::PurgeIntent;
use crate::consolidate::ScopeMemory;
use crate::files::adopt::has_own_words;
use crate::files::entry::block::BlockEntry;
use crate::files::entry::{EntryId, Marker, render_heading};
use crate::files::history_rewrite::HistoryRewrite;
use crate::files::layout::{folder, pages, tenant_folder};
use crate::files::purge_folder::PersonsLine;
use crate::files::purged_text::{PurgedText, ShownText, index_words};
use crate::files::reworded::record_reworded;
use crate::files::rollouts::RolloutFiles;
use crate::files::shared::Rewritten;
use crate::files::write_pages::write_pages_with;
use crate::files::{FilesConfig, FilesError, Folder, LockOutcome, WriterLock};
use crate::jobs::consolidate::{commit_message, curated_orphans, index_files, orphans};
use crate::jobs::scope_memory::settle_memory;
use crate::jobs::{WorkError, WorkerContext};

/// How often a folder is removed in which another process makes files meanwhile.
const REMOVE_TRIES: usize = 8;
/// Folder of retired memories, below a tenant's folder.
const RETIRED: &str = "joined";

/// What a purge took out of one folder, or had to leave.
#[derive(Debug, Default)]
pub(super) struct PurgedFolder {
    pub(super) rewritten: HistoryRewrite,
    /// A person's own lines that repeat purged words.
    pub(super) left: Vec<PersonsLine>,
    /// Whether nothing was left of it.
    pub(super) is_removed: bool,
}

/// What files are searched for: of the purged words those that no event, observation, folder or branch has any more.
pub(super) async fn purged_text(
    worker: &WorkerContext,
    intent: &PurgeIntent,
) -> Result<PurgedText, StoreError> {
    let filter = SearchFilter {
        layers: vec![MemoryLayer::Event, MemoryLayer::Observation],
        ..SearchFilter::default()
    };
    let mut words: HashSet<String> = intent.names_of_people.iter().cloned().collect();
    let places = names_of_places(worker).await?;
    let purged = intent.words.iter();
    for word in purged.filter(|word| !places.contains(*word)) {
        let query = CandidateQuery {
            all_of: vec![word.clone()],
            limit: 1,
        };
        let others = worker
            .store
            .matches(&worker.tenant, &[query], &filter)
            .await?;
        if others.is_empty() {
            words.insert(word.clone());
        }
    }
    let gone = intent.gone.iter().map(|id| EntryId::of(&id.to_string()));
    Ok(PurgedText {
        words,
        statements: intent.statements.iter().cloned().collect(),
        names: intent.names.clone(),
        lines: intent.lines.clone(),
        entries: gone.collect(),
        shown: ShownText::default(),
    })
}

/// The words of the folders and branches in which something is left that happened there. No index has them.
async fn names_of_places(worker: &WorkerContext) -> Result<HashSet<String>, StoreError> {
    let places = worker.store.places(&worker.tenant).await?;
    let names = places
        .iter()
        .flat_map(|(place, _)| [Some(&place.root), place.branch.as_ref()]);
    let words = names.flatten().map(|name| index_words(name));
    Ok(words
        .flat_map(|words| words.split(' ').map(str::to_owned).collect::<Vec<_>>())
        .collect())
}

/// Writes a scope's files anew from the store, and takes what was purged out of them and out of their past.
/// `None` while another process writes the folder.
pub(super) async fn purge_scope_folder(
    worker: &WorkerContext,
    scope: &Scope,
    purged: &PurgedText,
) -> Result<Option<PurgedFolder>, WorkError> {
    // A worker that retires the folder keeps it locked and then has moved it away: there is nothing left here.
    match purge_folder_in_place(worker, scope, purged).await? {
        None => purge_folder_in_place(worker, scope, purged).await,
        done => Ok(done),
    }
}

async fn purge_folder_in_place(
    worker: &WorkerContext,
    scope: &Scope,
    purged: &PurgedText,
) -> Result<Option<PurgedFolder>, WorkError> {
    let path = folder(&worker.root, scope);
    if !path.join(".git").exists() && !is_shared(worker, scope).await? {
        return Ok(Some(PurgedFolder::default()));
    }
    let open = Folder::open(&path, FilesConfig::default())?;
    let LockOutcome::Held(lock) = open.try_lock(worker.limits.folder_wait)? else {
        return Ok(None);
    };
    let stamp = worker.stamp();
    if let Some(sharing) = worker.folder_sync() {
        sharing.sync(scope, &lock, &stamp).await?;
    }
    let (mut memory, _) = settle_memory(worker, scope, &lock, &stamp, None).await?;
    worker
        .store
        .set_supersessions(scope, &memory.supersessions)
        .await?;
    let orphans = orphans(worker, scope, &lock).await?;
    let message = commit_message(&memory);
    let written = curated_orphans(worker, &lock, &mut memory, orphans)?;
    let _ = write_pages_with(&lock, &memory, written, &stamp, &message, &|| true)?;
    record_reworded(&lock, &memory)?;
    let mut purged = purged.clone();
    purged.shown = shown_text(&memory);
    let edit = || purge_locked(&lock, &purged, worker);
    let mut done = match worker.folder_sync() {
        None => edit()?,
        Some(sharing) => {
            let edit = || {
                edit().map(|report| Rewritten {
                    history: report.rewritten,
                    report,
                })
            };
            sharing.rewrite(scope, &lock, &stamp, edit).await?.report
        }
    };
    let is_empty = memory.rollouts.as_ref().is_none_or(Vec::is_empty) && memory.is_empty();
    index_files(worker, scope, (lock, &stamp), None).await?;
    done.is_removed = is_empty && !has_own_words(&path);
    Ok(Some(done))
}

/// Whether machines share files of this scope, which this one may not have yet.
async fn is_shared(worker: &WorkerContext, scope: &Scope) -> Result<bool, StoreError> {
    match &worker.trees {
        None => Ok(false),
        Some(trees) => {
            let head = trees.tree_head(scope).await?;
            Ok(head.is_some_and(|head| head.commit.is_some()))
        }
    }
}

/// What the files of a memory show.
fn shown_text(memory: &ScopeMemory) -> ShownText {
    let mut shown = ShownText::default();
    for (path, planned) in pages(memory) {
        let page = planned.page();
        shown.pages.insert(path.to_string());
        shown.headings.insert(render_heading(&page.heading));
        for section in &page.sections {
            shown.headings.insert(format!("## {}", section.title));
            shown.entries.extend(section.entries.iter().map(Marker::of));
        }
    }
    if let Some(rollouts) = &memory.rollouts {
        let files = RolloutFiles::of(rollouts);
        for (path, blocks) in files.iter() {
            shown.pages.insert(path.to_string());
            shown.entries.extend(blocks.iter().map(BlockEntry::marker));
        }
    }
    shown
}

/// Takes what was purged out of a retired folder. `None` while another process writes it.
pub(super) fn purge_retired(
    worker: &WorkerContext,
    path: &Path,
    purged: &PurgedText,
) -> Result<Option<PurgedFolder>, FilesError> {
    if !path.join(".git").exists() {
        return Ok(Some(PurgedFolder::default()));
    }
    let open = Folder::open(path, FilesConfig::default())?;
    let LockOutcome::Held(lock) = open.try_lock(worker.limits.folder_wait)? else {
        return Ok(None);
    };
    purge_locked(&lock, purged, worker).map(Some)
}

fn purge_locked(
    lock: &WriterLock<'_>,
    purged: &PurgedText,
    worker: &WorkerContext,
) -> Result<PurgedFolder, FilesError> {
    let stamp = worker.stamp();
    Ok(PurgedFolder {
        left: lock.purge_files(purged, &stamp)?,
        rewritten: lock.purge_history(purged, &stamp)?,
        is_removed: false,
    })
}

/// The folders of retired memories of the worker's tenant.
pub(super) fn retired_folders(worker: &WorkerContext) -> Vec<PathBuf> {
    let below = tenant_folder(&worker.root, &worker.tenant).join(RETIRED);
    let entries = fs::read_dir(below).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// Removes a scope: its folder, history included, and what the store has of it. The number of its observations; `None`
/// while another process writes the folder.
pub(super) async fn remove_scope(
    worker: &WorkerContext,
    purges: &dyn PurgeStore,
    scope: &Scope,
) -> Result<Option<u64>, WorkError> {
    let path = folder(&worker.root, scope);
    let failed = FilesError::io("remove", &path);
    let is_link = fs::symlink_metadata(path.parent().unwrap_or(&path))
        .is_ok_and(|found| found.file_type().is_symlink());
    let has_history = || !is_link && path.join(".git").is_dir();
    let open = match has_history().then(|| Folder::open(&path, FilesConfig::default())) {
        // Nothing can be written there: it is damaged, or another process is removing it.
        None | Some(Err(FilesError::NotARepository { .. })) => None,
        Some(open) => Some(open?),
    };
    // A process that writes the folder may have read what goes, and indexes what it has written: it ends first.
    let wait = worker.limits.folder_wait;
    let lock = open.as_ref().map(|open| open.try_lock(wait)).transpose()?;
    if matches!(lock, Some(LockOutcome::Busy)) && has_history() {
        return Ok(None);
    }
    remove_folder(worker, scope).map_err(failed)?;
    let removed = purges.purge_scope(scope, worker.clock.now()).await?;
    drop(lock);
    Ok(Some(removed))
}

/// Removes the folder of a scope, and that of its kind if it was the last one.
fn remove_folder(worker: &WorkerContext, scope: &Scope) -> io::Result<()> {
    let path = folder(&worker.root, scope);
    let scope_folder = path.parent().unwrap_or(&path);
    match fs::symlink_metadata(scope_folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        // A link in its place leads to files that are not ours.
        Ok(found) if found.file_type().is_symlink() => fs::remove_file(scope_folder)?,
        Ok(_) => remove_tree(scope_folder)?,
    }
    if let Some(kind) = scope_folder.parent() {
        // Succeeds only if it is empty.
        let _ = fs::remove_dir(kind);
    }
    Ok(())
}

/// Removes a folder with all that is in it, also while another process that waits for its lock makes files there.
pub(super) fn remove_tree(path: &Path) -> io::Result<()> {
    for _ in 1..REMOVE_TRIES {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            done => return done,
        }
    }
    fs::remove_dir_all(path)
}

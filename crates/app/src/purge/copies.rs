//! Copies of the memory: our own in the data folder, which a purge reaches, and those that it cannot.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use daybook_engine::files::audit::scopes_on_disk;
use daybook_engine::files::layout::folder;
use daybook_engine::jobs::purge::PurgeProgress;
use daybook_engine::places::stored_path::path_on_disk;
use daybook_engine::stop::Stop;
use serde::Serialize;

use super::purge_older;
use crate::backup;
use crate::folders::data_folder::display_path;
use crate::folders::stored_answers::StoredAnswers;
use crate::remote::SyncFolder;
use crate::wiring::{DATABASE, Daybook, MemoryDatabase};

/// What a purge cannot reach, and who can.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Unreachable {
    /// Remotes of memory folders: what was pushed there is there.
    pub(crate) remotes: Vec<String>,
    /// Transcripts of the purged events that are still on this machine; they belong to their host.
    pub(crate) transcripts: Vec<String>,
    /// What holds wherever memory is kept.
    pub(crate) others: Vec<&'static str>,
}

impl Unreachable {
    pub(super) fn find(daybook: &Daybook, transcripts: &[String]) -> Result<Self> {
        let mut remotes = Vec::new();
        for scope in scopes_on_disk(&daybook.root, &daybook.tenant) {
            let config = folder(&daybook.root, &scope).join(".git").join("config");
            remotes.extend(remotes_of(&fs::read_to_string(config).unwrap_or_default()));
        }
        remotes.sort();
        remotes.dedup();
        let is_there = |path: &&String| path_on_disk(path).exists();
        let mut others = vec![
            "backups, exports and other copies outside of the data folder; a backup that is restored here is purged again",
            "what was sent to providers of models before",
            "snapshots of the file system, and blocks of the disk that were freed and not overwritten yet",
        ];
        match &daybook.database {
            MemoryDatabase::File(_) => {}
            #[cfg(feature = "postgres")]
            MemoryDatabase::Server(_) => others.push(
                "on the server: dead rows until VACUUM, the write-ahead log and its archive, replicas and dumps; memory folders of other machines until they next work with this memory",
            ),
        }
        Ok(Self {
            remotes,
            transcripts: transcripts.iter().filter(is_there).cloned().collect(),
            others,
        })
    }
}

/// The addresses in a git configuration.
fn remotes_of(config: &str) -> Vec<String> {
    let values = config
        .lines()
        .filter_map(|line| line.trim().split_once('='));
    let urls = values.filter(|(name, _)| name.trim() == "url");
    urls.map(|(_, value)| value.trim().to_owned()).collect()
}

/// Makes backups in the data folder again without what was purged, and removes copies of damaged and moved databases.
/// Returns what was done to which.
pub(super) fn purge_copies(daybook: &Daybook, progress: &dyn PurgeProgress) -> Result<Vec<String>> {
    let answers = StoredAnswers::of(&daybook.root, &daybook.tenant);
    answers
        .remove()
        .context("cannot remove the answers that are kept for HTTP clients")?;
    let mut done = forget_repository(daybook)?;
    for path in own_copies(&daybook.root)? {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let failed = || format!("cannot purge {}", display_path(&path));
        if path.is_dir() {
            fs::remove_dir_all(&path).with_context(failed)?;
            done.push(format!("{name}: removed"));
        } else if !name.ends_with(".tar") {
            fs::remove_file(&path).with_context(failed)?;
            done.push(format!("{name}: removed"));
        } else if is_backup(&path)? {
            let word = match purge_backup(daybook, &path, progress) {
                Ok(true) => "made again",
                Ok(false) => continue,
                Err(error) => {
                    // A backup that cannot be restored is of no use, and may hold what was purged.
                    fs::remove_file(&path).with_context(failed)?;
                    done.push(format!(
                        "{name}: removed, because it cannot be restored: {error:#}"
                    ));
                    continue;
                }
            };
            done.push(format!("{name}: {word}"));
        }
    }
    Ok(done)
}

/// Removes the mirror of the repository that memory files were exchanged with. Its address goes, too: the next exchange
/// would bring back what the repository still has.
pub(super) fn forget_repository(daybook: &Daybook) -> Result<Vec<String>> {
    let address = SyncFolder::of(&daybook.root, &daybook.tenant).remove()?;
    let done = address.map(|address| {
        format!(
            "{0}: its mirror is removed, and `daybook sync` is off. The repository still has what it was given; empty it \
             before you name it again",
            address.as_str()
        )
    });
    Ok(done.into_iter().collect())
}

/// Copies that Daybook made, or was asked to make, directly in the data folder.
fn own_copies(root: &Path) -> Result<Vec<PathBuf>> {
    let failed = || format!("cannot list {}", display_path(root));
    let mut copies = Vec::new();
    for entry in fs::read_dir(root).with_context(failed)? {
        let path = entry.with_context(failed)?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let is_moved = name.starts_with(&format!("{DATABASE}.moved-"));
        let is_repair = name.starts_with("repair-") && path.is_dir();
        let is_corrupt = name.contains(".corrupt-");
        if is_moved || is_repair || is_corrupt || (name.ends_with(".tar") && path.is_file()) {
            copies.push(path);
        }
    }
    copies.sort();
    Ok(copies)
}

/// Whether a tar file begins as a backup does: with the database.
fn is_backup(path: &Path) -> Result<bool> {
    let failed = || format!("cannot read {}", display_path(path));
    let mut archive = tar::Archive::new(File::open(path).with_context(failed)?);
    let first = archive.entries().with_context(failed)?.next();
    let first = first.transpose();
    let path = first
        .ok()
        .flatten()
        .and_then(|entry| entry.path().ok().map(PathBuf::from));
    Ok(path.is_some_and(|path| path == Path::new(DATABASE)))
}

/// Restores a backup beside it, purges that, and backs it up again. False where it holds nothing that was purged.
fn purge_backup(daybook: &Daybook, path: &Path, progress: &dyn PurgeProgress) -> Result<bool> {
    let scratch = tempfile::tempdir_in(&daybook.root)?;
    let root = scratch.path().join("root");
    backup::restore(path, &root)?;
    let tombstones = daybook.root.join("purged").join("tombstones");
    fs::create_dir_all(root.join("purged"))?;
    fs::copy(&tombstones, root.join("purged").join("tombstones"))?;
    let restored = Daybook::open(root.clone(), &["store=sqlite".to_owned()])?;
    let Some(_) = purge_older(&restored, (&Stop::default(), progress))? else {
        return Ok(false);
    };
    let MemoryDatabase::File(store) = &restored.database else {
        return Ok(false);
    };
    let new = scratch.path().join("purged.tar");
    backup::write(&root, store, &new, restored.clock.now().0)?;
    replace(&new, path)?;
    Ok(true)
}

fn replace(new: &Path, old: &Path) -> io::Result<()> {
    fs::rename(new, old)
}

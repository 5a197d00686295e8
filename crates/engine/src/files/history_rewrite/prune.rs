//! Deletes replaced objects, once nothing refers to them.
//!
//! Only objects that were recorded are deleted: a person's git may just have written others that it refers to next.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::PathBuf;

use gix::ObjectId;
use gix::objs::Kind;

use super::mapping::HistoryMap;
use super::references;
use crate::files::atomic;
use crate::files::error::FilesError;
use crate::files::folder::Folder;
use crate::files::integrity;
use crate::files::objects::{self, Staging, StagingPurpose};
use crate::files::steps::WriteStep;

/// Name of the private file that lists replaced objects, one in each line.
const REPLACED: &str = "replaced";
/// Files beside packs that describe objects, and would describe deleted ones.
const DESCRIPTIONS: [&str; 4] = [
    "info/commit-graph",
    "info/commit-graphs",
    "info/packs",
    "pack/multi-pack-index",
];

/// Records the objects that are to be deleted, beside those that are recorded. On disk when this returns.
pub(super) fn record<'i>(
    folder: &Folder,
    replaced: impl Iterator<Item = &'i ObjectId>,
) -> Result<(), FilesError> {
    folder.reach(WriteStep::RecordReplaced)?;
    let (place, part) = (
        folder.private_path(REPLACED),
        folder.private_path("replaced.part"),
    );
    let mut all = recorded(folder)?.unwrap_or_default();
    all.extend(replaced);
    let lines: String = all.iter().map(|id| format!("{id}\n")).collect();
    let recorded = (|| {
        atomic::write_new(&part, lines.as_bytes())?;
        atomic::sync(std::slice::from_ref(&part))?;
        fs::rename(&part, &place)?;
        atomic::sync(&[folder.private_path("")])
    })();
    recorded.map_err(FilesError::io("record replaced objects at", place))
}

/// Deletes the recorded objects that nothing refers to, and clears the record. Returns how many were deleted.
pub(super) fn finish(folder: &Folder) -> Result<usize, FilesError> {
    let place = folder.private_path(REPLACED);
    let failed = |doing| FilesError::io(doing, &place);
    let Some(mut replaced) = recorded(folder)? else {
        return Ok(0);
    };
    let repo = folder.repository()?;
    let (reachable, broken) = reachable(folder, &repo)?;
    replaced.retain(|id| !reachable.contains(id));
    // A pack stays while an object that is referred to cannot be read: it may hold the rest of it.
    if broken.is_empty() {
        unpack(folder, &repo, &reachable, &replaced)?;
    }
    let mut deleted = 0;
    for id in &replaced {
        let loose = loose_path(&repo, *id);
        if fs::symlink_metadata(&loose).is_ok() {
            folder.reach(WriteStep::DeleteReplaced)?;
            atomic::remove(&loose).map_err(FilesError::io("delete", &loose))?;
            deleted += 1;
        }
    }
    folder.reach(WriteStep::ClearReplaced)?;
    atomic::remove(&place).map_err(failed("clear"))?;
    Ok(deleted)
}

/// The recorded objects; `None` if there is no record.
fn recorded(folder: &Folder) -> Result<Option<BTreeSet<ObjectId>>, FilesError> {
    let place = folder.private_path(REPLACED);
    let lines = atomic::read(&place).map_err(FilesError::io("read", &place))?;
    Ok(lines.map(|lines| {
        let lines = String::from_utf8_lossy(&lines).into_owned();
        lines.lines().filter_map(|id| id.parse().ok()).collect()
    }))
}

/// Everything that a branch, a tag, a reflog or the index refers to: what can be read of it, and what cannot.
fn reachable(
    folder: &Folder,
    repo: &gix::Repository,
) -> Result<(HashSet<ObjectId>, BTreeSet<ObjectId>), FilesError> {
    let roots = integrity::roots(repo);
    let mut roots = roots.map_err(FilesError::git("list the branches", folder.root()))?;
    roots.extend(references::logged(folder)?);
    let index = folder.git_dir().join("index");
    let options = gix::index::decode::Options::default();
    if let Ok(index) = gix::index::File::at(index, gix::hash::Kind::Sha1, false, options) {
        roots.extend(index.entries().iter().map(|entry| entry.id));
    }
    Ok(integrity::reachable_objects(repo, roots))
}

/// Objects that nothing refers to and that an edit does not leave: they come from a writer that was interrupted, or whose
/// commit came too late.
pub(super) fn unwanted(
    folder: &Folder,
    repo: &gix::Repository,
    map: &HistoryMap<'_>,
) -> Result<Vec<ObjectId>, FilesError> {
    let (reachable, _) = reachable(folder, repo)?;
    let mut unwanted = Vec::new();
    let packed = packed_objects(repo, folder)?;
    for id in loose_objects(repo)?.into_iter().chain(packed) {
        if reachable.contains(&id) || map.replaced.contains(&id) {
            continue;
        }
        let is_blob = matches!(repo.find_header(id), Ok(header) if header.kind() == Kind::Blob);
        let text = match is_blob {
            true => match objects::read_blob(folder, repo, id) {
                Ok(bytes) => Some(String::from_utf8(bytes).unwrap_or_default()),
                Err(_) => continue,
            },
            false => None,
        };
        if map.edit().is_unwanted(text.as_deref()) {
            unwanted.push(id);
        }
    }
    Ok(unwanted)
}

/// The objects in packs, which a person's git made.
fn packed_objects(repo: &gix::Repository, folder: &Folder) -> Result<Vec<ObjectId>, FilesError> {
    let packs = repo.objects.store_ref().path().join("pack");
    if atomic::list(&packs)
        .map_err(FilesError::io("list", &packs))?
        .is_empty()
    {
        return Ok(Vec::new());
    }
    let failed = || FilesError::git("list the packs of", folder.root());
    let all = repo.objects.iter().map_err(failed())?;
    Ok(all.filter_map(Result::ok).collect())
}

fn loose_objects(repo: &gix::Repository) -> Result<Vec<ObjectId>, FilesError> {
    let objects = repo.objects.store_ref().path().to_owned();
    let mut found = Vec::new();
    for folder in atomic::list(&objects).map_err(FilesError::io("list", &objects))? {
        let first = folder.file_name().and_then(|name| name.to_str());
        let Some(first) = first.filter(|name| name.len() == 2).map(str::to_owned) else {
            continue;
        };
        for place in atomic::list(&folder).map_err(FilesError::io("list", &folder))? {
            let rest = place.file_name().and_then(|name| name.to_str());
            let id: Option<ObjectId> = rest.and_then(|rest| format!("{first}{rest}").parse().ok());
            found.extend(id);
        }
    }
    Ok(found)
}

fn loose_path(repo: &gix::Repository, id: ObjectId) -> PathBuf {
    let name = id.to_string();
    let objects = repo.objects.store_ref().path();
    objects.join(&name[..2]).join(&name[2..])
}

/// Takes objects out of packs, where one holds a replaced object: a person's git has packed them. Objects that are
/// referred to become files of their own, and the packs are deleted.
fn unpack(
    folder: &Folder,
    repo: &gix::Repository,
    reachable: &HashSet<ObjectId>,
    replaced: &BTreeSet<ObjectId>,
) -> Result<(), FilesError> {
    let is_loose = |id: &ObjectId| fs::symlink_metadata(loose_path(repo, *id)).is_ok();
    let is_packed = |id: &ObjectId| !is_loose(id) && objects::has_object(repo, *id);
    if !replaced.iter().any(is_packed) {
        return Ok(());
    }
    let failed = || FilesError::git("unpack the history", folder.root());
    let mut staging = Staging::new(folder, repo, StagingPurpose::Now);
    for id in reachable.iter().filter(|id| !is_loose(id)) {
        if let Some(object) = repo.try_find_object(*id).map_err(failed())? {
            staging.put_replacing(object.kind, &object.data)?;
        }
    }
    staging.publish()?;
    let objects = repo.objects.store_ref().path().to_owned();
    folder.reach(WriteStep::DeleteReplaced)?;
    for name in DESCRIPTIONS {
        let place = objects.join(name);
        let removed = match references::is_folder(&place) {
            Some(true) => fs::remove_dir_all(&place),
            Some(false) | None => atomic::remove(&place),
        };
        removed.map_err(FilesError::io("delete", &place))?;
    }
    let packs = objects.join("pack");
    for place in atomic::list(&packs).map_err(FilesError::io("list", &packs))? {
        atomic::remove(&place).map_err(FilesError::io("delete", &place))?;
    }
    Ok(())
}

//! The branches, tags and reflogs of a folder: what they name, and how they move to rewritten commits.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::refs::{FullName, Target};

use crate::files::atomic;
use crate::files::error::FilesError;
use crate::files::folder::Folder;
use crate::files::git_lock::{self, GitReplaceOutcome};

use super::edit::HistoryEdit;

/// All references that name an object themselves. HEAD names a branch.
pub(super) fn direct(
    folder: &Folder,
    repo: &gix::Repository,
) -> Result<BTreeMap<FullName, ObjectId>, FilesError> {
    let found = || -> gix::Result<BTreeMap<FullName, ObjectId>> {
        let mut direct = BTreeMap::new();
        for reference in repo.references()?.all()? {
            let reference = reference.map_err(gix::Error::from_error)?;
            if let Target::Object(id) = reference.inner.target {
                direct.insert(reference.inner.name, id);
            }
        }
        Ok(direct)
    };
    found().map_err(FilesError::git("list the branches", folder.root()))
}

/// Moves a reference, if it is still at `from`. False if a person has moved it.
pub(super) fn advance(
    folder: &Folder,
    repo: &gix::Repository,
    name: &FullName,
    (from, to): (ObjectId, ObjectId),
) -> Result<bool, FilesError> {
    let failed = || FilesError::git("read a branch", folder.root());
    let path = gix::path::from_bstr(name.as_bstr()).map_err(failed())?;
    let is_there = || {
        let found = repo.try_find_reference(name.as_ref());
        let found = found.map_err(failed())?.map(|found| found.inner.target);
        Ok(matches!(found, Some(Target::Object(id)) if id == from))
    };
    let bytes = format!("{to}\n");
    match git_lock::replace(folder, &path, bytes.as_bytes(), true, is_there)? {
        GitReplaceOutcome::Done => Ok(true),
        GitReplaceOutcome::Refused => Ok(false),
        GitReplaceOutcome::HeldByGit(path) => Err(FilesError::GitLocked { path }),
    }
}

/// The objects that reflogs name.
pub(super) fn logged(folder: &Folder) -> Result<BTreeSet<ObjectId>, FilesError> {
    let mut logged = BTreeSet::new();
    for place in log_files(folder)? {
        let bytes = atomic::read(&place).map_err(FilesError::io("read", &place))?;
        for line in bytes.unwrap_or_default().split(|byte| *byte == b'\n') {
            logged.extend(ids_of(line).into_iter().flatten());
        }
    }
    logged.retain(|id| !id.is_null());
    Ok(logged)
}

/// Gives the reflogs the new names of commits, and their messages what an edit leaves of them.
pub(super) fn rewrite_logs(
    folder: &Folder,
    edit: &dyn HistoryEdit,
    new_name: impl Fn(ObjectId) -> ObjectId,
) -> Result<(), FilesError> {
    for place in log_files(folder)? {
        let failed = || FilesError::io("rewrite", &place);
        let before = atomic::read(&place).map_err(failed())?.unwrap_or_default();
        let before = String::from_utf8_lossy(&before).into_owned();
        let lines = before.split_inclusive('\n');
        let after: String = lines
            .map(|line| match ids_of(line.as_bytes()) {
                [Some(from), Some(to)] => {
                    let rest = edit.log_message(&line[81..]);
                    format!("{} {}{rest}", new_name(from), new_name(to))
                }
                _ => line.to_owned(),
            })
            .collect();
        if after == before {
            continue;
        }
        let part = folder.private_path("reflog.part");
        let written = atomic::write_new(&part, after.as_bytes());
        written
            .and_then(|()| fs::rename(&part, &place))
            .map_err(failed())?;
    }
    Ok(())
}

/// The old and the new object in a line of a reflog.
fn ids_of(line: &[u8]) -> [Option<ObjectId>; 2] {
    let id = |from: usize| {
        let hex = line.get(from..from + 40)?;
        line.get(from + 40).filter(|byte| **byte == b' ')?;
        ObjectId::from_hex(hex).ok()
    };
    [id(0), id(41)]
}

fn log_files(folder: &Folder) -> Result<Vec<PathBuf>, FilesError> {
    let mut files = Vec::new();
    let mut folders = vec![folder.git_dir().join("logs")];
    while let Some(next) = folders.pop() {
        for place in atomic::list(&next).map_err(FilesError::io("list", &next))? {
            match is_folder(&place) {
                Some(true) => folders.push(place),
                Some(false) => files.push(place),
                None => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Whether a path is a folder or a regular file; `None` for anything else.
pub(super) fn is_folder(place: &Path) -> Option<bool> {
    let found = fs::symlink_metadata(place).ok()?.file_type();
    match (found.is_dir(), found.is_file()) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        (false, false) => None,
    }
}

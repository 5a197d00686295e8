//! Finds damaged memory folders and git histories, and restarts a broken history.
//!
//! A folder that is missing together with its `.git`, though its files were indexed, is damage; a file
//! missing beside an intact `.git` is a person's deletion. A history is intact when every object that its
//! branches reach can be read and its content matches its name. The checks change nothing.
//!
//! Not here: rebuilding a folder's pages (`jobs`), the integrity of histories that machines share
//! (`shared`).

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use daybook_domain::page::read_all;
use daybook_domain::seams::{IndexWriter, ScopeStore};
use daybook_domain::{Scope, ScopeKind, StoreError, Tenant};
use gix::ObjectId;
use gix::objs::Kind;

use super::error::FilesError;
use super::folder::{FilesConfig, Folder};
use super::layout::{folder, kind_folder, tenant_folder};
use super::lock::LockOutcome;
use super::name::FileName;
use super::objects;
use super::stamp::CommitStamp;

/// Most findings reported for one history. More would not help a person.
const FINDINGS: usize = 20;
/// Most objects of one history that are checked.
const OBJECTS: usize = 5_000_000;

/// Whether a memory folder is missing or empty: neither files nor a history.
///
/// # Errors
/// When the disk cannot be read, for example because of the folder's permissions.
pub fn is_missing(path: &Path) -> io::Result<bool> {
    match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
        Ok(mut entries) => Ok(entries.next().is_none()),
    }
}

/// Lists a tenant's scopes whose files were indexed and whose folder is missing with its history.
///
/// # Errors
/// When the store fails. A folder that cannot be read is not counted as missing.
pub async fn missing_folders(
    store: &(impl ScopeStore + IndexWriter + ?Sized),
    root: &Path,
    tenant: &Tenant,
) -> Result<Vec<Scope>, StoreError> {
    let mut missing = Vec::new();
    for state in read_all(|page| store.scopes(tenant, page)).await? {
        let is_missing = is_missing(&folder(root, &state.scope)).unwrap_or(false);
        if is_missing
            && !IndexWriter::file_stamps(store, &state.scope)
                .await?
                .is_empty()
        {
            missing.push(state.scope);
        }
    }
    Ok(missing)
}

/// Lists a tenant's scopes that have a memory folder on disk, in order. The scopes are decoded from folder
/// names. Links are not followed.
#[must_use]
pub fn scopes_on_disk(root: &Path, tenant: &Tenant) -> Vec<Scope> {
    let mut scopes = Vec::new();
    for kind in [
        ScopeKind::User,
        ScopeKind::Agent,
        ScopeKind::Team,
        ScopeKind::Room,
        ScopeKind::Project,
    ] {
        let below = tenant_folder(root, tenant).join(kind_folder(kind));
        if !is_real_folder(&below) {
            continue;
        }
        let names = fs::read_dir(below).into_iter().flatten().flatten();
        let mut names: Vec<String> = names
            .filter(|entry| {
                is_real_folder(&entry.path()) && is_real_folder(&entry.path().join("memory"))
            })
            .filter_map(|entry| FileName::decode_folder(&entry.file_name().to_string_lossy()))
            .collect();
        names.sort();
        scopes.extend(names.into_iter().map(|name| Scope {
            tenant: tenant.clone(),
            kind,
            name,
        }));
    }
    scopes
}

fn is_real_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Checks the history of the memory folder at `path` and returns the findings; empty when it is intact.
#[must_use]
pub fn check_history(path: &Path) -> Vec<String> {
    let git = path.join(".git");
    match fs::symlink_metadata(&git) {
        // A reset leaves the folder, and nothing in it.
        Err(error) if error.kind() == io::ErrorKind::NotFound && is_empty(path) => {
            return Vec::new();
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return vec!["it has no history: `.git` is missing".to_owned()];
        }
        Err(error) => return vec![format!("{}: {error}", git.display())],
        Ok(_) => {}
    }
    let folder = Folder::existing(path, FilesConfig::default());
    let checked = folder
        .check_place()
        .and_then(|()| folder.repository())
        .map(|repo| check_repository(path, &git, &repo));
    match checked {
        Ok(findings) => findings,
        Err(error) => vec![with_causes(&error)],
    }
}

fn is_empty(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut inside| inside.next().is_none())
}

fn check_repository(path: &Path, git: &Path, repo: &gix::Repository) -> Vec<String> {
    let mut check = HistoryAudit {
        folder: Folder::existing(path, FilesConfig::default()),
        repo,
        seen: BTreeSet::new(),
        findings: Vec::new(),
    };
    if let Err(error) = repo.head() {
        check.findings.push(format!("HEAD cannot be read: {error}"));
    }
    for (name, id) in branches(git, &mut check.findings) {
        check.follow(&name, id);
    }
    check.follow_loose(&git.join("objects"));
    if git.join("index").exists()
        && let Err(error) = repo.open_index()
    {
        check
            .findings
            .push(format!("the index of git cannot be read: {error}"));
    }
    check.findings.truncate(FINDINGS);
    check.findings
}

/// One pass over all objects of a history.
struct HistoryAudit<'a> {
    folder: Folder,
    repo: &'a gix::Repository,
    seen: BTreeSet<ObjectId>,
    findings: Vec<String>,
}

impl HistoryAudit<'_> {
    /// Checks every object that `from` reaches.
    fn follow(&mut self, name: &str, from: ObjectId) {
        let mut next = vec![from];
        while let Some(id) = next.pop() {
            if self.findings.len() >= FINDINGS || self.seen.len() >= OBJECTS {
                return;
            }
            if !self.seen.insert(id) {
                continue;
            }
            match self.read(id) {
                Ok(named) => next.extend(named),
                Err(why) => self
                    .findings
                    .push(format!("{name} needs object {id}: {why}")),
            }
        }
    }

    /// Checks loose objects that no branch reaches.
    fn follow_loose(&mut self, objects: &Path) {
        for folder in fs::read_dir(objects).into_iter().flatten().flatten() {
            let first = folder.file_name().to_string_lossy().into_owned();
            if first.len() != 2 {
                continue;
            }
            for object in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                let name = format!("{first}{}", object.file_name().to_string_lossy());
                let Ok(id) = name.parse::<ObjectId>() else {
                    continue;
                };
                if self.findings.len() >= FINDINGS || !self.seen.insert(id) {
                    continue;
                }
                if let Err(why) = self.read(id) {
                    self.findings.push(format!("object {id}: {why}"));
                }
            }
        }
    }

    /// Reads one object, compares its content with its name, and returns the objects that it refers to.
    fn read(&self, id: ObjectId) -> Result<Vec<ObjectId>, String> {
        let object = self
            .repo
            .find_object(id)
            .map_err(|error| error.to_string())?;
        let hash = objects::hash(&self.folder, object.kind, &object.data);
        if hash.map_err(|error| error.to_string())? != id {
            return Err("its content is not what its name says".to_owned());
        }
        match object.kind {
            Kind::Blob => Ok(Vec::new()),
            Kind::Commit => {
                let commit = object.into_commit();
                let tree = commit.tree_id().map_err(|error| error.to_string())?;
                let mut named = vec![tree.detach()];
                named.extend(commit.parent_ids().map(gix::Id::detach));
                Ok(named)
            }
            Kind::Tree => {
                let tree = object.into_tree();
                let mut named = Vec::new();
                for entry in tree.iter() {
                    let entry = entry.map_err(|error| error.to_string())?;
                    // A submodule's commit is in another repository.
                    if !entry.mode().is_commit() {
                        named.push(entry.object_id());
                    }
                }
                Ok(named)
            }
            // Only a person makes tags here; their targets are reached from branches or are not Daybook's.
            Kind::Tag => Ok(Vec::new()),
        }
    }
}

/// Names and commits of all references, read from the files in `.git`.
fn branches(git: &Path, findings: &mut Vec<String>) -> Vec<(String, ObjectId)> {
    let mut found = Vec::new();
    let mut folders = vec![git.join("refs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path
                .strip_prefix(git)
                .unwrap_or(&path)
                .display()
                .to_string();
            if name.ends_with(".lock") {
                continue;
            }
            let text = fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            match text.as_deref().map(str::trim) {
                Ok(text) if text.starts_with("ref: ") => {}
                Ok(text) => match text.parse() {
                    Ok(id) => found.push((name, id)),
                    Err(_) => findings.push(format!("{name} names no commit: {text:?}")),
                },
                Err(error) => findings.push(format!("{name}: {error}")),
            }
        }
    }
    let packed = fs::read_to_string(git.join("packed-refs")).unwrap_or_default();
    for line in packed.lines().filter(|line| !line.starts_with(['#', '^'])) {
        if let Some((id, name)) = line.split_once(' ')
            && let Ok(id) = id.parse()
            && !found.iter().any(|(known, _)| known == name)
        {
            found.push((name.to_owned(), id));
        }
    }
    found
}

/// Result of restarting a history.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenewOutcome {
    /// The files are the first commit of a new history. Holds the path of the old history, if there was
    /// one.
    Begun(Option<PathBuf>),
    /// Another process is writing the folder; try again later.
    Busy,
}

/// Restarts the history of the folder at `path` with its present files as the first commit. The broken
/// `.git` is moved to `aside`. No working file is changed.
///
/// # Errors
/// What the disk says. The broken history is then at its place or at `aside`.
pub fn restart_history(
    path: &Path,
    aside: &Path,
    stamp: &CommitStamp,
    wait: Duration,
) -> Result<RenewOutcome, FilesError> {
    let broken = Folder::existing(path, FilesConfig::default());
    let git = broken.git_dir();
    let mut moved = None;
    let _held = match git.is_dir() {
        false => None,
        true => match broken.try_lock(wait)? {
            LockOutcome::Busy => return Ok(RenewOutcome::Busy),
            LockOutcome::Held(lock) => Some(lock),
        },
    };
    if fs::symlink_metadata(&git).is_ok() {
        if let Some(parent) = aside.parent() {
            fs::create_dir_all(parent).map_err(FilesError::io("create", parent))?;
        }
        fs::rename(&git, aside).map_err(FilesError::io("move", &git))?;
        moved = Some(aside.to_owned());
    }
    let folder = Folder::open(path, FilesConfig::default())?;
    match folder.try_lock(wait)? {
        LockOutcome::Busy => Ok(RenewOutcome::Busy),
        LockOutcome::Held(lock) => {
            lock.settle(stamp)?;
            Ok(RenewOutcome::Begun(moved))
        }
    }
}

fn with_causes(error: &FilesError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text.push_str(&format!(": {next}"));
        cause = next.source();
    }
    text
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;

//! Reads the repository of a folder on this machine: its root, remote and branch.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::folding::normalised_remote;
use daybook_text::redact::Redactor;

/// A checkout on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The repository's common folder, which all its worktrees share.
    pub common_dir: PathBuf,
    /// The main checkout's folder; of a bare repository, the common folder.
    pub root: PathBuf,
    /// The remote called `origin`, else the only one, normalised.
    pub remote: Option<String>,
    /// The branch that is checked out here.
    pub branch: Option<String>,
}

/// The checkout that `folder` lies in, if it exists and lies in one. The user's own git
/// configuration is not read.
#[must_use]
pub fn checkout(folder: &Path) -> Option<Checkout> {
    if !is_readable(folder) {
        return None;
    }
    let found = gix::discover::upwards(folder).ok()?.0;
    let (git_dir, _) = found.into_repository_and_work_tree_directories();
    let repository = gix::open_opts(git_dir, gix::open::Options::isolated()).ok()?;
    let common_dir = repository.common_dir().canonicalize().ok()?;
    let root = match common_dir.file_name() {
        Some(name) if name == ".git" => common_dir.parent()?.to_owned(),
        _ => common_dir.clone(),
    };
    let branch = repository
        .head_name()
        .ok()
        .flatten()
        .map(|name| name.shorten().to_string());
    Some(Checkout {
        remote: remote(&repository),
        common_dir,
        root,
        branch,
    })
}

/// Whether the files that describe the nearest repository are regular files. Reading a pipe would block.
fn is_readable(folder: &Path) -> bool {
    let found = folder.ancestors().find_map(|above| {
        let git = above.join(".git");
        let metadata = git.metadata().ok()?;
        Some((git, metadata))
    });
    let Some((git, metadata)) = found else {
        return true;
    };
    let is_regular = |name: &str| {
        git.join(name)
            .metadata()
            .map_or(true, |about| about.is_file())
    };
    match metadata.is_dir() {
        true => ["HEAD", "config", "packed-refs", "commondir"]
            .into_iter()
            .all(is_regular),
        false => metadata.is_file(),
    }
}

fn remote(repository: &gix::Repository) -> Option<String> {
    let config = repository.config_snapshot();
    let url = config.string("remote.origin.url").or_else(|| {
        let names = repository.remote_names();
        let only = names.iter().next().filter(|_| names.len() == 1)?;
        config.string(format!("remote.{only}.url").as_str())
    })?;
    let remote = normalised_remote(&url.to_string())?;
    // It identifies a project, so it is stored and shown.
    let is_plain = Redactor::current().redact(&remote).findings.is_empty();
    is_plain.then_some(remote)
}

/// A cache of repositories' common folders, by the folder that was looked up.
#[derive(Debug, Default)]
pub struct CommonDirs(Mutex<HashMap<PathBuf, Option<PathBuf>>>);

impl CommonDirs {
    /// The common folder of the repository that `folder` lies in, if it is on this machine.
    pub fn of(&self, folder: &Path) -> Option<PathBuf> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(folder) {
            return found.clone();
        }
        let found = checkout(folder).map(|checkout| checkout.common_dir);
        known.insert(folder.to_owned(), found.clone());
        found
    }
}

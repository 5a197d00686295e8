//! Folds working directories into the checkout that they belong to.
//!
//! A worktree is a place of its own only to git; to a person it is the project. It is folded by git's own
//! records while the folder exists, and by its path when it is gone, as most are. A session that changes
//! into a subfolder stays at the place where it began.
//!
//! Not here: projects. Several roots may belong to one project.

use std::path::{Path, PathBuf};

use daybook_domain::Place;
use serde::{Deserialize, Serialize};

/// Finds the git common directory (`/home/ada/engine/.git`) of a folder that still exists on this
/// machine; `None` for any other.
pub type GitCommonDir<'a> = &'a (dyn Fn(&Path) -> Option<PathBuf> + Sync);

/// Most worktrees that one session may declare.
const WORKTREES: usize = 16;
/// Most places that are cached for one session.
const CACHED: usize = 32;

/// Folders in whose subfolders agents put worktrees of the folder above.
const OF_THE_FOLDER_ABOVE: [&str; 3] = ["/.worktrees/", "/.claude/worktrees/", "/.git/worktrees/"];

/// The main folder of the checkout that `cwd` lies in, as far as that can be found out.
#[must_use]
pub fn fold_root(cwd: &str, branch: Option<&str>, git: GitCommonDir<'_>) -> String {
    let cwd = tidy(cwd);
    if let Some(common) = git(Path::new(&cwd)) {
        let common = tidy(&common.to_string_lossy());
        let root = common.strip_suffix("/.git").unwrap_or(&common);
        return if root.is_empty() { "/" } else { root }.to_owned();
    }
    by_path(&cwd, branch).unwrap_or(&cwd).to_owned()
}

/// The folder that `cwd` is a worktree of, going by its path.
fn by_path<'c>(cwd: &'c str, branch: Option<&str>) -> Option<&'c str> {
    let above = OF_THE_FOLDER_ABOVE
        .iter()
        .filter_map(|marker| cwd.find(marker))
        .min();
    if let Some(above) = above {
        return (above > 0).then(|| &cwd[..above]);
    }
    // A folder called `worktrees` alone proves nothing; a subfolder named like the branch is proof
    // enough.
    let (above, tree) = cwd.split_once("/worktrees/")?;
    let hidden = Path::new(above)
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let named_like_branch = branch.is_some_and(|branch| {
        let flat = |name: &str| name.replace(['/', '_', '+'], "-").to_lowercase();
        let (tree, branch) = (flat(tree), flat(branch));
        tree == branch
            || tree.starts_with(&format!("{branch}-"))
            || branch.ends_with(&format!("-{tree}"))
    });
    (!above.is_empty() && !hidden && named_like_branch).then_some(above)
}

/// The path without separators at its end, and with `/` as its separator on Windows too.
fn tidy(path: &str) -> String {
    let windows = path.as_bytes().get(1) == Some(&b':') || path.starts_with("\\\\");
    let path = if windows {
        path.replace('\\', "/")
    } else {
        path.to_owned()
    };
    match path.trim_end_matches('/') {
        "" if !path.is_empty() => "/".to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

/// A remote's address as one name per repository: `github.com/ada/engine`. Users, passwords,
/// ports and `.git` are dropped. `None` for what names no repository on a host.
#[must_use]
pub fn normalised_remote(address: &str) -> Option<String> {
    let address = address.trim();
    let (host, path) = match address.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split_once('/')?,
        // `git@host:path`, as ssh writes it. One letter before the colon is a drive.
        None => address
            .split_once(':')
            .filter(|(host, _)| host.len() > 1 && !host.contains('/'))?,
    };
    let host = host.rsplit('@').next()?.split(':').next()?.to_lowercase();
    let path = path.split(['?', '#']).next()?.trim_matches('/');
    let path = path
        .strip_suffix(".git")
        .unwrap_or(path)
        .trim_end_matches('/');
    (!host.is_empty() && !path.is_empty()).then(|| format!("{host}/{path}"))
}

/// Tracks the place of one session while its transcript is read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PlaceTracker {
    /// The first working directory, and the root that it was folded into.
    first: Option<(String, String)>,
    /// The present one as the host wrote it, with the branch.
    now: Option<(String, Option<String>)>,
    /// The place that `now` was folded into.
    place: Option<Place>,
    /// Worktrees that the host declared, and the folders that they belong to.
    worktrees: Vec<(String, String)>,
    /// Roots of the session's earlier places, so that git is not queried for them again.
    #[serde(skip)]
    cache: Vec<((String, Option<String>), String)>,
}

impl PlaceTracker {
    /// Sets the working directory and the branch. Without a branch, a folder that stays the same keeps
    /// the one it has.
    pub(crate) fn set_folder(&mut self, cwd: &str, branch: Option<&str>, git: GitCommonDir<'_>) {
        if cwd.is_empty() {
            return;
        }
        let branch = branch.filter(|branch| !branch.is_empty() && *branch != "HEAD");
        if let Some((known, known_branch)) = &self.now
            && known == cwd
            && known_branch.as_deref() == branch
        {
            return;
        }
        let root = self.known_root(cwd, branch, git);
        if self.first.is_none() {
            self.first = Some((tidy(cwd), root.clone()));
        }
        let branch = branch.map(str::to_owned);
        self.now = Some((cwd.to_owned(), branch.clone()));
        self.place = Some(Place { root, branch });
    }

    /// Sets the working directory alone: the branch stays while the checkout does.
    pub(crate) fn change_folder(&mut self, cwd: &str, git: GitCommonDir<'_>) {
        let before = self.place.clone();
        if self.cwd() == Some(cwd) {
            return;
        }
        self.set_folder(cwd, None, git);
        if let (Some(before), Some(place), Some(now)) = (before, &mut self.place, &mut self.now)
            && before.root == place.root
        {
            now.1.clone_from(&before.branch);
            place.branch = before.branch;
        }
    }

    /// Records the host's declaration that `worktree` belongs to `folder`.
    pub(crate) fn add_worktree(&mut self, worktree: &str, folder: &str) {
        if worktree.is_empty() || folder.is_empty() || self.worktrees.len() >= WORKTREES {
            return;
        }
        let known = (tidy(worktree), tidy(folder));
        if !self.worktrees.contains(&known) {
            self.worktrees.push(known);
            self.cache.clear();
        }
    }

    /// The present place.
    pub(crate) fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// The present working directory, as the host wrote it.
    pub(crate) fn cwd(&self) -> Option<&str> {
        self.now.as_ref().map(|now| now.0.as_str())
    }

    /// The present branch.
    pub(crate) fn branch(&self) -> Option<&str> {
        self.now.as_ref().and_then(|now| now.1.as_deref())
    }

    fn known_root(&mut self, cwd: &str, branch: Option<&str>, git: GitCommonDir<'_>) -> String {
        let place = (cwd.to_owned(), branch.map(str::to_owned));
        if let Some((_, root)) = self.cache.iter().find(|(known, _)| *known == place) {
            return root.clone();
        }
        let root = self.root(cwd, branch, git);
        if self.cache.len() < CACHED {
            self.cache.push((place, root.clone()));
        }
        root
    }

    fn root(&self, cwd: &str, branch: Option<&str>, git: GitCommonDir<'_>) -> String {
        let tidied = tidy(cwd);
        let declared = self
            .worktrees
            .iter()
            .find(|(tree, _)| within(&tidied, tree));
        if let Some((_, folder)) = declared {
            return fold_root(folder, branch, git);
        }
        let root = fold_root(cwd, branch, git);
        match &self.first {
            // Git's or the path's evidence of a subfolder (a repository within the repository)
            // outweighs the place where the session began.
            Some((first, first_root)) if root == tidied && within(&tidied, first) => {
                if git(Path::new(&tidied)).is_some() {
                    root
                } else {
                    first_root.clone()
                }
            }
            Some(_) | None => root,
        }
    }
}

/// Whether `path` is `folder` or lies in it.
fn within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || folder == "/")
}

#[cfg(test)]
#[path = "folding_tests.rs"]
mod tests;

//! Joining and renaming projects, when a person knows better which checkouts belong together.
//!
//! What was observed moves with the checkouts, and is posted under the new name by the project's own
//! job. What a person wrote into the old project's files moves too; the old folder is set aside with
//! its history, and nothing is deleted. From then on every identity of the old project stands for
//! the new one, so a checkout that comes later joins it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use daybook_domain::{Project, Scope, ScopeKind};

use super::{WorkError, Workshop};
use crate::files::entry::{Block, blocks, unmarked};
use crate::files::layout::{CURATED, folder};
use crate::files::{FilesConfig, FilesError, Folder, LockOutcome};

/// What joining did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Joined {
    /// Checkouts that now belong to the other project.
    pub checkouts: usize,
    /// Lines and files of the person's that moved.
    pub words: usize,
    /// Where the old folder rests, with its history.
    pub set_aside: Option<PathBuf>,
}

/// Why projects could not be joined.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// There is no such project.
    #[error("there is no project {0}; `daybook projects list` names them")]
    Unknown(String),
    /// A project cannot be joined with itself.
    #[error("{0} is that project already")]
    Same(String),
    /// Somebody writes there just now.
    #[error("the memory of {0} is being written just now; try again")]
    Busy(String),
    /// Store or files failed.
    #[error(transparent)]
    Work(#[from] WorkError),
    /// The old folder could not be set aside.
    #[error("{0} cannot be moved: {1}")]
    Disk(PathBuf, io::Error),
}

/// Makes everything of project `from` part of `into`. `into` need not exist: then it is a new name.
/// May be repeated after an interruption.
///
/// # Errors
/// [`JoinError`]; what was done until then holds, and repeating goes on.
pub async fn join(shop: &Workshop, from: &str, into: &str) -> Result<Joined, JoinError> {
    if from == into {
        return Err(JoinError::Same(from.to_owned()));
    }
    let mut joined = Joined {
        checkouts: move_checkouts(shop, from, into).await?,
        ..Joined::default()
    };
    let scope = |name: &str| Scope {
        tenant: shop.tenant.clone(),
        kind: ScopeKind::Project,
        name: name.to_owned(),
    };
    let old = folder(&shop.root, &scope(from));
    if old.is_dir() {
        joined.words = move_words(shop, &old, from, &scope(into))?;
        joined.set_aside = Some(set_aside(&shop.root, &old, from)?);
    }
    let now = shop.clock.now();
    let raised = shop.store.touch_scope(&scope(into), now).await;
    raised.map_err(WorkError::from)?;
    Ok(joined)
}

/// Gives every checkout and every identity of a project another key.
async fn move_checkouts(shop: &Workshop, from: &str, into: &str) -> Result<usize, JoinError> {
    let projects = shop.store.projects().await.map_err(WorkError::from)?;
    let renamed: Vec<Project> = projects
        .into_iter()
        .filter(|project| project.key == from)
        .map(|project| Project {
            key: into.to_owned(),
            ..project
        })
        .collect();
    let places = shop.store.places().await.map_err(WorkError::from)?;
    let roots: BTreeSet<String> = places
        .into_iter()
        .filter(|(_, key)| key.as_deref() == Some(from))
        .map(|(place, _)| place.root)
        .collect();
    if roots.is_empty() && renamed.is_empty() {
        return Err(JoinError::Unknown(from.to_owned()));
    }
    for root in &roots {
        for project in &renamed {
            let moved = shop.store.assign_root(root, project, shop.clock.now());
            moved.await.map_err(WorkError::from)?;
        }
    }
    Ok(roots.len())
}

/// Moves a person's own lines and files, and says how many.
fn move_words(shop: &Workshop, old: &Path, from: &str, into: &Scope) -> Result<usize, JoinError> {
    let new = folder(&shop.root, into);
    let disk = |path: &Path| {
        let path = path.to_owned();
        move |error| JoinError::Disk(path, error)
    };
    let opened = Folder::open(&new, FilesConfig::default()).map_err(files)?;
    let lock = opened.try_lock(shop.limits.folder_wait).map_err(files)?;
    let LockOutcome::Held(_lock) = lock else {
        return Err(JoinError::Busy(into.to_string()));
    };
    let mut moved = 0;
    let curated = fs::read_to_string(old.join(CURATED)).unwrap_or_default();
    let words = own_words(&curated);
    if !words.is_empty() {
        moved += words.lines().count();
        let path = new.join(CURATED);
        let mut text = fs::read_to_string(&path).unwrap_or_default();
        let heading = format!("## From {from}\n\n");
        if !text.contains(&heading) {
            text = format!("{}\n\n{heading}{words}", text.trim_end());
            write(&path, text.trim_start()).map_err(disk(&path))?;
        }
    }
    for kind in ["topics", "notes"] {
        for entry in fs::read_dir(old.join(kind)).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let target = new.join(kind).join(format!("{from}-{name}"));
            if entry.path().is_file() && !target.exists() {
                let text = fs::read(entry.path()).map_err(disk(&entry.path()))?;
                fs::create_dir_all(new.join(kind)).map_err(disk(&target))?;
                fs::write(&target, text).map_err(disk(&target))?;
                moved += 1;
            }
        }
    }
    Ok(moved)
}

fn files(error: FilesError) -> JoinError {
    JoinError::Work(error.into())
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let unnamed = path.with_extension("md.new");
    fs::write(&unnamed, text)?;
    fs::rename(unnamed, path)
}

/// The lines of a page that are a person's, without headings and blank lines.
fn own_words(page: &str) -> String {
    let mut words = String::new();
    for block in blocks(page) {
        let lines: Vec<&str> = match block {
            Block::Altered(_, lines) => lines,
            Block::Other(line) if !line.trim().is_empty() => vec![line],
            Block::Other(_) | Block::Ours(..) | Block::Heading(..) => Vec::new(),
        };
        for line in lines {
            words.push_str(unmarked(line).trim_end());
            words.push('\n');
        }
    }
    words
}

/// Moves the old folder out of sight, history and all.
fn set_aside(root: &Path, old: &Path, from: &str) -> Result<PathBuf, JoinError> {
    let failed = |error| JoinError::Disk(old.to_owned(), error);
    let aside = root.join("joined");
    fs::create_dir_all(&aside).map_err(failed)?;
    let name = crate::files::layout::encoded(from);
    let free = (1..).map(|n| aside.join(format!("{name}-{n}")));
    let mut free = free.skip_while(|path| path.exists());
    let target = free.next().unwrap_or_else(|| aside.join(name));
    fs::rename(old, &target).map_err(failed)?;
    if let Some(parent) = old.parent() {
        // Only when nothing else lies there.
        let _ = fs::remove_dir(parent);
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_persons_words_are_what_the_engine_did_not_write() {
        let page = "# tidepool — what we know\n\n## Decisions\n- mine, without a mark\n\nprose\n";
        assert_eq!(own_words(page), "- mine, without a mark\nprose\n");
    }
}

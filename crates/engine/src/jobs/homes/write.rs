//! Writes a hand-back to a folder, whole or not at all.
//!
//! The files are written beside the folder and moved into place at the end. A folder that holds anything else than an
//! unchanged hand-back is not replaced, unless the caller asks for it; it is moved aside then, and never deleted.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::hand_back::{HandBack, HandBackSource};
use crate::bounded;

/// Lists what a hand-back wrote, in its folder.
const MANIFEST: &str = ".daybook-export.json";
/// Longest list that is read, in bytes.
const MANIFEST_BYTES: u64 = 64 * 1024 * 1024;
/// Most earlier folders that are kept aside.
const ASIDE: usize = 10_000;

/// Why a folder is not written.
#[derive(Debug, thiserror::Error)]
pub enum HandBackRefusal {
    /// It holds files that no hand-back wrote.
    #[error("{folder} is not empty, and {file} was not written there by this command")]
    NotOurs {
        /// The folder.
        folder: PathBuf,
        /// The first of them.
        file: String,
    },
    /// A file there was changed since.
    #[error("{folder} holds an earlier export, and {file} was changed there since")]
    Changed {
        /// The folder.
        folder: PathBuf,
        /// The first of them.
        file: String,
    },
    /// It is the home itself, or lies in it.
    #[error("{0} is the home that was taken over, or lies inside it; name another folder")]
    InHome(PathBuf),
    /// It is no folder.
    #[error("{0} is not a folder; name another one")]
    NotAFolder(PathBuf),
    /// The disk failed.
    #[error("cannot write {path}")]
    Io {
        /// What was written.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

/// A hand-back that was written.
#[derive(Debug, PartialEq, Eq)]
pub struct WrittenHandBack {
    /// Files written.
    pub files: u64,
    /// Where the former content of the folder is now, if it was not an unchanged hand-back.
    pub aside: Option<PathBuf>,
}

/// What a hand-back wrote: the fingerprint of each file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ExportManifest {
    form: u32,
    files: BTreeMap<String, String>,
}

/// Writes a hand-back to `to`. With `replace`, a folder that holds other files is moved aside first.
///
/// # Errors
/// Why the folder is not written. It is unchanged then.
pub fn write_hand_back(
    plan: &HandBack,
    to: &Path,
    replace: bool,
) -> Result<WrittenHandBack, HandBackRefusal> {
    let to = std::path::absolute(to).map_err(failed(to))?;
    if plan
        .home
        .as_ref()
        .is_some_and(|home| to.starts_with(home) || home.starts_with(&to))
    {
        return Err(HandBackRefusal::InHome(to));
    }
    let former = former_content(&to)?;
    if let FormerContent::Other(refusal) = former
        && !replace
    {
        return Err(refusal);
    }
    let former = former_content(&to)?;
    let parent = to.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(parent).map_err(failed(parent))?;
    let beside = tempfile::tempdir_in(parent).map_err(failed(parent))?;
    let new = beside.path().join("export");
    let manifest = write_files(plan, &new)?;
    let text = serde_json::to_vec_pretty(&manifest).map_err(|error| HandBackRefusal::Io {
        path: to.clone(),
        source: error.into(),
    })?;
    fs::write(new.join(MANIFEST), text).map_err(failed(&to))?;
    let aside = match former {
        FormerContent::None => None,
        FormerContent::Empty => {
            fs::remove_dir(&to).map_err(failed(&to))?;
            None
        }
        FormerContent::Ours => {
            let old = beside.path().join("former");
            fs::rename(&to, old).map_err(failed(&to))?;
            None
        }
        FormerContent::Other(_) => Some(move_aside(&to)?),
    };
    fs::rename(&new, &to).map_err(failed(&to))?;
    Ok(WrittenHandBack {
        files: manifest.files.len() as u64,
        aside,
    })
}

fn failed(path: &Path) -> impl Fn(io::Error) -> HandBackRefusal {
    let path = path.to_owned();
    move |source| HandBackRefusal::Io {
        path: path.clone(),
        source,
    }
}

fn write_files(plan: &HandBack, new: &Path) -> Result<ExportManifest, HandBackRefusal> {
    fs::create_dir_all(new).map_err(failed(new))?;
    let mut manifest = ExportManifest {
        form: 1,
        ..ExportManifest::default()
    };
    for (path, file) in &plan.files {
        let target = new.join(path);
        let folder = target.parent().unwrap_or(new);
        fs::create_dir_all(folder).map_err(failed(folder))?;
        match &file.source {
            HandBackSource::Bytes(bytes) => {
                fs::write(&target, bytes).map_err(failed(&target))?;
            }
            HandBackSource::Copy(from) => {
                let mut source = bounded::open(from).map_err(|why| failed(from)(why.into()))?;
                let mut file = fs::File::create(&target).map_err(failed(&target))?;
                io::copy(&mut source, &mut file).map_err(failed(&target))?;
            }
        }
        let print = fingerprint(&target).map_err(failed(&target))?;
        manifest.files.insert(path.clone(), print);
    }
    Ok(manifest)
}

/// What stands where a hand-back is to be written.
enum FormerContent {
    None,
    Empty,
    /// An unchanged hand-back.
    Ours,
    Other(HandBackRefusal),
}

fn former_content(to: &Path) -> Result<FormerContent, HandBackRefusal> {
    match fs::symlink_metadata(to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FormerContent::None),
        Err(error) => return Err(failed(to)(error)),
        Ok(metadata) if !metadata.is_dir() => {
            return Err(HandBackRefusal::NotAFolder(to.to_owned()));
        }
        Ok(_) => {}
    }
    let mut files = Vec::new();
    list(to, "", &mut files).map_err(failed(to))?;
    if files.is_empty() {
        return Ok(match fs::read_dir(to).map_err(failed(to))?.next() {
            None => FormerContent::Empty,
            Some(_) => FormerContent::Ours,
        });
    }
    let text = bounded::read(&to.join(MANIFEST), MANIFEST_BYTES).unwrap_or_default();
    let manifest: ExportManifest = serde_json::from_slice(&text).unwrap_or_default();
    let folder = || to.to_owned();
    for file in files.into_iter().filter(|file| file != MANIFEST) {
        let Some(print) = manifest.files.get(&file) else {
            let folder = folder();
            return Ok(FormerContent::Other(HandBackRefusal::NotOurs {
                folder,
                file,
            }));
        };
        let path = to.join(&file);
        if fingerprint(&path).map_err(failed(&path))? != *print {
            let folder = folder();
            return Ok(FormerContent::Other(HandBackRefusal::Changed {
                folder,
                file,
            }));
        }
    }
    Ok(FormerContent::Ours)
}

/// All files below a folder, hidden ones and links included, in order.
fn list(folder: &Path, below: &str, files: &mut Vec<String>) -> io::Result<()> {
    let mut entries: Vec<fs::DirEntry> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = match below {
            "" => name,
            below => format!("{below}/{name}"),
        };
        match entry.file_type()?.is_dir() {
            true => list(&entry.path(), &path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}

fn fingerprint(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    let mut file = bounded::open(path)?;
    let mut buffer = [0; 64 * 1024];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hasher.finalize().to_hex().to_string());
        }
        hasher.update(&buffer[..read]);
    }
}

/// Moves a folder to the first free name behind its own.
fn move_aside(to: &Path) -> Result<PathBuf, HandBackRefusal> {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    for nth in 1..ASIDE {
        let aside = to.with_file_name(format!("{name}.before-{nth}"));
        if fs::symlink_metadata(&aside).is_err() {
            fs::rename(to, &aside).map_err(failed(to))?;
            return Ok(aside);
        }
    }
    Err(failed(to)(io::ErrorKind::AlreadyExists.into()))
}

//! Writing a backup while others work.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use daybook_engine::files::{FilesConfig, Folder, LockOutcome};
use daybook_store::sqlite::{SqliteOptions, SqliteStore};
use tar::{Builder, EntryType, Header};
use tempfile::NamedTempFile;

use super::{FORM, Kept, MANIFEST, Manifest, PARTS, tables};
use crate::root::shown;
use crate::wiring::{DATABASE, block_on};

/// Longest wait for whoever writes a memory folder.
const FOLDER_WAIT: Duration = Duration::from_secs(30);

/// Writes a backup of the data folder at `root`, whose database is `store`, to a new file at `path`.
pub(crate) fn write(root: &Path, store: &SqliteStore, path: &Path, at: i64) -> Result<Manifest> {
    if path.exists() {
        bail!("{} is there already; name a new file", shown(path));
    }
    let beside = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let beside = beside.unwrap_or(Path::new("."));
    let failed = || format!("cannot write {}", shown(path));
    // Temporary files are their owner's alone, and so is what becomes of them.
    let file = NamedTempFile::new_in(beside).with_context(failed)?;
    let scratch = tempfile::tempdir_in(beside).with_context(failed)?;
    let copy = scratch.path().join(DATABASE);
    store.copy_to(&copy)?;
    let counted = {
        let copy = SqliteStore::open(&copy, SqliteOptions::default())?;
        block_on(tables(&copy))?
    };
    let mut writing = Writing {
        tar: Builder::new(file),
        files: BTreeMap::new(),
    };
    writing.file(&copy, DATABASE)?;
    for part in PARTS {
        writing.any(&root.join(part), part)?;
    }
    let manifest = Manifest {
        form: FORM,
        daybook: env!("CARGO_PKG_VERSION").to_owned(),
        at,
        tables: counted,
        files: writing.files,
    };
    let text = serde_json::to_vec_pretty(&manifest)?;
    append(&mut writing.tar, MANIFEST, text.len() as u64, 0o600, &*text).with_context(failed)?;
    let file = writing.tar.into_inner().with_context(failed)?;
    file.as_file().sync_all().with_context(failed)?;
    file.persist_noclobber(path).with_context(failed)?;
    Ok(manifest)
}

struct Writing {
    tar: Builder<NamedTempFile>,
    files: BTreeMap<String, Kept>,
}

impl Writing {
    /// Whatever is at `path`, under `name`; nothing where there is nothing.
    fn any(&mut self, path: &Path, name: &str) -> Result<()> {
        let kind = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", shown(path)));
            }
        };
        if kind.is_dir() {
            self.folder(path, name)
        } else if kind.is_symlink() {
            self.link(path, name)
        } else if kind.is_file() {
            self.file(path, name)
        } else {
            Ok(())
        }
    }

    /// A folder; one with a history while nobody else writes it, so that the two agree.
    fn folder(&mut self, path: &Path, name: &str) -> Result<()> {
        if !path.join(".git").is_dir() {
            return self.inside(path, name);
        }
        let folder = Folder::open(path, FilesConfig::default())?;
        match folder.try_lock(FOLDER_WAIT)? {
            LockOutcome::Held(_lock) => self.inside(path, name),
            LockOutcome::Busy => bail!(
                "somebody has been writing {} for half a minute; run this again",
                shown(path)
            ),
        }
    }

    fn inside(&mut self, path: &Path, name: &str) -> Result<()> {
        let cannot = || format!("cannot read {}", shown(path));
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Directory);
        header.set_mode(mode_of(&fs::metadata(path).with_context(cannot)?));
        header.set_size(0);
        let tar = &mut self.tar;
        tar.append_data(&mut header, format!("{name}/"), io::empty())
            .with_context(cannot)?;
        let mut names = Vec::new();
        for entry in fs::read_dir(path).with_context(cannot)? {
            let entry = entry.with_context(cannot)?.file_name();
            let entry = entry.into_string().map_err(|name| {
                let name = path.join(name);
                anyhow::anyhow!("the name of {} is not text; rename it", shown(&name))
            })?;
            // What git locks while a person's command runs would stay locked in a restored folder.
            if !(name.contains(".git") && entry.ends_with(".lock")) {
                names.push(entry);
            }
        }
        names.sort();
        for entry in names {
            self.any(&path.join(&entry), &format!("{name}/{entry}"))?;
        }
        Ok(())
    }

    /// A file as it is while it is open: a person's editor may put another one in its place.
    fn file(&mut self, path: &Path, name: &str) -> Result<()> {
        let cannot = || format!("cannot read {}", shown(path));
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error).with_context(cannot),
        };
        let mut hash = blake3::Hasher::new();
        let bytes = io::copy(&mut file, &mut hash).with_context(cannot)?;
        file.rewind().with_context(cannot)?;
        let mode = mode_of(&file.metadata().with_context(cannot)?);
        let mut rest = file.take(bytes);
        append(&mut self.tar, name, bytes, mode, &mut rest).with_context(cannot)?;
        if rest.limit() > 0 {
            bail!(
                "{} became shorter while it was read; run this again",
                shown(path)
            );
        }
        let hash = hash.finalize().to_hex().to_string();
        self.files.insert(name.to_owned(), Kept { bytes, hash });
        Ok(())
    }

    fn link(&mut self, path: &Path, name: &str) -> Result<()> {
        let cannot = || format!("cannot read {}", shown(path));
        let target = fs::read_link(path).with_context(cannot)?;
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Symlink);
        header.set_mode(0o777);
        header.set_size(0);
        let tar = &mut self.tar;
        tar.append_link(&mut header, name, &target)
            .with_context(cannot)?;
        let kept = Kept::of(target.to_string_lossy().as_bytes());
        self.files.insert(name.to_owned(), kept);
        Ok(())
    }
}

fn append(
    tar: &mut Builder<NamedTempFile>,
    name: &str,
    bytes: u64,
    mode: u32,
    content: impl Read,
) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(mode);
    tar.append_data(&mut header, name, content)
}

/// Whose a file is stays behind; who may read, write or run it comes along.
fn mode_of(metadata: &Metadata) -> u32 {
    #[cfg(unix)]
    let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
    #[cfg(not(unix))]
    let mode = match metadata.permissions().readonly() {
        true => 0o500,
        false => 0o700,
    };
    mode
}

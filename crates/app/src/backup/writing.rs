//! Writes a backup while other processes work, and the tar file that an archive is, too.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use daybook_engine::files::{FilesConfig, Folder, LockOutcome};
use daybook_store::sqlite::{SqliteOptions, SqliteStore};
use serde::Serialize;
use tar::{Builder, EntryType, Header};
use tempfile::{NamedTempFile, TempDir};

use super::{FORM, FileSummary, MANIFEST, Manifest, PARTS, tables};
use crate::folders::data_folder::display_path;
use crate::process::block_on;
use crate::wiring::DATABASE;

/// Longest wait for the writer of a memory folder.
const FOLDER_WAIT: Duration = Duration::from_secs(30);

/// Writes a backup of the data folder at `root`, whose database is `store`, to a new file at `path`.
pub(crate) fn write(root: &Path, store: &SqliteStore, path: &Path, at: i64) -> Result<Manifest> {
    let mut writing = TarWriter::create(path)?;
    let copy = writing.scratch(DATABASE);
    store.copy_to(&copy)?;
    let counted = {
        let copy = SqliteStore::open(&copy, SqliteOptions::default())?;
        block_on(tables(&copy))?
    };
    writing.add_file(&copy, DATABASE)?;
    for part in PARTS {
        writing.add(&root.join(part), part)?;
    }
    writing.finish(MANIFEST, |files| Manifest {
        form: FORM,
        daybook: env!("CARGO_PKG_VERSION").to_owned(),
        at,
        tables: counted,
        files,
    })
}

/// A tar file that is there whole or not at all, readable by its owner alone.
pub(super) struct TarWriter<'a> {
    path: &'a Path,
    tar: Builder<NamedTempFile>,
    files: BTreeMap<String, FileSummary>,
    scratch: TempDir,
}

impl<'a> TarWriter<'a> {
    /// Begins a new file at `path`, where none may be.
    pub(super) fn create(path: &'a Path) -> Result<Self> {
        if path.exists() {
            bail!("{} exists already; name a new file", display_path(path));
        }
        let beside = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let beside = beside.unwrap_or(Path::new("."));
        let failed = || format!("cannot write {}", display_path(path));
        // Temporary files are readable by their owner alone, and so is what becomes of them.
        let file = NamedTempFile::new_in(beside).with_context(failed)?;
        let scratch = tempfile::tempdir_in(beside).with_context(failed)?;
        Ok(Self {
            path,
            tar: Builder::new(file),
            files: BTreeMap::new(),
            scratch,
        })
    }

    /// A path for a file of that name that is added later, and then removed.
    pub(super) fn scratch(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Adds the manifest of all that was added, and puts the file in its place.
    pub(super) fn finish<M: Serialize>(
        mut self,
        name: &str,
        manifest: impl FnOnce(BTreeMap<String, FileSummary>) -> M,
    ) -> Result<M> {
        let failed = || format!("cannot write {}", display_path(self.path));
        let manifest = manifest(self.files);
        let text = serde_json::to_vec_pretty(&manifest)?;
        append(&mut self.tar, name, text.len() as u64, 0o600, &*text).with_context(failed)?;
        let file = self.tar.into_inner().with_context(failed)?;
        file.as_file().sync_all().with_context(failed)?;
        file.persist_noclobber(self.path).with_context(failed)?;
        Ok(manifest)
    }

    /// Adds the file, link or folder at `path` under `name`, if it exists.
    pub(super) fn add(&mut self, path: &Path, name: &str) -> Result<()> {
        let kind = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", display_path(path)));
            }
        };
        if kind.is_dir() {
            self.add_folder(path, name)
        } else if kind.is_symlink() {
            self.add_link(path, name)
        } else if kind.is_file() {
            self.add_file(path, name)
        } else {
            Ok(())
        }
    }

    /// Adds a folder. One with a history is locked meanwhile, so that files and history agree.
    fn add_folder(&mut self, path: &Path, name: &str) -> Result<()> {
        if !path.join(".git").is_dir() {
            return self.add_contents(path, name);
        }
        let folder = Folder::open(path, FilesConfig::default())?;
        match folder.try_lock(FOLDER_WAIT)? {
            LockOutcome::Held(_lock) => self.add_contents(path, name),
            LockOutcome::Busy => bail!(
                "another process has been writing {} for half a minute; run this again",
                display_path(path)
            ),
        }
    }

    fn add_contents(&mut self, path: &Path, name: &str) -> Result<()> {
        let cannot = || format!("cannot read {}", display_path(path));
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
                anyhow::anyhow!("the name of {} is not text; rename it", display_path(&name))
            })?;
            // A lock of git, held while a person's command runs, would stay locked in a restored folder.
            if !(name.contains(".git") && entry.ends_with(".lock")) {
                names.push(entry);
            }
        }
        names.sort();
        for entry in names {
            self.add(&path.join(&entry), &format!("{name}/{entry}"))?;
        }
        Ok(())
    }

    /// Adds a file of our own, for its owner alone, whatever the permissions of new files are here.
    pub(super) fn add_private(&mut self, path: &Path, name: &str) -> Result<()> {
        self.add_file_as(path, name, Some(0o600))
    }

    /// Adds a file as it is while it is open: a person's editor may replace it meanwhile.
    pub(super) fn add_file(&mut self, path: &Path, name: &str) -> Result<()> {
        self.add_file_as(path, name, None)
    }

    fn add_file_as(&mut self, path: &Path, name: &str, mode: Option<u32>) -> Result<()> {
        let cannot = || format!("cannot read {}", display_path(path));
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error).with_context(cannot),
        };
        let mut hash = blake3::Hasher::new();
        let bytes = io::copy(&mut file, &mut hash).with_context(cannot)?;
        file.rewind().with_context(cannot)?;
        let mode = match mode {
            Some(mode) => mode,
            None => mode_of(&file.metadata().with_context(cannot)?),
        };
        let mut rest = file.take(bytes);
        append(&mut self.tar, name, bytes, mode, &mut rest).with_context(cannot)?;
        if rest.limit() > 0 {
            bail!(
                "{} became shorter while it was read; run this again",
                display_path(path)
            );
        }
        let hash = hash.finalize().to_hex().to_string();
        self.files
            .insert(name.to_owned(), FileSummary { bytes, hash });
        Ok(())
    }

    fn add_link(&mut self, path: &Path, name: &str) -> Result<()> {
        let cannot = || format!("cannot read {}", display_path(path));
        let target = fs::read_link(path).with_context(cannot)?;
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Symlink);
        header.set_mode(0o777);
        header.set_size(0);
        let tar = &mut self.tar;
        tar.append_link(&mut header, name, &target)
            .with_context(cannot)?;
        let kept = FileSummary::of(target.to_string_lossy().as_bytes());
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

/// The permissions of a file. Its owner is left out of the backup.
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

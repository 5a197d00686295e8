//! A settings file of another program: read completely, and replaced atomically.
//!
//! A change first backs up the old bytes beside the file, then puts a complete new file in its place, then reads it back.
//! A failure at any step leaves the old file in place. Of the backups those stay that can still be of use, so that they do
//! not pile up.
//!
//! Not here: the new text.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use daybook_engine::bounded;

use crate::folders::data_folder::display_path;

/// A settings file as it was read.
#[derive(Debug, Clone)]
pub(crate) struct SettingsFile {
    /// The path that the host uses; backups are beside it.
    pub(crate) path: PathBuf,
    /// The path of the file itself, after symbolic links.
    target: PathBuf,
    /// Its text without a byte order mark; `None` when there is no file.
    pub(crate) text: Option<String>,
    marked: bool,
}

/// The byte order mark of UTF-8.
const MARK: char = '\u{feff}';

/// Longest settings file, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// Most backups that stay beside a file.
const MOST_BACKUPS: usize = 2;

/// Most symbolic links that are followed to a file that does not exist yet.
const MOST_LINKS: usize = 16;

impl SettingsFile {
    pub(crate) fn read(path: PathBuf) -> Result<Self> {
        let cannot = || format!("cannot read {}", display_path(&path));
        let target = resolve_links(&path).with_context(cannot)?;
        let text = match fs::metadata(&target) {
            Ok(metadata) if metadata.len() > MOST_BYTES => {
                bail!("{} is too big to be settings", display_path(&path))
            }
            Ok(_) => Some(bounded::read_text(&target, MOST_BYTES).with_context(cannot)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(cannot),
        };
        let marked = text.as_ref().is_some_and(|text| text.starts_with(MARK));
        let text = text.map(|text| match marked {
            true => text[MARK.len_utf8()..].to_owned(),
            false => text,
        });
        Ok(Self {
            path,
            target,
            text,
            marked,
        })
    }

    /// Replaces the text that was read, or removes the file for `None`: then it held nothing worth a backup. Returns the
    /// path of the backup, if one was made.
    pub(crate) fn write(&self, text: Option<&str>, today: &str) -> Result<Option<PathBuf>> {
        self.check_untouched()?;
        let backup = match text {
            Some(_) => self.back_up(today)?,
            None => None,
        };
        match text {
            Some(text) => self.replace(text)?,
            None => fs::remove_file(&self.target)
                .with_context(|| format!("cannot remove {}", display_path(&self.path)))?,
        }
        let now = Self::read(self.path.clone())?;
        if now.text.as_deref() != text {
            bail!(
                "{} does not hold what was written to it",
                display_path(&self.path)
            );
        }
        Ok(backup)
    }

    /// Removes backups that are of no more use now that the file holds `text`: those that equal it, and all but the newest
    /// ones. The newest one for which `is_free` is true, without entries of ours, stays, because undoing restores it.
    pub(crate) fn prune_backups(&self, text: Option<&str>, is_free: impl Fn(&str) -> bool) {
        let mut kept = 0;
        let mut has_free = false;
        for (path, backup) in self.backup_files() {
            let is_useful = text.is_some_and(|text| text != backup);
            let is_newest_free = is_useful && !has_free && is_free(&backup);
            has_free |= is_newest_free;
            match is_newest_free || is_useful && kept < MOST_BACKUPS {
                true => kept += 1,
                // One that cannot be removed does no harm.
                false => drop(fs::remove_file(path)),
            }
        }
    }

    /// Old texts of this file, newest first.
    pub(crate) fn backups(&self) -> Vec<String> {
        self.backup_files()
            .into_iter()
            .map(|(_, text)| text)
            .collect()
    }

    fn backup_files(&self) -> Vec<(PathBuf, String)> {
        let Some((folder, prefix)) = self.path.parent().zip(self.backup_prefix()) else {
            return Vec::new();
        };
        let mut found: Vec<(std::time::SystemTime, PathBuf)> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        found.sort();
        let texts = found.into_iter().rev().filter_map(|(_, path)| {
            let text = bounded::read_text(&path, MOST_BYTES).ok()?;
            let text = text.strip_prefix(MARK).unwrap_or(&text).to_owned();
            Some((path, text))
        });
        texts.collect()
    }

    fn check_untouched(&self) -> Result<()> {
        let now = Self::read(self.path.clone())?;
        if now.text != self.text || now.target != self.target {
            bail!(
                "{} has just changed; nothing was written, run it again",
                display_path(&self.path)
            );
        }
        if let Ok(metadata) = fs::metadata(&self.target)
            && metadata.permissions().readonly()
        {
            bail!(
                "{} is read-only; nothing was changed",
                display_path(&self.path)
            );
        }
        Ok(())
    }

    fn back_up(&self, today: &str) -> Result<Option<PathBuf>> {
        let Some((_, prefix)) = self.text.as_ref().zip(self.backup_prefix()) else {
            return Ok(None);
        };
        let cannot = || {
            format!(
                "cannot keep a copy of {}; nothing was changed",
                display_path(&self.path)
            )
        };
        for number in 1.. {
            let count = if number == 1 {
                String::new()
            } else {
                format!("-{number}")
            };
            let path = self.path.with_file_name(format!("{prefix}{today}{count}"));
            match create_new(&path) {
                Ok(mut file) => {
                    file.write_all(&bounded::read(&self.target, MOST_BYTES).with_context(cannot)?)
                        .with_context(cannot)?;
                    self.keep_mode(&path).with_context(cannot)?;
                    file.sync_all().with_context(cannot)?;
                    return Ok(Some(path));
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(cannot),
            }
        }
        Ok(None)
    }

    fn backup_prefix(&self) -> Option<String> {
        let name = self.path.file_name()?.to_string_lossy();
        Some(format!("{name}.daybook-backup-"))
    }

    fn replace(&self, text: &str) -> Result<()> {
        let cannot = || format!("cannot write {}; it is as it was", display_path(&self.path));
        let folder = self.target.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).with_context(cannot)?;
        let name = self
            .target
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let draft = folder.join(format!(".{name}.daybook-{}", std::process::id()));
        let written = self.write_draft(&draft, text);
        let done = written.and_then(|()| fs::rename(&draft, &self.target));
        if done.is_err() {
            let _ = fs::remove_file(&draft);
        }
        done.with_context(cannot)?;
        // The rename is durable once the folder is synced, which not every file system supports.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    }

    fn write_draft(&self, draft: &Path, text: &str) -> std::io::Result<()> {
        let mut file = create_new(draft)?;
        if self.text.is_some() {
            self.keep_mode(draft)?;
        }
        if self.marked {
            file.write_all(MARK.encode_utf8(&mut [0; 4]).as_bytes())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    fn keep_mode(&self, path: &Path) -> std::io::Result<()> {
        fs::set_permissions(path, fs::metadata(&self.target)?.permissions())
    }
}

/// Creates a file that only its owner can read: settings may hold keys.
fn create_new(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Resolves symbolic links to a file that need not exist.
fn resolve_links(path: &Path) -> std::io::Result<PathBuf> {
    let mut path = std::path::absolute(path)?;
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("/")).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(std::io::Error::other("too many symbolic links"))
}

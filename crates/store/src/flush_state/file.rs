//! The file on disk: read when it has changed, replaced whole under a lock.
//!
//! The lock is the system's advisory lock on a file beside it, which ends with its process. Readers
//! take none: a name changes from one whole file to the next.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use daybook_domain::StoreError;

use super::json::{self, EntryTexts, Unreadable};
use super::state::FlushState;
use crate::blocking::LOCK_WAIT;

/// How long to wait before the next try of a lock that another process holds.
const LOCK_RETRY: Duration = Duration::from_millis(1);
/// Longest file that is read, in bytes: hundreds of thousands of sessions.
const STATE_BYTES: u64 = 256 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct StateFile {
    path: PathBuf,
    cached: Mutex<Option<CachedState>>,
    /// The texts of the entries that were written last.
    texts: Mutex<EntryTexts>,
    change_count: AtomicU64,
}

/// The content that was read last. The file stays open so that the system gives its inode number to no other
/// file: the same number is the same file.
#[derive(Debug)]
struct CachedState {
    state: Arc<FlushState>,
    stamp: Option<FileStamp>,
    _held: File,
}

#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), allow(dead_code, reason = "nothing can be said there"))]
struct FileStamp {
    number: (u64, u64),
    size: u64,
    modified: Option<SystemTime>,
}

/// Identifies a file; `None` where the system has no inode numbers, and then each look reads the file.
#[cfg(unix)]
fn stamp(file: &File) -> io::Result<Option<FileStamp>> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    Ok(Some(FileStamp {
        number: (metadata.dev(), metadata.ino()),
        size: metadata.len(),
        modified: metadata.modified().ok(),
    }))
}

#[cfg(not(unix))]
fn stamp(_: &File) -> io::Result<Option<FileStamp>> {
    Ok(None)
}

/// The result of a look at the file.
#[derive(Debug)]
pub(super) enum LoadOutcome {
    Loaded(Arc<FlushState>),
    /// There is no file.
    Missing,
    /// The file is no flush state.
    Corrupt,
}

impl StateFile {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            cached: Mutex::new(None),
            texts: Mutex::default(),
            change_count: AtomicU64::new(0),
        }
    }

    /// How often the file was found changed.
    pub(super) fn change_count(&self) -> u64 {
        self.change_count.load(Ordering::Acquire)
    }

    /// Takes the lock, in bounded time.
    #[expect(
        clippy::disallowed_methods,
        reason = "bounds the wait for a lock, which gives no signal"
    )]
    pub(super) fn lock(&self) -> Result<File, StoreError> {
        let path = self.sibling_path("lock");
        let file = private_options().create(true).write(true).open(&path);
        let file = file.map_err(|error| unavailable(&path, error))?;
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(fs::TryLockError::WouldBlock) if began.elapsed() < LOCK_WAIT => {
                    std::thread::sleep(LOCK_RETRY);
                }
                Err(fs::TryLockError::WouldBlock) => {
                    let what = format!("{} is held by another process", path.display());
                    return Err(StoreError::Busy(what.into()));
                }
                Err(fs::TryLockError::Error(error)) => return Err(unavailable(&path, error)),
            }
        }
    }

    /// Reads the file, unless it is the one that was read last.
    pub(super) fn load(&self) -> Result<LoadOutcome, StoreError> {
        let mut cached = self.cached();
        let file = match open_regular(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if cached.take().is_some() {
                    self.change_count.fetch_add(1, Ordering::AcqRel);
                }
                return Ok(LoadOutcome::Missing);
            }
            Err(error) => return Err(unavailable(&self.path, error)),
        };
        let stamp = stamp(&file).map_err(|error| unavailable(&self.path, error))?;
        if let Some(cached) = cached
            .as_ref()
            .filter(|cached| stamp.is_some() && cached.stamp == stamp)
        {
            return Ok(LoadOutcome::Loaded(Arc::clone(&cached.state)));
        }
        let mut text = Vec::new();
        io::Read::read_to_end(&mut io::Read::take(&file, STATE_BYTES + 1), &mut text)
            .map_err(|error| unavailable(&self.path, error))?;
        if text.len() as u64 > STATE_BYTES {
            let error = io::Error::other(format!("it is longer than {STATE_BYTES} bytes"));
            return Err(unavailable(&self.path, error));
        }
        match json::parse(&text) {
            Ok(state) => {
                let state = Arc::new(state);
                self.change_count.fetch_add(1, Ordering::AcqRel);
                *cached = Some(CachedState {
                    state: Arc::clone(&state),
                    stamp,
                    _held: file,
                });
                Ok(LoadOutcome::Loaded(state))
            }
            Err(Unreadable::Corrupt) => Ok(LoadOutcome::Corrupt),
            Err(Unreadable::Newer(found)) => Err(StoreError::TooNew {
                what: self.path.display().to_string(),
                found: u32::try_from(found).unwrap_or(u32::MAX),
                known: json::VERSION as u32,
            }),
        }
    }

    /// Replaces the file. The caller must hold the lock.
    pub(super) fn replace(&self, state: FlushState) -> Result<(), StoreError> {
        let new = self.sibling_path("tmp");
        let write = || {
            let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
            let text = json::to_json(&state, &mut texts)?;
            let mut file = private_options()
                .create(true)
                .truncate(true)
                .read(true)
                .write(true)
                .open(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_data()?;
            fs::rename(&new, &self.path)?;
            Ok::<_, io::Error>((stamp(&file)?, file))
        };
        let (stamp, file) = write().map_err(|error| unavailable(&self.path, error))?;
        *self.cached() = Some(CachedState {
            state: Arc::new(state),
            stamp,
            _held: file,
        });
        self.change_count.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Moves a corrupt file out of the way, under a name with the time at which it was written. The caller must
    /// hold the lock.
    pub(super) fn set_aside(&self) -> Result<PathBuf, StoreError> {
        let failed = |error| unavailable(&self.path, error);
        let metadata = fs::metadata(&self.path).map_err(failed)?;
        let written = metadata.modified().map_err(failed)?;
        let since = written.duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut at = since.as_millis();
        let mut aside = self.sibling_path(&format!("corrupt-{at}"));
        while aside.exists() {
            at += 1;
            aside = self.sibling_path(&format!("corrupt-{at}"));
        }
        fs::rename(&self.path, &aside).map_err(failed)?;
        Ok(aside)
    }

    /// The files that were moved out of the way.
    pub(super) fn corrupt_files(&self) -> Result<Vec<PathBuf>, StoreError> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let begins = self.sibling_path("corrupt-");
        let begins = begins.file_name().unwrap_or_default().to_string_lossy();
        let list = || {
            let files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
            files.collect::<io::Result<Vec<PathBuf>>>()
        };
        let mut files = list().map_err(|error| unavailable(folder, error))?;
        files.retain(|path| {
            let name = path.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with(&*begins)
        });
        files.sort();
        Ok(files)
    }

    fn cached(&self) -> MutexGuard<'_, Option<CachedState>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sibling_path(&self, end: &str) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".");
        name.push(end);
        PathBuf::from(name)
    }
}

/// Opens a file that must be a regular one: a pipe would be waited for, a device may never end.
fn open_regular(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    File::open(path)
}

/// Options that open a file for its owner alone.
fn private_options() -> fs::OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn unavailable(path: &Path, error: io::Error) -> StoreError {
    StoreError::Unavailable {
        what: path.display().to_string(),
        source: error.into(),
    }
}

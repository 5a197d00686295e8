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

use super::book::Book;
use super::text::{self, Unreadable};
use crate::blocking::LOCK_WAIT;

/// How often a lock that somebody else holds is tried again.
const POLL: Duration = Duration::from_millis(1);
/// Longest file that is read, in bytes: hundreds of thousands of sessions.
const BOOK_BYTES: u64 = 256 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct StateFile {
    path: PathBuf,
    known: Mutex<Option<Known>>,
    changes: AtomicU64,
}

/// What was read last. The file stays open, so that no later one can be given its number: the same
/// number is the same file.
#[derive(Debug)]
struct Known {
    book: Arc<Book>,
    stamp: Option<Stamp>,
    _held: File,
}

#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), allow(dead_code, reason = "nothing can be said there"))]
struct Stamp {
    number: (u64, u64),
    size: u64,
    modified: Option<SystemTime>,
}

/// Tells one file from another; `None` where the system has no numbers for them, and then each look
/// reads.
#[cfg(unix)]
fn stamp(file: &File) -> io::Result<Option<Stamp>> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    Ok(Some(Stamp {
        number: (metadata.dev(), metadata.ino()),
        size: metadata.len(),
        modified: metadata.modified().ok(),
    }))
}

#[cfg(not(unix))]
fn stamp(_: &File) -> io::Result<Option<Stamp>> {
    Ok(None)
}

/// What a look at the file found.
#[derive(Debug)]
pub(super) enum Look {
    Whole(Arc<Book>),
    /// There is none.
    Missing,
    /// It is no flush state.
    Corrupt,
}

impl StateFile {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            known: Mutex::new(None),
            changes: AtomicU64::new(0),
        }
    }

    /// How often another file was met than before.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Takes the lock, in bounded time.
    pub(super) fn lock(&self) -> Result<File, StoreError> {
        let path = self.beside("lock");
        let file = private().create(true).write(true).open(&path);
        let file = file.map_err(|error| unavailable(&path, error))?;
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(fs::TryLockError::WouldBlock) if began.elapsed() < LOCK_WAIT => {
                    std::thread::sleep(POLL);
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
    pub(super) fn look(&self) -> Result<Look, StoreError> {
        let mut known = self.known();
        let file = match open_regular(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if known.take().is_some() {
                    self.changes.fetch_add(1, Ordering::AcqRel);
                }
                return Ok(Look::Missing);
            }
            Err(error) => return Err(unavailable(&self.path, error)),
        };
        let stamp = stamp(&file).map_err(|error| unavailable(&self.path, error))?;
        if let Some(known) = known
            .as_ref()
            .filter(|known| stamp.is_some() && known.stamp == stamp)
        {
            return Ok(Look::Whole(Arc::clone(&known.book)));
        }
        let mut text = Vec::new();
        io::Read::read_to_end(&mut io::Read::take(&file, BOOK_BYTES + 1), &mut text)
            .map_err(|error| unavailable(&self.path, error))?;
        if text.len() as u64 > BOOK_BYTES {
            let error = io::Error::other(format!("it is longer than {BOOK_BYTES} bytes"));
            return Err(unavailable(&self.path, error));
        }
        match text::parse(&text) {
            Ok(book) => {
                let book = Arc::new(book);
                self.changes.fetch_add(1, Ordering::AcqRel);
                *known = Some(Known {
                    book: Arc::clone(&book),
                    stamp,
                    _held: file,
                });
                Ok(Look::Whole(book))
            }
            Err(Unreadable::Corrupt) => Ok(Look::Corrupt),
            Err(Unreadable::Newer(found)) => Err(StoreError::TooNew {
                what: self.path.display().to_string(),
                found: u32::try_from(found).unwrap_or(u32::MAX),
                known: text::VERSION as u32,
            }),
        }
    }

    /// Replaces the file. Only for whoever holds the lock.
    pub(super) fn replace(&self, book: Book) -> Result<(), StoreError> {
        let new = self.beside("tmp");
        let write = || {
            let text = text::write(&book)?;
            let mut file = private()
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
        *self.known() = Some(Known {
            book: Arc::new(book),
            stamp,
            _held: file,
        });
        self.changes.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Moves a corrupt file out of the way, under a name that says when it was written. Only for
    /// whoever holds the lock.
    pub(super) fn set_aside(&self) -> Result<PathBuf, StoreError> {
        let failed = |error| unavailable(&self.path, error);
        let metadata = fs::metadata(&self.path).map_err(failed)?;
        let written = metadata.modified().map_err(failed)?;
        let since = written.duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut at = since.as_millis();
        let mut aside = self.beside(&format!("corrupt-{at}"));
        while aside.exists() {
            at += 1;
            aside = self.beside(&format!("corrupt-{at}"));
        }
        fs::rename(&self.path, &aside).map_err(failed)?;
        Ok(aside)
    }

    /// The files that were moved out of the way.
    pub(super) fn set_asides(&self) -> Result<Vec<PathBuf>, StoreError> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let begins = self.beside("corrupt-");
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

    fn known(&self) -> MutexGuard<'_, Option<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn beside(&self, end: &str) -> PathBuf {
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

/// How a file that is for its owner alone is opened.
fn private() -> fs::OpenOptions {
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

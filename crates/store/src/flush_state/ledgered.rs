//! The store that puts the file and the store beneath together.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use daybook_domain::seams::Store;
use daybook_domain::{Job, JobKey, JobKind, StoreError, Timestamp};
use tokio::sync::MutexGuard;

use super::JobRows;
use super::book::{Book, Entry, Seconds, seconds, settled};
use super::file::{Look, StateFile};
use crate::blocking::blocking;

/// A store whose extraction jobs stand in a JSON file beside it.
#[derive(Debug)]
pub struct Ledgered<S> {
    pub(super) inner: Arc<S>,
    pub(super) file: StateFile,
    pub(super) stale_ttl: Seconds,
    /// Tasks of this process wait here, so that only processes wait for the lock of the file.
    turn: tokio::sync::Mutex<()>,
    /// The versions of rows and file that were last compared.
    compared: Mutex<Option<(u64, u64)>>,
}

/// The file while it is locked. What is not saved is forgotten.
pub(super) struct Open<'a> {
    pub(super) book: Book,
    before: Arc<Book>,
    file: &'a StateFile,
    _lock: std::fs::File,
    _turn: MutexGuard<'a, ()>,
}

impl Open<'_> {
    /// Replaces the file, if anything has changed, and lets others have it.
    pub(super) fn save(self) -> Result<(), StoreError> {
        if self.book == *self.before {
            return Ok(());
        }
        blocking(|| self.file.replace(self.book))
    }
}

impl<S: Store + JobRows> Ledgered<S> {
    /// Keeps the extraction jobs of `inner` in the file at `path`, which is made when there is
    /// something to keep. Its folder must exist. Entries that are clean and were not marked for
    /// `stale_ttl` (whole seconds) are left out of the file.
    ///
    /// Clears leases that have lapsed by `now`; live ones stay with their processes. A file that
    /// cannot be read is set aside as `<path>.corrupt-<milliseconds>` and made anew from the rows of
    /// `inner`, then and at any later time.
    ///
    /// # Errors
    /// [`StoreError::TooNew`] when a newer program wrote the file, [`StoreError::Busy`] when others
    /// hold it for a minute, [`StoreError::Unavailable`] when it cannot be read or written.
    pub async fn open(
        path: &Path,
        inner: Arc<S>,
        stale_ttl: Duration,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let ledgered = Self {
            inner,
            file: StateFile::new(path),
            stale_ttl: Seconds::try_from(stale_ttl.as_secs()).unwrap_or(Seconds::MAX),
            turn: tokio::sync::Mutex::default(),
            compared: Mutex::new(None),
        };
        let mut open = ledgered.lock().await?;
        ledgered.compare(&mut open.book).await?;
        open.book.clear_lapsed(now);
        let dropped = open.book.tidy(now, ledgered.stale_ttl);
        ledgered.lend_all(&dropped).await?;
        open.save()?;
        Ok(ledgered)
    }

    /// The store beneath.
    #[must_use]
    pub fn inner(&self) -> &Arc<S> {
        &self.inner
    }

    /// The names of entries that another program wrote, of sessions from which nothing is known here.
    /// They stay in the file, and their sessions are taken over once they come in.
    ///
    /// # Errors
    /// As for any other call.
    pub async fn strangers(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.read().await?.strangers.keys().cloned().collect())
    }

    /// Files that could not be read and were set aside.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the folder cannot be listed.
    pub fn set_asides(&self) -> Result<Vec<PathBuf>, StoreError> {
        self.file.set_asides()
    }

    /// What the file says at present.
    pub(super) async fn read(&self) -> Result<Arc<Book>, StoreError> {
        match blocking(|| self.file.look())? {
            Look::Whole(book) => Ok(book),
            Look::Missing => Ok(Arc::default()),
            Look::Corrupt => {
                self.lock().await?.save()?;
                match blocking(|| self.file.look())? {
                    Look::Whole(book) => Ok(book),
                    Look::Missing | Look::Corrupt => Ok(Arc::default()),
                }
            }
        }
    }

    /// Locks the file and reads it; makes it anew from the rows when it is missing or corrupt.
    pub(super) async fn lock(&self) -> Result<Open<'_>, StoreError> {
        let turn = self.turn.lock().await;
        let lock = blocking(|| self.file.lock())?;
        let (before, whole) = match blocking(|| self.file.look())? {
            Look::Whole(book) => (book, true),
            Look::Missing => (Arc::default(), false),
            Look::Corrupt => {
                blocking(|| self.file.set_aside())?;
                (Arc::default(), false)
            }
        };
        let mut book = Book::clone(&before);
        if !whole {
            self.compare(&mut book).await?;
        }
        Ok(Open {
            book,
            before,
            file: &self.file,
            _lock: lock,
            _turn: turn,
        })
    }

    /// Compares the file with the rows, if either has changed since.
    pub(super) async fn catch_up(&self) -> Result<(), StoreError> {
        self.read().await?;
        let versions = (self.inner.version().await?, self.file.changes());
        if *self.compared() == Some(versions) {
            return Ok(());
        }
        // What changes from here on has versions that are not these, and is compared next time.
        let before = self.read().await?;
        let mut book = Book::clone(&before);
        self.compare(&mut book).await?;
        if book != *before {
            let mut open = self.lock().await?;
            self.compare(&mut open.book).await?;
            open.save()?;
        }
        *self.compared() = Some(versions);
        Ok(())
    }

    fn compared(&self) -> std::sync::MutexGuard<'_, Option<(u64, u64)>> {
        self.compared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over from the rows what the file missed.
    async fn compare(&self, book: &mut Book) -> Result<(), StoreError> {
        let rows = self.inner.jobs(JobKind::Extract).await?;
        let there = |key: &JobKey| rows.binary_search_by(|row| row.key.parts().cmp(&key.parts()));
        book.entries.retain(|key, _| there(key).is_ok());
        for row in rows {
            let entry = book.job(&row.key);
            let job = settled(entry, Some(&row));
            let wanted = entry.is_some() || is_busy(&row) || book.has_stranger(&row.key);
            if let Some(job) = job.filter(|job| wanted && entry != Some(job)) {
                self.keep(book, job).await?;
            }
        }
        Ok(())
    }

    /// Keeps a job in the book, with its session's last activity.
    pub(super) async fn keep<'b>(
        &self,
        book: &'b mut Book,
        job: Job,
    ) -> Result<&'b mut Entry, StoreError> {
        let updated = match &job.key {
            JobKey::Extract(id) => self.inner.session(id).await?,
            JobKey::Consolidate(_) => None,
        };
        let updated = updated.map(|session| session.last_at);
        let updated = updated.filter(|&at| at != Timestamp::ZERO).map(seconds);
        Ok(book.put(job, updated))
    }

    /// What a job is, by the file and by its row.
    pub(super) async fn settled(
        &self,
        book: &Book,
        key: &JobKey,
    ) -> Result<Option<Job>, StoreError> {
        let row = self.inner.job(key).await?;
        Ok(settled(book.job(key), row.as_ref()))
    }

    pub(super) async fn lend_all(&self, jobs: &[Job]) -> Result<(), StoreError> {
        match jobs {
            [] => Ok(()),
            jobs => self.inner.put_jobs(jobs).await,
        }
    }

    /// Makes rows say what the file says.
    async fn lend(&self, book: &Book, keys: &[JobKey]) -> Result<(), StoreError> {
        let mut differing = Vec::new();
        for key in keys {
            let row = self.inner.job(key).await?;
            let job = settled(book.job(key), row.as_ref());
            differing.extend(job.filter(|job| Some(job) != row.as_ref()));
        }
        self.lend_all(&differing).await
    }

    /// Makes the file say what a row says.
    async fn take_back(&self, book: &mut Book, key: &JobKey) -> Result<(), StoreError> {
        match self.inner.job(key).await? {
            Some(row) => drop(self.keep(book, row).await?),
            None => drop(book.entries.remove(key)),
        }
        Ok(())
    }

    /// Runs a deed of the store beneath that may change these jobs, on what the file says of them, and
    /// takes over what became of them. `note` adds what only the caller knows.
    pub(super) async fn through<T>(
        &self,
        keys: &[JobKey],
        deed: impl Future<Output = Result<T, StoreError>>,
        note: impl Fn(&mut Entry, &T),
    ) -> Result<T, StoreError> {
        let mut open = self.lock().await?;
        self.lend(&open.book, keys).await?;
        // A deed of several transactions may fail after the first of them.
        let outcome = deed.await;
        for key in keys {
            self.take_back(&mut open.book, key).await?;
            if let (Ok(done), Some(entry)) = (&outcome, open.book.entries.get_mut(key)) {
                note(entry, done);
            }
        }
        open.save()?;
        outcome
    }

    /// The same for a deed that may change any job.
    pub(super) async fn through_all<T>(
        &self,
        deed: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let mut open = self.lock().await?;
        let keys: Vec<JobKey> = open.book.entries.keys().cloned().collect();
        self.lend(&open.book, &keys).await?;
        let outcome = deed.await;
        for key in &keys {
            self.take_back(&mut open.book, key).await?;
        }
        self.compare(&mut open.book).await?;
        open.save()?;
        outcome
    }

    /// Changes a job in the file alone; `None` where there is none.
    pub(super) async fn change<T>(
        &self,
        key: &JobKey,
        transition: impl FnOnce(&mut Job) -> T,
    ) -> Result<Option<T>, StoreError> {
        let mut open = self.lock().await?;
        let Some(before) = self.settled(&open.book, key).await? else {
            return Ok(None);
        };
        let mut job = before.clone();
        let outcome = transition(&mut job);
        if job != before || open.book.job(key).is_some_and(|known| *known != job) {
            open.book.put(job, None);
        }
        open.save()?;
        Ok(Some(outcome))
    }
}

/// Whether a job belongs in the file though nobody has marked it there.
fn is_busy(job: &Job) -> bool {
    job.is_ahead() || job.lease.is_some()
}

//! The store that combines the file with the inner store.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use daybook_domain::seams::Store;
use daybook_domain::{Job, JobKey, JobKind, StoreError, Timestamp};
use tokio::sync::MutexGuard;

use super::JobRows;
use super::file::{LoadOutcome, StateFile};
use super::state::{FlushState, LedgerEntry, Seconds, reconcile, seconds};
use crate::blocking::blocking;

/// A store whose extraction jobs are kept in a JSON file beside it.
#[derive(Debug)]
pub struct Ledgered<S> {
    pub(super) inner: Arc<S>,
    pub(super) file: StateFile,
    pub(super) stale_ttl: Seconds,
    /// Tasks of this process wait here, so that only processes wait for the lock of the file.
    turn: tokio::sync::Mutex<()>,
    /// The versions of rows and file that were last compared.
    compared_versions: Mutex<Option<(u64, u64)>>,
}

/// The locked file. Changes that are not saved are discarded.
pub(super) struct LockedState<'a> {
    pub(super) state: FlushState,
    before: Arc<FlushState>,
    file: &'a StateFile,
    _lock: std::fs::File,
    _turn: MutexGuard<'a, ()>,
}

impl LockedState<'_> {
    /// Replaces the file if anything has changed, and unlocks it.
    pub(super) fn save(self) -> Result<(), StoreError> {
        if self.state == *self.before {
            return Ok(());
        }
        blocking(|| self.file.replace(self.state))
    }
}

impl<S: Store + JobRows> Ledgered<S> {
    /// Keeps the extraction jobs of `inner` in the file at `path`, which is created with the first entry. Its
    /// folder must exist. Entries that are clean and were not marked for `stale_ttl` (whole seconds) are left
    /// out of the file.
    ///
    /// Clears leases that have lapsed by `now`; live ones stay with their processes. A file that cannot be read
    /// is set aside as `<path>.corrupt-<milliseconds>` and rebuilt from the rows of `inner`, now and at any
    /// later time.
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
            compared_versions: Mutex::new(None),
        };
        let mut locked = ledgered.lock().await?;
        ledgered.compare(&mut locked.state).await?;
        locked.state.clear_lapsed(now);
        let dropped = locked.state.tidy(now, ledgered.stale_ttl);
        ledgered.lend_all(&dropped).await?;
        locked.save()?;
        Ok(ledgered)
    }

    /// The inner store.
    #[must_use]
    pub fn inner(&self) -> &Arc<S> {
        &self.inner
    }

    /// The names of entries that another program wrote, of sessions that this store does not have. They stay in
    /// the file, and are taken over when their sessions are stored.
    ///
    /// # Errors
    /// As for any other call.
    pub async fn foreign_entries(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.read().await?.foreign_entries.keys().cloned().collect())
    }

    /// Files that could not be read and were set aside.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the folder cannot be listed.
    pub fn corrupt_files(&self) -> Result<Vec<PathBuf>, StoreError> {
        self.file.corrupt_files()
    }

    /// The present content of the file.
    pub(super) async fn read(&self) -> Result<Arc<FlushState>, StoreError> {
        match blocking(|| self.file.load())? {
            LoadOutcome::Loaded(state) => Ok(state),
            LoadOutcome::Missing => Ok(Arc::default()),
            LoadOutcome::Corrupt => {
                self.lock().await?.save()?;
                match blocking(|| self.file.load())? {
                    LoadOutcome::Loaded(state) => Ok(state),
                    LoadOutcome::Missing | LoadOutcome::Corrupt => Ok(Arc::default()),
                }
            }
        }
    }

    /// Locks the file and reads it; rebuilds it from the rows when it is missing or corrupt.
    pub(super) async fn lock(&self) -> Result<LockedState<'_>, StoreError> {
        let turn = self.turn.lock().await;
        let lock = blocking(|| self.file.lock())?;
        let (before, whole) = match blocking(|| self.file.load())? {
            LoadOutcome::Loaded(state) => (state, true),
            LoadOutcome::Missing => (Arc::default(), false),
            LoadOutcome::Corrupt => {
                blocking(|| self.file.set_aside())?;
                (Arc::default(), false)
            }
        };
        let mut state = FlushState::clone(&before);
        if !whole {
            self.compare(&mut state).await?;
        }
        Ok(LockedState {
            state,
            before,
            file: &self.file,
            _lock: lock,
            _turn: turn,
        })
    }

    /// Compares the file with the rows, if either has changed since.
    pub(super) async fn catch_up(&self) -> Result<(), StoreError> {
        self.read().await?;
        let versions = (self.inner.version().await?, self.file.change_count());
        if *self.compared_versions() == Some(versions) {
            return Ok(());
        }
        // Later changes have other versions, so the next call compares them.
        let before = self.read().await?;
        let mut state = FlushState::clone(&before);
        self.compare(&mut state).await?;
        if state != *before {
            let mut locked = self.lock().await?;
            self.compare(&mut locked.state).await?;
            locked.save()?;
        }
        *self.compared_versions() = Some(versions);
        Ok(())
    }

    fn compared_versions(&self) -> std::sync::MutexGuard<'_, Option<(u64, u64)>> {
        self.compared_versions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies into the book what the rows have and the file missed.
    async fn compare(&self, state: &mut FlushState) -> Result<(), StoreError> {
        let rows = self.inner.jobs_of_all_tenants(JobKind::Extract).await?;
        let there = |key: &JobKey| rows.binary_search_by(|row| row.key.parts().cmp(&key.parts()));
        state.entries.retain(|key, _| there(key).is_ok());
        for row in rows {
            let entry = state.job(&row.key);
            let job = reconcile(entry, Some(&row));
            let wanted =
                entry.is_some() || is_ahead_or_leased(&row) || state.has_foreign_entry(&row.key);
            if let Some(job) = job.filter(|job| wanted && entry != Some(job)) {
                self.put_job(state, job).await?;
            }
        }
        Ok(())
    }

    /// Keeps a job in the book, with its session's last activity, room and thread.
    pub(super) async fn put_job<'b>(
        &self,
        state: &'b mut FlushState,
        job: Job,
    ) -> Result<&'b mut LedgerEntry, StoreError> {
        let session = match &job.key {
            JobKey::Extract(id) => self.inner.session(id).await?,
            JobKey::Consolidate(_) | JobKey::Redact(_) => None,
        };
        let active_at = session.as_ref().map(|session| session.last_at);
        let active_at = active_at.filter(|&at| at != Timestamp::ZERO).map(seconds);
        let entry = state.put(job, active_at);
        if let Some(venue) = session.map(|session| session.venue) {
            entry.set_room(venue.room_id, venue.thread_id);
        }
        Ok(entry)
    }

    /// The job that the file and its row agree on.
    pub(super) async fn reconcile(
        &self,
        state: &FlushState,
        key: &JobKey,
    ) -> Result<Option<Job>, StoreError> {
        let row = self.inner.job(key).await?;
        Ok(reconcile(state.job(key), row.as_ref()))
    }

    pub(super) async fn lend_all(&self, jobs: &[Job]) -> Result<(), StoreError> {
        match jobs {
            [] => Ok(()),
            jobs => self.inner.put_jobs(jobs).await,
        }
    }

    /// Writes the file's jobs into their rows.
    async fn lend(&self, state: &FlushState, keys: &[JobKey]) -> Result<(), StoreError> {
        let mut differing = Vec::new();
        for key in keys {
            let row = self.inner.job(key).await?;
            let job = reconcile(state.job(key), row.as_ref());
            differing.extend(job.filter(|job| Some(job) != row.as_ref()));
        }
        self.lend_all(&differing).await
    }

    /// Writes a row's job into the file.
    async fn take_back(&self, state: &mut FlushState, key: &JobKey) -> Result<(), StoreError> {
        match self.inner.job(key).await? {
            Some(row) => drop(self.put_job(state, row).await?),
            None => drop(state.entries.remove(key)),
        }
        Ok(())
    }

    /// Runs an operation of the inner store that may change these jobs: lends them first and takes the results
    /// back. `note` adds what only the caller has.
    pub(super) async fn with_jobs_lent<T>(
        &self,
        keys: &[JobKey],
        operation: impl Future<Output = Result<T, StoreError>>,
        note: impl Fn(&mut LedgerEntry, &T),
    ) -> Result<T, StoreError> {
        let mut locked = self.lock().await?;
        self.lend(&locked.state, keys).await?;
        // An operation of several transactions may fail after the first of them.
        let outcome = operation.await;
        for key in keys {
            self.take_back(&mut locked.state, key).await?;
            if let (Ok(done), Some(entry)) = (&outcome, locked.state.entry_mut(key)) {
                note(entry, done);
            }
        }
        locked.save()?;
        outcome
    }

    /// [`Self::with_jobs_lent`] for an operation that may change any job.
    pub(super) async fn with_all_jobs_lent<T>(
        &self,
        operation: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let mut locked = self.lock().await?;
        let keys: Vec<JobKey> = locked.state.jobs().map(|job| job.key.clone()).collect();
        self.lend(&locked.state, &keys).await?;
        let outcome = operation.await;
        for key in &keys {
            self.take_back(&mut locked.state, key).await?;
        }
        self.compare(&mut locked.state).await?;
        locked.save()?;
        outcome
    }

    /// Changes a job in the file alone; `None` where there is no such job.
    pub(super) async fn change<T>(
        &self,
        key: &JobKey,
        transition: impl FnOnce(&mut Job) -> T,
    ) -> Result<Option<T>, StoreError> {
        let mut locked = self.lock().await?;
        let Some(before) = self.reconcile(&locked.state, key).await? else {
            return Ok(None);
        };
        let mut job = before.clone();
        let outcome = transition(&mut job);
        if job != before || locked.state.job(key).is_some_and(|known| *known != job) {
            locked.state.put(job, None);
        }
        locked.save()?;
        Ok(Some(outcome))
    }
}

/// Whether a job belongs in the file although it was never marked there.
fn is_ahead_or_leased(job: &Job) -> bool {
    job.is_ahead() || job.lease.is_some()
}

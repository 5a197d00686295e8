//! The index as a server holds it in memory, so that a search reads no rows of it.
//!
//! It is read by a thread of its own when several searches have been made; until then searches read rows. From then on the
//! documents that any process changed (`ix_changes`) are read again before the next search; where they are many, as after
//! an import, the whole is read again in the same way. An index that would take too much memory is not held.
//!
//! Not here: texts of documents, and signs of vectors (`vectors`).

mod rows;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};
use std::thread::JoinHandle;

use daybook_domain::index_words::IndexWords;
use daybook_domain::{StoreError, Tenant};
use rusqlite::Connection;

use super::connection::Fault;
use super::file::DatabaseFile;
use super::names::find_tenant;
use super::vector_rows;

/// Searches after which the index is read.
const SEARCHES: usize = 16;
/// Most commits between two searches: a version that is further away is of another file, which took the place of this one.
const COMMITS: u64 = 1 << 32;
/// Most bytes that it takes in memory.
const MOST_BYTES: usize = 256 << 20;

/// The index in memory, once it is read.
#[derive(Debug, Default)]
pub(super) struct HeldIndex {
    searches: AtomicUsize,
    state: Arc<RwLock<HeldState>>,
    reading: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct HeldState {
    /// The version of reads at which it was last compared with the rows.
    version: u64,
    /// The last change of a document that it has.
    change: i64,
    words: Option<IndexWords>,
    /// The tenants that were asked for since the last commit.
    tenants: Mutex<HashMap<Tenant, Option<HeldTenant>>>,
}

/// What the rows of a tenant say.
#[derive(Debug, Clone)]
pub(super) struct HeldTenant {
    pub(super) no: i64,
    /// The model of its vectors.
    pub(super) model: Option<String>,
}

impl HeldIndex {
    /// One that is read now.
    pub(super) fn read(file: &DatabaseFile) -> Result<Self, StoreError> {
        let held = Self::default();
        held.searches.store(SEARCHES, Ordering::Relaxed);
        read_into(&held.state, file)?;
        Ok(held)
    }

    /// Counts a search; the one that makes it worth the memory has the index read.
    pub(super) fn note_search(&self, file: &Arc<DatabaseFile>) {
        if self.searches.fetch_add(1, Ordering::Relaxed) + 1 != SEARCHES {
            return;
        }
        let (file, state) = (Arc::clone(file), Arc::clone(&self.state));
        let thread = std::thread::Builder::new().name("daybook-index".to_owned());
        // Where it cannot be read, searches go on in rows, and say why.
        let reading = thread.spawn(move || {
            let _ = read_into(&state, &file);
        });
        *self.reading() = reading.ok();
    }

    /// Answers from memory with `answer`; `None` where the index is not held, or the tenant has no row. `version` looks up
    /// the version of reads.
    pub(super) fn answer<T>(
        &self,
        file: &DatabaseFile,
        (version, tenant): (impl FnOnce() -> Result<u64, StoreError>, &Tenant),
        answer: impl FnOnce(&IndexWords, &HeldTenant) -> T,
    ) -> Result<Option<T>, StoreError> {
        let mut held = self.state.read().unwrap_or_else(PoisonError::into_inner);
        if held.words.is_none() {
            return Ok(None);
        }
        // Before what is read at it, so that what is held may be newer than its version and is never older.
        let version = version()?;
        if held.version != version {
            drop(held);
            let caught_up = write(&self.state).catch_up(file, version);
            if !matches!(caught_up, Ok(true)) {
                self.searches.store(0, Ordering::Relaxed);
            }
            caught_up?;
            held = self.state.read().unwrap_or_else(PoisonError::into_inner);
        }
        let Some(words) = &held.words else {
            return Ok(None);
        };
        let tenant = held.tenant(file, tenant)?;
        Ok(tenant.map(|tenant| answer(words, &tenant)))
    }

    fn reading(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HeldIndex {
    fn drop(&mut self) {
        if let Some(reading) = self.reading().take() {
            // A panic of the thread has cost a search nothing.
            let _ = reading.join();
        }
    }
}

fn write(state: &RwLock<HeldState>) -> RwLockWriteGuard<'_, HeldState> {
    state.write().unwrap_or_else(PoisonError::into_inner)
}

fn read_into(state: &RwLock<HeldState>, file: &DatabaseFile) -> Result<(), StoreError> {
    let (change, words) =
        file.read(|tx| Ok((last_change(tx)?, rows::read_all(tx, MOST_BYTES)?)))?;
    *write(state) = HeldState {
        change,
        words,
        ..HeldState::default()
    };
    Ok(())
}

fn last_change(tx: &Connection) -> Result<i64, Fault> {
    let mut find = tx.prepare_cached("SELECT ifnull(max(change_no), 0) FROM ix_changes")?;
    Ok(find.query_row([], |row| row.get(0))?)
}

impl HeldState {
    /// Reads the documents that changed. False, and nothing is held any more, where they are many or not known.
    fn catch_up(&mut self, file: &DatabaseFile, version: u64) -> Result<bool, StoreError> {
        let is_same_file = self.version == 0 || version.abs_diff(self.version) <= COMMITS;
        // Another search may have been faster, and have seen a later commit.
        if is_same_file && self.version >= version {
            return Ok(true);
        }
        // Whatever fails leaves nothing held, rather than a part.
        let Some(mut words) = self.words.take() else {
            return Ok(true);
        };
        let known = self.change;
        let change = match is_same_file {
            true => file.read(|tx| rows::catch_up(&mut words, tx, known))?,
            false => None,
        };
        let Some(change) = change else {
            return Ok(false);
        };
        (self.change, self.version) = (change, version);
        self.words = Some(words).filter(|words| words.bytes() <= MOST_BYTES);
        self.tenants = Mutex::default();
        Ok(true)
    }

    fn tenant(
        &self,
        file: &DatabaseFile,
        tenant: &Tenant,
    ) -> Result<Option<HeldTenant>, StoreError> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = tenants.get(tenant) {
            return Ok(known.clone());
        }
        let found = file.read(|tx| {
            let Some(no) = find_tenant(tx, tenant)? else {
                return Ok(None);
            };
            let model = vector_rows::model(tx, tenant)?;
            Ok(Some(HeldTenant { no, model }))
        })?;
        tenants.insert(tenant.clone(), found.clone());
        Ok(found)
    }
}

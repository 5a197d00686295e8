//! What a store answers from memory: values that it read and nothing has changed since, and the index where it is held.
//!
//! Not here: the caches (`read_cache`), and the index in memory (`held_index`).

use std::hash::Hash;
use std::sync::PoisonError;

use daybook_domain::index_words::IndexWords;
use daybook_domain::{StoreError, Tenant};
use rusqlite::{Connection, Transaction};

use super::SqliteStore;
use super::connection::Fault;
use super::held_index::HeldTenant;
use super::read_cache::{CachedValue, ReadCache};
use crate::blocking::blocking;

impl SqliteStore {
    /// [`SqliteStore::read`] of what may be cached for the version that `work` gets.
    pub(super) fn read_cached<T>(
        &self,
        mut work: impl FnMut(&Transaction<'_>, u64) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let version = self.read_version()?;
        self.read(|tx| work(tx, version))
    }

    /// The values of keys, of which `read` reads those that are not cached, in one snapshot.
    pub(super) fn cached<K: Hash + Eq + Clone, V: CachedValue>(
        &self,
        cache: &ReadCache<K, V>,
        keys: &[K],
        read: impl Fn(&Transaction<'_>, &K) -> Result<V, Fault>,
    ) -> Result<Vec<V>, StoreError> {
        let version = self.read_version()?;
        let known = cache.get(version, keys.iter().cloned());
        let missing: Vec<&K> = keys
            .iter()
            .zip(&known)
            .filter_map(|(key, known)| known.is_none().then_some(key))
            .collect();
        let mut missed = Vec::new();
        if !missing.is_empty() {
            let read_all = |tx: &Transaction<'_>| missing.iter().map(|key| read(tx, key)).collect();
            missed = self.read(read_all)?;
            let keys = missing.into_iter().cloned();
            cache.put(version, keys.zip(missed.iter().cloned()));
        }
        let mut missed = missed.into_iter();
        Ok(known
            .into_iter()
            .filter_map(|known| known.or_else(|| missed.next()))
            .collect())
    }

    /// The version by which reads are cached: that of the last commit that may have changed what a recall reads.
    pub(super) fn read_version(&self) -> Result<u64, StoreError> {
        // All that a store that only peeks has read is discarded after a change.
        if self.file.peek().is_some() {
            return Ok(0);
        }
        self.watching(|watcher| {
            let data_version = data_version(&watcher.connection)?;
            if watcher.seen != Some(data_version) {
                let mut find = watcher
                    .connection
                    .prepare_cached("SELECT ifnull(max(version), 0) FROM ix_read_version")?;
                watcher.read_version = find.query_row([], |row| row.get(0))?;
                watcher.seen = Some(data_version);
            }
            Ok(watcher.read_version)
        })
    }

    /// What `answer` finds in the index in memory; `None` where it is not held.
    pub(super) fn in_held_index<T>(
        &self,
        tenant: &Tenant,
        answer: impl FnOnce(&IndexWords, &HeldTenant) -> T,
    ) -> Result<Option<T>, StoreError> {
        let Some(held) = &self.held_index else {
            return Ok(None);
        };
        blocking(|| held.answer(&self.file, (|| self.read_version(), tenant), answer))
    }

    /// A number that each commit of any process changes.
    pub(super) fn data_version(&self) -> Result<u64, StoreError> {
        self.watching(|watcher| data_version(&watcher.connection))
    }

    fn watching<T>(
        &self,
        mut look: impl FnMut(&mut Watcher) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        blocking(|| {
            let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
            let watching = match watcher.take() {
                Some(open) => watcher.insert(open),
                None => watcher.insert(Watcher {
                    connection: self.file.connect()?,
                    seen: None,
                    read_version: 0,
                }),
            };
            self.file.retry(|| look(watching))
        })
    }
}

/// A connection that writes nothing, so that it notices the commits of all others.
#[derive(Debug)]
pub(super) struct Watcher {
    connection: Connection,
    /// The data version at which the version of reads was looked up.
    seen: Option<u64>,
    read_version: u64,
}

fn data_version(watcher: &Connection) -> Result<u64, Fault> {
    let mut version = watcher.prepare_cached("PRAGMA data_version")?;
    Ok(version.query_row([], |row| row.get(0))?)
}

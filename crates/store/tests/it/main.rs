//! All stores, tested against the promises of their seams.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests use this machine's clock, folders and processes"
)]

mod cached_reads;
mod contention;
mod damage;
mod flush_state;
mod flush_state_crashes;
mod opening;
mod peeking;
mod pipeline_state;
#[cfg(all(unix, feature = "postgres"))]
mod postgres;
mod record;
mod rescans;
mod schema;
mod spend;
mod threads;
mod transfer;

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use daybook_domain::seams::Store;
use daybook_store::{JobRows, Ledgered, MemoryStore, SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::DAWN;
use tempfile::TempDir;

/// A store on a file of its own, which is deleted with it.
struct DiskStore {
    store: SqliteStore,
    _folder: TempDir,
}

impl Deref for DiskStore {
    type Target = SqliteStore;

    fn deref(&self) -> &SqliteStore {
        &self.store
    }
}

fn on_disk() -> DiskStore {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("daybook.db");
    let store = SqliteStore::open(&path, SqliteOptions::default()).expect("a store can be opened");
    DiskStore {
        store,
        _folder: folder,
    }
}

/// A store that moves each document into the full-text index at once, so that small tests reach it.
fn on_disk_indexed() -> DiskStore {
    let DiskStore { store, _folder } = on_disk();
    DiskStore {
        store: store.with_waiting_documents(1),
        _folder,
    }
}

/// A store that holds its index in memory from the start.
fn on_disk_held() -> DiskStore {
    let DiskStore { store, _folder } = on_disk();
    DiskStore {
        store: store.with_held_index().expect("the index can be read"),
        _folder,
    }
}

fn in_memory() -> Box<MemoryStore> {
    Box::new(MemoryStore::new())
}

/// A store with its extraction jobs in a file, which is deleted with it.
struct LedgerStore<S> {
    store: Ledgered<S>,
    _folder: TempDir,
}

impl<S> Deref for LedgerStore<S> {
    type Target = Ledgered<S>;

    fn deref(&self) -> &Ledgered<S> {
        &self.store
    }
}

fn with_ledger<S: Store + JobRows>(folder: TempDir, inner: S) -> LedgerStore<S> {
    let path = folder.path().join(daybook_store::flush_state::FILE);
    let day = Duration::from_secs(86_400);
    let opened = Ledgered::open(&path, Arc::new(inner), day, DAWN);
    LedgerStore {
        store: daybook_testkit::run(opened).expect("a ledger can be opened"),
        _folder: folder,
    }
}

fn ledger_in_memory() -> LedgerStore<MemoryStore> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    with_ledger(folder, MemoryStore::new())
}

fn ledger_on_disk() -> LedgerStore<SqliteStore> {
    let DiskStore { store, _folder } = on_disk();
    with_ledger(_folder, store)
}

mod sqlite {
    use super::*;
    daybook_testkit::store_suite!(on_disk);
    daybook_testkit::spend_store_suite!(on_disk);
    daybook_testkit::thread_store_suite!(on_disk);
    daybook_testkit::model_suite!(on_disk);
}

mod sqlite_held {
    use super::*;
    daybook_testkit::index_suite!(on_disk_held);
    daybook_testkit::tenant_isolation_suite!(on_disk_held);
    daybook_testkit::model_suite!(on_disk_held);
}

mod sqlite_indexed {
    use super::*;
    daybook_testkit::index_suite!(on_disk_indexed);
    daybook_testkit::tenant_isolation_suite!(on_disk_indexed);
    daybook_testkit::model_suite!(on_disk_indexed);
}

mod memory {
    use super::*;
    daybook_testkit::store_suite!(in_memory);
    daybook_testkit::tree_store_suite!(in_memory);
    daybook_testkit::spend_store_suite!(in_memory);
    daybook_testkit::thread_store_suite!(in_memory);
    daybook_testkit::model_suite!(in_memory);
}

mod ledger_on_memory {
    use super::*;
    daybook_testkit::store_suite!(ledger_in_memory);
    daybook_testkit::thread_store_suite!(ledger_in_memory);
    daybook_testkit::model_suite!(ledger_in_memory);
}

mod ledger_on_sqlite {
    use super::*;
    daybook_testkit::store_suite!(ledger_on_disk);
    daybook_testkit::thread_store_suite!(ledger_on_disk);
    daybook_testkit::model_suite!(ledger_on_disk);
}

//! Both stores, held to the promises of their seams.

mod contention;
mod opening;
mod schema;

use std::ops::Deref;

use daybook_store::{MemoryStore, SqliteOptions, SqliteStore};
use tempfile::TempDir;

/// A store on a file of its own, which goes with it.
struct OnDisk {
    store: SqliteStore,
    _folder: TempDir,
}

impl Deref for OnDisk {
    type Target = SqliteStore;

    fn deref(&self) -> &SqliteStore {
        &self.store
    }
}

fn on_disk() -> OnDisk {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("daybook.db");
    let store = SqliteStore::open(&path, SqliteOptions::default()).expect("a store can be opened");
    OnDisk {
        store,
        _folder: folder,
    }
}

/// A store that moves each document into the full-text index at once, so that small tests reach it.
fn on_disk_indexed() -> OnDisk {
    let OnDisk { store, _folder } = on_disk();
    OnDisk {
        store: store.with_waiting_documents(1),
        _folder,
    }
}

fn in_memory() -> Box<MemoryStore> {
    Box::new(MemoryStore::new())
}

mod sqlite {
    use super::*;
    daybook_testkit::store_suite!(on_disk);

    #[test]
    fn random_operations_leave_it_as_the_model_says() {
        daybook_testkit::model::check(on_disk);
    }
}

mod sqlite_indexed {
    use super::*;
    daybook_testkit::index_suite!(on_disk_indexed);

    #[test]
    fn random_operations_leave_it_as_the_model_says() {
        daybook_testkit::model::check(on_disk_indexed);
    }
}

mod memory {
    use super::*;
    daybook_testkit::store_suite!(in_memory);

    #[test]
    fn random_operations_leave_it_as_the_model_says() {
        daybook_testkit::model::check(in_memory);
    }
}

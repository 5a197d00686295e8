//! The stores that the engine is tested on, each empty and removed after its test.

use std::sync::Arc;

use daybook_domain::seams::{Store, TreeStore};
use daybook_store::{MemoryStore, SqliteOptions, SqliteStore};
use tempfile::TempDir;

/// An empty store, and the guard of its files or database.
pub(crate) struct TestStore {
    pub(crate) store: Arc<dyn Store>,
    /// The same store, if it keeps histories that machines share.
    pub(crate) trees: Option<Arc<dyn TreeStore>>,
    _place: Box<dyn std::any::Any>,
}

/// Opens a store; `None`, with a message, where what it needs is not installed.
pub(crate) type OpenStore = fn() -> Option<TestStore>;

pub(crate) const ALL: [OpenStore; 3] = [in_memory, on_disk, on_server];

pub(crate) fn in_memory() -> Option<TestStore> {
    Some(shared(Arc::new(MemoryStore::new()), ()))
}

pub(crate) fn on_disk() -> Option<TestStore> {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let path = folder.path().join("daybook.db");
    let store = SqliteStore::open(&path, SqliteOptions::default()).expect("a store can be opened");
    Some(TestStore {
        store: Arc::new(store),
        trees: None,
        _place: Box::new(folder),
    })
}

#[cfg(unix)]
pub(crate) fn on_server() -> Option<TestStore> {
    use daybook_store::{PostgresOptions, PostgresStore, Trust};
    use daybook_testkit::postgres;

    // Few connections, so that many tests fit on one server.
    let options = PostgresOptions {
        connections: 4,
        ..PostgresOptions::DEFAULT
    };
    let open = |address: &str| {
        let opening = PostgresStore::open(address, &Trust::System, options);
        daybook_testkit::run(opening).expect("a store can be opened")
    };
    let database = postgres::prepared(|address| drop(open(address)))?;
    let store = open(&database.address());
    Some(shared(Arc::new(store), database))
}

#[cfg(not(unix))]
pub(crate) fn on_server() -> Option<TestStore> {
    None
}

fn shared(store: Arc<impl Store + TreeStore + 'static>, place: impl std::any::Any) -> TestStore {
    TestStore {
        store: Arc::clone(&store) as Arc<dyn Store>,
        trees: Some(store),
        _place: Box::new(place),
    }
}

//! The stores that the engine is tried on, each empty and gone after its test.

use std::sync::Arc;

use daybook_domain::seams::{Store, TreeStore};
use daybook_store::{MemoryStore, SqliteOptions, SqliteStore};
use tempfile::TempDir;

/// An empty store, and where it lies.
pub(crate) struct Made {
    pub(crate) store: Arc<dyn Store>,
    /// The same store, where it keeps histories that machines share.
    pub(crate) trees: Option<Arc<dyn TreeStore>>,
    _place: Box<dyn std::any::Any>,
}

/// Makes one; `None`, said loudly, where what it needs is not installed.
pub(crate) type Make = fn() -> Option<Made>;

pub(crate) const ALL: [Make; 3] = [in_memory, on_disk, on_server];

pub(crate) fn in_memory() -> Option<Made> {
    Some(shared(Arc::new(MemoryStore::new()), ()))
}

pub(crate) fn on_disk() -> Option<Made> {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let path = folder.path().join("daybook.db");
    let store = SqliteStore::open(&path, SqliteOptions::default()).expect("a store can be opened");
    Some(Made {
        store: Arc::new(store),
        trees: None,
        _place: Box::new(folder),
    })
}

#[cfg(unix)]
pub(crate) fn on_server() -> Option<Made> {
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
pub(crate) fn on_server() -> Option<Made> {
    None
}

fn shared(store: Arc<impl Store + TreeStore + 'static>, place: impl std::any::Any) -> Made {
    Made {
        store: Arc::clone(&store) as Arc<dyn Store>,
        trees: Some(store),
        _place: Box::new(place),
    }
}

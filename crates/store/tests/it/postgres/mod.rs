//! PostgreSQL, where it is installed.

mod jobs;
mod opening;

use daybook_store::{PostgresOptions, PostgresStore};
use daybook_testkit::postgres::{self, Database};
use daybook_testkit::run;

/// Few enough that many tests fit on one server.
const OPTIONS: PostgresOptions = PostgresOptions {
    connections: 4,
    ..PostgresOptions::DEFAULT
};

/// A store in a database of its own, which goes with it.
struct OnServer {
    store: PostgresStore,
    database: Database,
}

impl std::ops::Deref for OnServer {
    type Target = PostgresStore;

    fn deref(&self) -> &PostgresStore {
        &self.store
    }
}

fn on_server() -> Option<OnServer> {
    let database = postgres::prepared(|address| drop(open(address)))?;
    let store = open(&database.address());
    Some(OnServer { store, database })
}

fn open(address: &str) -> PostgresStore {
    run(PostgresStore::open(address, OPTIONS)).expect("a store can be opened")
}

//! PostgreSQL, where it is installed.

mod append_groups;
mod commits;
mod encryption;
mod isolation;
mod jobs;
mod kept_statements;
mod opening;
mod outages;
mod pgvector;
mod pooler;
mod proxy;
mod schema;
mod statements;
mod vectors;

use daybook_domain::seams::{ImportStore, SessionCatalog, SessionLog};
use std::ops::Deref;

use daybook_domain::{StoreError, Tenant};
use daybook_store::{PostgresOptions, PostgresStore, Trust};
use daybook_testkit::fixtures::*;
use daybook_testkit::postgres::{self, TestDatabase};
use daybook_testkit::run;
use tokio_postgres::{Client, NoTls};

/// Few connections, so that many tests fit on one server.
const OPTIONS: PostgresOptions = PostgresOptions {
    connections: 4,
    ..PostgresOptions::DEFAULT
};

/// A store in a database of its own, which is deleted with it.
pub(super) struct ServerStore {
    store: PostgresStore,
    pub(super) database: TestDatabase,
}

impl Deref for ServerStore {
    type Target = PostgresStore;

    fn deref(&self) -> &PostgresStore {
        &self.store
    }
}

pub(super) fn on_server() -> Option<ServerStore> {
    let database = postgres::prepared(|address| drop(open(address)))?;
    let store = open(&database.address());
    Some(ServerStore { store, database })
}

pub(super) fn open(address: &str) -> PostgresStore {
    run(PostgresStore::open(address, &Trust::System, OPTIONS)).expect("a store can be opened")
}

/// A store with one connection, so that each transaction finds what the one before has prepared.
pub(super) fn open_one(address: &str) -> PostgresStore {
    let options = PostgresOptions {
        connections: 1,
        ..OPTIONS
    };
    run(PostgresStore::open(address, &Trust::System, options)).expect("a store can be opened")
}

daybook_testkit::store_suite!(maybe on_server, 4);
daybook_testkit::tree_store_suite!(maybe on_server);
daybook_testkit::spend_store_suite!(maybe on_server, 8);
daybook_testkit::thread_store_suite!(maybe on_server);
daybook_testkit::model_suite!(maybe on_server, 12);

/// A connection of a superuser role, for access that bypasses the store.
pub(super) async fn admin(database: &TestDatabase) -> Client {
    connect(&database.admin()).await
}

async fn connect(address: &str) -> Client {
    let connecting = tokio_postgres::connect(address, NoTls).await;
    let (client, connection) = connecting.expect("the server takes connections");
    // It ends with its client, or with the runtime.
    drop(tokio::spawn(connection));
    client
}

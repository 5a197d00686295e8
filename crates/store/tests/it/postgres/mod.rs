//! PostgreSQL, where it is installed.

mod commits;
mod encryption;
mod isolation;
mod jobs;
mod opening;
mod outages;
mod pooled;
mod schema;
mod statements;
mod together;
mod vectors;
mod wire;

use std::ops::Deref;

use daybook_domain::seams::SessionStore;
use daybook_domain::{StoreError, Tenant};
use daybook_store::{PostgresOptions, PostgresStore, Trust};
use daybook_testkit::fixtures::*;
use daybook_testkit::postgres::{self, Database};
use daybook_testkit::run;
use tokio_postgres::{Client, NoTls};

/// Few connections, so that many tests fit on one server.
const OPTIONS: PostgresOptions = PostgresOptions {
    connections: 4,
    ..PostgresOptions::DEFAULT
};

/// A store in a database of its own, which goes with it.
pub(super) struct OnServer {
    store: PostgresStore,
    pub(super) database: Database,
}

impl Deref for OnServer {
    type Target = PostgresStore;

    fn deref(&self) -> &PostgresStore {
        &self.store
    }
}

pub(super) fn on_server() -> Option<OnServer> {
    let database = postgres::prepared(|address| drop(open(address)))?;
    let store = open(&database.address());
    Some(OnServer { store, database })
}

pub(super) fn open(address: &str) -> PostgresStore {
    run(PostgresStore::open(address, &Trust::System, OPTIONS)).expect("a store can be opened")
}

daybook_testkit::store_suite!(maybe on_server, 4);
daybook_testkit::tree_store_suite!(maybe on_server);
daybook_testkit::spend_store_suite!(maybe on_server, 8);
daybook_testkit::thread_store_suite!(maybe on_server);
daybook_testkit::model_suite!(maybe on_server, 12);

/// A connection of a role that may do everything, for looking behind the store's back.
pub(super) async fn admin(database: &Database) -> Client {
    connect(&database.admin()).await
}

async fn connect(address: &str) -> Client {
    let connecting = tokio_postgres::connect(address, NoTls).await;
    let (client, connection) = connecting.expect("the server takes connections");
    // It ends with its client, or with the runtime.
    drop(tokio::spawn(connection));
    client
}

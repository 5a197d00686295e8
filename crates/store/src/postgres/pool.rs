//! The pool of connections to the server: how each is opened, and what is remembered of it.
//!
//! Not here: what is sent on a connection (`connection`), which statements stay prepared (`kept_statements`).

use std::ops::Deref;
use std::sync::Arc;

use deadpool::managed::{Manager, Metrics, Object, RecycleError, RecycleResult};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config, Error};

use super::dial::Dialer;
use super::kept_statements::{KeptStatements, StatementKeeping};
use super::own_session::{has_setting, is_refused, with_settings};

/// Open connections, of which each caller gets one for itself.
pub(super) type Pool = deadpool::managed::Pool<ConnectionManager>;
/// A connection that goes back to the pool when it is dropped.
pub(super) type PooledConnection = Object<ConnectionManager>;

/// A connection to the server or to a pooler. Dropping it closes it.
#[derive(Debug)]
pub(super) struct ServerConnection {
    client: Client,
    /// The task that moves its messages.
    driven: JoinHandle<()>,
    /// Its prepared statements; `None` where a pooler lends it sessions.
    pub(super) kept: Option<Arc<KeptStatements>>,
}

impl Deref for ServerConnection {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for ServerConnection {
    fn drop(&mut self) {
        self.driven.abort();
    }
}

/// Opens connections, and keeps those in the pool that are still open.
#[derive(Debug)]
pub(super) struct ConnectionManager {
    config: Config,
    /// The address with the settings of an own session.
    own: Config,
    dialer: Dialer,
    keeping: Arc<StatementKeeping>,
}

impl ConnectionManager {
    /// Each own session begins with `settings`, in the form of the command line's options.
    pub(super) fn new(
        config: Config,
        settings: &str,
        dialer: Dialer,
        keeping: Arc<StatementKeeping>,
    ) -> Self {
        Self {
            own: with_settings(&config, settings),
            config,
            dialer,
            keeping,
        }
    }

    /// Opens a connection with a session of its own; `None` where a pooler allows none.
    async fn open_own(&self) -> Result<Option<ServerConnection>, Error> {
        let (client, driven) = match self.dialer.connect(&self.own).await {
            Ok(dialed) => dialed,
            Err(error) if is_refused(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let is_own = has_setting(&client).await?;
        let kept = is_own.then(|| KeptStatements::new(Arc::clone(&self.keeping)));
        Ok(kept.map(|kept| ServerConnection {
            client,
            driven,
            kept: Some(Arc::new(kept)),
        }))
    }
}

impl Manager for ConnectionManager {
    type Type = ServerConnection;
    type Error = Error;

    async fn create(&self) -> Result<ServerConnection, Error> {
        if self.keeping.is_possible() {
            match self.open_own().await? {
                Some(own) => return Ok(own),
                None => self.keeping.give_up(),
            }
        }
        let (client, driven) = self.dialer.connect(&self.config).await?;
        Ok(ServerConnection {
            client,
            driven,
            kept: None,
        })
    }

    async fn recycle(
        &self,
        connection: &mut ServerConnection,
        _: &Metrics,
    ) -> RecycleResult<Error> {
        match connection.is_closed() {
            true => Err(RecycleError::message("the connection is closed")),
            false => Ok(()),
        }
    }
}

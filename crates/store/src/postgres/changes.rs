//! Whether anything has changed, by whatever process.
//!
//! The version is how many transactions the server has seen the end of, as a snapshot knows it. It
//! grows with every commit, costs a writer nothing, and shows a commit exactly when its rows are
//! shown. It also grows with what other databases of the server do, which wakes somebody for nothing.
//!
//! Whoever waits looks at the version now and then, and whenever somebody says that they have written
//! (`NOTIFY`). That is said soon after a commit and not in it: the server lets those who say something
//! commit one by one. A pooler that hands each transaction to another connection can tell nobody, so
//! behind one looking alone has to do. It is told by a setting that a session begins with: such a
//! pooler refuses it, or forgets it. A `LISTEN` would stay behind on a connection of others.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use daybook_domain::StoreError;
use daybook_domain::seams::JobStore;
use deadpool_postgres::Pool;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::error::SqlState;
use tokio_postgres::{AsyncMessage, Client, Config, Error};

use super::PostgresStore;
use super::connection::Tx;
use super::dial::Dialer;
use super::fault::Fault;
use super::values::get;

/// How often somebody who waits for a change looks for one that nobody tells them of.
const LOOK: Duration = Duration::from_secs(1);
/// How long after a commit it is said that something has changed, once for all commits until then.
const SOON: Duration = Duration::from_millis(100);

/// What whoever listens begins a session with.
const OWN: &str = "-c daybook.listener=on";

/// How whoever waits learns of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Nobody has listened yet, or the server could not be asked.
    Unknown,
    /// The server wakes them.
    Woken,
    /// A pooler stands between: they look by themselves.
    Pooled,
}

/// Why nothing is heard any more.
enum Deaf {
    Pooled,
    /// The connection broke, or could not be made.
    Broken,
}

impl From<Error> for Deaf {
    fn from(error: Error) -> Self {
        // A pooler does not know the setting.
        match error.code() {
            Some(&SqlState::PROTOCOL_VIOLATION) => Self::Pooled,
            Some(_) | None => Self::Broken,
        }
    }
}

/// All transactions before the snapshot's end have ended, but for those that it names.
pub(super) async fn version(tx: &Tx) -> Result<u64, Fault> {
    let ended = "SELECT pg_snapshot_xmax(seen)::TEXT::BIGINT
            - (SELECT count(*) FROM pg_snapshot_xip(seen)) AS version
        FROM pg_current_snapshot() AS seen";
    get(&tx.one(ended, &[]).await?, "version")
}

pub(super) async fn until_changed(
    store: &PostgresStore,
    seen: u64,
    longest: Duration,
) -> Result<(), StoreError> {
    let until = Instant::now() + longest;
    let mut heard = store.changes.listen();
    loop {
        // Before the look, so that what is said during it is not missed.
        heard.mark_unchanged();
        if store.version().await? != seen || Instant::now() >= until {
            return Ok(());
        }
        // Either way the next thing is to look.
        let _ = timeout_at(until.min(Instant::now() + LOOK), heard.changed()).await;
    }
}

/// What one store says of its changes, and hears of those of others.
#[derive(Debug)]
pub(super) struct Changes {
    config: Config,
    dialer: Dialer,
    heard: Arc<watch::Sender<()>>,
    way: Arc<watch::Sender<Way>>,
    listener: Mutex<Option<JoinHandle<()>>>,
    /// Somebody is about to say it already.
    is_promised: Arc<AtomicBool>,
}

/// Ends a promise also where its task is dropped.
struct Promise(Arc<AtomicBool>);

impl Drop for Promise {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Changes {
    pub(super) fn new(config: Config, dialer: Dialer) -> Self {
        Self {
            config,
            dialer,
            heard: Arc::default(),
            way: Arc::new(watch::Sender::new(Way::Unknown)),
            listener: Mutex::default(),
            is_promised: Arc::default(),
        }
    }

    /// Says soon that something has changed.
    pub(super) fn say(&self, pool: &Pool) {
        if self.is_promised.swap(true, Ordering::AcqRel) {
            return;
        }
        let promise = Promise(Arc::clone(&self.is_promised));
        let pool = pool.clone();
        self.dialer.driver.spawn(async move {
            sleep(SOON).await;
            // What is written from here on is a matter of the next one.
            drop(promise);
            if let Ok(client) = pool.get().await {
                // Whoever does not hear it looks by themselves.
                let _ = client.batch_execute("NOTIFY daybook").await;
            }
        });
    }

    /// Runs something in the background, for as long as the store is there.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.dialer.driver.spawn(work);
    }

    /// Changes whenever somebody says that something has changed.
    fn listen(&self) -> watch::Receiver<()> {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        if self.way() != Way::Pooled && listener.as_ref().is_none_or(JoinHandle::is_finished) {
            let (config, dialer) = (self.config.clone(), self.dialer.clone());
            let (heard, way) = (Arc::clone(&self.heard), Arc::clone(&self.way));
            *listener = Some(self.dialer.driver.spawn(async move {
                // Whoever waits looks by themselves, and begins to listen anew.
                if let Err(Deaf::Pooled) = hear(config, &dialer, &heard, &way).await {
                    way.send_replace(Way::Pooled);
                }
            }));
        }
        self.heard.subscribe()
    }

    /// How whoever waits learns of changes, as far as it is known.
    pub(super) fn way(&self) -> Way {
        *self.way.borrow()
    }

    /// The same, found out within `longest`.
    pub(super) async fn found_way(&self, longest: Duration) -> Way {
        let mut way = self.way.subscribe();
        self.listen();
        let found = way.wait_for(|way| *way != Way::Unknown);
        match timeout_at(Instant::now() + longest, found).await {
            Ok(Ok(way)) => *way,
            Ok(Err(_)) | Err(_) => Way::Unknown,
        }
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        let listener = self
            .listener
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(listener) = listener.take() {
            listener.abort();
        }
    }
}

/// Passes on what is said, until the connection breaks.
async fn hear(
    mut config: Config,
    dialer: &Dialer,
    heard: &watch::Sender<()>,
    way: &watch::Sender<Way>,
) -> Result<(), Deaf> {
    let options = [config.get_options().unwrap_or_default(), OWN].join(" ");
    config.options(options.trim_start());
    let (client, mut connection) = dialer.dial(&config).await?;
    let passing_on = async {
        while let Some(message) = std::future::poll_fn(|cx| connection.poll_message(cx)).await {
            if let AsyncMessage::Notification(_) = message? {
                heard.send_replace(());
            }
        }
        Err::<(), _>(Deaf::Broken)
    };
    let listening = async {
        if !is_own(&client).await? {
            return Err(Deaf::Pooled);
        }
        client.batch_execute("LISTEN daybook").await?;
        way.send_replace(Way::Woken);
        Ok(())
    };
    tokio::try_join!(listening, passing_on)?;
    Ok(())
}

/// Whether the session is the one that was asked for, and not one that a pooler has made for others.
async fn is_own(client: &Client) -> Result<bool, Error> {
    let ask = "SELECT coalesce(current_setting('daybook.listener', TRUE), '') = 'on'";
    let rows = client.query_typed(ask, &[]).await?;
    rows.first().map_or(Ok(false), |row| row.try_get(0))
}

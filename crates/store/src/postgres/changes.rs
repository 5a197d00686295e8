//! Detects changes of the database by any process.
//!
//! The version is how many transactions have ended on the server, taken from a snapshot. It grows with every
//! commit, costs a writer nothing, and shows a commit exactly when its rows become visible. It also grows with
//! transactions in other databases of the server, which cause needless wake-ups.
//!
//! A waiting caller polls the version, and reads it at once on a notification (`NOTIFY`). A store notifies soon
//! after a commit and not in it: the server commits transactions with a notification one by one. A pooler that
//! hands each transaction to another connection cannot deliver notifications, so behind one polling alone has
//! to do (`own_session` detects it): a `LISTEN` would remain on a connection that others use.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use daybook_domain::StoreError;
use daybook_domain::seams::JobWatch;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::{AsyncMessage, Config, Error};

use super::PostgresStore;
use super::connection::Tx;
use super::dial::Dialer;
use super::fault::Fault;
use super::own_session::{has_setting, is_refused, with_settings};
use super::pool::Pool;
use super::values::get;

/// How often a waiting caller polls the version without a notification.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long after a commit the notification is sent, once for all commits until then.
const NOTIFY_DELAY: Duration = Duration::from_millis(100);

/// How waiting callers learn of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WakeMode {
    /// No listener has connected yet, or the server could not be reached.
    Unknown,
    /// By notifications from the server.
    Notified,
    /// By polling alone, because a pooler is in between.
    Pooled,
}

/// Why the listener ended.
enum ListenerEnd {
    Pooled,
    /// The connection broke, or could not be made.
    Broken,
}

impl From<Error> for ListenerEnd {
    fn from(error: Error) -> Self {
        match is_refused(&error) {
            true => Self::Pooled,
            false => Self::Broken,
        }
    }
}

/// The version: the number of transactions that have ended, which are all before the snapshot's end except
/// those that it lists.
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
    let mut notifications = store.changes.subscribe();
    loop {
        // Before the version is read, so that a notification during the read is not missed.
        notifications.mark_unchanged();
        if store.version().await? != seen || Instant::now() >= until {
            return Ok(());
        }
        // After a notification and after a timeout alike, the version is read next.
        let _ = timeout_at(
            until.min(Instant::now() + POLL_INTERVAL),
            notifications.changed(),
        )
        .await;
    }
}

/// Sends one store's notifications, and receives those of other stores.
#[derive(Debug)]
pub(super) struct ChangeNotifier {
    config: Config,
    dialer: Dialer,
    notifications: Arc<watch::Sender<()>>,
    wake_mode: Arc<watch::Sender<WakeMode>>,
    listener: Mutex<Option<JoinHandle<()>>>,
    /// Whether a notification is already scheduled.
    is_scheduled: Arc<AtomicBool>,
}

/// Clears the flag of a scheduled notification, also when its task is dropped.
struct NotificationGuard(Arc<AtomicBool>);

impl Drop for NotificationGuard {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl ChangeNotifier {
    pub(super) fn new(config: Config, dialer: Dialer) -> Self {
        Self {
            config,
            dialer,
            notifications: Arc::default(),
            wake_mode: Arc::new(watch::Sender::new(WakeMode::Unknown)),
            listener: Mutex::default(),
            is_scheduled: Arc::default(),
        }
    }

    /// Schedules a notification of a change.
    pub(super) fn schedule_notification(&self, pool: &Pool) {
        if self.is_scheduled.swap(true, Ordering::AcqRel) {
            return;
        }
        let guard = NotificationGuard(Arc::clone(&self.is_scheduled));
        let pool = pool.clone();
        self.dialer.driver.spawn(async move {
            sleep(NOTIFY_DELAY).await;
            // Later commits schedule a notification of their own.
            drop(guard);
            if let Ok(client) = pool.get().await {
                // A waiting caller that misses it polls.
                let _ = client.batch_execute("NOTIFY daybook").await;
            }
        });
    }

    /// Runs a task in the background, for as long as the store exists.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.dialer.driver.spawn(work);
    }

    /// Subscribes to notifications, and starts the listener if it does not run.
    fn subscribe(&self) -> watch::Receiver<()> {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        if self.wake_mode() != WakeMode::Pooled
            && listener.as_ref().is_none_or(JoinHandle::is_finished)
        {
            let (config, dialer) = (self.config.clone(), self.dialer.clone());
            let (notifications, wake_mode) =
                (Arc::clone(&self.notifications), Arc::clone(&self.wake_mode));
            *listener = Some(self.dialer.driver.spawn(async move {
                // Callers poll until the next one starts the listener again.
                if let Err(ListenerEnd::Pooled) =
                    run_listener(config, &dialer, &notifications, &wake_mode).await
                {
                    wake_mode.send_replace(WakeMode::Pooled);
                }
            }));
        }
        self.notifications.subscribe()
    }

    /// How waiting callers learn of changes, as far as it is known.
    pub(super) fn wake_mode(&self) -> WakeMode {
        *self.wake_mode.borrow()
    }

    /// [`Self::wake_mode`], waiting up to `longest` until it is known.
    pub(super) async fn await_wake_mode(&self, longest: Duration) -> WakeMode {
        let mut wake_mode = self.wake_mode.subscribe();
        self.subscribe();
        let found = wake_mode.wait_for(|wake_mode| *wake_mode != WakeMode::Unknown);
        match timeout_at(Instant::now() + longest, found).await {
            Ok(Ok(wake_mode)) => *wake_mode,
            Ok(Err(_)) | Err(_) => WakeMode::Unknown,
        }
    }
}

impl Drop for ChangeNotifier {
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

/// Forwards notifications until the connection breaks.
async fn run_listener(
    config: Config,
    dialer: &Dialer,
    notifications: &watch::Sender<()>,
    wake_mode: &watch::Sender<WakeMode>,
) -> Result<(), ListenerEnd> {
    let (client, mut connection) = dialer.dial(&with_settings(&config, "")).await?;
    let forwarding = async {
        while let Some(message) = std::future::poll_fn(|cx| connection.poll_message(cx)).await {
            if let AsyncMessage::Notification(_) = message? {
                notifications.send_replace(());
            }
        }
        Err::<(), _>(ListenerEnd::Broken)
    };
    let listening = async {
        if !has_setting(&client).await? {
            return Err(ListenerEnd::Pooled);
        }
        client.batch_execute("LISTEN daybook").await?;
        wake_mode.send_replace(WakeMode::Notified);
        Ok(())
    };
    tokio::try_join!(listening, forwarding)?;
    Ok(())
}

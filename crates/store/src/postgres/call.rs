//! How long one call of the store may take, and when it is reported as waiting.
//!
//! One limit covers a call from beginning to end: waiting for a connection or for a lock, for each answer, for
//! the next try and for the look-up of a lost commit. A limit for each of these steps would add up to minutes
//! before a server that does not answer. Migrations alone have no limit.
//!
//! A call that takes longer than [`NOTICE_AFTER`] is reported to the store's observer, if it has one, with what
//! the call waits for as far as that is known.
//!
//! Not here: which faults are tried again (`retry`), what they mean (`fault`).

use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use daybook_domain::StoreError;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;

use super::PostgresStore;
use super::connection::TxMode;
use super::fault::{Fault, Remedy};
use super::outcome;
use super::values::get;

/// After this time a call that still waits is reported.
const NOTICE_AFTER: Duration = Duration::from_millis(2_500);
/// Longest wait for the name of the session that holds a lock. Comes after the wait for the lock.
const HOLDER_WAIT: Duration = Duration::from_millis(500);

/// The session that most likely holds a lock: the oldest transaction of this database that has written.
/// The server shows the sessions of other roles only to roles that may see them.
const LOCK_HOLDER: &str = "SELECT format('process %s of %s%s, %s for %s s', pid,
        coalesce(nullif(application_name, ''), 'an unnamed program'),
        coalesce(' on ' || host(client_addr), ''), state,
        extract(epoch FROM clock_timestamp() - state_change)::BIGINT) AS holder
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xid IS NOT NULL
    ORDER BY wait_event_type IS NOT DISTINCT FROM 'Lock', xact_start LIMIT 1";

/// A callback for messages about calls that wait.
pub type WaitObserver = Arc<dyn Fn(&str) + Send + Sync>;

/// Receives a message when a call takes long.
#[derive(Clone, Default)]
pub(super) struct CallObserver(pub(super) Option<WaitObserver>);

impl fmt::Debug for CallObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

/// The state of one call, which outlives its tries.
#[derive(Debug, Default)]
pub(super) struct CallState {
    /// Why the last try failed, if one did.
    last_fault: Mutex<Option<(Remedy, String)>>,
    /// Whether COMMIT was sent, and its outcome is not known.
    is_committing: AtomicBool,
}

impl CallState {
    /// A holder that was found once is kept when the next look-up ends without one.
    pub(super) fn note_fault(&self, fault: &Fault) {
        let mut last = self.last();
        let was_locked = matches!(*last, Some((Remedy::Again, _)));
        if was_locked && matches!(fault, Fault::Locked(None)) {
            return;
        }
        *last = Some((fault.remedy(), fault.to_string()));
    }

    pub(super) fn set_committing(&self, is_committing: bool) {
        self.is_committing.store(is_committing, Ordering::Release);
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Option<(Remedy, String)>> {
        let last = self.last_fault.lock();
        last.unwrap_or_else(PoisonError::into_inner)
    }

    /// What the call has waited for so far.
    fn reason(&self, waited: Duration) -> String {
        let last = self.last().as_ref().map(|(_, why)| why.clone());
        last.unwrap_or_else(|| Fault::Silent(waited).to_string())
    }

    /// The error of a call that has used up its time.
    fn to_error(&self, server: &str, limit: Duration) -> StoreError {
        let reason = self.reason(limit);
        if self.is_committing.load(Ordering::Acquire) {
            return outcome::unknown_outcome(server, reason.into());
        }
        let last = self.last().as_ref().map(|(remedy, _)| *remedy);
        match last {
            Some(Remedy::Again | Remedy::Later) => StoreError::Busy(reason.into()),
            Some(
                Remedy::Reconnect | Remedy::Act | Remedy::Shorten | Remedy::Move | Remedy::None,
            )
            | None => StoreError::Unavailable {
                what: server.to_owned(),
                source: reason.into(),
            },
        }
    }
}

impl PostgresStore {
    /// Runs the tries of a call within its limit.
    pub(super) async fn within_limit<T>(
        &self,
        mode: TxMode,
        call: &CallState,
        tries: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let limit = self.options.call;
        let observed = self.observe(call, tries);
        let done = match mode {
            TxMode::Migrate => Ok(observed.await),
            TxMode::Read | TxMode::Write => timeout(limit, observed).await,
        };
        done.unwrap_or_else(|_| Err(call.to_error(&self.server, limit)))
    }

    /// Runs `work`, and reports it once if it takes long.
    async fn observe<T>(&self, call: &CallState, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        if let Ok(done) = timeout(NOTICE_AFTER, work.as_mut()).await {
            return done;
        }
        if let CallObserver(Some(observer)) = &self.observer {
            observer(&format!("{}: {}", self.server, call.reason(NOTICE_AFTER)));
        }
        work.await
    }

    /// Adds the holder of the lock to a fault where a lock was in the way.
    pub(super) async fn with_lock_holder(&self, fault: Fault) -> Fault {
        match &fault {
            Fault::Sql(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                Fault::Locked(self.lock_holder().await)
            }
            Fault::Sql(_)
            | Fault::Stale(_)
            | Fault::Pool(_)
            | Fault::Silent(_)
            | Fault::Locked(_)
            | Fault::Store(_) => fault,
        }
    }

    /// A description of the session that holds the lock; `None` where the server does not show it.
    async fn lock_holder(&self) -> Option<String> {
        let asking = async {
            let client = self.pool.get().await.ok()?;
            let rows = client.query_typed(LOCK_HOLDER, &[]).await.ok()?;
            get(rows.first()?, "holder").ok()
        };
        timeout(HOLDER_WAIT, asking).await.ok().flatten()
    }
}

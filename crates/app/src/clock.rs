//! The present time: this machine's, or that of the server that several machines share.

use std::time::{SystemTime, UNIX_EPOCH};

use daybook_domain::Timestamp;
use daybook_domain::time::Clock;

/// The machine's clock.
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// The server's clock, so that machines whose own clocks differ agree on when a lease ends. It was
/// asked once; since then this machine's steady clock goes on, which no correction of its date moves.
#[cfg(feature = "postgres")]
pub(crate) struct ServerClock {
    told: Timestamp,
    at: std::time::Instant,
}

#[cfg(feature = "postgres")]
impl ServerClock {
    /// Asks the server. Half of the time that the answer took is taken to be its way back.
    pub(crate) async fn set_by(
        store: &daybook_store::PostgresStore,
    ) -> Result<Self, daybook_domain::StoreError> {
        let asked = std::time::Instant::now();
        let told = store.server_time().await?;
        let at = asked + asked.elapsed() / 2;
        Ok(Self { told, at })
    }
}

#[cfg(feature = "postgres")]
impl Clock for ServerClock {
    fn now(&self) -> Timestamp {
        self.told.plus(self.at.elapsed())
    }
}

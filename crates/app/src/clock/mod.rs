//! Clocks: this machine's, and that of a server that several machines share.

use std::time::{SystemTime, UNIX_EPOCH};

use daybook_domain::Timestamp;
use daybook_domain::time::Clock;

#[cfg(feature = "postgres")]
pub(crate) use server::ServerClock;

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

#[cfg(feature = "postgres")]
mod server;

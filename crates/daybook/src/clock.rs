//! The machine's clock: the one thing that the engine is never told by anybody but its host.

use std::time::{SystemTime, UNIX_EPOCH};

use daybook_domain::Timestamp;
use daybook_domain::time::Clock;

/// The machine's clock, in milliseconds since 1970 UTC; 1970 on a machine that believes to be before it.
///
/// ```
/// use daybook::{Clock, SystemClock, Timestamp};
/// assert!(SystemClock.now() > Timestamp(1_700_000_000_000));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

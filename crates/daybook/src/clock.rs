//! The machine's clock. The engine reads no clock itself; its host passes one in.

use std::time::{SystemTime, UNIX_EPOCH};

use daybook_domain::Timestamp;
use daybook_domain::time::Clock;

/// The machine's clock, in milliseconds since 1970 UTC; returns 1970 when the machine's clock is set earlier.
///
/// ```
/// use daybook::{Clock, SystemClock, Timestamp};
/// assert!(SystemClock.now() > Timestamp(1_700_000_000_000));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that hosts pass in"
    )]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

//! A clock that tests set and move by hand.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use daybook_domain::Timestamp;
use daybook_domain::time::Clock;

/// A clock that returns the same time until a test moves it.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that shows `now`.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.0))
    }

    /// Moves the clock forward by `by`, and returns the new time.
    pub fn advance(&self, by: Duration) -> Timestamp {
        let now = self.now().plus(by);
        self.set(now);
        now
    }

    /// Sets the clock to `now`, which may be earlier: real clocks are set back, too.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.0, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

//! A clock that stands still until a test moves it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use daybook_domain::Timestamp;
use daybook_domain::time::Clock;

/// A clock that stands still until a test moves it.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that stands at `now`.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.0))
    }

    /// Moves on by `by`, and says what time it is then.
    pub fn advance(&self, by: Duration) -> Timestamp {
        let now = self.now().plus(by);
        self.set(now);
        now
    }

    /// Jumps to `now`, backwards too: clocks do.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.0, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

//! Points in time, in whole milliseconds. Nothing in this module reads a clock.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z. Rules are given `now` as one of these.
///
/// ```
/// use std::time::Duration;
/// use daybook_domain::Timestamp;
/// let later = Timestamp(1_000).plus(Duration::from_secs(2));
/// assert_eq!(later, Timestamp(3_000));
/// assert_eq!(later.since(Timestamp(1_000)), Duration::from_secs(2));
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The earliest time; means "unknown" where a transcript names none.
    pub const ZERO: Self = Self(0);
    /// Later than any real time.
    pub const MAX: Self = Self(i64::MAX);

    /// This time moved on by `by`, never past [`Timestamp::MAX`].
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// The time that is `by` before this one.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(
            self.0
                .saturating_sub(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// How long after `earlier` this is; zero when it is not after.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// Where the present time comes from. Always an argument, so that tests own it.
///
/// ```
/// use daybook_domain::Timestamp;
/// use daybook_domain::time::Clock;
///
/// /// A clock that never moves.
/// struct Noon;
///
/// impl Clock for Noon {
///     fn now(&self) -> Timestamp {
///         Timestamp(43_200_000)
///     }
/// }
/// assert_eq!(Noon.now(), Timestamp(43_200_000));
/// ```
pub trait Clock: Send + Sync {
    /// The present time. May step back: no rule relies on it being monotonic.
    fn now(&self) -> Timestamp;
}

//! The database server's clock, so that machines whose own clocks differ agree on when a lease ends.
//!
//! The server is asked once. From then on the time advances with this machine's monotonic clock, which no correction of
//! the date moves and which also counts while the machine sleeps. Clocks drift, a monotonic clock may stop with its
//! virtual machine, and another server may take over. So the server is asked again every few minutes, and when monotonic
//! clock and date disagree on how much time has passed. Callers of `now` never wait for that.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use daybook_domain::Timestamp;
use daybook_domain::time::Clock;
use daybook_store::PostgresStore;

use super::SystemClock;
use crate::process::block_on;

/// How long a reading of the server's clock is used.
const MAX_AGE: Duration = Duration::from_secs(300);
/// How much date and monotonic clock may differ before the server is asked again.
const MAX_DRIFT: Duration = Duration::from_secs(1);
/// Longest round trip of a usable reading: half of it is the error of the reading.
const MAX_ROUND_TRIP: Duration = Duration::from_secs(1);
/// How soon the server is asked again after a failure.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// The two clocks of a machine.
pub(super) trait MachineClocks: Send + Sync {
    /// Time since some instant, which cannot be set.
    fn monotonic(&self) -> Duration;
    /// The date, which can be set.
    fn date(&self) -> Timestamp;
}

/// The clocks of this machine.
struct LocalClocks;

impl MachineClocks for LocalClocks {
    fn monotonic(&self) -> Duration {
        monotonic()
    }

    fn date(&self) -> Timestamp {
        SystemClock.now()
    }
}

/// A clock that also counts while the machine sleeps, where the system has one.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn monotonic() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    #[cfg(not(target_vendor = "apple"))]
    let clock = ClockId::Boottime;
    #[cfg(target_vendor = "apple")]
    let clock = ClockId::Monotonic;
    Duration::try_from(clock_gettime(clock)).expect("it counts up from zero")
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn monotonic() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// The server's time, with those of this machine's clocks at the same instant.
#[derive(Debug, Clone, Copy)]
struct ClockReading {
    server: Timestamp,
    monotonic: Duration,
    date: Timestamp,
    round_trip: Duration,
}

impl ClockReading {
    /// Asks the server. Half of the round trip counts as the way back of the answer.
    fn take(clocks: &dyn MachineClocks, ask: impl FnOnce() -> Result<Timestamp>) -> Result<Self> {
        let asked = clocks.monotonic();
        let server = ask()?;
        let monotonic = clocks.monotonic();
        let round_trip = monotonic.saturating_sub(asked);
        Ok(Self {
            server: server.plus(round_trip / 2),
            monotonic,
            date: clocks.date(),
            round_trip,
        })
    }

    /// Time since the reading.
    fn elapsed(&self, clocks: &dyn MachineClocks) -> Duration {
        clocks.monotonic().saturating_sub(self.monotonic)
    }

    /// Whether the server should be asked again.
    fn is_doubtful(&self, clocks: &dyn MachineClocks) -> bool {
        let passed = self.elapsed(clocks);
        let dated = clocks.date().0.saturating_sub(self.date.0);
        let drift = dated.abs_diff(i64::try_from(passed.as_millis()).unwrap_or(i64::MAX));
        passed >= MAX_AGE
            || self.round_trip > MAX_ROUND_TRIP
            || u128::from(drift) > MAX_DRIFT.as_millis()
    }
}

/// The server's clock, as known on this machine.
pub(crate) struct ServerClock(Arc<SharedClock>);

struct SharedClock {
    clocks: Box<dyn MachineClocks>,
    ask: Box<dyn Fn() -> Result<Timestamp> + Send + Sync>,
    state: Mutex<ClockState>,
}

struct ClockState {
    reading: ClockReading,
    /// By the monotonic clock: when the server may be asked again, after a failure.
    not_before: Duration,
    is_asking: bool,
}

impl ServerClock {
    /// Asks the server for its time, and blocks meanwhile.
    pub(crate) fn synchronized_with(store: &Arc<PostgresStore>) -> Result<Self> {
        Self::with_clocks(LocalClocks, Arc::clone(store))
    }

    pub(super) fn with_clocks(
        clocks: impl MachineClocks + 'static,
        store: Arc<PostgresStore>,
    ) -> Result<Self> {
        Self::new(clocks, move || {
            block_on(async { Ok(store.server_time().await?) })
        })
    }

    fn new(
        clocks: impl MachineClocks + 'static,
        ask: impl Fn() -> Result<Timestamp> + Send + Sync + 'static,
    ) -> Result<Self> {
        let reading = ClockReading::take(&clocks, &ask)?;
        let state = ClockState {
            reading,
            not_before: Duration::ZERO,
            is_asking: false,
        };
        Ok(Self(Arc::new(SharedClock {
            clocks: Box::new(clocks),
            ask: Box::new(ask),
            state: Mutex::new(state),
        })))
    }
}

impl Clock for ServerClock {
    fn now(&self) -> Timestamp {
        let shared = &self.0;
        let clocks = &*shared.clocks;
        let mut state = shared.state();
        let reading = state.reading;
        let may_ask = !state.is_asking && clocks.monotonic() >= state.not_before;
        if may_ask && reading.is_doubtful(clocks) {
            state.is_asking = true;
            let asking = Arc::clone(shared);
            std::thread::spawn(move || asking.ask_again());
        }
        drop(state);
        reading.server.plus(reading.elapsed(clocks))
    }
}

impl SharedClock {
    fn state(&self) -> MutexGuard<'_, ClockState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the reading. If the server fails or answers too slowly, the last reading stays in use.
    fn ask_again(&self) {
        let taken = ClockReading::take(&*self.clocks, || (self.ask)());
        let mut state = self.state();
        state.is_asking = false;
        match taken {
            Ok(reading) if reading.round_trip <= MAX_ROUND_TRIP => state.reading = reading,
            Ok(_) | Err(_) => state.not_before = self.clocks.monotonic() + RETRY_AFTER,
        }
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;

#[cfg(all(test, unix))]
#[path = "skew_tests.rs"]
mod skew;

//! The server's clock, so that machines whose own clocks differ agree on when a lease ends.
//!
//! The server is asked once, and from there this machine's steady clock goes on, which no correction
//! of its date moves and which goes on while the machine sleeps. No clock keeps step with another for
//! ever, a steady clock may stand still with the machine around it, and another server may take over;
//! so the server is asked again every few minutes, and when steady clock and date disagree on how much
//! time has passed. Whoever asks for the time never waits for that.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use daybook_domain::Timestamp;
use daybook_domain::time::Clock;
use daybook_store::PostgresStore;

use super::SystemClock;
use crate::wiring::block_on;

/// How long the server's answer is relied on.
const GOOD_FOR: Duration = Duration::from_secs(300);
/// How much date and steady clock may differ before the server is asked again.
const DRIFT: Duration = Duration::from_secs(1);
/// An answer that took longer says too little of when it was given.
const SLOW: Duration = Duration::from_secs(1);
/// How soon the server is asked again after it was asked in vain.
const PAUSE: Duration = Duration::from_secs(10);

/// The two clocks of a machine.
pub(super) trait Clocks: Send + Sync {
    /// Time since some instant, which nobody sets.
    fn steady(&self) -> Duration;
    /// Its date, which somebody may set.
    fn date(&self) -> Timestamp;
}

/// The clocks of this machine.
struct Machine;

impl Clocks for Machine {
    fn steady(&self) -> Duration {
        steady()
    }

    fn date(&self) -> Timestamp {
        SystemClock.now()
    }
}

/// One that counts while the machine sleeps, where there is one.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn steady() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    #[cfg(not(target_vendor = "apple"))]
    let clock = ClockId::Boottime;
    #[cfg(target_vendor = "apple")]
    let clock = ClockId::Monotonic;
    Duration::try_from(clock_gettime(clock)).expect("it counts up from zero")
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn steady() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// What the time was on the server when this machine's clocks stood so.
#[derive(Debug, Clone, Copy)]
struct Reading {
    server: Timestamp,
    steady: Duration,
    date: Timestamp,
    /// How long asking took.
    took: Duration,
}

impl Reading {
    /// Half of the time that the answer took is taken to be its way back.
    fn take(clocks: &dyn Clocks, ask: impl FnOnce() -> Result<Timestamp>) -> Result<Self> {
        let asked = clocks.steady();
        let told = ask()?;
        let steady = clocks.steady();
        let took = steady.saturating_sub(asked);
        Ok(Self {
            server: told.plus(took / 2),
            steady,
            date: clocks.date(),
            took,
        })
    }

    fn passed(&self, clocks: &dyn Clocks) -> Duration {
        clocks.steady().saturating_sub(self.steady)
    }

    /// Whether it may no longer be right.
    fn is_doubtful(&self, clocks: &dyn Clocks) -> bool {
        let passed = self.passed(clocks);
        let dated = clocks.date().0.saturating_sub(self.date.0);
        let drift = dated.abs_diff(i64::try_from(passed.as_millis()).unwrap_or(i64::MAX));
        passed >= GOOD_FOR || self.took > SLOW || u128::from(drift) > DRIFT.as_millis()
    }
}

/// The server's clock, as well as it is known here.
pub(crate) struct ServerClock(Arc<Shared>);

struct Shared {
    clocks: Box<dyn Clocks>,
    ask: Box<dyn Fn() -> Result<Timestamp> + Send + Sync>,
    known: Mutex<Known>,
}

struct Known {
    reading: Reading,
    /// By the steady clock: when the server may be asked again, after it was asked in vain.
    not_before: Duration,
    is_asking: bool,
}

impl ServerClock {
    /// Asks the server, on this thread.
    pub(crate) fn set_by(store: &Arc<PostgresStore>) -> Result<Self> {
        Self::of(Machine, Arc::clone(store))
    }

    pub(super) fn of(clocks: impl Clocks + 'static, store: Arc<PostgresStore>) -> Result<Self> {
        Self::new(clocks, move || {
            block_on(async { Ok(store.server_time().await?) })
        })
    }

    fn new(
        clocks: impl Clocks + 'static,
        ask: impl Fn() -> Result<Timestamp> + Send + Sync + 'static,
    ) -> Result<Self> {
        let reading = Reading::take(&clocks, &ask)?;
        let known = Known {
            reading,
            not_before: Duration::ZERO,
            is_asking: false,
        };
        Ok(Self(Arc::new(Shared {
            clocks: Box::new(clocks),
            ask: Box::new(ask),
            known: Mutex::new(known),
        })))
    }
}

impl Clock for ServerClock {
    fn now(&self) -> Timestamp {
        let shared = &self.0;
        let clocks = &*shared.clocks;
        let mut known = shared.known();
        let reading = known.reading;
        let may_ask = !known.is_asking && clocks.steady() >= known.not_before;
        if may_ask && reading.is_doubtful(clocks) {
            known.is_asking = true;
            let asking = Arc::clone(shared);
            std::thread::spawn(move || asking.ask_again());
        }
        drop(known);
        reading.server.plus(reading.passed(clocks))
    }
}

impl Shared {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the server cannot be asked, or answers too slowly, what was known before has to do.
    fn ask_again(&self) {
        let taken = Reading::take(&*self.clocks, || (self.ask)());
        let mut known = self.known();
        known.is_asking = false;
        match taken {
            Ok(reading) if reading.took <= SLOW => known.reading = reading,
            Ok(_) | Err(_) => known.not_before = self.clocks.steady() + PAUSE,
        }
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;

#[cfg(all(test, unix))]
#[path = "skew_tests.rs"]
mod skew;

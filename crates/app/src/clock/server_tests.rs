use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use anyhow::bail;

use super::*;

const HOUR: i64 = 3_600_000;

/// A machine's clocks and the server's, which a test sets, in milliseconds.
#[derive(Default)]
struct Hands {
    steady: AtomicU64,
    date: AtomicI64,
    server: AtomicI64,
    /// How often the server was asked.
    asked: AtomicU64,
    /// How long the answers take.
    delay: AtomicU64,
}

impl MachineClocks for Arc<Hands> {
    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.steady.load(Ordering::SeqCst))
    }

    fn date(&self) -> Timestamp {
        Timestamp(self.date.load(Ordering::SeqCst))
    }
}

impl Hands {
    fn go(&self, steady: u64, date: i64, server: i64) {
        self.steady.fetch_add(steady, Ordering::SeqCst);
        self.date.fetch_add(date, Ordering::SeqCst);
        self.server.fetch_add(server, Ordering::SeqCst);
    }

    fn answer(&self) -> Result<Timestamp> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let delay = self.delay.load(Ordering::SeqCst);
        if delay == u64::MAX {
            bail!("the server is away");
        }
        let told = self.server.load(Ordering::SeqCst);
        self.go(delay, delay as i64, delay as i64);
        Ok(Timestamp(told))
    }

    fn requests(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }
}

/// A machine whose date is hours behind the server's, and which has been up for a while.
fn set() -> (Arc<Hands>, ServerClock) {
    let hands = Arc::new(Hands::default());
    hands.go(77_000, 20 * HOUR, 24 * HOUR);
    let asked = Arc::clone(&hands);
    let clock = ServerClock::new(Arc::clone(&hands), move || asked.answer());
    (hands, clock.expect("the server answers"))
}

/// The time after every request to the server has ended.
fn now(clock: &ServerClock) -> i64 {
    clock.now();
    while clock.0.state().is_asking {
        std::thread::yield_now();
    }
    clock.now().0
}

#[test]
fn time_goes_on_without_asking() {
    let (hands, clock) = set();
    hands.go(60_000, 60_000, 60_000);
    assert_eq!(now(&clock), 24 * HOUR + 60_000);
    assert_eq!(hands.requests(), 1);
}

#[test]
fn a_machine_that_stood_still_asks_again() {
    let (hands, clock) = set();
    hands.go(5, 8 * HOUR, 8 * HOUR);
    assert_eq!(now(&clock), 32 * HOUR);
    hands.go(1000, 1000, 1000);
    assert_eq!(now(&clock), 32 * HOUR + 1000);
    assert_eq!(hands.requests(), 2);
}

#[test]
fn a_date_that_somebody_sets_moves_nothing() {
    for by in [-30 * HOUR, -2000, 2000, 30 * HOUR] {
        let (hands, clock) = set();
        hands.go(100, 100 + by, 100);
        assert_eq!(now(&clock), 24 * HOUR + 100);
        hands.go(100, 100, 100);
        assert_eq!(now(&clock), 24 * HOUR + 200);
        assert_eq!(hands.requests(), 2, "once for {by}");
    }
}

#[test]
fn clocks_that_do_not_keep_step_are_set_again_every_few_minutes() {
    let (hands, clock) = set();
    for minute in 1..=60 {
        // Fast by a tenth of a second in each, as no clock is.
        hands.go(60_100, 60_100, 60_000);
        let ahead = now(&clock) - (24 * HOUR + minute * 60_000);
        assert!((0..=500).contains(&ahead), "{ahead} ms");
    }
    assert_eq!(hands.requests(), 1 + 60 / 5);
}

#[test]
fn a_server_that_is_away_or_slow_is_asked_again_after_a_pause() {
    for delay in [u64::MAX, 30_000] {
        let (hands, clock) = set();
        hands.delay.store(delay, Ordering::SeqCst);
        hands.go(300_000, 300_000, 250_000);
        now(&clock);
        now(&clock);
        assert_eq!(hands.requests(), 2);
        hands.delay.store(0, Ordering::SeqCst);
        hands.go(9_999, 9_999, 9_999);
        now(&clock);
        assert_eq!(hands.requests(), 2);
        hands.go(1, 1, 1);
        assert_eq!(now(&clock), hands.server.load(Ordering::SeqCst));
        assert_eq!(hands.requests(), 3);
    }
}

#[test]
fn half_of_the_time_that_an_answer_took_is_its_way_back() {
    let hands = Arc::new(Hands::default());
    hands.delay.store(200, Ordering::SeqCst);
    let asked = Arc::clone(&hands);
    let clock = ServerClock::new(Arc::clone(&hands), move || asked.answer()).unwrap();
    assert_eq!(clock.now(), Timestamp(100));
}

#[test]
fn the_machine_has_a_clock_that_only_goes_on() {
    let first = LocalClocks.monotonic();
    assert!(first > Duration::ZERO);
    assert!(LocalClocks.monotonic() >= first);
}

//! Plays many seeds. A failing one is shortened and printed, and can be played again.
//!
//! - `SIMULATION_SEEDS=100..5000` plays these seeds instead of the usual ones,
//! - `SIMULATION_SECONDS=600` plays further seeds for that long,
//! - `SIMULATION_REPLAY=1234` plays one seed, `SIMULATION_REPLAY=decisions.txt` the decisions of a file.

use std::fmt::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::decision::{Decision, decisions};
use super::play::SimulationResult;
use super::shrink::shrink;

/// Most plays that shortening one failing list may take.
const TRIES: usize = 1500;
/// Number of seeds within which a planted bug must be found.
const SEEDS_TO_FIND: u64 = 200;
/// Most decisions that may be needed to show it.
const DECISIONS_TO_SHOW: usize = 40;

/// A simulation that can be played with any decisions; the same decisions give the same play.
pub struct Simulation<F> {
    /// How many actors there are.
    pub actors: usize,
    /// Number of decisions for each seed.
    pub decisions: usize,
    /// Plays decisions on a store of their own.
    pub play: F,
}

/// A seed that broke a promise.
#[derive(Debug, Clone)]
pub struct FailingSeed {
    /// The seed; `None` when decisions were replayed from a file.
    pub seed: Option<u64>,
    /// The shortest decisions that were found to break one.
    pub decisions: Vec<Decision>,
    /// The play of these decisions.
    pub result: SimulationResult,
}

impl<F: Fn(&[Decision]) -> SimulationResult> Simulation<F> {
    /// Plays the `usual` seeds, or those that the environment selects.
    ///
    /// # Panics
    /// When one breaks a promise: with the seed, the shortest decisions and their trace.
    #[track_caller]
    pub fn check(&self, usual: Range<u64>) {
        if let Ok(what) = std::env::var("SIMULATION_REPLAY") {
            return self.replay(&what);
        }
        let seeds = std::env::var("SIMULATION_SEEDS").map_or(usual, |range| read_range(&range));
        let longest = std::env::var("SIMULATION_SECONDS").ok().map(|seconds| {
            let seconds = seconds.parse().expect("SIMULATION_SECONDS is a number");
            Duration::from_secs(seconds)
        });
        let began = Instant::now();
        let goes_on = |seed: &u64| longest.map_or(*seed < seeds.end, |most| began.elapsed() < most);
        for seed in (seeds.start..).take_while(goes_on) {
            if let Some(found) = self.fails(seed) {
                panic!("{}", found.report());
            }
        }
    }

    /// The first of some seeds that breaks a promise.
    #[must_use]
    pub fn first_failing(&self, seeds: Range<u64>) -> Option<FailingSeed> {
        seeds.into_iter().find_map(|seed| self.fails(seed))
    }

    /// Checks that one of the first seeds breaks a promise, with a message that contains `because`, in few
    /// decisions: the planted bug is noticed, and shown.
    ///
    /// # Panics
    /// When no seed does.
    #[track_caller]
    pub fn must_break(&self, because: &str) {
        let found = self.first_failing(0..SEEDS_TO_FIND);
        let found = found.expect("some seed breaks a promise");
        let report = found.report();
        assert!(found.decisions.len() <= DECISIONS_TO_SHOW, "{report}");
        let broken = found.result.broken.expect("it is broken at its shortest");
        assert!(broken.contains(because), "{report}");
    }

    /// The decisions of a seed.
    #[must_use]
    pub fn decisions_of(&self, seed: u64) -> Vec<Decision> {
        decisions(seed, self.actors, self.decisions)
    }

    /// Plays one seed. Returns its shortest failing play when it breaks a promise.
    #[must_use]
    pub fn fails(&self, seed: u64) -> Option<FailingSeed> {
        let list = self.decisions_of(seed);
        self.shorten(&list).map(|found| FailingSeed {
            seed: Some(seed),
            ..found
        })
    }

    fn shorten(&self, list: &[Decision]) -> Option<FailingSeed> {
        (self.play)(list).broken.as_ref()?;
        let fails = |part: &[Decision]| (self.play)(part).broken.is_some();
        let decisions = shrink(list, TRIES, fails);
        let result = (self.play)(&decisions);
        Some(FailingSeed {
            seed: None,
            decisions,
            result,
        })
    }

    #[track_caller]
    fn replay(&self, what: &str) {
        let list = match what.parse() {
            Ok(seed) => self.decisions_of(seed),
            Err(_) => std::fs::read_to_string(what)
                .unwrap_or_else(|error| panic!("{what}: {error}"))
                .lines()
                .map(|line| line.parse().unwrap_or_else(|error| panic!("{error}")))
                .collect(),
        };
        if let Some(found) = self.shorten(&list) {
            panic!("{}", found.report());
        }
    }
}

impl FailingSeed {
    /// A report with the seed, the decisions and the trace, from which a person can reproduce the failure.
    #[must_use]
    pub fn report(&self) -> String {
        let mut report = String::from("a promise is broken: ");
        report.push_str(self.result.broken.as_deref().unwrap_or("not any more"));
        if let Some(seed) = self.seed {
            let _ = write!(report, "\nplay it again with SIMULATION_REPLAY={seed}, or");
        }
        report.push_str("\nwith SIMULATION_REPLAY=<file> and this file:\n");
        for decision in &self.decisions {
            let _ = writeln!(report, "{decision}");
        }
        report.push_str("\nwhat happened:\n");
        report.push_str(&self.result.trace.join("\n"));
        report
    }
}

fn read_range(range: &str) -> Range<u64> {
    let read = || {
        let (from, to) = range.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    };
    read().unwrap_or_else(|| panic!("SIMULATION_SEEDS={range} is no range such as 0..500"))
}

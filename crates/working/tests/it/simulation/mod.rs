//! Interleaves two processes that keep one thread, and their callers: a process waits before each call of the
//! store, and before each try to condense, until a decision lets it through (`daybook_testkit::simulation`).
//! After each step the stored log and the applied events are checked.
//!
//! To play more seeds, or one again, see `daybook_testkit::simulation::seeds`.

mod process;
mod promises;
mod world;

use std::sync::Arc;

use daybook_domain::working::ThreadStore;
use daybook_testkit::simulation::{Decision, Simulation, SimulationResult};

use super::faulty_store::StoreMistake;
use super::working_test_support::{sqlite, store};
use world::{CALLERS, SimulationWorld};

/// Number of decisions of one seed.
const DECISIONS: usize = 300;

fn simulation(
    make: impl Fn() -> Arc<dyn ThreadStore>,
    mistake: Option<StoreMistake>,
) -> Simulation<impl Fn(&[Decision]) -> SimulationResult> {
    Simulation {
        actors: CALLERS,
        decisions: DECISIONS,
        play: move |decisions: &[Decision]| SimulationWorld::new(make(), mistake).play(decisions),
    }
}

#[test]
fn promises_are_kept_in_memory() {
    simulation(store, None).check(0..60);
}

#[test]
fn promises_are_kept_on_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    simulation(|| sqlite(&folder), None).check(1_000..1_010);
}

#[test]
fn a_seed_plays_the_same_each_time_and_on_every_store() {
    let folder = tempfile::tempdir().expect("a folder");
    for seed in 2_000..2_004 {
        let memory = simulation(store, None);
        let decisions = memory.decisions_of(seed);
        let first = (memory.play)(&decisions);
        assert_eq!(first.broken, None);
        assert!(first.calls > 100, "seed {seed}: {} calls", first.calls);
        assert_eq!((memory.play)(&decisions).trace, first.trace);
        let disk = simulation(|| sqlite(&folder), None);
        assert_eq!((disk.play)(&decisions).trace, first.trace);
    }
}

#[test]
fn a_token_that_is_not_checked_is_noticed() {
    simulation(store, Some(StoreMistake::TokenNotChecked)).must_break("ended no block");
}

#[test]
fn a_block_that_is_not_told_is_noticed() {
    simulation(store, Some(StoreMistake::BlockNotReported)).must_break("stands still");
}

#[test]
fn an_append_that_tells_nothing_of_others_is_noticed() {
    simulation(store, Some(StoreMistake::OthersNotReported)).must_break("another state");
}

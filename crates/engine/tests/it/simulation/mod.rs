//! Simulates jobs: writers, hosts, workers, a person and an operator act interleaved on one data folder,
//! with crashes, outages and clocks that jump.
//!
//! To run more seeds, or one again: `daybook_testkit::simulation::seeds`.

mod actors;
mod fact_extractor;
mod folders;
mod sessions;

use std::sync::Arc;

use daybook_domain::Tenant;
use daybook_domain::eligibility::Switches;
use daybook_testkit::fixtures::{DAWN, project};
use daybook_testkit::run;
use daybook_testkit::simulation::{
    Decision, PlantedBug, Simulation, SimulationResult, SimulationSetup, play,
};

use crate::stores::{OpenStore, in_memory, on_disk, on_server};
use actors::{ACTORS, JobActors};
use sessions::ROOTS;

/// Decisions of one seed.
const DECISIONS: usize = 300;

/// Plays decisions in a data folder of their own.
fn played(make: OpenStore, bug: Option<PlantedBug>, decisions: &[Decision]) -> SimulationResult {
    let root = tempfile::tempdir().expect("a temporary folder can be made");
    let Some(made) = make() else {
        return SimulationResult::default();
    };
    let store = Arc::clone(&made.store);
    for (folder, key) in ROOTS {
        run(store.assign_root(&Tenant::local(), folder, &project(key), DAWN))
            .expect("a store can be written");
    }
    let what = SimulationSetup {
        store,
        switches: Switches::default(),
        bug,
    };
    let actors = |env: &_| JobActors::new(env, root.path());
    play(what, ACTORS, actors, decisions)
}

fn simulation(
    make: OpenStore,
    bug: Option<PlantedBug>,
) -> Simulation<impl Fn(&[Decision]) -> SimulationResult> {
    Simulation {
        actors: ACTORS,
        decisions: DECISIONS,
        play: move |decisions: &[Decision]| played(make, bug, decisions),
    }
}

#[test]
fn promises_are_kept_in_memory() {
    simulation(in_memory, None).check(0..45);
}

#[test]
fn promises_are_kept_on_disk() {
    simulation(on_disk, None).check(1_000..1_010);
}

/// Each step waits for a server, and each check of all state waits many times.
#[test]
fn promises_are_kept_on_a_server() {
    simulation(on_server, None).check(3_000..3_001);
}

/// Without a server nothing is played, and a message was printed.
#[test]
fn a_server_plays_a_seed_as_memory_does() {
    let decisions = simulation(in_memory, None).decisions_of(2_000);
    let first = played(in_memory, None, &decisions);
    let again = played(on_server, None, &decisions);
    assert_eq!(again.broken, None);
    if again.calls > 0 {
        assert_eq!(again.trace, first.trace);
    }
}

#[test]
fn a_seed_plays_the_same_each_time_and_on_every_store() {
    for seed in 2_000..2_004 {
        let decisions = simulation(in_memory, None).decisions_of(seed);
        let first = played(in_memory, None, &decisions);
        assert_eq!(first.broken, None);
        assert!(first.calls > 100, "seed {seed}: {} calls", first.calls);
        for make in [in_memory as OpenStore, on_disk] {
            assert_eq!(played(make, None, &decisions).trace, first.trace);
        }
    }
}

#[test]
fn a_watermark_that_is_read_late_is_noticed() {
    simulation(in_memory, Some(PlantedBug::WatermarkReadLate)).must_break("was read");
}

#[test]
fn a_token_that_is_not_checked_is_noticed() {
    simulation(in_memory, Some(PlantedBug::TokenNotChecked)).must_break("its lease was lost");
}

#[test]
fn a_mark_that_is_cleared_is_noticed() {
    simulation(in_memory, Some(PlantedBug::MarkCleared)).must_break("its input fell");
}

#[test]
fn a_job_that_is_granted_twice_is_noticed() {
    simulation(in_memory, Some(PlantedBug::GrantedTwice)).must_break("somebody holds it");
}

#[test]
fn an_append_that_is_marked_separately_is_noticed() {
    simulation(in_memory, Some(PlantedBug::MarkedSeparately)).must_break("work is stuck");
}

//! Many interleavings of everything that happens to jobs, each decided by a seed.
//!
//! Actors (writers, hosts, workers, people) drive the real machinery on a real store. Before each call of
//! the store an actor waits at its [`CallGate`]; a [`Decision`] lets one call through, makes an actor vanish
//! before a call or before the answer reaches it, lets time pass or sets the clock back. After each call the
//! promises of DESIGN.md that concern jobs are checked. When the decisions are used up, one worker is left,
//! and everything must become done or a gap that is shown.
//!
//! Time is virtual: a [`SimulationEnv`]'s clock and tokio's timers are moved together, so heartbeats beat and
//! drains end without a wait. An actor's work between two calls is one step: crashes in the middle of
//! writing a file belong to the tests of files.
//!
//! The seed alone determines the list of decisions, so the same seed makes the same trace on
//! every store. A failing list is shortened to the decisions that are needed, and printed in a form that can be
//! played again; see [`seeds`].
//!
//! Threads have a simulation of their own, on the same gates, decisions and seeds: two processes that keep one
//! thread, in the tests of the crate `working`.
//!
//! A store's author runs the simulation of the engine on another store by making one for each
//! [`SimulationSetup`]. [`PlantedBug`] lists mistakes that a simulation must notice: one that does not proves nothing.

pub mod seeds;

mod decision;
mod effect;
mod gate;
mod planted_bug;
mod play;
mod promises;
mod seeded_random;
mod shrink;
mod stepped_store;
mod store_snapshot;

pub use decision::{Decision, decisions};
pub use effect::{Effect, RecordedCall};
pub use gate::{CallGate, whole};
pub use planted_bug::PlantedBug;
pub use play::{Activity, ActorSet, SimulationEnv, SimulationResult, SimulationSetup, play};
pub use promises::{CheckResult, yields_observation};
pub use seeded_random::SeededRandom;
pub use seeds::{FailingSeed, Simulation};
pub use store_snapshot::StoreSnapshot;

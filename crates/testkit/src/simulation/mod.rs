//! Many interleavings of everything that happens to jobs, each decided by a seed.
//!
//! Actors (writers, hosts, workers, people) drive the real machinery on a real store. Before each call of
//! the store an actor waits at its [`Gate`]; a [`Decision`] lets one call through, makes an actor vanish
//! before a call or before it hears of it, lets time pass or sets the clock back. After each call the
//! promises of DESIGN.md that concern jobs are checked. When the decisions are used up, one worker is left,
//! and everything must become done or a gap that is shown.
//!
//! Time is virtual: a [`Stage`]'s clock and tokio's timers are moved together, so heartbeats beat and
//! drains end without a wait. What an actor does between two calls is one step: a crash in the middle of
//! writing a file is for the tests of files.
//!
//! A seed decides a list of decisions and nothing else does, so the same seed makes the same trace on
//! every store. A failing list is cut down to what is needed, and printed in a form that can be
//! played again; see [`seeds`].
//!
//! What is not a job has a play of its own, on the same gates, decisions and seeds: two processes that keep one
//! thread, in the engine's tests.
//!
//! A store's author runs the simulation of the engine on another store by making one for each
//! [`Play`]. [`Bug`] lists mistakes that a simulation must notice: one that does not proves nothing.

pub mod seeds;

mod decision;
mod deed;
mod gate;
mod planted;
mod play;
mod promises;
mod random;
mod seen;
mod shrink;
mod stepped;

pub use decision::{Decision, decisions};
pub use deed::{Call, Deed};
pub use gate::{Gate, whole};
pub use planted::Bug;
pub use play::{Act, Cast, Play, Played, Stage, play};
pub use promises::{Kept, teaches};
pub use random::Random;
pub use seeds::{Found, Simulation};
pub use seen::Seen;

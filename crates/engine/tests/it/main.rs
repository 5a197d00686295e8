//! The engine on all stores.

mod caps;
mod machines;
mod simulation;
mod spend;
mod stores;
mod unsettled;
mod walls;

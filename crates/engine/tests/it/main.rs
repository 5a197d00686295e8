//! The engine on all stores.

mod machines;
mod simulation;
mod spend;
mod stores;
mod unsettled;
mod walls;

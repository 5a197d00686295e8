//! The engine on all stores.

mod machines;
mod simulation;
mod stores;
mod unsettled;
mod walls;

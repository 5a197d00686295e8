//! The engine on all stores.

mod machines;
mod simulation;
mod stores;
mod walls;

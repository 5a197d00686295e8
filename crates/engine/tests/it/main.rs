//! The engine on all stores.

mod forecast;
mod machines;
mod simulation;
mod spend;
mod stores;
mod unsettled;
mod walls;

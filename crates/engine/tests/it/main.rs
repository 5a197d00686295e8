//! The engine on all stores.

mod machines;
mod memory_agents;
mod simulation;
mod spend;
mod stores;
mod unsettled;
mod walls;

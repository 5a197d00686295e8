//! The engine on all stores.

mod caps;
mod forecast;
mod identity;
mod machines;
mod memory_agents;
mod names;
mod recall;
mod simulation;
mod spend;
mod stores;
mod unsettled;
mod walls;

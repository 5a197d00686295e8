//! The engine on both stores.

mod machines;
mod simulation;
mod walls;

//! The engine on both stores.

mod simulation;

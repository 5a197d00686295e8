//! Memory files: the only place that builds and writes them.
mod atomic;
pub mod error;
pub mod folder;
pub mod history;
pub mod lock;
mod objects;
pub mod path;
pub mod steps;
mod tree;
pub mod write;

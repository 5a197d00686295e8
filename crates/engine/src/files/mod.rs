//! Memory files: the only place that builds and writes them.
pub mod history;
pub mod write;

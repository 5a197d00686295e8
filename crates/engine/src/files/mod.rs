//! Memory files: the only place that builds and writes them.
pub mod entry;
pub mod history;
pub mod layout;
pub mod page;
pub mod write;

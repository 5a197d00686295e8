//! Memory files: the only place that builds and writes them.
mod atomic;
pub mod changes;
mod commit;
pub mod error;
pub mod folder;
mod git_lock;
pub mod history;
mod index;
mod intent;
pub mod lock;
mod objects;
pub mod path;
mod recover;
mod refs;
mod scan;
pub mod stamp;
pub mod steps;
mod swap;
#[cfg(test)]
mod testbed;
mod tree;
pub mod write;

//! Memory files: the only place that builds and writes them.
//!
//! From the inside out: `entry` knows whose a line is, `page` puts what the engine says around what
//! a person wrote, `post` does so for a whole memory, and `write` makes it one commit that no
//! crash tears. `reindex` tells the index what stands there now.

pub mod adopt;
mod atomic;
pub mod audit;
pub mod changes;
mod commit;
pub mod diary;
pub mod entities;
pub mod entry;
pub mod error;
pub mod folder;
#[cfg(test)]
mod fuzz_tests;
mod git_lock;
pub mod history;
mod index;
mod intent;
pub mod layout;
pub mod lock;
pub mod name;
mod objects;
pub mod page;
pub mod path;
pub mod post;
pub mod reader;
pub mod reading;
mod recover;
mod refs;
pub mod refused;
pub mod reindex;
mod scan;
pub mod shared;
pub mod stamp;
pub mod steps;
mod swap;
#[cfg(test)]
mod testbed;
mod tree;
pub mod unwritten;
pub mod wholeness;
mod withheld;
pub mod write;

pub use error::FilesError;
pub use folder::{FilesConfig, Folder};
pub use lock::{LockOutcome, WriterLock};

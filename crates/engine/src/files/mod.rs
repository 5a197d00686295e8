//! Memory files: the only module that builds and writes them.
//!
//! From the inside out: `entry` determines the owner of a line, `page` merges the engine's entries with a
//! person's text, `write_pages` does so for a whole memory, and `write` makes it one commit that no crash
//! tears. `reindex` updates the index afterwards.

pub mod adopt;
pub mod agent_copy;
mod atomic;
pub mod audit;
pub mod changes;
mod commit;
pub mod curation;
pub mod diary;
pub mod diff;
pub mod entities;
pub mod entry;
pub mod error;
pub mod first_write;
pub mod folder;
#[cfg(test)]
mod folder_test_support;
pub mod folder_tools;
#[cfg(test)]
mod fuzz_tests;
mod git_index;
mod git_lock;
pub mod graph;
pub mod history;
pub mod history_rewrite;
#[cfg(test)]
mod incremental_tests;
pub mod integrity;
mod intent;
pub mod layout;
pub mod layout_record;
#[cfg(test)]
mod layout_tests;
pub mod line_edits;
pub mod line_history;
pub mod lock;
pub mod log_marks;
pub mod memory_tool;
pub mod name;
pub mod named_file;
mod objects;
pub mod own_secrets;
pub mod page;
pub mod parsed_texts;
pub mod path;
pub mod persons_changes;
pub mod persons_lines;
pub mod purge_folder;
pub mod purged_text;
pub mod reader;
pub mod record;
mod recover;
mod refs;
pub mod refused;
pub mod reindex;
pub mod remote;
mod replace_file;
mod revert;
pub mod reworded;
pub mod rollouts;
mod scan;
pub mod secret_warnings;
mod settled_pages;
pub mod shared;
mod skipped;
pub mod stamp;
pub mod states;
pub mod steps;
pub mod take_back;
mod tree;
pub mod unwritten_pages;
pub mod withdrawn;
mod withheld;
pub mod workspace_diff;
pub mod write;
pub mod write_pages;

pub use error::FilesError;
pub use folder::{FilesConfig, Folder};
pub use lock::{LockOutcome, WriterLock};

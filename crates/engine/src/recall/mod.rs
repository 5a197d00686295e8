//! Searches memory, and selects what an agent reads of it: answers, prompt lines and the context of a session.

pub mod agents_rules;
pub mod context;
pub mod embedding;
pub mod from_files;
pub mod host_text;
pub mod interface_use;
mod page_entries;
mod persons_words;
pub mod prompt;
pub mod search;
pub mod worked_file;

pub use daybook_ranking::confidence;
pub use daybook_ranking::rank::ScoreParts;

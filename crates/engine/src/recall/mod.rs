//! Searches memory, and selects what an agent reads of it: answers, prompt lines and the context of a session.

pub mod agents_rules;
pub mod confidence;
pub mod context;
pub mod dates;
pub mod embedding;
pub mod from_files;
pub mod host_text;
pub mod interface_use;
mod lexical;
mod page_entries;
mod persons_words;
mod phrases;
pub mod plan;
pub mod prompt;
pub mod query;
mod question_kind;
pub mod rank;
pub mod relevance;
pub mod search;
mod stopwords;
pub mod worked_file;

//! Finding what is remembered.
mod found;
pub mod plan;
pub mod query;
pub mod rank;
pub mod relevance;
mod stopwords;
pub mod tokens;

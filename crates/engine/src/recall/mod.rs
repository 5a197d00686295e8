//! Finding what is remembered.
pub mod query;
pub mod rank;
mod stopwords;
pub mod tokens;

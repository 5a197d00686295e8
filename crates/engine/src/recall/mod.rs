//! Finding what is remembered, and putting it in front of an agent.

pub mod context;
pub mod element;
mod found;
pub mod loaded;
pub mod plan;
pub mod query;
pub mod rank;
pub mod relevance;
pub mod search;
mod stopwords;
pub mod tokens;

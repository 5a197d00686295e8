//! Finding what is remembered, and putting it in front of an agent.

#[cfg(feature = "pipeline")]
pub mod context;
pub mod element;
#[cfg(feature = "pipeline")]
mod found;
#[cfg(feature = "pipeline")]
pub mod loaded;
#[cfg(feature = "pipeline")]
pub mod plan;
#[cfg(feature = "pipeline")]
pub mod query;
#[cfg(feature = "pipeline")]
pub mod rank;
#[cfg(feature = "pipeline")]
pub mod relevance;
#[cfg(feature = "pipeline")]
pub mod search;
#[cfg(feature = "pipeline")]
mod stopwords;
pub mod tokens;

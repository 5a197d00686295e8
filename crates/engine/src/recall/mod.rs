//! Finding what is remembered, and putting it in front of an agent.

#[cfg(feature = "pipeline")]
pub mod confidence;
#[cfg(feature = "pipeline")]
pub mod context;
#[cfg(feature = "pipeline")]
pub mod dates;
pub mod element;
#[cfg(feature = "pipeline")]
pub mod embedding;
#[cfg(feature = "pipeline")]
mod found;
#[cfg(feature = "pipeline")]
mod lexical;
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
#[cfg(feature = "pipeline")]
mod told;

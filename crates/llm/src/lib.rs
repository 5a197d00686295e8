//! Language models over the wire, as the engine's [`Model`](daybook_domain::model::Model).
//!
//! A [`Provider`] is a service that runs models: OpenAI or a compatible one, Anthropic, Ollama. Models
//! are made from it and share its bound on requests at once.
//!
//! ```
//! use daybook_llm::{Key, KeySource, ModelConfig, Provider, ProviderConfig, Wire};
//!
//! # fn main() -> Result<(), daybook_llm::ConfigError> {
//! let mut config = ProviderConfig::new("home", Wire::OpenAi, "http://127.0.0.1:8080/v1");
//! config.key = KeySource::Given(Key::new("sk-…"));
//! let model = Provider::new(config)?.model(ModelConfig::new("qwen3", 32_768));
//! # let _: &dyn daybook_domain::model::Model = &model;
//! # Ok(())
//! # }
//! ```
//!
//! An `ask` includes: trying again with growing waits, an answer in a demanded form, and what all of it cost,
//! as far as that is known. What a failed call may have cost is [`Nothing`](daybook_domain::model::FailureCost)
//! only where that is certain. A [`Cassette`] records requests with their replies and replays them without a
//! network.
//!
//! Not here: prompts, prices, settings, sessions, memories, the environment.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests use this machine's clock, folders and processes"
    )
)]

mod answer;
mod cassette;
mod config;
mod embeddings;
mod faults;
#[cfg(test)]
mod fuzz_tests;
mod json_server;
mod key;
mod model;
mod provider;
mod quota;
mod thoughts;
mod tokens;
mod usage_tally;
mod waiting;
mod wire;

pub use cassette::{Cassette, CassetteError};
pub use config::{
    ANSWER_BYTES, ANSWER_TIMEOUT, CONCURRENCY, CONNECT_TIMEOUT, ConfigError, ModelConfig,
    ProviderConfig, RetryConfig, Wire,
};
pub use embeddings::Embeddings;
pub use json_server::{JsonAnswer, JsonError, JsonMethod, JsonServer, JsonServerConfig};
pub use key::{AskForKey, Key, KeySource};
pub use model::ChatModel;
pub use provider::Provider;
pub use tokens::{TokenVocabulary, Tokenizer};
pub use waiting::{TokioWaiter, Waiter};

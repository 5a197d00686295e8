//! Language models over the wire, as the engine's [`Model`](daybook_domain::model::Model).
//!
//! A [`Provider`] is somebody who answers: OpenAI or whoever speaks as it does, Anthropic, Ollama. Models
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
//! Asking includes: trying again with growing waits, an answer in a demanded form, and what all of it cost,
//! as far as anybody knows. What a failed call may have cost is [`Nothing`](daybook_domain::model::Spent)
//! only where that is certain. A [`Cassette`] records what was asked and plays it again without a network.
//!
//! Not here: prompts, prices, settings, sessions, memories, the environment.

mod answer;
mod bill;
mod cassette;
mod config;
mod faults;
#[cfg(test)]
mod fuzz_tests;
mod key;
mod model;
mod provider;
mod quota;
mod thoughts;
mod tokens;
mod waiting;
mod wire;

pub use cassette::{Cassette, CassetteError};
pub use config::{
    ANSWER_BYTES, ANSWER_TIMEOUT, CONCURRENCY, CONNECT_TIMEOUT, ConfigError, ModelConfig,
    ProviderConfig, RetryConfig, Wire,
};
pub use key::{AskForKey, Key, KeySource};
pub use model::ChatModel;
pub use provider::Provider;
pub use tokens::{Tokenizer, Vocabulary};
pub use waiting::{TokioWaiter, Waiter};

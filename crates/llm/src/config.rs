//! Configuration of providers and models: addresses, wires and limits.
//!
//! Plain values: the application makes them from its settings. Nothing here is read from the
//! environment.

use std::num::NonZeroU32;
use std::time::Duration;

use reqwest::Url;

use crate::key::KeySource;
use crate::tokens::TokenVocabulary;

/// How long a connection may take to be made.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long one answer may take, from the request's first byte to the answer's last. Models that think
/// take minutes.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(300);

/// Most bytes of one answer's body. 100,000 tokens in JSON are well below a megabyte.
pub const ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// Requests to one provider at once.
pub const CONCURRENCY: NonZeroU32 = NonZeroU32::new(4).expect("it is not zero");

/// The language that a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// `POST {base}/chat/completions`, as OpenAI and most others have it; the base ends in `/v1` at most.
    OpenAi,
    /// `POST {base}/v1/messages` of Anthropic.
    Anthropic,
    /// `POST {base}/api/chat` of Ollama.
    Ollama,
}

/// A provider of models.
#[derive(Debug, Clone)]
pub struct ProviderConfig {
    /// Its name for people; the first half of its models' names.
    pub name: String,
    /// Its wire.
    pub wire: Wire,
    /// What its paths are appended to, `http` or `https`.
    pub base_url: String,
    /// Its key.
    pub key: KeySource,
    /// Whether `http` may leave this machine. Then anyone on the network path can read the key, the
    /// questions and the answers.
    pub plain_http: bool,
    /// Requests at once, over all its models and all callers in this process.
    pub concurrency: NonZeroU32,
    /// How long a connection may take to be made.
    pub connect_timeout: Duration,
    /// How long one answer may take. A request that takes longer is not sent again: it would time out again.
    pub answer_timeout: Duration,
    /// Most bytes of one answer's body.
    pub answer_bytes: usize,
    /// When to try again.
    pub retries: RetryConfig,
    /// The share of each of the account's rate limits that is left to others, 0 to 100: short of it,
    /// nothing is sent until the limit is whole again, as far as the provider reports. 0: none.
    pub least_remaining_percent: u8,
}

impl ProviderConfig {
    /// A provider with the default limits and no key.
    #[must_use]
    pub fn new(name: &str, wire: Wire, base_url: &str) -> Self {
        Self {
            name: name.to_owned(),
            wire,
            base_url: base_url.to_owned(),
            key: KeySource::None,
            plain_http: false,
            concurrency: CONCURRENCY,
            connect_timeout: CONNECT_TIMEOUT,
            answer_timeout: ANSWER_TIMEOUT,
            answer_bytes: ANSWER_BYTES,
            retries: RetryConfig::default(),
            least_remaining_percent: 0,
        }
    }

    /// The base without a slash at its end, if it may be used.
    pub(crate) fn base(&self) -> Result<Url, ConfigError> {
        checked_base(&self.name, &self.base_url, self.plain_http)
    }
}

/// The base of the server called `name` without a slash at its end, if it may be used.
pub(crate) fn checked_base(
    name: &str,
    base_url: &str,
    plain_http: bool,
) -> Result<Url, ConfigError> {
    let wrong = |why: &str| ConfigError::BaseUrl {
        provider: name.to_owned(),
        why: why.to_owned(),
    };
    let url =
        Url::parse(base_url.trim_end_matches('/')).map_err(|error| wrong(&error.to_string()))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong(
            "it holds a name or a password; a key has its own setting",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong(
            "paths are appended to it, so it ends before any ? or #",
        ));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if plain_http || is_loopback(&url) => Ok(url),
        "http" => Err(ConfigError::PlainHttp {
            provider: name.to_owned(),
        }),
        other => Err(wrong(&format!("it begins with {other}:, not https:"))),
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// When a request that failed is sent again.
#[derive(Debug, Clone)]
pub struct RetryConfig {
    /// Sendings that may fail in one `ask`, the first included.
    pub tries: NonZeroU32,
    /// The first wait; each next one is twice as long, and up to as much again is added by chance, so that
    /// callers that failed together do not come back together.
    pub first_wait: Duration,
    /// The longest single wait of that schedule.
    pub longest_wait: Duration,
    /// The longest that all waits of one `ask` may take together, those that the provider asked for
    /// included. If it asks for longer, the `ask` fails at once with that time.
    pub total_wait: Duration,
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self {
            tries: NonZeroU32::new(4).expect("it is not zero"),
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(15),
            total_wait: Duration::from_secs(60),
        }
    }
}

/// One model of a provider.
#[derive(Debug, Clone)]
pub struct ModelConfig {
    /// As the provider calls it.
    pub name: String,
    /// Most tokens of question and answer together. Ollama is asked to make room for as many.
    pub context_tokens: u32,
    /// How its tokens are counted.
    pub vocabulary: TokenVocabulary,
}

impl ModelConfig {
    /// A model whose vocabulary follows from its name.
    #[must_use]
    pub fn new(name: &str, context_tokens: u32) -> Self {
        Self {
            name: name.to_owned(),
            context_tokens,
            vocabulary: TokenVocabulary::of(name),
        }
    }
}

/// A provider that cannot be used as it is configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The base URL cannot be used.
    #[error("the base URL of {provider} cannot be used: {why}")]
    BaseUrl {
        /// Which provider.
        provider: String,
        /// What is wrong with it, without it: it may hold a secret.
        why: String,
    },
    /// It would send everything in clear.
    #[error(
        "{provider} is asked over http, which shows key, questions and answers to whoever is on the \
         way: use https, or allow plain http for this provider if the way is yours"
    )]
    PlainHttp {
        /// Which provider.
        provider: String,
    },
    /// This machine has no root certificates, so an encrypted connection cannot be verified.
    #[error(
        "{provider} is asked over https, but this machine trusts no certificate authority: install \
         its list of them (Debian: ca-certificates)"
    )]
    NoAuthorities {
        /// Which provider.
        provider: String,
    },
    /// Its wire has no vectors.
    #[error(
        "{provider} speaks a wire that has no embeddings: name a model of a provider that speaks as \
         OpenAI or Ollama does"
    )]
    NoEmbeddings {
        /// Which provider.
        provider: String,
    },
    /// The HTTP client cannot be made.
    #[error("{provider} cannot be asked: {why}")]
    Client {
        /// Which provider.
        provider: String,
        /// The client's message.
        why: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, plain_http: bool, expected: Result<&str, &str>) {
        let mut config = ProviderConfig::new("ada", Wire::OpenAi, base);
        config.plain_http = plain_http;
        let found = config.base().map(|url| url.to_string());
        match expected {
            Ok(url) => assert_eq!(found.as_deref(), Ok(url), "{base}"),
            Err(part) => {
                let said = found.expect_err(base).to_string();
                assert!(said.contains(part), "{base}: {said}");
            }
        }
    }

    #[test]
    fn only_https_leaves_the_machine_unasked() {
        check(
            "https://llm.example/v1/",
            false,
            Ok("https://llm.example/v1"),
        );
        check(
            "http://127.0.0.1:11434",
            false,
            Ok("http://127.0.0.1:11434/"),
        );
        check(
            "http://localhost:8080/v1",
            false,
            Ok("http://localhost:8080/v1"),
        );
        check("http://[::1]:8080", false, Ok("http://[::1]:8080/"));
        check("http://llm.example", false, Err("use https"));
        check("http://localhost.llm.example", false, Err("use https"));
        check("http://127.0.0.1.llm.example", false, Err("use https"));
        check("http://llm.example", true, Ok("http://llm.example/"));
    }

    #[test]
    fn a_base_is_an_address_and_nothing_more() {
        check("ftp://llm.example", true, Err("begins with ftp:"));
        check("llm.example", true, Err("cannot be used"));
        check(
            "https://ada:secret@llm.example",
            false,
            Err("a key has its own"),
        );
        check("https://llm.example/v1?x=1", false, Err("before any ?"));
    }
}

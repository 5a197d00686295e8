//! A server that is no model and answers JSON: one request, one answer, over the same client as providers have.
//!
//! A request is sent once. Its failure says whether the server could have seen it, so that the caller decides whether
//! to send it again.
//!
//! Not here: what paths and bodies mean.

use std::fmt;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderName};
use reqwest::{Client, Method, Response, Url};
use serde_json::Value;

use crate::config::{ANSWER_BYTES, CONNECT_TIMEOUT, ConfigError, checked_base};
use crate::key::KeySource;
use crate::provider::{ReadBody, client, read_bounded, reason};
use crate::waiting::retry_after;

/// The header that carries the key.
const KEY_HEADER: HeaderName = HeaderName::from_static("x-api-key");

/// Where a server is, and how long to wait for it.
#[derive(Debug, Clone)]
pub struct JsonServerConfig {
    /// Its name for people.
    pub name: String,
    /// What its paths are appended to, `http` or `https`.
    pub base_url: String,
    /// Its key, sent as `X-API-Key`.
    pub key: KeySource,
    /// Whether `http` may leave this machine.
    pub plain_http: bool,
    /// How long one answer may take.
    pub timeout: Duration,
}

/// A server that answers JSON.
#[derive(Clone)]
pub struct JsonServer {
    config: JsonServerConfig,
    base: Url,
    client: Client,
}

/// What a request does to the resource that its path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonMethod {
    /// Reads it.
    Get,
    /// Adds to it, or asks it something.
    Post,
    /// Replaces it.
    Put,
    /// Removes it.
    Delete,
}

/// An answer, whatever its status.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonAnswer {
    /// The status of HTTP.
    pub status: u16,
    /// The body; `null` where it is no JSON.
    pub body: Value,
    /// How long the server asks to be left alone.
    pub retry_after: Option<Duration>,
}

/// Why there is no answer. Messages hold neither the key nor the question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// Nothing was sent.
    #[error("it cannot be reached: {0}")]
    Unsent(String),
    /// It was sent, and may have had its effect.
    #[error("it did not answer: {0}")]
    Unanswered(String),
}

impl JsonServer {
    /// A client of the server. Sends nothing.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn new(config: JsonServerConfig) -> Result<Self, ConfigError> {
        let base = checked_base(&config.name, &config.base_url, config.plain_http)?;
        let client = client(&config.name, &base, CONNECT_TIMEOUT)?;
        Ok(Self {
            config,
            base,
            client,
        })
    }

    /// Sends one request, once. `path` is appended to the base, a segment at a time, so that no segment climbs.
    ///
    /// # Errors
    /// When there is no answer within the time limit.
    pub async fn send(
        &self,
        method: JsonMethod,
        path: &[&str],
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<JsonAnswer, JsonError> {
        // The library of addresses leaves these out, and another resource would be meant.
        if path.iter().any(|part| matches!(*part, "" | "." | "..")) {
            return Err(JsonError::Unsent("the path names nothing".to_owned()));
        }
        let key = self.config.key.key();
        let key = key.map_err(|error| JsonError::Unsent(error.to_string()))?;
        let method = match method {
            JsonMethod::Get => Method::GET,
            JsonMethod::Post => Method::POST,
            JsonMethod::Put => Method::PUT,
            JsonMethod::Delete => Method::DELETE,
        };
        let mut request = self.client.request(method, self.url(path, query));
        if let Some(key) = key {
            let header = key.header("").ok_or_else(|| {
                JsonError::Unsent("the key has characters that a header cannot carry".to_owned())
            })?;
            request = request.header(KEY_HEADER, header);
        }
        if let Some(body) = body {
            request = request
                .header(CONTENT_TYPE, "application/json")
                .body(body.to_string());
        }
        let limit = self.config.timeout;
        let answer = tokio::time::timeout(limit, async { read(request.send().await).await });
        answer.await.unwrap_or_else(|_| {
            let limit = limit.as_secs();
            Err(JsonError::Unanswered(format!(
                "it took more than {limit} s"
            )))
        })
    }

    fn url(&self, path: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }
}

async fn read(sent: reqwest::Result<Response>) -> Result<JsonAnswer, JsonError> {
    let mut response = sent.map_err(|error| match error.is_connect() || error.is_builder() {
        true => JsonError::Unsent(reason(error)),
        false => JsonError::Unanswered(reason(error)),
    })?;
    let status = response.status().as_u16();
    let retry_after = retry_after(response.headers());
    match read_bounded(&mut response, ANSWER_BYTES).await {
        ReadBody::Whole(bytes) => Ok(JsonAnswer {
            status,
            body: serde_json::from_slice(&bytes).unwrap_or_default(),
            retry_after,
        }),
        ReadBody::Cut(_) => Err(JsonError::Unanswered(
            "the connection ended before the answer was whole".to_owned(),
        )),
        ReadBody::Longer(_) => Err(JsonError::Unanswered(format!(
            "its answer is longer than {ANSWER_BYTES} bytes"
        ))),
    }
}

impl fmt::Debug for JsonServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonServer").field(&self.config).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, path: &[&str], query: &[(&str, &str)], expected: &str) {
        let config = JsonServerConfig {
            name: "ada".to_owned(),
            base_url: base.to_owned(),
            key: KeySource::None,
            plain_http: false,
            timeout: Duration::from_secs(1),
        };
        let server = JsonServer::new(config).expect("it may be used");
        assert_eq!(server.url(path, query).as_str(), expected);
    }

    #[test]
    fn a_path_stays_below_the_base_whatever_its_segments_hold() {
        let base = "http://127.0.0.1:8888/api/";
        check(base, &["search"], &[], "http://127.0.0.1:8888/api/search");
        check(
            base,
            &["memories", "../../reset?x"],
            &[("user_id", "agent_ada & co")],
            "http://127.0.0.1:8888/api/memories/..%2F..%2Freset%3Fx?user_id=agent_ada+%26+co",
        );
    }

    #[tokio::test]
    async fn a_part_that_would_name_another_resource_is_not_sent() {
        let server = JsonServer::new(JsonServerConfig {
            name: "ada".to_owned(),
            base_url: "http://127.0.0.1:9".to_owned(),
            key: KeySource::None,
            plain_http: false,
            timeout: Duration::from_secs(1),
        });
        let server = server.expect("it may be used");
        for part in ["", ".", ".."] {
            let path = ["memories", part];
            let sent = server.send(JsonMethod::Delete, &path, &[], None).await;
            let refused = JsonError::Unsent("the path names nothing".to_owned());
            assert_eq!(sent, Err(refused), "{part:?}");
        }
    }
}

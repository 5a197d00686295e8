//! Why a mem0 server did not do what it was asked. Messages hold nothing of what the server wrote: it may repeat a key.

use std::time::Duration;

use daybook_domain::{FailureClass, RetryWait};
use daybook_engine::extract::ExtractError;
use daybook_llm::{JsonAnswer, JsonError};
use serde_json::Value;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Mem0Error {
    /// Safe to repeat, later.
    #[error("the mem0 server {message}")]
    Unavailable {
        message: String,
        wait: Option<Duration>,
    },
    /// The key is wrong, or may not do this.
    #[error("the mem0 server refuses the key (HTTP {0}); check `mem0` in daybook.toml")]
    KeyRefused(u16),
    /// Repeating will not help.
    #[error("the mem0 server refuses the request (HTTP {0})")]
    Refused(u16),
    #[error("the mem0 server has no such memory")]
    NotFound,
    #[error(
        "the mem0 server answered something that is no answer of mem0; check the address in `mem0`"
    )]
    Unreadable,
}

impl Mem0Error {
    /// No answer came within `limit`.
    pub(crate) fn slow(limit: Duration) -> Self {
        Self::Unavailable {
            message: format!("did not answer within {} s", limit.as_secs()),
            wait: None,
        }
    }

    /// The body of an answer, if it is one.
    pub(super) fn check(answer: JsonAnswer) -> Result<Value, Self> {
        match answer.status {
            200..=299 => Ok(answer.body),
            401 | 403 => Err(Self::KeyRefused(answer.status)),
            404 => Err(Self::NotFound),
            status @ (408 | 429 | 500..=599) => Err(Self::Unavailable {
                message: format!("cannot answer now (HTTP {status})"),
                wait: answer.retry_after,
            }),
            status => Err(Self::Refused(status)),
        }
    }

    /// As the failure of a job: only a refused request counts as a try, since all else may be mended without it.
    pub(super) fn of_job(&self) -> ExtractError {
        let class = match self {
            Self::Unavailable { .. } | Self::KeyRefused(_) | Self::NotFound | Self::Unreadable => {
                FailureClass::Outage
            }
            Self::Refused(_) => FailureClass::Content,
        };
        let wait = match self {
            Self::Unavailable {
                wait: Some(wait), ..
            } => RetryWait::For(*wait),
            Self::Unavailable { wait: None, .. }
            | Self::KeyRefused(_)
            | Self::Refused(_)
            | Self::NotFound
            | Self::Unreadable => RetryWait::Unspecified,
        };
        ExtractError {
            class,
            message: self.to_string(),
            wait,
        }
    }
}

impl From<JsonError> for Mem0Error {
    fn from(error: JsonError) -> Self {
        Self::Unavailable {
            message: match error {
                JsonError::Unsent(why) => format!("cannot be reached: {why}"),
                JsonError::Unanswered(why) => format!("did not answer: {why}"),
            },
            wait: None,
        }
    }
}

//! The errors of requests, by what the program can do.

use daybook_domain::StoreError;

use crate::service::RequestError;
use crate::terminal::error_class::store_error;

/// Why a request of a program failed.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The request is malformed or contradicts itself; the message names what to change.
    #[error("{0}")]
    Invalid(String),
    /// What it names does not exist, or no longer.
    #[error("{0}")]
    NotFound(String),
    /// The current state of the memory forbids it.
    #[error("{0}")]
    Conflict(String),
    /// The database is busy, or it or a memory server cannot be reached. Safe to repeat later.
    #[error("the memory cannot be used now")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Repeating will not help: the cause names what is wrong.
    #[error("{0:#}")]
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for MemoryError {
    fn from(error: anyhow::Error) -> Self {
        if let Some(StoreError::Busy(_) | StoreError::Unavailable { .. }) = store_error(&error) {
            return Self::Unavailable(error.into());
        }
        match error.downcast::<RequestError>() {
            Ok(RequestError::Invalid(message)) => Self::Invalid(message),
            Ok(RequestError::NotFound(message)) => Self::NotFound(message),
            Ok(RequestError::Conflict(message)) => Self::Conflict(message),
            Ok(RequestError::Unavailable(message)) => Self::Unavailable(message.into()),
            Err(error) => match store_error(&error) {
                Some(StoreError::NotFound(what)) => {
                    Self::NotFound(format!("{what} does not exist"))
                }
                Some(_) | None => Self::Failed(error),
            },
        }
    }
}

//! One recording on a cassette, and the canonical form of a question.

use std::time::Duration;

use daybook_domain::model::{FailureCost, ModelError, ModelFailure, ModelReply, ModelRequest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One `ask` and its outcome.
#[derive(Serialize, Deserialize)]
pub(super) struct Recording {
    pub(super) key: String,
    pub(super) model: String,
    pub(super) request: Value,
    pub(super) outcome: RecordedOutcome,
}

impl Recording {
    pub(super) fn new(
        model: &str,
        request: &ModelRequest,
        outcome: &Result<ModelReply, ModelFailure>,
    ) -> Self {
        let request = canonical(request);
        Self {
            key: key(model, &request),
            model: model.to_owned(),
            request,
            outcome: RecordedOutcome::of(outcome),
        }
    }
}

/// The outcome of an `ask`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RecordedOutcome {
    Reply(ModelReply),
    Failure {
        spent: FailureCost,
        error: RecordedError,
    },
}

/// A [`ModelError`], as a cassette holds it.
#[derive(Serialize, Deserialize)]
pub(super) struct RecordedError {
    class: RecordedErrorClass,
    model: String,
    message: String,
    retry_after_ms: Option<u64>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecordedErrorClass {
    Unavailable,
    Denied,
    TooLong,
    Refused,
    Malformed,
    BadRequest,
    Cancelled,
    Other,
}

impl RecordedOutcome {
    fn of(outcome: &Result<ModelReply, ModelFailure>) -> Self {
        match outcome {
            Ok(reply) => Self::Reply(reply.clone()),
            Err(failure) => Self::Failure {
                spent: failure.spent,
                error: RecordedError::of(&failure.error),
            },
        }
    }

    pub(super) fn replay(&self) -> Result<ModelReply, ModelFailure> {
        match self {
            Self::Reply(reply) => Ok(reply.clone()),
            Self::Failure { spent, error } => Err(ModelFailure {
                error: error.replay(),
                spent: *spent,
            }),
        }
    }
}

impl RecordedError {
    fn of(error: &ModelError) -> Self {
        let mut retry_after_ms = None;
        let (class, model, message) = match error {
            ModelError::Unavailable {
                model,
                message,
                retry_after,
            } => {
                let ms = |wait: Duration| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                retry_after_ms = retry_after.map(ms);
                (RecordedErrorClass::Unavailable, model, message.clone())
            }
            ModelError::Denied { model, message } => {
                (RecordedErrorClass::Denied, model, message.clone())
            }
            ModelError::TooLong { model, message } => {
                (RecordedErrorClass::TooLong, model, message.clone())
            }
            ModelError::Refused { model, message } => {
                (RecordedErrorClass::Refused, model, message.clone())
            }
            ModelError::Malformed { model, message } => {
                (RecordedErrorClass::Malformed, model, message.clone())
            }
            ModelError::BadRequest { model, message } => {
                (RecordedErrorClass::BadRequest, model, message.clone())
            }
            ModelError::Cancelled { model } => {
                (RecordedErrorClass::Cancelled, model, String::new())
            }
            ModelError::Other { model, source } => {
                (RecordedErrorClass::Other, model, source.to_string())
            }
        };
        Self {
            class,
            model: model.clone(),
            message,
            retry_after_ms,
        }
    }

    fn replay(&self) -> ModelError {
        let (model, message) = (self.model.clone(), self.message.clone());
        match self.class {
            RecordedErrorClass::Unavailable => ModelError::Unavailable {
                model,
                message,
                retry_after: self.retry_after_ms.map(Duration::from_millis),
            },
            RecordedErrorClass::Denied => ModelError::Denied { model, message },
            RecordedErrorClass::TooLong => ModelError::TooLong { model, message },
            RecordedErrorClass::Refused => ModelError::Refused { model, message },
            RecordedErrorClass::Malformed => ModelError::Malformed { model, message },
            RecordedErrorClass::BadRequest => ModelError::BadRequest { model, message },
            RecordedErrorClass::Cancelled => ModelError::Cancelled { model },
            RecordedErrorClass::Other => ModelError::Other {
                model,
                source: message.into(),
            },
        }
    }
}

/// A question with the fields of every object in the order of their names.
pub(super) fn canonical(request: &ModelRequest) -> Value {
    sorted(serde_json::to_value(request).expect("a question is made of plain values"))
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> = fields.into_iter().collect();
            fields.sort_by(|one, other| one.0.cmp(&other.0));
            fields
                .into_iter()
                .map(|(name, field)| (name, sorted(field)))
                .collect()
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}

/// The key of a request: a hash of it and of the model that it goes to.
pub(super) fn key(model: &str, request: &Value) -> String {
    let hash = blake3::hash(format!("{model}\n{request}").as_bytes());
    hash.to_hex()[..32].to_owned()
}

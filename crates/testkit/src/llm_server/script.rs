//! The script of a provider: how it answers each request.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use daybook_domain::model::ToolCall;
use serde_json::Value;

use super::lock;
use super::recorded_request::RecordedRequest;

/// How the provider answers one request.
#[derive(Debug, Clone, PartialEq)]
pub enum Behaviour {
    /// The model answers with this text. Where it must call a tool to answer, it does so if the text is a JSON
    /// object.
    Answer(String),
    /// The model answers with this, in the demanded form.
    AnswerJson(Value),
    /// The vectors of the request's texts, the last first; each carries its index.
    Vectors(Vec<Vec<f32>>),
    /// The model calls tools. Ollama's wire leaves the ids out.
    Calls(Vec<ToolCall>),
    /// Waits until the test calls [`LlmServer::release`](super::LlmServer::release), then behaves like this.
    Slow(Box<Behaviour>),
    /// The connection ends in the middle of the answer.
    CutOff,
    /// A body that is no JSON.
    Malformed,
    /// The model refuses to answer. Ollama's wire has no field for that, so the refusal is the answer's text.
    Refuse(String),
    /// 429.
    RateLimit {
        /// When to try again.
        retry_after: Option<RetryAfter>,
    },
    /// This status, and an error in the wire's own shape.
    ServerError(u16),
    /// 401, with the key that was sent in the message.
    Denied,
    /// The question is longer than the model's context.
    TooLong,
    /// An answer whose text has this many bytes.
    OverLong(usize),
    /// The answer's text up to the point where the model ran out of tokens.
    Length(String),
    /// The provider's filter stopped the model after this. Anthropic's and Ollama's wires have none.
    Filtered(String),
    /// The model thinks before it answers: in the wire's own field for thoughts, and between tags.
    Thinks {
        /// The thoughts.
        thoughts: String,
        /// The answer.
        then: String,
    },
    /// Behaves like this, but reports no usage.
    NoUsage(Box<Behaviour>),
    /// 400: the way in which a form was demanded is not known.
    RejectsSchema,
    /// This status, and an HTML page.
    HtmlError(u16),
    /// The connection ends before an answer begins.
    HangUp,
    /// Exactly this response.
    Raw {
        /// The status.
        status: u16,
        /// Names in lower case, and values.
        headers: Vec<(&'static str, String)>,
        /// The body.
        body: String,
    },
}

impl Behaviour {
    /// The model answers with `text`.
    pub fn answer(text: impl Into<String>) -> Self {
        Self::Answer(text.into())
    }

    /// The same, held until it is released.
    #[must_use]
    pub fn slowly(self) -> Self {
        Self::Slow(Box::new(self))
    }

    /// The same, without reported usage.
    #[must_use]
    pub fn without_usage(self) -> Self {
        Self::NoUsage(Box::new(self))
    }
}

/// How a provider reports when to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// `Retry-After` in seconds.
    Seconds(u64),
    /// `retry-after-ms`.
    Millis(u64),
    /// `Retry-After` as a date, this long after a `Date` that is not today's.
    Date(Duration),
}

type BehaviourFn = dyn Fn(&RecordedRequest) -> Behaviour + Send + Sync;

/// Decides how a scripted provider answers each request.
pub struct Script(ScriptKind);

enum ScriptKind {
    Queue(Mutex<VecDeque<Behaviour>>),
    Function(Box<BehaviourFn>),
}

impl Script {
    /// A script whose behaviour is a function of the request.
    pub fn answering(
        answer: impl Fn(&RecordedRequest) -> Behaviour + Send + Sync + 'static,
    ) -> Self {
        Self(ScriptKind::Function(Box::new(answer)))
    }

    /// The behaviour for `request`, the `number`th request.
    pub(super) fn next_behaviour(&self, request: &RecordedRequest, number: usize) -> Behaviour {
        match &self.0 {
            ScriptKind::Queue(queue) => lock(queue).pop_front().unwrap_or_else(|| Behaviour::Raw {
                status: 400,
                headers: Vec::new(),
                body: format!(r#"{{"error":"the script has nothing for request {number}"}}"#),
            }),
            ScriptKind::Function(answer) => answer(request),
        }
    }
}

impl<T: Into<Vec<Behaviour>>> From<T> for Script {
    /// One behaviour for each request, in order; later requests are refused.
    fn from(behaviours: T) -> Self {
        Self(ScriptKind::Queue(Mutex::new(behaviours.into().into())))
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ScriptKind::Queue(queue) => f.debug_tuple("Script").field(&*lock(queue)).finish(),
            ScriptKind::Function(_) => f.write_str("Script(function)"),
        }
    }
}

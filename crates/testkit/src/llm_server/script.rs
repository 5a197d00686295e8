//! What a scripted provider does, request after request.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use daybook_domain::model::ToolCall;
use serde_json::Value;

use super::asked::Asked;
use super::lock;

/// What becomes of one request.
#[derive(Debug, Clone, PartialEq)]
pub enum Behaviour {
    /// The model says this. Where it must call a tool to answer, it does so if this is an object in JSON.
    Answer(String),
    /// The model answers with this, in the demanded form.
    AnswerJson(Value),
    /// The model wants tools called. Ollama's wire leaves the ids out.
    Calls(Vec<ToolCall>),
    /// Held until the test calls [`LlmServer::release`](super::LlmServer::release), then this.
    Slow(Box<Behaviour>),
    /// The connection ends amid the answer.
    CutOff,
    /// A body that is no JSON.
    Malformed,
    /// The model will not answer. Ollama's wire has no word for it, so the model says so.
    Refuse(String),
    /// 429.
    RateLimit {
        /// When to come back.
        retry_after: Option<RetryAfter>,
    },
    /// This status, and an error in the wire's own shape.
    ServerError(u16),
    /// 401, with the key that was sent in the message.
    Denied,
    /// The question is longer than the model's context.
    TooLong,
    /// An answer whose text has so many bytes.
    OverLong(usize),
    /// The model got as far as this when it ran out of tokens.
    Length(String),
    /// The provider's filter stopped the model after this. Anthropic's and Ollama's wires have none.
    Filtered(String),
    /// The model thinks before it speaks: in the wire's own place for thoughts, and between tags.
    Thinks {
        /// What is thought.
        thoughts: String,
        /// What is said.
        then: String,
    },
    /// This, without saying what it cost.
    NoUsage(Box<Behaviour>),
    /// 400: the way in which a form was demanded is not known.
    RejectsSchema,
    /// This status, and a page for people.
    HtmlError(u16),
    /// The connection ends before an answer begins.
    HangUp,
    /// This status, these headers, this body.
    Raw {
        /// The status.
        status: u16,
        /// Names in small letters, and values.
        headers: Vec<(&'static str, String)>,
        /// The body.
        body: String,
    },
}

impl Behaviour {
    /// The model says `text`.
    pub fn answer(text: impl Into<String>) -> Self {
        Self::Answer(text.into())
    }

    /// Held until it is released.
    #[must_use]
    pub fn slowly(self) -> Self {
        Self::Slow(Box::new(self))
    }

    /// Without saying what it cost.
    #[must_use]
    pub fn without_usage(self) -> Self {
        Self::NoUsage(Box::new(self))
    }
}

/// How a provider says when to come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// `Retry-After` in seconds.
    Seconds(u64),
    /// `retry-after-ms`.
    Millis(u64),
    /// `Retry-After` as a date, so long after a `Date` that is not today's.
    Date(Duration),
}

type Answering = dyn Fn(&Asked) -> Behaviour + Send + Sync;

/// What a scripted provider does with each request.
pub struct Script(Kind);

enum Kind {
    Queue(Mutex<VecDeque<Behaviour>>),
    Function(Box<Answering>),
}

impl Script {
    /// What becomes of a request is a function of it.
    pub fn answering(answer: impl Fn(&Asked) -> Behaviour + Send + Sync + 'static) -> Self {
        Self(Kind::Function(Box::new(answer)))
    }

    /// What becomes of `asked`, the `number`th request.
    pub(super) fn next(&self, asked: &Asked, number: usize) -> Behaviour {
        match &self.0 {
            Kind::Queue(queue) => lock(queue).pop_front().unwrap_or_else(|| Behaviour::Raw {
                status: 400,
                headers: Vec::new(),
                body: format!(r#"{{"error":"the script has nothing for request {number}"}}"#),
            }),
            Kind::Function(answer) => answer(asked),
        }
    }
}

impl<T: Into<Vec<Behaviour>>> From<T> for Script {
    /// One behaviour for each request, in their order; whatever comes after them is refused.
    fn from(behaviours: T) -> Self {
        Self(Kind::Queue(Mutex::new(behaviours.into().into())))
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Queue(queue) => f.debug_tuple("Script").field(&*lock(queue)).finish(),
            Kind::Function(_) => f.write_str("Script(function)"),
        }
    }
}

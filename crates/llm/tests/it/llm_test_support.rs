//! A scripted provider, a model of it, and the outcome of a question as one line.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::model::{
    AnswerSchema, FailureCost, FinishReason, Message, Model as _, ModelError, ModelFailure,
    ModelReply, ModelRequest, Role,
};
use daybook_llm::{ChatModel, ModelConfig, Provider, ProviderConfig, Waiter, Wire};
use daybook_testkit::llm_server::{LlmServer, Script};
use serde_json::json;

pub(crate) const WIRES: [Wire; 3] = [Wire::OpenAi, Wire::Anthropic, Wire::Ollama];

/// A waiter that waits for nothing and remembers how long it should have.
#[derive(Clone, Default)]
pub(crate) struct RecordedWaits(Arc<Mutex<Vec<Duration>>>);

impl RecordedWaits {
    pub(crate) fn all(&self) -> Vec<Duration> {
        self.0.lock().expect("no test panics with it").clone()
    }
}

#[async_trait]
impl Waiter for RecordedWaits {
    async fn wait(&self, wait: Duration) {
        self.0.lock().expect("no test panics with it").push(wait);
    }
}

/// A scripted provider, and a model that is asked over one wire.
pub(crate) struct ScriptedProvider {
    pub(crate) server: LlmServer,
    pub(crate) provider: Provider,
    pub(crate) model: ChatModel,
    pub(crate) waits: RecordedWaits,
}

impl ScriptedProvider {
    pub(crate) fn new(wire: Wire, script: impl Into<Script>) -> Self {
        Self::with(wire, script, |_| {})
    }

    pub(crate) fn with(
        wire: Wire,
        script: impl Into<Script>,
        change: impl FnOnce(&mut ProviderConfig),
    ) -> Self {
        let server = LlmServer::start(script);
        let waits = RecordedWaits::default();
        let mut config = ProviderConfig::new("ada", wire, &base(wire, &server.url()));
        change(&mut config);
        let provider = Provider::with_waiter(config, Box::new(waits.clone()));
        let provider = provider.expect("a provider on this machine needs nothing");
        Self {
            model: provider.model(model()),
            server,
            provider,
            waits,
        }
    }

    /// Asks, and renders the outcome as one line.
    pub(crate) async fn ask_line(&self, request: &ModelRequest) -> String {
        let outcome = self.model.ask(request).await;
        self.line(&outcome)
    }

    /// `<what>, <what it cost>, <requests>`. Checks that reported usage is the provider's.
    fn line(&self, outcome: &Result<ModelReply, ModelFailure>) -> String {
        let requests = self.server.requests();
        let (what, spent) = match outcome {
            Ok(reply) => {
                assert_eq!(usize::try_from(reply.requests), Ok(requests), "{reply:?}");
                let spent = reply
                    .usage
                    .map_or(FailureCost::Unknown, FailureCost::Reported);
                (describe_reply(reply), spent)
            }
            Err(failure) => (class(&failure.error).to_owned(), failure.spent),
        };
        let spent = match spent {
            FailureCost::Nothing => "nothing",
            FailureCost::Unknown => "unknown",
            FailureCost::Reported(usage) => {
                assert_eq!(usage, self.server.reported_usage());
                "reported"
            }
        };
        format!("{what}, {spent}, {requests}")
    }
}

pub(crate) fn base(wire: Wire, url: &str) -> String {
    match wire {
        Wire::OpenAi => format!("{url}/v1"),
        Wire::Anthropic | Wire::Ollama => url.to_owned(),
    }
}

pub(crate) fn model() -> ModelConfig {
    ModelConfig::new("engine-1", 4096)
}

fn describe_reply(reply: &ModelReply) -> String {
    let finish = match reply.finish {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::Tools => "tools",
        FinishReason::Filtered => "filtered",
    };
    match &reply.answer {
        Some(answer) => format!("{finish} {answer}"),
        None => format!("{finish} \"{}\"", reply.text),
    }
}

pub(crate) fn class(error: &ModelError) -> &'static str {
    match error {
        ModelError::Unavailable { .. } => "unavailable",
        ModelError::Denied { .. } => "denied",
        ModelError::TooLong { .. } => "too long",
        ModelError::Refused { .. } => "refused",
        ModelError::Malformed { .. } => "malformed",
        ModelError::BadRequest { .. } => "bad request",
        ModelError::Cancelled { .. } => "cancelled",
        ModelError::Other { .. } => "other",
    }
}

/// A question that leaves the form of the answer open.
pub(crate) fn question() -> ModelRequest {
    ModelRequest {
        messages: vec![
            Message::new(Role::System, "Answer in few words."),
            Message::new(Role::User, "What is the cache limit?"),
        ],
        tools: Vec::new(),
        answer: None,
        temperature: Some(0.5),
        max_tokens: 200,
    }
}

/// A question whose answer must be `{"limit": <integer>}`.
pub(crate) fn demand() -> ModelRequest {
    ModelRequest {
        answer: Some(AnswerSchema {
            name: "limit".to_owned(),
            schema: json!({
                "type": "object",
                "properties": {"limit": {"type": "integer"}},
                "required": ["limit"],
                "additionalProperties": false,
            }),
        }),
        ..question()
    }
}

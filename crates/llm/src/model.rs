//! One model of a provider: tries, the form of its answers, one repair, and what all of it cost.
//!
//! A model is asked in the [`RequestMode`] that it last accepted. A parameter that it rejects is left out
//! from then on; so a form that it does not support costs one refused request in its life, not one in every
//! `ask`. At most two requests of an `ask` reach the model because of form: the question and a repair.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use daybook_domain::model::{
    AnswerSchema, Message, Model, ModelError, ModelFailure, ModelReply, ModelRequest,
};

use crate::answer::{self, AnswerCheck};
use crate::config::{ConfigError, ModelConfig};
use crate::faults::{FaultClass, ProviderFault};
use crate::provider::{ExchangeError, Provider};
use crate::tokens::Tokenizer as _;
use crate::usage_tally::UsageTally;
use crate::waiting::Schedule;
use crate::wire::{Adapter, Form, WireReply, WireRequest};

/// Answers in a row that miss the schema, after which the messages hold the schema as text too. A model may
/// miss it now and then; including the schema each time costs more than a repair.
const MOST_SCHEMA_MISSES: u8 = 2;

/// A model of a provider.
pub struct ChatModel {
    provider: Provider,
    adapter: &'static dyn Adapter,
    config: ModelConfig,
    /// `provider/model`.
    name: String,
    mode: Mutex<RequestMode>,
}

/// Which parameters a model accepts. It only ever gets simpler, so trying the next mode comes to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RequestMode {
    form: Form,
    /// Answers in a row that did not keep to the schema they were held to; from the second on the messages
    /// hold the schema as well.
    schema_misses: u8,
    newer_limit: bool,
    temperature: bool,
}

/// The request, remaining tries and usage of one `ask`.
struct AskState<'a> {
    request: &'a ModelRequest,
    schedule: Schedule,
    tally: UsageTally,
}

impl Provider {
    /// One of its models.
    #[must_use]
    pub fn model(&self, model: ModelConfig) -> ChatModel {
        ChatModel::new(self.clone(), self.config().wire.adapter(), model)
    }

    /// One of its models that turn texts into vectors, to be given to [`Embeddings`](crate::Embeddings).
    /// Each message it is asked is a text, and the text of its reply is the vectors in JSON. As any other
    /// model it may be metered.
    ///
    /// # Errors
    /// When the provider's wire has no vectors.
    pub fn embedding_model(&self, model: ModelConfig) -> Result<ChatModel, ConfigError> {
        let adapter = self.config().wire.embeddings();
        let adapter = adapter.ok_or_else(|| ConfigError::NoEmbeddings {
            provider: self.config().name.clone(),
        })?;
        Ok(ChatModel::new(self.clone(), adapter, model))
    }
}

impl ChatModel {
    fn new(provider: Provider, adapter: &'static dyn Adapter, config: ModelConfig) -> Self {
        let name = format!("{}/{}", provider.config().name, config.name);
        let mode = RequestMode {
            form: Form::Schema,
            schema_misses: 0,
            newer_limit: false,
            temperature: true,
        };
        Self {
            provider,
            adapter,
            config,
            name,
            mode: Mutex::new(mode),
        }
    }

    async fn answer(&self, ask: &mut AskState<'_>) -> Result<ModelReply, ModelError> {
        let request = ask.request;
        let wire_reply = self.request_reply(&request.messages, ask).await?;
        let Some(demanded) = &request.answer else {
            return Ok(reply(wire_reply, None, &ask.tally));
        };
        let invalid = match answer::check(&wire_reply, demanded) {
            AnswerCheck::Valid(value) => {
                self.reset_schema_misses();
                return Ok(reply(wire_reply, Some(value), &ask.tally));
            }
            AnswerCheck::Final => return Ok(reply(wire_reply, None, &ask.tally)),
            AnswerCheck::Invalid(invalid) => invalid,
        };
        let seen = self.mode();
        let schema_misses = seen.schema_misses.saturating_add(1).min(MOST_SCHEMA_MISSES);
        self.remember(
            seen,
            RequestMode {
                schema_misses,
                ..seen
            },
        );
        let repair = answer::repair(&request.messages, &wire_reply, &invalid, demanded);
        let wire_reply = self.request_reply(&repair, ask).await?;
        match answer::check(&wire_reply, demanded) {
            AnswerCheck::Valid(value) => Ok(reply(wire_reply, Some(value), &ask.tally)),
            AnswerCheck::Final => Ok(reply(wire_reply, None, &ask.tally)),
            AnswerCheck::Invalid(invalid) => Err(self.malformed(invalid.why)),
        }
    }

    /// Sends the messages in ever simpler modes until the model accepts one.
    async fn request_reply(
        &self,
        messages: &[Message],
        ask: &mut AskState<'_>,
    ) -> Result<WireReply, ModelError> {
        loop {
            let mode = self.mode();
            let request = ask.request;
            let messages = match &request.answer {
                Some(demanded) if mode.includes_schema() => answer::with_schema(messages, demanded),
                _ => messages.to_vec(),
            };
            let question = self.question(&messages, request, mode);
            match self.send(&question, ask).await? {
                Ok(wire_reply) => return self.reject_refusal(wire_reply),
                Err(fault) => {
                    let simpler = self.simpler(&fault, request, mode);
                    let simpler = simpler.ok_or_else(|| fault.error(&self.name))?;
                    self.remember(mode, simpler);
                }
            }
        }
    }

    fn question<'a>(
        &'a self,
        messages: &'a [Message],
        request: &'a ModelRequest,
        mode: RequestMode,
    ) -> WireRequest<'a> {
        let enforced_form = |demanded: &'a AnswerSchema| (demanded, mode.form);
        WireRequest {
            model: &self.config.name,
            messages,
            tools: &request.tools,
            enforced_form: request.answer.as_ref().map(enforced_form),
            temperature: request.temperature.filter(|_| mode.temperature),
            max_tokens: request.max_tokens,
            newer_limit: mode.newer_limit,
            context_tokens: self.config.context_tokens,
        }
    }

    /// Sends until there is an answer, a fault that waiting does not cure, or no try left.
    async fn send(
        &self,
        question: &WireRequest<'_>,
        ask: &mut AskState<'_>,
    ) -> Result<Result<WireReply, ProviderFault>, ModelError> {
        loop {
            let error = match self.provider.post(self.adapter, question).await {
                Ok(wire_reply) => {
                    ask.tally.count_answered(wire_reply.usage);
                    return Ok(Ok(wire_reply));
                }
                Err(error) => error,
            };
            count_failure(&error, &mut ask.tally);
            let (message, retry_after) = match error {
                ExchangeError::Fault(fault, wait) if fault.class() == FaultClass::Passing => {
                    (fault.message(), wait)
                }
                ExchangeError::Fault(fault, _) => return Ok(Err(fault)),
                ExchangeError::Unreachable(why) => (why, None),
                ExchangeError::ConnectionLost(why) => {
                    (format!("it hung up without an answer: {why}"), None)
                }
                ExchangeError::TimedOut(limit) => {
                    let limit = limit.as_secs_f32();
                    let message = format!("there was no answer within {limit} s");
                    return Err(self.unavailable(message, None));
                }
                ExchangeError::Unreadable(why) => return Err(self.malformed(why)),
                ExchangeError::NoKey(why) => return Err(self.no_key(&why)),
                ExchangeError::RateLimited(wait) => {
                    let least = self.provider.config().least_remaining_percent;
                    let message = format!("less than {least} % of its rate limit is left");
                    return Err(self.unavailable(message, Some(wait)));
                }
            };
            match ask.schedule.next(retry_after) {
                Some(wait) => self.provider.wait(wait).await,
                None => return Err(self.unavailable(message, retry_after)),
            }
        }
    }

    /// A simpler mode that avoids this fault, if there is one.
    fn simpler(
        &self,
        fault: &ProviderFault,
        request: &ModelRequest,
        mode: RequestMode,
    ) -> Option<RequestMode> {
        if fault.class() != FaultClass::BadRequest {
            return None;
        }
        let mut simpler = mode;
        if fault.names(&["max_completion_tokens"]) && !mode.newer_limit {
            simpler.newer_limit = true;
        } else if fault.names(&["temperature"]) && mode.has_temperature(request) {
            simpler.temperature = false;
        } else if fault.names(self.adapter.names_of_form()) && request.answer.is_some() {
            simpler.form = self.adapter.looser(mode.form)?;
        }
        (simpler != mode).then_some(simpler)
    }

    fn mode(&self) -> RequestMode {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a simpler mode than the one `seen`, unless another call has changed it by now: then that one
    /// is tried first.
    fn remember(&self, seen: RequestMode, simpler: RequestMode) {
        let mut mode = self.mode.lock().unwrap_or_else(PoisonError::into_inner);
        if *mode == seen {
            *mode = simpler;
        }
    }

    /// Resets the count of misses below its bound: a model that misses its schema now and then supports it.
    fn reset_schema_misses(&self) {
        let seen = self.mode();
        if (1..MOST_SCHEMA_MISSES).contains(&seen.schema_misses) {
            self.remember(
                seen,
                RequestMode {
                    schema_misses: 0,
                    ..seen
                },
            );
        }
    }

    fn reject_refusal(&self, wire_reply: WireReply) -> Result<WireReply, ModelError> {
        let Some(message) = wire_reply.refusal else {
            return Ok(wire_reply);
        };
        let model = self.name.clone();
        Err(ModelError::Refused { model, message })
    }

    /// Refuses requests that no provider could answer, before anything is sent.
    fn check(&self, request: &ModelRequest) -> Result<(), ModelError> {
        let Some(demanded) = &request.answer else {
            return Ok(());
        };
        let bad = |message: String| ModelError::BadRequest {
            model: self.name.clone(),
            message,
        };
        answer::schema::supported(&demanded.schema).map_err(bad)?;
        match request.tools.iter().any(|tool| tool.name == demanded.name) {
            true => Err(bad(format!(
                "a tool and the answer are both called {}",
                demanded.name
            ))),
            false => Ok(()),
        }
    }

    fn unavailable(&self, message: String, retry_after: Option<std::time::Duration>) -> ModelError {
        ModelError::Unavailable {
            model: self.name.clone(),
            message,
            retry_after,
        }
    }

    fn malformed(&self, message: String) -> ModelError {
        let model = self.name.clone();
        ModelError::Malformed { model, message }
    }

    fn no_key(&self, why: &daybook_domain::BoxError) -> ModelError {
        ModelError::Denied {
            model: self.name.clone(),
            message: format!("its key cannot be had: {why}"),
        }
    }
}

impl fmt::Debug for ChatModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatModel")
            .field("name", &self.name)
            .field("provider", &self.provider)
            .finish_non_exhaustive()
    }
}

impl RequestMode {
    fn has_temperature(self, request: &ModelRequest) -> bool {
        self.temperature && request.temperature.is_some()
    }

    fn includes_schema(self) -> bool {
        self.schema_misses == MOST_SCHEMA_MISSES || self.form != Form::Schema
    }
}

/// Counts what a request without an answer may have cost.
fn count_failure(error: &ExchangeError, tally: &mut UsageTally) {
    match error {
        ExchangeError::NoKey(_) | ExchangeError::RateLimited(_) | ExchangeError::Unreachable(_) => {
        }
        ExchangeError::Fault(fault, _) if fault.cost_nothing() => tally.count_rejected(),
        ExchangeError::Fault(..)
        | ExchangeError::ConnectionLost(_)
        | ExchangeError::TimedOut(_)
        | ExchangeError::Unreadable(_) => {
            tally.count_unanswered();
        }
    }
}

fn reply(
    wire_reply: WireReply,
    answer: Option<serde_json::Value>,
    tally: &UsageTally,
) -> ModelReply {
    ModelReply {
        text: wire_reply.text,
        answer,
        calls: wire_reply.calls,
        finish: wire_reply.finish,
        usage: tally.usage(),
        requests: tally.requests(),
    }
}

#[async_trait]
impl Model for ChatModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn context_tokens(&self) -> u32 {
        self.config.context_tokens
    }

    fn count_tokens(&self, text: &str) -> u32 {
        self.config.vocabulary.count(text)
    }

    /// All tries may be lost but the last, whose answer may need its one repair. Requests that a provider
    /// turns away because of how they are put cost nothing.
    fn most_requests(&self) -> u32 {
        let repair = 1;
        self.provider
            .config()
            .retries
            .tries
            .get()
            .saturating_add(repair)
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let mut ask = AskState {
            request,
            schedule: Schedule::new(&self.provider.config().retries),
            tally: UsageTally::default(),
        };
        let answer = match self.check(request) {
            Ok(()) => self.answer(&mut ask).await,
            Err(error) => Err(error),
        };
        let spent = ask.tally.failure_cost();
        answer.map_err(|error| ModelFailure { error, spent })
    }
}

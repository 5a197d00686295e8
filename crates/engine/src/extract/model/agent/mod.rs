//! Daycare's memory agent: one for each source agent, whose transcripts it answers with observations
//! (D20 to D22, D52).
//!
//! Its whole system prompt is `prompts/memory/MEMORY_AGENT.md`. Before it answers it may read what memory
//! holds, and write entities, with the tools on its list. Its writes are staged and stored with the
//! extraction, or not at all. Each delivery is a conversation of its own: for anything earlier the agent
//! uses its tools, so that its context never grows and no text of one session can
//! instruct it in the next.
//!
//! Not here: the question about a window and the validation of an answer (`super`), the files.

#[cfg(test)]
mod tests;
mod tool_session;
mod tools;
mod write_validation;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::model::{
    FinishReason, Model, ModelError, ModelFailure, ModelReply, Tool, ToolCall,
};
use daybook_domain::time::Clock;
use daybook_domain::{Descriptor, Tenant};
use daybook_working::tool_loop::{AnswerVerdict, LoopEnd, ToolLoop, ToolLoopLimits, ToolTask};

use super::request::WindowQuestion;
use super::{
    Dialect, Guidance, LEAST_TRANSCRIPT, ModelExtractor, ModelForSession, ModelLimits, Rendering,
    extraction_output,
};
use crate::extract::entity_tools::EntityRepositories;
use crate::extract::{ExtractError, Extractor, ExtractorOutput, TokenForecast, Window};
use tool_session::{MAX_OUTCOME_BYTES, ToolSession};
pub use tools::AgentKind;

/// Most rounds of tool calls in a delivery; then the agent is asked once for its answer, without
/// tools. More lets it look up more, and each round is billed with the whole conversation.
const MAX_ROUNDS: usize = 6;
/// Most calls of one answer that are carried out.
const MAX_CALLS: usize = 8;
/// Longest time of a delivery; its model has a bound for each request.
const MAX_DELIVERY_TIME: Duration = Duration::from_secs(3_600);
/// The part of the model's context that a transcript may take, in fifths: the rest is for its tools.
const TRANSCRIPT_FIFTHS: u32 = 2;
/// The part of the model's context that calls and their outcomes may take, as a divisor.
const TOOLS_PART: u32 = 8;
/// Most agents in the cache. There are hardly more source agents, and an evicted one is built anew.
const MAX_AGENTS: usize = 1_000;

/// The memory of one source agent of one tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryAgent {
    /// The tenant of the source agent.
    pub tenant: Tenant,
    /// Identifies the source agent.
    pub descriptor: Descriptor,
}

/// An extractor that posts each window to the memory agent of its source agent, which is created on first use.
/// Answers pass the same validation as those of [`ModelExtractor`].
pub struct MemoryAgents {
    extractor: ModelExtractor,
    repositories: Arc<dyn EntityRepositories>,
    clock: Arc<dyn Clock>,
    agents: Mutex<BTreeMap<(Tenant, String), Arc<MemoryAgent>>>,
}

impl MemoryAgents {
    /// Memory agents that ask `model`, keep entities in `repositories` and read the time from `clock`.
    pub fn new(
        model: Arc<dyn Model>,
        repositories: Arc<dyn EntityRepositories>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let extractor = ModelExtractor::new(model, Dialect::MemoryAgent);
        Self {
            extractor: extractor.with_rendering(Rendering::Headings),
            repositories,
            clock,
            agents: Mutex::default(),
        }
    }

    /// Applies the guidance of operators and users.
    #[must_use]
    pub fn with_guidance(self, guidance: Guidance) -> Self {
        let extractor = self.extractor.with_guidance(guidance);
        Self { extractor, ..self }
    }

    /// Sets the bounds of transcript and answer.
    #[must_use]
    pub fn with_limits(self, limits: ModelLimits) -> Self {
        let extractor = self.extractor.with_limits(limits);
        Self { extractor, ..self }
    }

    /// Asks, for each session, the model that `session_model` returns.
    #[must_use]
    pub fn with_session_model(self, session_model: Arc<ModelForSession>) -> Self {
        let extractor = self.extractor.with_session_model(session_model);
        Self { extractor, ..self }
    }

    /// The memory agent of a source agent, created on first use.
    pub fn agent_of(&self, tenant: &Tenant, source: &str) -> Arc<MemoryAgent> {
        let descriptor = Descriptor::memory_of(source);
        let key = (tenant.clone(), descriptor.cache_key());
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        if !agents.contains_key(&key) && agents.len() == MAX_AGENTS {
            agents.pop_first();
        }
        let tenant = tenant.clone();
        let agent = || Arc::new(MemoryAgent { tenant, descriptor });
        Arc::clone(agents.entry(key).or_insert_with(agent))
    }

    /// The question about a window, with room left in the context for the output of tools.
    fn build_question(
        &self,
        model: &dyn Model,
        window: Window<'_>,
        budget: Option<u32>,
    ) -> WindowQuestion {
        let tools = tools::offered_tools(AgentKind::Memory).into_iter();
        let tools = tools
            .map(|t| model.count_tokens(&format!("{} {} {}", t.name, t.description, t.arguments)));
        let most = model.context_tokens() / 5 * TRANSCRIPT_FIFTHS;
        let most = tools.fold(most, u32::saturating_sub);
        let question = self.extractor.question(window, budget);
        match question.tokens > most {
            true => self.extractor.question(window, Some(most)),
            false => question,
        }
    }

    /// One delivery: asks, runs the called tools, and asks again, until there is an answer.
    async fn deliver(
        &self,
        model: &dyn Model,
        window: Window<'_>,
        question: &WindowQuestion,
    ) -> Result<ExtractorOutput, DeliveryFailure> {
        let repository = self.repositories.open(window.session).await?;
        let session = ToolSession::new(AgentKind::Memory, repository, self.clock.now());
        let mut delivery = Delivery {
            agents: self,
            window,
            question,
            session,
        };
        let room = model.context_tokens() / TOOLS_PART;
        let tools = ToolLoop::new(model, &*self.clock, delivery_limits(room));
        let report = tools.run(question.request.clone(), &mut delivery).await;
        let session = delivery.session;
        match report.end {
            LoopEnd::Answered(extracted) => return Ok(session.finish(extracted?)),
            LoopEnd::Failed(failure) => return Err(failure.into()),
            // It is asked once for its answer.
            LoopEnd::Rejected(_) | LoopEnd::Stopped(_) | LoopEnd::Cancelled => {}
        }
        // The tools' outcomes are sent as text: providers accept no outcomes where no tools are offered.
        let mut last = question.request.clone();
        let budget = room.min(question.tokens.max(LEAST_TRANSCRIPT));
        last.messages
            .push(session.final_question(budget, &|text| model.count_tokens(text)));
        let reply = model.ask(&last).await?;
        let is_cut_off = reply.finish == FinishReason::Length;
        match self.extractor.parse_reply(window, question, reply) {
            Ok(extracted) => Ok(session.finish(extracted)),
            Err(error) if is_cut_off => Err(DeliveryFailure::NoRoom(error)),
            Err(error) => Err(DeliveryFailure::Failed(error)),
        }
    }

    /// Parses an answer without calls; `None` if it is unusable.
    fn parse_answer(
        &self,
        window: Window<'_>,
        question: &WindowQuestion,
        mut reply: ModelReply,
    ) -> Result<Option<ExtractorOutput>, DeliveryFailure> {
        let finish = reply.finish;
        if finish == FinishReason::Tools {
            // The reply announces tool calls and holds none.
            reply.finish = FinishReason::Stop;
        }
        match (self.extractor.parse_reply(window, question, reply), finish) {
            (Ok(extracted), _) => Ok(Some(extracted)),
            (Err(_), FinishReason::Stop | FinishReason::Tools) => Ok(None),
            (Err(error), FinishReason::Length) => Err(DeliveryFailure::NoRoom(error)),
            (Err(error), FinishReason::Filtered) => Err(DeliveryFailure::Failed(error)),
        }
    }
}

/// Bounds of a delivery whose calls and outcomes have `room` tokens. They are few, so that all are kept; its time is
/// that of the job.
fn delivery_limits(room: u32) -> ToolLoopLimits {
    ToolLoopLimits {
        turns: MAX_ROUNDS,
        calls_per_turn: MAX_CALLS,
        corrections: 0,
        kept_tokens: u32::MAX,
        call_tokens: room.into(),
        sent_tokens: u64::MAX,
        outcome_bytes: 2 * MAX_OUTCOME_BYTES,
        bytes: usize::MAX,
        time: MAX_DELIVERY_TIME,
    }
}

/// One delivery, as a task with tools.
struct Delivery<'a> {
    agents: &'a MemoryAgents,
    window: Window<'a>,
    question: &'a WindowQuestion,
    session: ToolSession,
}

#[async_trait]
impl ToolTask for Delivery<'_> {
    type Answer = Result<ExtractorOutput, DeliveryFailure>;

    fn tools(&self) -> Vec<Tool> {
        tools::offered_tools(AgentKind::Memory)
    }

    async fn call(&mut self, call: &ToolCall) -> String {
        let shown = &self.question.rendered.shown;
        let guidance = &self.agents.extractor.guidance;
        self.session.carry_out(call, self.window, shown, guidance)
    }

    fn refusal(&self, call: &ToolCall) -> String {
        tools::refusal_message(AgentKind::Memory, &call.name).unwrap_or_default()
    }

    fn answer(&mut self, reply: &ModelReply) -> AnswerVerdict<Self::Answer> {
        let parsed = self
            .agents
            .parse_answer(self.window, self.question, reply.clone());
        match parsed {
            Ok(Some(extracted)) => AnswerVerdict::Accepted(Ok(extracted)),
            Ok(None) => AnswerVerdict::Rejected("the answer is unusable".to_owned()),
            Err(failure) => AnswerVerdict::Accepted(Err(failure)),
        }
    }
}

/// Why a delivery has no answer.
enum DeliveryFailure {
    /// The context was too small; a smaller part of the window may fit.
    NoRoom(ExtractError),
    /// An immediate retry does not help.
    Failed(ExtractError),
}

impl From<ExtractError> for DeliveryFailure {
    fn from(error: ExtractError) -> Self {
        Self::Failed(error)
    }
}

impl From<ModelFailure> for DeliveryFailure {
    fn from(failure: ModelFailure) -> Self {
        let error = extraction_output::model_failure_error(&failure);
        match failure.error {
            ModelError::TooLong { .. } => Self::NoRoom(error),
            ModelError::Unavailable { .. }
            | ModelError::Denied { .. }
            | ModelError::Refused { .. }
            | ModelError::Malformed { .. }
            | ModelError::BadRequest { .. }
            | ModelError::Cancelled { .. }
            | ModelError::Other { .. } => Self::Failed(error),
        }
    }
}

#[async_trait]
impl Extractor for MemoryAgents {
    fn name(&self) -> &str {
        self.extractor.name()
    }

    /// Covers the posted transcript alone: the number of tool calls cannot be foreseen.
    fn forecast(&self, window: Window<'_>) -> Option<TokenForecast> {
        self.extractor.forecast(window)
    }

    fn wants_known(&self) -> bool {
        self.extractor.wants_known()
    }

    async fn extract(&self, window: Window<'_>) -> Result<ExtractorOutput, ExtractError> {
        let id = &window.session.id;
        let agent = self.agent_of(&id.tenant, &id.agent);
        tracing::debug!(agent = agent.descriptor.cache_key(), "posting a transcript");
        // All requests about the window go to this model, so that all are charged to its session.
        let model = &*self.extractor.model_for(window);
        let question = self.build_question(model, window, None);
        if question.rendered.shown.is_empty() {
            return extraction_output::empty_window_result(model.name(), &question.rendered);
        }
        let smaller = Some(question.tokens / 2).filter(|half| *half >= LEAST_TRANSCRIPT);
        let again = match (self.deliver(model, window, &question).await, smaller) {
            (Ok(extracted), _) => return Ok(extracted),
            (Err(DeliveryFailure::NoRoom(_)), Some(half)) => {
                self.build_question(model, window, Some(half))
            }
            (Err(DeliveryFailure::NoRoom(error) | DeliveryFailure::Failed(error)), _) => {
                return Err(error);
            }
        };
        if again.rendered.shown.is_empty() {
            return extraction_output::empty_window_result(model.name(), &again.rendered);
        }
        match self.deliver(model, window, &again).await {
            Ok(extracted) => Ok(extracted),
            Err(DeliveryFailure::NoRoom(error) | DeliveryFailure::Failed(error)) => Err(error),
        }
    }
}

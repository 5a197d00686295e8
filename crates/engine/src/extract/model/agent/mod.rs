//! The memory agent of seed 001: one for each source agent, which is posted what happened in that agent's
//! sessions and answers with observations (spec D.4).
//!
//! Its whole system prompt is `prompts/memory/MEMORY_AGENT.md`. Before it answers it may look at what is
//! known, and write entities, with the tools on its list; what they write is staged and lands with the
//! extraction, or never. Each delivery is a conversation of its own: what an agent is to know of earlier ones
//! it reads with its tools, so that its context never grows and nothing said in one session can
//! instruct it in the next.
//!
//! Not here: how a window is asked about and what of an answer is believed (`super`), the files.

mod desk;
mod judge;
#[cfg(test)]
mod tests;
mod tools;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use daybook_domain::model::{Finish, Message, Model, ModelError, ModelFailure, ModelReply, Role};
use daybook_domain::time::Clock;
use daybook_domain::{Descriptor, Tenant};

use super::request::Question;
use super::{
    AskedAbout, Dialect, Guidance, LEAST_TRANSCRIPT, ModelExtractor, ModelLimits, Rendering,
    outcome,
};
use crate::extract::entity_tools::Shelves;
use crate::extract::{Expected, ExtractError, Extracted, Extractor, Window};
use desk::Desk;
pub use tools::AgentKind;

/// Most answers of a delivery that may call tools; then the agent is asked once for its answer, without
/// any. More lets it look around more, and each costs the whole conversation anew.
const ROUNDS: usize = 6;
/// Most calls of one answer that are carried out.
const CALLS: usize = 8;
/// The part of what a model reads that a transcript may take, in fifths: the rest is for its tools.
const TRANSCRIPT_FIFTHS: u32 = 2;
/// The part of what a model reads that calls and their outcomes may take, as a divisor.
const TOOLS_PART: u32 = 8;
/// Most agents that are kept; there are hardly more source agents, and another is as good.
const KEPT: usize = 1_000;

/// The memory of one source agent of one tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryAgent {
    /// Behind which wall.
    pub tenant: Tenant,
    /// Whose memory it is.
    pub descriptor: Descriptor,
}

/// Memory agents, each made when its source agent's first window comes. An extractor like others: what
/// it believes of an answer is judged as theirs is.
pub struct MemoryAgents {
    asks: ModelExtractor,
    shelves: Arc<dyn Shelves>,
    clock: Arc<dyn Clock>,
    kept: Mutex<BTreeMap<(Tenant, String), Arc<MemoryAgent>>>,
}

impl MemoryAgents {
    /// Agents that think with `model`, keep the entities on `shelves` and are told the time by `clock`.
    pub fn new(model: Arc<dyn Model>, shelves: Arc<dyn Shelves>, clock: Arc<dyn Clock>) -> Self {
        let asks = ModelExtractor::new(model, Dialect::MemoryAgent);
        Self {
            asks: asks.rendering(Rendering::Headings),
            shelves,
            clock,
            kept: Mutex::default(),
        }
    }

    /// Minds what operators and users want kept and never kept.
    #[must_use]
    pub fn guided(self, guidance: Guidance) -> Self {
        let asks = self.asks.guided(guidance);
        Self { asks, ..self }
    }

    /// Shows and allows so much.
    #[must_use]
    pub fn limited(self, limits: ModelLimits) -> Self {
        let asks = self.asks.limited(limits);
        Self { asks, ..self }
    }

    /// Asks whom `asked_about` says about each session.
    #[must_use]
    pub fn asking(self, asked_about: Arc<AskedAbout>) -> Self {
        let asks = self.asks.asking(asked_about);
        Self { asks, ..self }
    }

    /// The memory agent of a source agent; made now if it is the first time.
    pub fn of(&self, tenant: &Tenant, source: &str) -> Arc<MemoryAgent> {
        let descriptor = Descriptor::memory_of(source);
        let key = (tenant.clone(), descriptor.cache_key());
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.contains_key(&key) && kept.len() == KEPT {
            kept.pop_first();
        }
        let tenant = tenant.clone();
        let agent = || Arc::new(MemoryAgent { tenant, descriptor });
        Arc::clone(kept.entry(key).or_insert_with(agent))
    }

    /// What is posted about a window, with room left for what tools say.
    fn posted(&self, model: &dyn Model, window: Window<'_>, budget: Option<u32>) -> Question {
        let tools = tools::offered(AgentKind::Memory).into_iter();
        let tools = tools
            .map(|t| model.count_tokens(&format!("{} {} {}", t.name, t.description, t.arguments)));
        let most = model.context_tokens() / 5 * TRANSCRIPT_FIFTHS;
        let most = tools.fold(most, u32::saturating_sub);
        let question = self.asks.question(window, budget);
        match question.tokens > most {
            true => self.asks.question(window, Some(most)),
            false => question,
        }
    }

    /// One delivery: asks, carries out what is called, and asks again, until there is an answer.
    async fn deliver(
        &self,
        model: &dyn Model,
        window: Window<'_>,
        question: &Question,
    ) -> Result<Extracted, Stopped> {
        let shelf = self.shelves.open(window.session).await?;
        let mut desk = Desk::new(AgentKind::Memory, shelf, self.clock.now());
        let mut request = question.request.clone();
        request.tools = tools::offered(AgentKind::Memory);
        let room = model.context_tokens() / TOOLS_PART;
        let mut used = 0_u32;
        for _ in 0..ROUNDS {
            let mut reply = model.ask(&request).await?;
            if reply.calls.is_empty() {
                match self.answered(window, question, reply)? {
                    Some(extracted) => return Ok(desk.cleared(extracted)),
                    None => break,
                }
            }
            let shown = &question.rendered.shown;
            let guidance = &self.asks.guidance;
            let beyond = reply.calls.split_off(reply.calls.len().min(CALLS));
            let outcomes = desk.carry_out(&reply.calls, beyond.len(), window, shown, guidance);
            let calls = reply.calls.iter().map(|call| call.arguments.as_str());
            let said = outcomes.iter().map(|outcome| outcome.text.as_str());
            used = calls
                .chain(said)
                .chain([reply.text.as_str()])
                .fold(used, |sum, text| {
                    sum.saturating_add(model.count_tokens(text))
                });
            if used > room {
                break;
            }
            request.messages.push(Message {
                calls: reply.calls,
                ..Message::new(Role::Assistant, reply.text)
            });
            request.messages.extend(outcomes);
        }
        // What tools said goes along as text: providers take no outcomes where no tools are offered.
        let mut last = question.request.clone();
        let budget = room.min(question.tokens.max(LEAST_TRANSCRIPT));
        last.messages
            .push(desk.farewell(budget, &|text| model.count_tokens(text)));
        let reply = model.ask(&last).await?;
        let is_cut_off = reply.finish == Finish::Length;
        match self.asks.believe(window, question, reply) {
            Ok(extracted) => Ok(desk.cleared(extracted)),
            Err(error) if is_cut_off => Err(Stopped::NoRoom(error)),
            Err(error) => Err(Stopped::Failed(error)),
        }
    }

    /// What an answer without calls comes to; nothing if it cannot be read.
    fn answered(
        &self,
        window: Window<'_>,
        question: &Question,
        mut reply: ModelReply,
    ) -> Result<Option<Extracted>, Stopped> {
        let finish = reply.finish;
        if finish == Finish::Tools {
            // It says that it wants tools called, and calls none.
            reply.finish = Finish::Stop;
        }
        match (self.asks.believe(window, question, reply), finish) {
            (Ok(extracted), _) => Ok(Some(extracted)),
            (Err(_), Finish::Stop | Finish::Tools) => Ok(None),
            (Err(error), Finish::Length) => Err(Stopped::NoRoom(error)),
            (Err(error), Finish::Filtered) => Err(Stopped::Failed(error)),
        }
    }
}

/// Why a delivery has no answer.
enum Stopped {
    /// There was no room; with less of the window there may be.
    NoRoom(ExtractError),
    /// Asking again at once does not help.
    Failed(ExtractError),
}

impl From<ExtractError> for Stopped {
    fn from(error: ExtractError) -> Self {
        Self::Failed(error)
    }
}

impl From<ModelFailure> for Stopped {
    fn from(failure: ModelFailure) -> Self {
        let error = outcome::failed(&failure);
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
        self.asks.name()
    }

    /// Of the transcript that is posted; how often the agent looks something up is not foreseen.
    fn forecast(&self, window: Window<'_>) -> Option<Expected> {
        self.asks.forecast(window)
    }

    fn wants_known(&self) -> bool {
        self.asks.wants_known()
    }

    async fn extract(&self, window: Window<'_>) -> Result<Extracted, ExtractError> {
        let id = &window.session.id;
        let agent = self.of(&id.tenant, &id.agent);
        tracing::debug!(agent = agent.descriptor.cache_key(), "posting a transcript");
        // All that is asked about a window is asked of this one.
        let model = &*self.asks.asked(window);
        let question = self.posted(model, window, None);
        if question.rendered.shown.is_empty() {
            return outcome::unasked(model.name(), &question.rendered);
        }
        let smaller = Some(question.tokens / 2).filter(|half| *half >= LEAST_TRANSCRIPT);
        let again = match (self.deliver(model, window, &question).await, smaller) {
            (Ok(extracted), _) => return Ok(extracted),
            (Err(Stopped::NoRoom(_)), Some(half)) => self.posted(model, window, Some(half)),
            (Err(Stopped::NoRoom(error) | Stopped::Failed(error)), _) => return Err(error),
        };
        if again.rendered.shown.is_empty() {
            return outcome::unasked(model.name(), &again.rendered);
        }
        match self.deliver(model, window, &again).await {
            Ok(extracted) => Ok(extracted),
            Err(Stopped::NoRoom(error) | Stopped::Failed(error)) => Err(error),
        }
    }
}

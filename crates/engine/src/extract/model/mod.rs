//! Extraction by a language model: one question about a window, and only what its answer can show.
//!
//! A [`Dialect`] is a prompt and the form of its answers: Daybook's own, or those of the seeds. A
//! [`Rendering`] is how the window is shown. Whatever the dialect, drafts pass the same validation, and
//! an answer that cannot be read changes nothing and is reported. A window is asked about at most twice.
//!
//! Not here: how a model is reached (the seam is `daybook_domain::model`), what may be spent.

pub mod agent;
mod answer;
mod cut;
#[cfg(test)]
mod fuzz_tests;
mod grounds;
mod guidance;
mod headings;
mod no_reply;
mod observations_xml;
mod outcome;
mod prompt;
mod request;
mod rollout;
#[cfg(test)]
mod scene;
mod stage_one;
#[cfg(test)]
mod tests;
mod tiers;
mod transcript;
mod validation;

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use daybook_domain::model::{AnswerSchema, Finish, Model, ModelError, ModelReply};

pub use crate::asked::AskedAbout;
pub use crate::prompt::Prompt;
pub use guidance::Guidance;
pub(super) use no_reply::message_chars;

use super::{Expected, ExtractError, Extracted, Extractor, Window};
use crate::spend;
use answer::{Answer, Unusable};
use request::{Asking, Question, is_foreground};

/// What a model is asked, and in what form it answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Daybook's own: observations that cite events, a summary, raw memory; by schema.
    #[default]
    Extract,
    /// Observations as XML (seed 001).
    Observations,
    /// Raw memory, summary and slug; by schema (seed 002).
    StageOne,
    /// Lines, or `NO_REPLY` (seed 004).
    SilentTurn,
    /// What a memory agent is posted; observations as XML (seed 001).
    MemoryAgent,
}

/// How a window is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rendering {
    /// Numbered events, which observations can cite.
    #[default]
    Numbered,
    /// Messages under headings (D.5).
    Headings,
    /// Labelled JSON lines in several messages (two-phase 2.5).
    Rollout,
    /// One short line per message (M.4). How many of them there are is for the window's limits to say.
    Lines,
}

impl Dialect {
    /// The word that an extractor's name begins with.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Extract => "extract",
            Self::Observations => "observations",
            Self::StageOne => "stage_one",
            Self::SilentTurn => "silent_turn",
            Self::MemoryAgent => "memory_agent",
        }
    }

    fn file(self) -> &'static str {
        match self {
            Self::Extract => prompt::EXTRACT,
            Self::Observations => prompt::OBSERVE,
            Self::StageOne => prompt::STAGE_ONE,
            Self::SilentTurn => prompt::SILENT_TURN,
            Self::MemoryAgent => prompt::MEMORY_AGENT,
        }
    }

    fn schema(self) -> Option<AnswerSchema> {
        match self {
            Self::Extract => Some(stage_one::extract_schema()),
            Self::StageOne => Some(stage_one::stage_one_schema()),
            Self::Observations | Self::SilentTurn | Self::MemoryAgent => None,
        }
    }

    fn read(self, reply: ModelReply) -> Result<Answer, Unusable> {
        match self {
            Self::Extract => stage_one::read_extract(demanded(reply)?),
            Self::StageOne => stage_one::read_stage_one(demanded(reply)?),
            Self::Observations | Self::MemoryAgent => observations_xml::read(&reply.text),
            Self::SilentTurn => no_reply::read(&reply.text),
        }
    }
}

fn demanded(reply: ModelReply) -> Result<serde_json::Value, Unusable> {
    match reply.answer {
        Some(answer) => Ok(answer),
        None if reply.text.trim().is_empty() => Err(Unusable("is empty")),
        None => serde_json::from_str(reply.text.trim()).map_err(|_| Unusable("is no JSON")),
    }
}

/// How much a model is shown and may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelLimits {
    /// Most tokens of a window's transcript; less where the model reads less. More shows more of what
    /// tools printed, and costs more.
    pub transcript_tokens: u32,
    /// Most tokens of an answer, thoughts included; less where the model reads less than four times that.
    pub answer_tokens: u32,
}

impl Default for ModelLimits {
    fn default() -> Self {
        Self {
            transcript_tokens: 48_000,
            answer_tokens: 8_192,
        }
    }
}

/// Fewest tokens of a transcript that are worth asking about.
const LEAST_TRANSCRIPT: u32 = 200;

/// The extractor that asks a model.
pub struct ModelExtractor {
    model: Arc<dyn Model>,
    dialect: Dialect,
    rendering: Rendering,
    guidance: Guidance,
    limits: ModelLimits,
    asked_about: Option<Arc<AskedAbout>>,
    /// What is sent whatever a window holds: of work that no person takes part in, and of conversations.
    prompt_tokens: [OnceLock<u32>; 2],
    name: String,
}

impl ModelExtractor {
    /// An extractor that asks `model` in `dialect` about numbered events.
    pub fn new(model: Arc<dyn Model>, dialect: Dialect) -> Self {
        let version = Prompt::of(dialect.file()).version;
        Self {
            name: format!("{}/{version} {}", dialect.word(), model.name()),
            model,
            dialect,
            rendering: Rendering::default(),
            guidance: Guidance::default(),
            limits: ModelLimits::default(),
            asked_about: None,
            prompt_tokens: Default::default(),
        }
    }

    /// Asks whom `asked_about` says about each session. Name, context and tokens stay the model's own.
    #[must_use]
    pub fn asking(self, asked_about: Arc<AskedAbout>) -> Self {
        let asked_about = Some(asked_about);
        Self {
            asked_about,
            ..self
        }
    }

    /// Shows windows otherwise.
    #[must_use]
    pub fn rendering(self, rendering: Rendering) -> Self {
        Self { rendering, ..self }
    }

    /// Minds what operators and users want kept and never kept.
    #[must_use]
    pub fn guided(self, guidance: Guidance) -> Self {
        // The guidance is part of what was counted.
        let prompt_tokens = Default::default();
        Self {
            guidance,
            prompt_tokens,
            ..self
        }
    }

    /// Shows and allows so much.
    #[must_use]
    pub fn limited(self, limits: ModelLimits) -> Self {
        Self { limits, ..self }
    }

    /// Who is asked about a window.
    fn asked(&self, window: Window<'_>) -> Arc<dyn Model> {
        match &self.asked_about {
            Some(asked_about) => asked_about(window.session),
            None => Arc::clone(&self.model),
        }
    }

    /// What is asked about a window whose transcript may take `budget` tokens; as much as fits if nothing
    /// is said.
    fn question(&self, window: Window<'_>, budget: Option<u32>) -> Question {
        let count = |text: &str| self.model.count_tokens(text);
        let context = self.model.context_tokens();
        let mut asking = Asking {
            dialect: self.dialect,
            rendering: self.rendering,
            guidance: &self.guidance,
            answer_tokens: self.limits.answer_tokens.min((context / 4).max(1)),
            prompt_tokens: 0,
            count: &count,
        };
        let counted = &self.prompt_tokens[usize::from(is_foreground(window))];
        asking.prompt_tokens = *counted.get_or_init(|| asking.count_prompt(window));
        let budget = budget.unwrap_or_else(|| {
            let besides = asking.prompt_tokens.saturating_add(asking.answer_tokens);
            // A twentieth is left for how a provider wraps messages, and 30 of 130 for what goes along.
            let free = (context / 20 * 19).saturating_sub(besides) / 13 * 10;
            free.min(rollout::room(context))
                .min(self.limits.transcript_tokens)
        });
        asking.question(window, budget)
    }

    fn believe(
        &self,
        window: Window<'_>,
        question: &Question,
        reply: ModelReply,
    ) -> Result<Extracted, ExtractError> {
        let unusable = |Unusable(what)| outcome::unusable(self.model.name(), what);
        match reply.finish {
            Finish::Stop => {}
            Finish::Length => return Err(unusable(Unusable("was cut off at its limit"))),
            Finish::Filtered => return Err(unusable(Unusable("was cut off by a filter"))),
            Finish::Tools => return Err(unusable(Unusable("calls tools that nobody offered"))),
        }
        let answer = self.dialect.read(reply).map_err(unusable)?;
        let is_checked = self.dialect == Dialect::Extract;
        let shown = &question.rendered;
        Ok(outcome::extracted(
            answer,
            window,
            shown,
            &self.guidance,
            is_checked,
        ))
    }
}

#[async_trait]
impl Extractor for ModelExtractor {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants_known(&self) -> bool {
        true
    }

    async fn extract(&self, window: Window<'_>) -> Result<Extracted, ExtractError> {
        let question = self.question(window, None);
        if question.rendered.shown.is_empty() {
            return outcome::unasked(self.model.name(), &question.rendered);
        }
        let smaller = Some(question.tokens / 2).filter(|half| *half >= LEAST_TRANSCRIPT);
        let model = self.asked(window);
        match (model.ask(&question.request).await, smaller) {
            (Ok(reply), Some(budget)) if reply.finish == Finish::Length => {
                self.ask_again(window, budget).await
            }
            (Err(failure), Some(budget)) if matches!(failure.error, ModelError::TooLong { .. }) => {
                self.ask_again(window, budget).await
            }
            (Ok(reply), _) => self.believe(window, &question, reply),
            (Err(failure), _) => Err(outcome::failed(&failure)),
        }
    }

    fn forecast(&self, window: Window<'_>) -> Option<Expected> {
        let question = self.question(window, None);
        if question.rendered.shown.is_empty() {
            return None;
        }
        Some(Expected {
            model: self.model.name().to_owned(),
            question: spend::question(&*self.model, &question.request),
            worst: spend::worst_case(&*self.model, &question.request),
        })
    }
}

impl ModelExtractor {
    /// The second and last question about a window, with less of it.
    async fn ask_again(&self, window: Window<'_>, budget: u32) -> Result<Extracted, ExtractError> {
        let question = self.question(window, Some(budget));
        if question.rendered.shown.is_empty() {
            return outcome::unasked(self.model.name(), &question.rendered);
        }
        match self.asked(window).ask(&question.request).await {
            Ok(reply) => self.believe(window, &question, reply),
            Err(failure) => Err(outcome::failed(&failure)),
        }
    }
}

//! Extraction by a language model: one question about a window, and a validated answer.
//!
//! A [`Dialect`] is a prompt and the form of its answers: Daybook's own, or another system's. A
//! [`Rendering`] is the form of the window in the prompt. In every dialect drafts pass the same validation, and
//! an unusable answer changes nothing and is reported. There are at most two requests about a window.
//!
//! Not here: how a model is reached (the seam is `daybook_domain::model`), what may be spent.

pub mod agent;
mod answer;
#[cfg(test)]
mod dialogue_test_support;
mod echo;
mod evidence;
mod extraction_output;
#[cfg(test)]
mod fuzz_tests;
mod guidance;
mod headings;
mod no_reply;
mod observations_xml;
mod prompt;
mod prose_form;
mod request;
mod rollout;
mod stage_one;
#[cfg(test)]
mod tests;
mod tiers;
mod transcript;
mod truncate;
mod validation;

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use daybook_domain::model::{AnswerSchema, FinishReason, Model, ModelError, ModelReply};
use strum::IntoStaticStr;

pub use daybook_domain::model::ModelForSession;
pub use daybook_text::prompt::Prompt;
pub(crate) use evidence::names_all;
pub(crate) use extraction_output::model_failure_error;
pub use guidance::Guidance;
pub use no_reply::NO_REPLY;
pub(super) use no_reply::message_chars;
pub(crate) use request::fenced;
pub(crate) use validation::MAX_TEXT;

use super::{ExtractError, Extractor, ExtractorOutput, TokenForecast, Window};
use crate::spend;
use answer::{ModelAnswer, UnusableAnswer};
use request::{QuestionBuilder, WindowQuestion, is_foreground};

/// A prompt and the form of its answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Dialect {
    /// Daybook's own: observations that cite events, a summary, raw memory; by schema.
    #[default]
    Extract,
    /// Daycare's observations, as XML.
    Observations,
    /// Codex's raw memory, summary and slug, by schema.
    StageOne,
    /// MindRoom's lines, or `NO_REPLY`.
    SilentTurn,
    /// What Daycare's memory agent is posted; observations as XML.
    MemoryAgent,
}

/// The form in which a window is shown to a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rendering {
    /// Numbered events, which observations can cite.
    #[default]
    Numbered,
    /// Messages under headings, as Daycare has them.
    Headings,
    /// Labelled JSON lines in several messages, as Codex has them.
    Rollout,
    /// One short line per message, as MindRoom has them. Window limits decide how many there are.
    Lines,
}

impl Dialect {
    /// The first word of an extractor's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
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

    fn parse(self, reply: ModelReply, no_reply: &str) -> Result<ModelAnswer, UnusableAnswer> {
        match self {
            Self::Extract => stage_one::parse_extract(json_answer(reply)?),
            Self::StageOne => stage_one::parse_stage_one(json_answer(reply)?),
            Self::Observations | Self::MemoryAgent => observations_xml::parse(&reply.text),
            Self::SilentTurn => Ok(no_reply::parse(&reply.text, no_reply)),
        }
    }
}

fn json_answer(reply: ModelReply) -> Result<serde_json::Value, UnusableAnswer> {
    match reply.answer {
        Some(answer) => Ok(answer),
        None if reply.text.trim().is_empty() => Err(UnusableAnswer("is empty")),
        None => serde_json::from_str(reply.text.trim()).map_err(|_| UnusableAnswer("is no JSON")),
    }
}

/// Bounds of a request and its answer.
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

/// An extractor that asks a model.
pub struct ModelExtractor {
    model: Arc<dyn Model>,
    dialect: Dialect,
    rendering: Rendering,
    guidance: Guidance,
    limits: ModelLimits,
    /// The answer of a silent turn that means that nothing is worth keeping.
    no_reply: String,
    session_model: Option<Arc<ModelForSession>>,
    /// Tokens that are sent with every window: of background work, and of conversations with a person.
    prompt_tokens: [OnceLock<u32>; 2],
    name: String,
}

impl ModelExtractor {
    /// An extractor that asks `model` in `dialect` about numbered events.
    pub fn new(model: Arc<dyn Model>, dialect: Dialect) -> Self {
        let version = Prompt::of(dialect.file()).version;
        Self {
            name: format!("{}/{version} {}", dialect.as_str(), model.name()),
            model,
            dialect,
            rendering: Rendering::default(),
            guidance: Guidance::default(),
            limits: ModelLimits::default(),
            no_reply: NO_REPLY.to_owned(),
            session_model: None,
            prompt_tokens: Default::default(),
        }
    }

    /// Asks, for each session, the model that `session_model` returns. Name, context and tokens stay the model's own.
    #[must_use]
    pub fn with_session_model(self, session_model: Arc<ModelForSession>) -> Self {
        let session_model = Some(session_model);
        Self {
            session_model,
            ..self
        }
    }

    /// Sets the form in which windows are shown.
    #[must_use]
    pub fn with_rendering(self, rendering: Rendering) -> Self {
        Self { rendering, ..self }
    }

    /// Applies the guidance of operators and users.
    #[must_use]
    pub fn with_guidance(self, guidance: Guidance) -> Self {
        // The counts include the guidance.
        let prompt_tokens = Default::default();
        Self {
            guidance,
            prompt_tokens,
            ..self
        }
    }

    /// Sets the bounds of transcript and answer.
    #[must_use]
    pub fn with_limits(self, limits: ModelLimits) -> Self {
        Self { limits, ..self }
    }

    /// Sets the answer of a silent turn that means that nothing is worth keeping.
    #[must_use]
    pub fn with_no_reply(self, no_reply: &str) -> Self {
        let no_reply = no_reply.to_owned();
        Self { no_reply, ..self }
    }

    /// The model to ask about a window.
    fn model_for(&self, window: Window<'_>) -> Arc<dyn Model> {
        match &self.session_model {
            Some(session_model) => session_model(window.session),
            None => Arc::clone(&self.model),
        }
    }

    /// The question about a window whose transcript may take `budget` tokens; `None`: as much as fits.
    fn question(&self, window: Window<'_>, budget: Option<u32>) -> WindowQuestion {
        let count = |text: &str| self.model.count_tokens(text);
        let context = self.model.context_tokens();
        let mut with_session_model = QuestionBuilder {
            dialect: self.dialect,
            rendering: self.rendering,
            guidance: &self.guidance,
            no_reply: &self.no_reply,
            context_tokens: context,
            answer_tokens: self.limits.answer_tokens.min((context / 4).max(1)),
            prompt_tokens: 0,
            count: &count,
        };
        let counted = &self.prompt_tokens[usize::from(is_foreground(window))];
        with_session_model.prompt_tokens =
            *counted.get_or_init(|| with_session_model.count_prompt(window));
        let budget = budget.unwrap_or_else(|| {
            let besides = with_session_model
                .prompt_tokens
                .saturating_add(with_session_model.answer_tokens);
            // A twentieth is left for the provider's wrapping of messages, and 30 of 130 for other material.
            let free = (context / 20 * 19).saturating_sub(besides) / 13 * 10;
            free.min(rollout::token_budget(context))
                .min(self.limits.transcript_tokens)
        });
        with_session_model.question(window, budget)
    }

    fn parse_reply(
        &self,
        window: Window<'_>,
        question: &WindowQuestion,
        reply: ModelReply,
    ) -> Result<ExtractorOutput, ExtractError> {
        let unusable_answer_error = |UnusableAnswer(what)| {
            extraction_output::unusable_answer_error(self.model.name(), what)
        };
        match reply.finish {
            FinishReason::Stop => {}
            FinishReason::Length => {
                return Err(unusable_answer_error(UnusableAnswer(
                    "was cut off at its limit",
                )));
            }
            FinishReason::Filtered => {
                return Err(unusable_answer_error(UnusableAnswer(
                    "was cut off by a filter",
                )));
            }
            FinishReason::Tools => {
                return Err(unusable_answer_error(UnusableAnswer(
                    "calls tools that nobody offered",
                )));
            }
        }
        let answer = self
            .dialect
            .parse(reply, &self.no_reply)
            .map_err(unusable_answer_error)?;
        let shown = &question.rendered;
        Ok(extraction_output::build_output(
            answer,
            window,
            shown,
            &self.guidance,
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

    async fn extract(&self, window: Window<'_>) -> Result<ExtractorOutput, ExtractError> {
        let question = self.question(window, None);
        if question.rendered.shown.is_empty() {
            return extraction_output::empty_window_result(self.model.name(), &question.rendered);
        }
        let smaller = Some(question.tokens / 2).filter(|half| *half >= LEAST_TRANSCRIPT);
        let model = self.model_for(window);
        match (model.ask(&question.request).await, smaller) {
            (Ok(reply), Some(budget)) if reply.finish == FinishReason::Length => {
                self.ask_again(window, budget).await
            }
            (Err(failure), Some(budget)) if matches!(failure.error, ModelError::TooLong { .. }) => {
                self.ask_again(window, budget).await
            }
            (Ok(reply), _) => self.parse_reply(window, &question, reply),
            (Err(failure), _) => Err(extraction_output::model_failure_error(&failure)),
        }
    }

    fn forecast(&self, window: Window<'_>) -> Option<TokenForecast> {
        let question = self.question(window, None);
        if question.rendered.shown.is_empty() {
            return None;
        }
        Some(TokenForecast {
            model: self.model.name().to_owned(),
            question: spend::expected_usage(&*self.model, &question.request),
            worst: spend::worst_case(&*self.model, &question.request),
        })
    }
}

impl ModelExtractor {
    /// Sends the second and last request about a window, with less of it.
    async fn ask_again(
        &self,
        window: Window<'_>,
        budget: u32,
    ) -> Result<ExtractorOutput, ExtractError> {
        let question = self.question(window, Some(budget));
        if question.rendered.shown.is_empty() {
            return extraction_output::empty_window_result(self.model.name(), &question.rendered);
        }
        match self.model_for(window).ask(&question.request).await {
            Ok(reply) => self.parse_reply(window, &question, reply),
            Err(failure) => Err(extraction_output::model_failure_error(&failure)),
        }
    }
}

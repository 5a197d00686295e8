//! The seed's own compactor: a model writes the summary (seed 003, `WorkingHistoryCompactor`).
//!
//! Not here: whether its answer may stand (`check`), who is asked when it fails (`plan`).

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::BoxError;
use daybook_domain::model::{Finish, Message, Model, ModelError, ModelRequest, Role};
use daybook_domain::working::selection::is_compactable;
use daybook_domain::working::{Chunk, ChunkType, RetentionStrategy, State, WorkingFlowSubType};

use super::context::{earlier, names};
use super::excerpt::ends;
use super::{CompactionContext, CompactionResult, Compactor};
use crate::ingest::recalled;
use crate::prompt::Prompt;

/// How the model is asked (seed 003, `LLMConfig`).
///
/// ```
/// use daybook_engine::working::compact::LlmConfig;
/// let brief = LlmConfig { compact_max_tokens: 500, ..LlmConfig::default() };
/// assert_eq!(brief.compact_temperature, 0.3);
/// ```
#[doc(alias = "LLMConfig")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LlmConfig {
    /// 0 to 2.
    pub compact_temperature: f32,
    /// Most tokens of the summary.
    pub compact_max_tokens: u32,
}

impl Default for LlmConfig {
    fn default() -> Self {
        Self {
            compact_temperature: 0.3,
            compact_max_tokens: 2_000,
        }
    }
}

const PROMPT: &str = include_str!("prompts/working_history.md");
/// Most characters of one entry, and of all of them: at the first try, and at the second.
const TRIES: [(usize, usize); 2] = [(8_000, 240_000), (800, 40_000)];
/// What must be in an answer: the seed's output begins with it.
const HEADING: &str = "## Progress Summary";
/// Tags that stand around material, and which it must not hold.
const TAGS: [&str; 10] = [
    "entry",
    "context",
    "task_goal",
    "progress_summary",
    "system_context",
    "retained_content",
    "retained_entry",
    "working_history_to_compact",
    "instructions",
    "output_format",
];

/// Has a model condense the conversation into the seed's output format, carrying on what it wrote before.
///
/// ```
/// use std::sync::Arc;
/// use daybook_domain::model::Model;
/// use daybook_engine::working::compact::{LlmConfig, WorkingHistoryCompactor};
/// /// A model of its own for summaries: a small one will do.
/// fn summaries(small: Arc<dyn Model>) -> WorkingHistoryCompactor {
///     WorkingHistoryCompactor::new(small, LlmConfig::default())
/// }
/// # let _ = summaries;
/// ```
#[derive(Clone)]
pub struct WorkingHistoryCompactor {
    model: Arc<dyn Model>,
    config: LlmConfig,
}

impl WorkingHistoryCompactor {
    /// Asks `model`.
    #[must_use]
    pub fn new(model: Arc<dyn Model>, config: LlmConfig) -> Self {
        Self { model, config }
    }

    /// Asks `model` instead, in the same way.
    pub(crate) fn asking(self, model: Arc<dyn Model>) -> Self {
        Self { model, ..self }
    }

    /// What the model is asked.
    fn request(
        &self,
        chunks: &[Arc<Chunk>],
        context: &CompactionContext<'_>,
        most: (usize, usize),
    ) -> ModelRequest {
        let (summary, rest) = earlier(chunks);
        let material = material(context, summary.as_deref(), &rest, most);
        ModelRequest {
            messages: vec![
                Message::new(Role::System, Prompt::of(PROMPT).text),
                Message::new(Role::User, material),
            ],
            tools: Vec::new(),
            answer: None,
            temperature: Some(self.config.compact_temperature),
            max_tokens: self.config.compact_max_tokens,
        }
    }

    fn fits(&self, request: &ModelRequest) -> bool {
        let texts = request.messages.iter().map(|message| &message.text);
        let asked: u32 = texts.map(|text| self.model.count_tokens(text)).sum();
        // A tenth for what the provider adds.
        let room = self
            .model
            .context_tokens()
            .saturating_sub(request.max_tokens);
        asked <= room - room / 10
    }

    async fn ask(&self, request: &ModelRequest) -> Result<String, (bool, String)> {
        let reply = self.model.ask(request).await.map_err(|failure| {
            let again = match &failure.error {
                ModelError::TooLong { .. } | ModelError::Malformed { .. } => true,
                ModelError::Unavailable { .. }
                | ModelError::Denied { .. }
                | ModelError::Refused { .. }
                | ModelError::BadRequest { .. }
                | ModelError::Cancelled { .. }
                | ModelError::Other { .. } => false,
            };
            (again, failure.error.to_string())
        })?;
        match reply.finish {
            Finish::Stop => {}
            Finish::Length => return Err((true, "the summary was cut off".to_owned())),
            Finish::Tools => return Err((true, "the model called a tool".to_owned())),
            Finish::Filtered => return Err((false, "the provider cut the answer off".to_owned())),
        }
        match reply.text.find(HEADING) {
            Some(at) => Ok(reply.text[at..].trim().to_owned()),
            None => Err((true, format!("the answer has no \"{HEADING}\""))),
        }
    }
}

#[async_trait]
impl Compactor for WorkingHistoryCompactor {
    fn name(&self) -> &str {
        self.model.name()
    }

    /// What is part of the conversation or of what it was told, and may go (seed 003; section 15, "Compactor").
    fn can_compact(&self, chunks: &[Arc<Chunk>]) -> bool {
        takes(chunks)
    }

    /// Two tries at most: the second with less of each entry.
    async fn compact(
        &self,
        chunks: &[Arc<Chunk>],
        context: &CompactionContext<'_>,
    ) -> Result<CompactionResult, BoxError> {
        if !takes(chunks) {
            return Err("WorkingHistoryCompactor cannot compact these chunks".into());
        }
        let mut faults = Vec::new();
        for most in TRIES {
            let request = self.request(chunks, context, most);
            if !self.fits(&request) {
                faults.push("the history is too long for the model".to_owned());
                continue;
            }
            let text = match self.ask(&request).await {
                Ok(text) => text,
                Err((again, fault)) => {
                    faults.push(fault);
                    if again { continue } else { break }
                }
            };
            if u64::from((context.count)(&text)) > context.most_tokens {
                faults.push("the summary is hardly shorter than the history".to_owned());
                continue;
            }
            return Ok(CompactionResult {
                compacted_chunk: context.compacted(chunks, text),
                original_chunk_ids: names(chunks),
                by: self.model.name().to_owned(),
                faults,
            });
        }
        Err(faults.join("; ").into())
    }
}

/// What the built-in compactors take.
pub(super) fn takes(chunks: &[Arc<Chunk>]) -> bool {
    !chunks.is_empty() && chunks.iter().all(|chunk| is_compactable(chunk))
}

/// The seed's input format, bounded: of entries that are too many the middle ones lose most.
fn material(
    context: &CompactionContext<'_>,
    summary: Option<&str>,
    chunks: &[Arc<Chunk>],
    (most, all): (usize, usize),
) -> String {
    let mut text = String::from("<retained_content>\n");
    text.push_str(&retained(context.state, most));
    text.push_str("</retained_content>\n\n<context>\n");
    let summary = summary
        .map(str::to_owned)
        .or_else(|| context.progress_summary.clone());
    let parts = [
        ("task_goal", context.task_goal.clone()),
        ("progress_summary", summary),
        ("system_context", system(context.state)),
    ];
    let mut is_empty = true;
    for (tag, part) in parts {
        if let Some(part) = part {
            is_empty = false;
            let _ = writeln!(
                text,
                "  <{tag}>\n{}\n  </{tag}>",
                fenced(&ends(&part, most))
            );
        }
    }
    if is_empty {
        text.push_str("  No additional context available.\n");
    }
    text.push_str("</context>\n\n<working_history_to_compact>\n");
    let each = most.min(all / chunks.len().max(1)).max(80);
    for (number, chunk) in chunks.iter().enumerate() {
        let _ = writeln!(
            text,
            "  <entry index=\"{}\" type=\"{}\" timestamp=\"{}\">\n{}\n  </entry>",
            number + 1,
            kind(chunk),
            chunk.metadata.created_at.0,
            fenced(&ends(&told(chunk), each)),
        );
    }
    text.push_str("</working_history_to_compact>\n");
    text
}

/// What an entry is, in the seed's words.
fn kind(chunk: &Chunk) -> &'static str {
    chunk
        .sub_type
        .map_or(chunk.kind.word(), WorkingFlowSubType::word)
}

/// What a chunk tells, without memories of ours: they are never fed back.
fn told(chunk: &Chunk) -> String {
    let told = chunk.content.told();
    match recalled::strip(&told) {
        recalled::Stripped::Said(text) => text.into_owned(),
        recalled::Stripped::OnlyRecalled => "(memories that were recalled)".to_owned(),
    }
}

/// What stays in view whatever happens.
fn retained(state: &State, most: usize) -> String {
    let stays = |chunk: &&Arc<Chunk>| {
        chunk.kind == ChunkType::WorkingFlow
            && chunk.retention_strategy == RetentionStrategy::Critical
    };
    let mut text = String::new();
    for (number, chunk) in state.chunks().filter(stays).enumerate() {
        let _ = writeln!(
            text,
            "  <retained_entry index=\"{}\" type=\"{}\">\n{}\n  </retained_entry>",
            number + 1,
            kind(chunk),
            fenced(&ends(&told(chunk), most)),
        );
    }
    if text.is_empty() {
        text.push_str("  No retained content.\n");
    }
    text
}

fn system(state: &State) -> Option<String> {
    let system = state
        .chunks()
        .filter(|chunk| chunk.kind == ChunkType::System);
    let texts: Vec<_> = system.map(|chunk| told(chunk)).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Material: indented, and without our tags.
fn fenced(text: &str) -> String {
    let mut fenced = String::with_capacity(text.len() + 64);
    for line in text.lines() {
        fenced.push_str("    ");
        let mut rest = line;
        while let Some(at) = rest.find('<') {
            fenced.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            let name = after.trim_start_matches(['/', ' ']);
            let is_tag = TAGS.iter().any(|tag| {
                name.get(..tag.len())
                    .is_some_and(|name| name.eq_ignore_ascii_case(tag))
            });
            fenced.push_str(if is_tag { "&lt;" } else { "<" });
            rest = after;
        }
        fenced.push_str(rest);
        fenced.push('\n');
    }
    fenced.truncate(fenced.trim_end().len());
    fenced
}

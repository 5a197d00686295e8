//! Team9's own compactor, `WorkingHistoryCompactor`: a model writes the summary.
//!
//! Not here: whether its answer is accepted (`check`), which compactor is tried when it fails (`plan`).

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::BoxError;
use daybook_domain::model::{FinishReason, Message, Model, ModelError, ModelRequest, Role};
use daybook_domain::working::{
    Chunk, ChunkType, RetentionStrategy, ThreadState, WorkingFlowSubType,
};

use super::account::{Item, SummaryAccount};
use super::check::takes;
use super::context::{earlier, names};
use super::excerpt::{ends, without_memories};
use super::extractive::account_of;
use super::{CompactionContext, CompactionResult, Compactor};
use daybook_text::prompt::Prompt;
use serde::{Deserialize, Serialize};

/// The model that condenses, and parameters of the request to it (Team9's `LLMConfig`, with its names in JSON).
///
/// ```
/// use daybook_working::compact::LlmConfig;
/// let brief = LlmConfig { compact_max_tokens: 500, ..LlmConfig::default() };
/// assert_eq!(brief.compact_temperature, 0.3);
/// let read: LlmConfig = serde_json::from_str(r#"{"compactModel": "gpt-4o-mini", "compactMaxTokens": 500}"#)?;
/// assert_eq!(read, LlmConfig { compact_model: Some("gpt-4o-mini".to_owned()), ..brief });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[doc(alias = "LLMConfig")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct LlmConfig {
    /// The model's name, for whatever makes the model of it; none for a model that is handed over as such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_model: Option<String>,
    /// The sampling temperature, from 0 to 2.
    pub compact_temperature: f32,
    /// Most tokens of the summary.
    pub compact_max_tokens: u32,
}

impl Default for LlmConfig {
    fn default() -> Self {
        Self {
            compact_model: None,
            compact_temperature: 0.3,
            compact_max_tokens: 2_000,
        }
    }
}

const PROMPT: &str = include_str!("prompts/working_history.md");
/// Most characters of one entry, and of all of them: at the first try, and at the second.
const TRIES: [(usize, usize); 2] = [(8_000, 240_000), (800, 40_000)];
/// A heading that every answer must contain: Team9's output format begins with it.
const HEADING: &str = "## Progress Summary";
/// Tags around the material, which the material itself must not contain.
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

/// Condenses the conversation into Team9's output format with a model, continuing earlier summaries.
///
/// ```
/// use std::sync::Arc;
/// use daybook_domain::model::Model;
/// use daybook_working::compact::{LlmConfig, WorkingHistoryCompactor};
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
    /// A compactor that asks `model`.
    #[must_use]
    pub fn new(model: Arc<dyn Model>, config: LlmConfig) -> Self {
        Self { model, config }
    }

    /// The same compactor with another model.
    pub(crate) fn asking(self, model: Arc<dyn Model>) -> Self {
        Self { model, ..self }
    }

    /// The request to the model.
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
        // Keeps a tenth of the window free for tokens that the provider adds.
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
            FinishReason::Stop => {}
            FinishReason::Length => return Err((true, "the summary was cut off".to_owned())),
            FinishReason::Tools => return Err((true, "the model called a tool".to_owned())),
            FinishReason::Filtered => {
                return Err((false, "the provider cut the answer off".to_owned()));
            }
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

    /// Whether all chunks are compactable parts of the conversation or reports to it (W10, W11).
    fn can_compact(&self, chunks: &[Arc<Chunk>]) -> bool {
        takes(chunks)
    }

    /// Makes at most two tries: the second with less of each entry.
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
            let text = with_decisions(text, chunks, context);
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

/// A model's summary with what the person decided and demanded, where the summary does not hold it word for word: a model
/// leaves such sentences out now and then, and the agent must not. The newest are added first, as far as there is room.
fn with_decisions(
    summary: String,
    chunks: &[Arc<Chunk>],
    context: &CompactionContext<'_>,
) -> String {
    let decisions: Vec<String> = account_of(chunks).decisions().collect();
    let mut account = SummaryAccount::of(&summary);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let held = words(&summary);
    let mut best = summary;
    for text in decisions.iter().rev() {
        if held.contains(&words(text)) {
            continue;
        }
        account.push_first(Item::person(text, None));
        let longer = account.render();
        if u64::from((context.count)(&longer)) > context.most_tokens {
            break;
        }
        best = longer;
    }
    best
}

/// Writes the material in Team9's input format. Each entry is bounded, the more tightly the more entries there are.
fn material(
    context: &CompactionContext<'_>,
    summary: Option<&str>,
    chunks: &[Arc<Chunk>],
    (most, all): (usize, usize),
) -> String {
    let mut text = String::from("<retained_content>\n");
    text.push_str(&retained_entries(context.state, most));
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
                as_material(&ends(&part, most))
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
            as_material(&ends(&without_memories(chunk), each)),
        );
    }
    text.push_str("</working_history_to_compact>\n");
    text
}

/// Team9's name for the type of an entry.
fn kind(chunk: &Chunk) -> &'static str {
    chunk
        .sub_type
        .map_or(chunk.kind.as_str(), WorkingFlowSubType::as_str)
}

/// The chunks that are always kept, as Team9's entries.
fn retained_entries(state: &ThreadState, most: usize) -> String {
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
            as_material(&ends(&without_memories(chunk), most)),
        );
    }
    if text.is_empty() {
        text.push_str("  No retained content.\n");
    }
    text
}

fn system(state: &ThreadState) -> Option<String> {
    let system = state
        .chunks()
        .filter(|chunk| chunk.kind == ChunkType::System);
    let texts: Vec<_> = system.map(|chunk| without_memories(chunk)).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// A text as material: indented, and without our tags.
fn as_material(text: &str) -> String {
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

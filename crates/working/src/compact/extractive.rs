//! The compactor without a model: lists messages and calls under Team9's headings.
//!
//! Each compressible chunk becomes a line of its own, shortened; a batch of calls with their outcomes
//! becomes one line together. Items of an earlier summary are kept, whichever compactor wrote it, and
//! come before the new ones. When room is short the oldest items are removed first, and a line counts them.
//!
//! Not here: the rendering of calls (`daybook_text::calls`).

mod account;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::BoxError;
use daybook_domain::working::{Chunk, WorkingFlowSubType};
use serde_json::Value;

use super::context::{earlier, names};
use super::excerpt::line;
use super::history::takes;
use super::{CompactionContext, CompactionResult, Compactor, weight};
use daybook_text::calls;

use account::{Section, SummaryAccount};

/// Most characters of a message; half as many for a call, and for the reason of a failure.
const WORDS: usize = 240;
/// Most calls of one tool that one line names.
const NAMED: usize = 6;
/// Most tokens of the account, in percent of those of the chunks that it replaces.
const SHARE: u64 = 60;

/// Condenses chunks without a model. Its name is `extractive`.
///
/// ```
/// use daybook_working::compact::{Compactor, ExtractiveCompactor};
/// let compactor = ExtractiveCompactor { max_tokens: 1_000 };
/// assert_eq!(compactor.name(), "extractive");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ExtractiveCompactor {
    /// Most tokens of the account.
    pub max_tokens: u32,
}

impl Default for ExtractiveCompactor {
    fn default() -> Self {
        Self { max_tokens: 2_000 }
    }
}

#[async_trait]
impl Compactor for ExtractiveCompactor {
    fn name(&self) -> &str {
        "extractive"
    }

    fn can_compact(&self, chunks: &[Arc<Chunk>]) -> bool {
        takes(chunks)
    }

    async fn compact(
        &self,
        chunks: &[Arc<Chunk>],
        context: &CompactionContext<'_>,
    ) -> Result<CompactionResult, BoxError> {
        if !takes(chunks) {
            return Err("the extractive compactor cannot compact these chunks".into());
        }
        let before: u64 = chunks
            .iter()
            .map(|chunk| weight(chunk, context.count))
            .sum();
        let (summary, rest) = earlier(chunks);
        let mut account = SummaryAccount::of(&summary.unwrap_or_default());
        summarize(&rest, &mut account);
        let room = u64::from(self.max_tokens)
            .min(before * SHARE / 100)
            .min(context.most_tokens);
        let text = account.render_within(room, |text| u64::from((context.count)(text)));
        Ok(CompactionResult {
            compacted_chunk: context.compacted(chunks, text),
            original_chunk_ids: names(chunks),
            by: self.name().to_owned(),
            faults: Vec::new(),
        })
    }
}

/// Consecutive calls of one tool.
struct CallBatch {
    tool: String,
    calls: Vec<String>,
}

impl CallBatch {
    fn line(&self) -> String {
        let named: Vec<_> = self.calls.iter().take(NAMED).map(String::as_str).collect();
        let named = named.join("; ");
        match (self.calls.len(), named.is_empty()) {
            (1, true) => self.tool.clone(),
            (1, false) => format!("{}: {named}", self.tool),
            (many, true) => format!("{} ({many} times)", self.tool),
            (many, false) if many > NAMED => format!("{} ({many} times): {named}; …", self.tool),
            (many, false) => format!("{} ({many} times): {named}", self.tool),
        }
    }
}

fn summarize(chunks: &[Arc<Chunk>], account: &mut SummaryAccount) {
    let outcomes: HashMap<&str, &Arc<Chunk>> = chunks
        .iter()
        .filter(|chunk| chunk.is(WorkingFlowSubType::ActionResponse))
        .filter_map(|chunk| Some((chunk.call_id()?, chunk)))
        .collect();
    let mut batch: Option<CallBatch> = None;
    let mut state = None;
    for chunk in chunks {
        let action = chunk
            .is(WorkingFlowSubType::AgentAction)
            .then(|| call_item(chunk));
        let failure = action.as_ref().and_then(|_| {
            let outcome = outcomes.get(chunk.call_id()?)?;
            failure(outcome)
        });
        match (action, failure) {
            (Some((tool, call)), None) => match &mut batch {
                Some(batch) if batch.tool == tool => batch.calls.extend(call),
                _ => {
                    push_batch(&mut batch, account);
                    let calls = call.into_iter().collect();
                    batch = Some(CallBatch { tool, calls });
                }
            },
            (Some((tool, call)), Some(why)) => {
                push_batch(&mut batch, account);
                let what = call.map_or(tool.clone(), |call| format!("{tool}: {call}"));
                let item = format!("{what} — failed: {why}");
                account.push(Section::Attempted, item);
            }
            (None, _) => {
                if let Some((section, item)) = item_of(chunk) {
                    push_batch(&mut batch, account);
                    if section == Section::State {
                        // Only the last response is the current state; those before it are completed.
                        if let Some(before) = state.replace(item) {
                            account.push(Section::Completed, before);
                        }
                    } else {
                        account.push(section, item);
                    }
                }
            }
        }
    }
    push_batch(&mut batch, account);
    if let Some(state) = state {
        account.set_state(state);
    }
}

fn push_batch(batch: &mut Option<CallBatch>, account: &mut SummaryAccount) {
    if let Some(batch) = batch.take() {
        account.push(Section::Completed, batch.line());
    }
}

/// A call's tool, and its arguments in one line.
fn call_item(chunk: &Chunk) -> (String, Option<String>) {
    let content = &chunk.content;
    let word = |name| content.str_field(name).map(str::to_owned);
    let tool = word("toolName")
        .or_else(|| word("skillName"))
        .or_else(|| word("agentType"))
        .unwrap_or_else(|| "call".to_owned());
    let given = content
        .field("arguments")
        .or_else(|| content.field("input"));
    let text = match (given, word("task")) {
        (_, Some(task)) => task,
        (Some(Value::Null) | None, None) => chunk.content.to_text().into_owned(),
        (Some(given), None) => match only_text_argument(given) {
            Some(word) => word.to_owned(),
            None => calls::render(&tool, &given.to_string()),
        },
    };
    let text = line(&text, WORDS / 2);
    (tool, (!text.is_empty() && text != "{}").then_some(text))
}

/// The only argument of a call, if it has one alone and that is a text.
fn only_text_argument(given: &Value) -> Option<&str> {
    let fields = given.as_object().filter(|fields| fields.len() == 1)?;
    fields.values().next()?.as_str()
}

/// The reason of a failed outcome; `None` for a successful one.
fn failure(outcome: &Chunk) -> Option<String> {
    let content = &outcome.content;
    if content.field("success") != Some(&Value::Bool(false)) {
        return None;
    }
    let why = content.str_field("error").map(str::to_owned);
    let why = why.unwrap_or_else(|| match content.field("result") {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "no reason given".to_owned(),
    });
    // Programs usually print the error at the end of their output.
    let last = why.lines().rev().find(|line| !line.trim().is_empty());
    Some(line(last.unwrap_or(&why), WORDS / 2))
}

/// The item for one chunk that is no call, with its section.
fn item_of(chunk: &Chunk) -> Option<(Section, String)> {
    use WorkingFlowSubType as Part;
    let words = || line(&chunk.content.to_text(), WORDS);
    match chunk.sub_type {
        Some(Part::User) => {
            let text = match &chunk.content {
                daybook_domain::working::ChunkContent::Text {
                    text: Some(text), ..
                } => line(text, WORDS),
                _ => words(),
            };
            Some((Section::Key, format!("The person: \"{text}\"")))
        }
        Some(Part::Response) => Some((Section::State, words())),
        // An outcome is covered by the item of its call; thoughts are not kept.
        Some(Part::ActionResponse | Part::Thinking | Part::AgentAction | Part::Compacted) => None,
        None => Some((Section::Key, words())),
    }
}

//! The context of a compaction, which a compactor receives besides the chunks.

use std::sync::Arc;

use daybook_domain::Timestamp;
use daybook_domain::working::{
    Chunk, ChunkContent, ChunkId, ChunkType, IdSource, RetentionStrategy, ThreadState,
    WorkingFlowSubType,
};
use serde_json::Value;

use super::{Count, weight};

/// The context of a compaction (Team9's `CompactionContext`).
///
/// ```
/// use daybook_working::compact::CompactionContext;
/// let goal = |context: &CompactionContext<'_>| match &context.task_goal {
///     Some(goal) => format!("Keep what serves this: {goal}"),
///     None => "Keep what was decided.".to_owned(),
/// };
/// # let _ = goal;
/// ```
pub struct CompactionContext<'a> {
    /// The state, which does not change during the compaction.
    pub state: &'a ThreadState,
    /// The agent's task.
    pub task_goal: Option<String>,
    /// The summary of earlier compactions, which the new one continues.
    pub progress_summary: Option<String>,
    /// Most tokens of the result: fewer than those of the chunks that it replaces.
    pub most_tokens: u64,
    /// The room for the result in the agent's window.
    pub room: SummaryRoom,
    /// Counts the tokens of a text.
    pub count: &'a Count,
    /// Ids for new chunks.
    pub ids: IdSource,
    /// The present time.
    pub now: Timestamp,
}

/// How full the agent's window is: the emptier, the more of the originals a summary may keep.
///
/// ```
/// use daybook_working::compact::SummaryRoom;
/// let (nearly_empty, full) = (SummaryRoom { window: 8_192, stays: 300 }, SummaryRoom { window: 8_192, stays: 7_000 });
/// assert!(nearly_empty.for_account(2_000) > full.for_account(2_000));
/// assert_eq!(full.for_account(2_000), 2_000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryRoom {
    /// Tokens of the agent's window.
    pub window: u64,
    /// Tokens of the chunks that stay beside the summary.
    pub stays: u64,
}

impl SummaryRoom {
    /// Tokens of an account that usually takes `usual`: what fills half of the window, but no more than four times as
    /// many. Where the window is full, the usual number, of a small window a quarter.
    #[must_use]
    pub fn for_account(self, usual: u64) -> u64 {
        let free = (self.window / 2).saturating_sub(self.stays);
        let least = usual.min(self.window / 4);
        free.max(least).min(usual.saturating_mul(4))
    }
}

impl<'a> CompactionContext<'a> {
    /// The context for a compaction of a state.
    pub(super) fn of(
        state: &'a ThreadState,
        count: &'a Count,
        ids: IdSource,
        now: Timestamp,
    ) -> Self {
        Self {
            state,
            task_goal: task_goal(state),
            progress_summary: None,
            most_tokens: u64::MAX,
            room: SummaryRoom {
                window: u64::MAX,
                stays: 0,
            },
            count,
            ids,
            now,
        }
    }

    /// Makes the chunk that replaces `chunks`: part `COMPACTED` of the conversation, compressible, with them
    /// as its parents and the range of events that they came from.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use daybook_domain::working::{Chunk, WorkingFlowSubType};
    /// use daybook_working::compact::CompactionContext;
    /// fn summary(chunks: &[Arc<Chunk>], context: &CompactionContext<'_>) -> Chunk {
    ///     let summary = context.compacted(chunks, "Two files were read.");
    ///     assert!(summary.is(WorkingFlowSubType::Compacted));
    ///     summary
    /// }
    /// # let _ = summary;
    /// ```
    #[must_use]
    pub fn compacted(&self, chunks: &[Arc<Chunk>], text: impl Into<String>) -> Chunk {
        let kind = ChunkType::WorkingFlow;
        let id = self.ids.clone().chunk();
        let mut compacted = Chunk::new(id, kind, ChunkContent::text(text), self.now)
            .part(WorkingFlowSubType::Compacted)
            .kept(RetentionStrategy::Compressible);
        let metadata = &mut compacted.metadata;
        metadata.parent_ids = chunks.iter().map(|chunk| chunk.id.clone()).collect();
        let before: u64 = chunks.iter().map(|chunk| weight(chunk, self.count)).sum();
        let custom = &mut metadata.custom;
        custom.insert("compactedAt".to_owned(), self.now.0.into());
        custom.insert("originalChunkCount".to_owned(), chunks.len().into());
        custom.insert("tokensBefore".to_owned(), before.into());
        if let Some((from, to)) = events(chunks) {
            custom.insert("fromSeq".to_owned(), from.into());
            custom.insert("toSeq".to_owned(), to.into());
        }
        compacted
    }
}

/// The ids of chunks.
pub(super) fn names(chunks: &[Arc<Chunk>]) -> Vec<ChunkId> {
    chunks.iter().map(|chunk| chunk.id.clone()).collect()
}

/// The first and the last event that chunks came from.
pub(super) fn events(chunks: &[Arc<Chunk>]) -> Option<(u64, u64)> {
    let of =
        |chunk: &Arc<Chunk>, name: &str| chunk.metadata.custom.get(name).and_then(Value::as_u64);
    let from = |chunk| of(chunk, "fromSeq").or_else(|| of(chunk, "seq"));
    let to = |chunk| of(chunk, "toSeq").or_else(|| of(chunk, "seq"));
    let first = chunks.iter().filter_map(from).min()?;
    Some((first, chunks.iter().filter_map(to).max()?))
}

/// The agent's task: from a chunk of the system or a delegation, else the first message of the person.
fn task_goal(state: &ThreadState) -> Option<String> {
    let given = state.chunks().find_map(|chunk| match chunk.kind {
        ChunkType::System | ChunkType::Delegation => task(chunk),
        ChunkType::Agent
        | ChunkType::Workflow
        | ChunkType::Environment
        | ChunkType::WorkingFlow
        | ChunkType::Output => None,
    });
    given.or_else(|| {
        let user = |chunk: &&Arc<Chunk>| chunk.is(WorkingFlowSubType::User);
        state
            .chunks()
            .find(user)
            .map(|chunk| chunk.content.to_text().into_owned())
    })
}

fn task(chunk: &Arc<Chunk>) -> Option<String> {
    let content = &chunk.content;
    let goal = content.field("taskContext").and_then(|it| it.get("goal"));
    let task = content
        .str_field("task")
        .or_else(|| goal.and_then(Value::as_str));
    match (task, chunk.kind) {
        (Some(task), _) => Some(task.to_owned()),
        (None, ChunkType::Delegation) => Some(content.to_text().into_owned()),
        (None, _) => None,
    }
}

/// Splits `chunks` into the joined text of earlier summaries, and the other chunks.
pub(super) fn earlier(chunks: &[Arc<Chunk>]) -> (Option<String>, Vec<Arc<Chunk>>) {
    let is_summary = |chunk: &&Arc<Chunk>| chunk.is(WorkingFlowSubType::Compacted);
    let summaries: Vec<_> = chunks
        .iter()
        .filter(is_summary)
        .map(|chunk| chunk.content.to_text().into_owned())
        .collect();
    let rest = chunks.iter().filter(|chunk| !is_summary(chunk)).cloned();
    let summary = (!summaries.is_empty()).then(|| summaries.join("\n\n"));
    (summary, rest.collect())
}

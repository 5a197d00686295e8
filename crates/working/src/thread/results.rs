//! Results of the manager's calls.

use std::sync::Arc;

use daybook_domain::working::{
    Chunk, ChunkId, Compaction, Operation, Thread, ThreadEvent, ThreadState,
};
use daybook_domain::{EventSeq, SessionId};
use tokio::sync::oneshot;

use super::error::WorkingError;

/// Sends the result of one event to its caller.
pub(super) type ResultSender = oneshot::Sender<Result<DispatchResult, WorkingError>>;

/// The result of a dispatched event, or of several together.
///
/// ```
#[doc = include_str!("../../doctests/manager.txt")]
/// # let (thread, _) = manager.create_thread().await?;
/// let result = manager.dispatch(&thread.id, &message("Hello!")).await?;
/// assert_eq!((result.seq.0, result.state.len()), (1, 1));
/// assert!(result.removed_chunk_ids.is_empty());
/// # Ok::<(), WorkingError>(()) }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct DispatchResult {
    /// The thread.
    pub thread: Arc<Thread>,
    /// The event's place in the log; of several events, the last one's.
    pub seq: EventSeq,
    /// The state after it.
    pub state: ThreadState,
    /// Chunks that were added.
    pub added_chunks: Vec<Arc<Chunk>>,
    /// Chunks that were removed.
    pub removed_chunk_ids: Vec<ChunkId>,
}

/// How many tokens a thread's state has. See [`MemoryManager::token_usage`](crate::manager::MemoryManager::token_usage).
///
/// ```
/// use daybook_working::manager::TokenUsage;
/// let usage = TokenUsage { total: 60_000, compactable: 52_000, suggests_compaction: true, forces_compaction: false };
/// assert!(usage.compactable <= usage.total);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenUsage {
    /// Tokens of all chunks.
    pub total: u64,
    /// Tokens of the chunks that a compaction may take.
    pub compactable: u64,
    /// Whether the total reaches the number from which a compaction is suggested.
    pub suggests_compaction: bool,
    /// Whether it reaches the number from which the manager compacts by itself, where it may.
    pub forces_compaction: bool,
}

/// The result of a compaction.
///
/// ```
#[doc = include_str!("../../doctests/manager.txt")]
/// # let (thread, _) = manager.create_thread().await?;
/// # let long = "The deploy of the second host went wrong in the same way. ".repeat(8);
/// # for number in 1..=6 {
/// #     manager.dispatch(&thread.id, &message(&format!("{number}: {long}"))).await?;
/// # }
/// let compacted = manager.trigger_compaction(&thread.id, None).await?;
/// let by = compacted.compaction.map(|compaction| compaction.by);
/// assert_eq!(by.as_deref(), Some("extractive"));
/// # Ok::<(), WorkingError>(()) }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct CompactionOutcome {
    /// The thread.
    pub thread: Arc<Thread>,
    /// The state after it.
    pub state: ThreadState,
    /// Chunks that were added.
    pub added_chunks: Vec<Arc<Chunk>>,
    /// Chunks that were removed.
    pub removed_chunk_ids: Vec<ChunkId>,
    /// The compaction as the log has it; `None` when there was nothing to compact.
    pub compaction: Option<Compaction>,
}

/// An event that is stored, with its result if it was applied in time.
///
/// ```
/// use daybook_working::manager::DispatchReceipt;
///
/// fn is_pending(receipt: &DispatchReceipt) -> bool {
///     receipt.result.is_none()
/// }
/// # let _ = is_pending;
/// ```
#[derive(Debug)]
pub struct DispatchReceipt {
    /// Its place in the log.
    pub seq: EventSeq,
    /// Its result; `None` while it waits for a compaction or a pause to end.
    pub result: Option<Result<DispatchResult, WorkingError>>,
}

/// A change from one state of a thread to the next.
///
/// ```
#[doc = include_str!("../../doctests/manager.txt")]
/// use daybook_working::manager::StateChange;
/// let describe = |change: &StateChange<'_>| {
///     format!("{}: {} added, {} removed", change.thread, change.added_chunks.len(), change.removed_chunk_ids.len())
/// };
/// # let _ = describe;
/// # Ok::<(), WorkingError>(()) }).unwrap();
/// ```
#[derive(Debug)]
pub struct StateChange<'a> {
    /// The thread.
    pub thread: &'a SessionId,
    /// The new state; its metadata name the one before.
    pub state: &'a ThreadState,
    /// The event that caused it, if one did.
    pub event: Option<&'a ThreadEvent>,
    /// The operations that made it.
    pub operations: &'a [Operation],
    /// Chunks that were added.
    pub added_chunks: &'a [Arc<Chunk>],
    /// Chunks that were removed.
    pub removed_chunk_ids: &'a [ChunkId],
}

impl DispatchResult {
    /// Joins the result of the next event of the same thread.
    pub(crate) fn extend(&mut self, next: Self) {
        self.thread = next.thread;
        self.seq = next.seq;
        self.state = next.state;
        self.added_chunks.extend(next.added_chunks);
        self.removed_chunk_ids.extend(next.removed_chunk_ids);
    }
}

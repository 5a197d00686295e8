//! What can go wrong with a thread.

use daybook_domain::working::{BlockingReason, ChunkId, StateId};
use daybook_domain::{SessionId, StoreError};

/// What can go wrong with a thread. What was stored before stays stored.
///
/// ```
/// use daybook_domain::working::BlockingReason;
/// use daybook_working::manager::WorkingError;
/// let error = WorkingError::Blocked(BlockingReason::Paused);
/// assert_eq!(error.to_string(), "Queue already blocked: PAUSED; wait until it is not, and try again");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum WorkingError {
    /// There is no such thread.
    #[error("Thread not found: {0}")]
    ThreadNotFound(SessionId),
    /// The thread has no such state.
    #[error("State not found: {0}")]
    StateNotFound(StateId),
    /// The state has no such chunk.
    #[error("Chunk not found: {0}")]
    ChunkNotFound(ChunkId),
    /// The chunk may not be edited.
    #[error("Chunk is not mutable: {0}")]
    Immutable(ChunkId),
    /// The thread is blocked already.
    #[error("Queue already blocked: {}; wait until it is not, and try again", .0.as_str())]
    Blocked(BlockingReason),
    /// The thread was deleted while something waited for it. The event is in the log.
    #[error("Thread deleted: {0}")]
    Deleted(SessionId),
    /// Too many events wait for the thread already. The event was not stored.
    #[error("{waiting} events wait for {thread}; let them be applied first")]
    TooManyWaiting {
        /// The thread.
        thread: SessionId,
        /// How many wait.
        waiting: usize,
    },
    /// A reducer failed. The event is in the log and does nothing.
    #[error("the event at {seq} of {thread} does nothing: {message}")]
    Reducer {
        /// The thread.
        thread: SessionId,
        /// The event's place.
        seq: u64,
        /// What happened.
        message: String,
    },
    /// Nothing could be condensed. Nothing changed.
    #[error("nothing was compacted: {0}")]
    NotCompacted(String),
    /// The store failed. Whether an event was stored is not known; dispatched again by its `eventId`, it
    /// is stored once.
    #[error(transparent)]
    Store(#[from] StoreError),
}

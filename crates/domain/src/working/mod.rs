//! Working memory: the live half of memory (after Team9's memory manager).
//!
//! A *thread* is the live state of one session. Each event of the session's log is reduced to operations
//! on **chunks**; the present chunks, in order, are the thread's **state**. States never change: an
//! operation makes the next one. Everything here is a value or a pure function of values, so a state that
//! is folded again from the log is the same state, to the last id.
//!
//! Names in JSON are Team9's.
//!
//! Not here: which events make which chunks, what is compacted when (`engine::working`).

pub mod chunk;
mod content_text;
pub mod entry;
pub mod event;
pub mod ids;
pub mod operation;
pub mod selection;
pub mod state;
pub mod store;
pub mod thread_event;

pub use chunk::{
    Chunk, ChunkContent, ChunkMetadata, ChunkType, ContentPart, RetentionStrategy,
    WorkingFlowSubType,
};
pub use entry::{ChunkReplacement, Compaction, ForkOrigin, ThreadEntry};
pub use event::{EventType, TodoItem, TodoStatus};
pub use ids::{ChunkId, IdSource, OperationId, StateId};
pub use operation::{Operation, OperationError, OperationKind, StateDelta};
pub use state::{Provenance, StateMetadata, StateSource, ThreadState};
pub use store::{
    BlockOutcome, BlockToken, BlockingReason, LogEntry, LogPage, NewThread, Thread, ThreadAppend,
    ThreadAppendOutcome, ThreadBlock, ThreadStore,
};
pub use thread_event::ThreadEvent;

//! Working memory: the live half of memory (seed 003; spec/working-memory.md).
//!
//! A *thread* is the live state of one session. Each event of the session's log is reduced to operations
//! on **chunks**; the chunks that stand, in order, are the thread's **state**. States never change: an
//! operation makes the next one. Everything here is a value or a pure function of values, so a state that
//! is folded again from the log is the same state, to the last id.
//!
//! Names in JSON are the seed's.
//!
//! Not here: which events make which chunks, what is compacted when (`engine::working`).

pub mod chunk;
pub mod entry;
pub mod event;
pub mod ids;
pub mod operation;
pub mod selection;
pub mod state;
pub mod store;
pub mod thread_event;
mod told;

pub use chunk::{
    Chunk, ChunkMetadata, ChunkType, Content, Part, RetentionStrategy, WorkingFlowSubType,
};
pub use entry::{Compaction, Entry, Forked, Replaced};
pub use event::{EventType, TodoItem, TodoStatus};
pub use ids::{ChunkId, IdSource, OperationId, StateId};
pub use operation::{Act, Applied, Operation, OperationError};
pub use state::{Provenance, State, StateMetadata, StateSource};
pub use store::{
    Block, BlockOutcome, BlockToken, BlockingReason, LogEntry, LogPage, NewThread, Thread,
    ThreadAppend, ThreadAppended, ThreadStore,
};
pub use thread_event::ThreadEvent;

//! Fewer chunks in the place of many (seed 003, "Compaction"; spec/working-memory.md 6 and 13).
//!
//! A compaction is planned on a state that stands still and says what it would change; it changes nothing
//! itself. What is disposable goes without a word; where tokens are short, long outcomes of calls are
//! pruned first; only then is the rest condensed, by the first compactor that takes it. What a compactor
//! returns is believed only if it is not empty, complete, and smaller by a bound. The last compactor asks no
//! model, so that a thread never gets stuck on one.
//!
//! Not here: when it is time (`manager`), and which chunks may go (`domain::working::selection`).

mod check;
mod context;
mod excerpt;
mod extractive;
mod history;
mod plan;
mod prune;

use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::BoxError;
use daybook_domain::working::{Chunk, ChunkId};

pub use context::CompactionContext;
pub use extractive::ExtractiveCompactor;
pub use history::{LlmConfig, WorkingHistoryCompactor};
pub use plan::{Means, Planned, Why, plan};

pub use daybook_domain::working::selection::Recent;

/// What a compactor came to (seed 003, `CompactionResult`).
///
/// ```
/// use std::sync::Arc;
/// use daybook_domain::working::Chunk;
/// use daybook_engine::working::compact::{CompactionContext, CompactionResult};
/// fn counted(chunks: &[Arc<Chunk>], context: &CompactionContext<'_>) -> CompactionResult {
///     CompactionResult {
///         compacted_chunk: context.compacted(chunks, format!("{} reports", chunks.len())),
///         original_chunk_ids: chunks.iter().map(|chunk| chunk.id.clone()).collect(),
///         by: "counted".to_owned(),
///         faults: Vec::new(),
///     }
/// }
/// # let _ = counted;
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CompactionResult {
    /// What stands in the place of the others. [`CompactionContext::compacted`] makes one.
    pub compacted_chunk: Chunk,
    /// The others.
    pub original_chunk_ids: Vec<ChunkId>,
    /// Who made it, for people: the compactor's name, or the model's.
    pub by: String,
    /// What went wrong on the way, for people.
    pub faults: Vec<String>,
}

/// Puts one chunk in the place of many (seed 003, `ICompactor`).
///
/// ```
/// use std::sync::Arc;
/// use async_trait::async_trait;
/// use daybook_domain::BoxError;
/// use daybook_domain::working::{Chunk, ChunkType};
/// use daybook_engine::working::compact::{CompactionContext, CompactionResult, Compactor};
///
/// /// Counts what the surroundings told.
/// struct CustomCompactor;
///
/// #[async_trait]
/// impl Compactor for CustomCompactor {
///     fn name(&self) -> &str {
///         "custom"
///     }
///
///     fn can_compact(&self, chunks: &[Arc<Chunk>]) -> bool {
///         chunks.iter().all(|chunk| chunk.kind == ChunkType::Environment)
///     }
///
///     async fn compact(
///         &self,
///         chunks: &[Arc<Chunk>],
///         context: &CompactionContext<'_>,
///     ) -> Result<CompactionResult, BoxError> {
///         let text = format!("{} reports from the weather station", chunks.len());
///         Ok(CompactionResult {
///             compacted_chunk: context.compacted(chunks, text),
///             original_chunk_ids: chunks.iter().map(|chunk| chunk.id.clone()).collect(),
///             by: self.name().to_owned(),
///             faults: Vec::new(),
///         })
///     }
/// }
/// assert!(CustomCompactor.can_compact(&[]));
/// ```
#[doc(alias = "ICompactor")]
#[async_trait]
pub trait Compactor: Send + Sync {
    /// By which people know it.
    fn name(&self) -> &str;

    /// Whether it takes these chunks. It is asked about each call with its outcome, and about each other
    /// chunk alone; what it takes comes to it together.
    fn can_compact(&self, chunks: &[Arc<Chunk>]) -> bool;

    /// Makes one of them. May be dropped when it takes too long.
    ///
    /// # Errors
    /// Anything: the next compactor that takes the chunks is asked.
    async fn compact(
        &self,
        chunks: &[Arc<Chunk>],
        context: &CompactionContext<'_>,
    ) -> Result<CompactionResult, BoxError>;
}

/// How many tokens a text is, or more; never less.
///
/// ```
/// use std::sync::Arc;
/// use daybook_engine::working::compact::{Count, estimate};
/// let count: Count = Arc::new(estimate);
/// assert_eq!(count("Hello!"), 2);
/// ```
pub type Count = Arc<dyn Fn(&str) -> u32 + Send + Sync>;

/// Tokens that a chunk takes beside its words: the message around it.
pub const PER_CHUNK: u64 = 8;

/// A cautious count where no model's own is known: a token for every three bytes.
///
/// ```
/// use daybook_engine::working::compact::estimate;
/// assert_eq!(estimate("Hello, agent!"), 5);
/// ```
#[must_use]
pub fn estimate(text: &str) -> u32 {
    u32::try_from(text.len().div_ceil(3)).unwrap_or(u32::MAX)
}

/// What a chunk takes of a context, in tokens, payloads included.
///
/// ```
/// use std::sync::Arc;
/// use daybook_domain::Timestamp;
/// use daybook_domain::working::{Chunk, ChunkType, Content};
/// use daybook_engine::working::compact::{Count, PER_CHUNK, estimate, weight};
/// let count: Count = Arc::new(estimate);
/// let hello = Chunk::new("chunk_1".into(), ChunkType::WorkingFlow, Content::text("Hello!"), Timestamp(0));
/// assert_eq!(weight(&hello, &count), PER_CHUNK + 2);
/// ```
pub fn weight(chunk: &Chunk, count: &Count) -> u64 {
    PER_CHUNK + u64::from(count(&chunk.content.told()))
}

#[cfg(test)]
#[path = "compact_tests.rs"]
mod tests;

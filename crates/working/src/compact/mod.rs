//! Compactions: replace many chunks by few (W10 to W24, W99 to W111).
//!
//! A compaction is planned on a state that does not change meanwhile. The plan lists the changes, and makes
//! none itself. Disposable chunks are dropped without a summary; where tokens are short, long outcomes of calls
//! are pruned first; only then are the other chunks condensed, by the first compactor that accepts them. A
//! compactor's result is accepted only if it is not empty, complete, and smaller by a bound. The last compactor
//! asks no model, so that a thread never gets stuck on one.
//!
//! Not here: when a compaction is due (`thread`), and which chunks it may change (`domain::working::selection`).

pub(crate) mod account;
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

pub use context::{CompactionContext, SummaryRoom};
pub use extractive::ExtractiveCompactor;
pub use history::{LlmConfig, WorkingHistoryCompactor};
pub use plan::{CompactionPlan, CompactionReason, CompactionTools, plan};

pub use daybook_domain::working::selection::RecentLimits;

/// The result of a compactor (Team9's `CompactionResult`).
///
/// ```
/// use std::sync::Arc;
/// use daybook_domain::working::Chunk;
/// use daybook_working::compact::{CompactionContext, CompactionResult};
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
    /// The chunk that replaces the originals. [`CompactionContext::compacted`] makes one.
    pub compacted_chunk: Chunk,
    /// The chunks that it replaces.
    pub original_chunk_ids: Vec<ChunkId>,
    /// The name of the compactor, or of its model, for people.
    pub by: String,
    /// Errors on the way that did not prevent the result, for people.
    pub faults: Vec<String>,
}

/// Replaces many chunks by one (Team9's `ICompactor`).
///
/// ```
/// use std::sync::Arc;
/// use async_trait::async_trait;
/// use daybook_domain::BoxError;
/// use daybook_domain::working::{Chunk, ChunkType};
/// use daybook_working::compact::{CompactionContext, CompactionResult, Compactor};
///
/// /// Counts the reports from the environment.
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
    /// The compactor's name, for people.
    fn name(&self) -> &str;

    /// Whether the compactor accepts these chunks. It is called for each call with its outcome, and for each other
    /// chunk alone; all accepted chunks are then compacted together.
    fn can_compact(&self, chunks: &[Arc<Chunk>]) -> bool;

    /// Makes one chunk of all of them. The future may be dropped when it takes too long.
    ///
    /// # Errors
    /// Any error: the next compactor that accepts the chunks is tried.
    async fn compact(
        &self,
        chunks: &[Arc<Chunk>],
        context: &CompactionContext<'_>,
    ) -> Result<CompactionResult, BoxError>;
}

/// Counts the tokens of a text. It may return more than the text has, and never fewer.
///
/// ```
/// use std::sync::Arc;
/// use daybook_working::compact::{Count, estimate};
/// let count: Count = Arc::new(estimate);
/// assert_eq!(count("Hello!"), 2);
/// ```
pub type Count = Arc<dyn Fn(&str) -> u32 + Send + Sync>;

/// Tokens of the message around a chunk, besides those of its text.
pub const PER_CHUNK: u64 = 8;

/// A high estimate for when a model's own count is unknown: a token for every three bytes.
///
/// ```
/// use daybook_working::compact::estimate;
/// assert_eq!(estimate("Hello, agent!"), 5);
/// ```
#[must_use]
pub fn estimate(text: &str) -> u32 {
    u32::try_from(text.len().div_ceil(3)).unwrap_or(u32::MAX)
}

/// The tokens of a chunk in a context, payloads included.
///
/// ```
/// use std::sync::Arc;
/// use daybook_domain::Timestamp;
/// use daybook_domain::working::{Chunk, ChunkType, ChunkContent};
/// use daybook_working::compact::{Count, PER_CHUNK, estimate, weight};
/// let count: Count = Arc::new(estimate);
/// let hello = Chunk::new("chunk_1".into(), ChunkType::WorkingFlow, ChunkContent::text("Hello!"), Timestamp(0));
/// assert_eq!(weight(&hello, &count), PER_CHUNK + 2);
/// ```
pub fn weight(chunk: &Chunk, count: &Count) -> u64 {
    PER_CHUNK + u64::from(count(&chunk.content.to_text()))
}

#[cfg(test)]
#[path = "compact_tests.rs"]
mod tests;

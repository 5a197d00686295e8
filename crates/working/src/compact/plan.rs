//! Plans a compaction: which compactor condenses which chunks, and which is tried when one fails.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use daybook_domain::Timestamp;
use daybook_domain::working::ChunkReplacement;
use daybook_domain::working::selection::Selection;
use daybook_domain::working::{Chunk, ChunkId, IdSource, ThreadState};
use futures_util::FutureExt;

use super::check::{check, most_tokens};
use super::context::{CompactionContext, SummaryRoom, names};
use super::prune::prune;
use super::{CompactionResult, Compactor, Count, weight};

/// The reason of a compaction.
///
/// ```
/// use daybook_working::compact::CompactionReason;
/// assert_ne!(CompactionReason::Asked, CompactionReason::Tokens(80_000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionReason {
    /// The state has many chunks.
    Chunks,
    /// The state has more tokens than this.
    Tokens(u64),
    /// A caller requested it.
    Asked,
}

/// The changes that a compaction would make.
///
/// ```
/// use daybook_working::compact::CompactionPlan;
/// let planned = CompactionPlan { dropped: vec!["chunk_1".into()], ..CompactionPlan::default() };
/// assert!(!planned.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CompactionPlan {
    /// Chunks that are replaced, each time several by one.
    pub replaced: Vec<ChunkReplacement>,
    /// Chunks that are removed without a replacement.
    pub dropped: Vec<ChunkId>,
    /// The compactors that condensed, for people.
    pub by: String,
    /// Tokens of the replaced and removed chunks.
    pub tokens_before: u64,
    /// Tokens of the new chunks.
    pub tokens_after: u64,
    /// Errors on the way, for people.
    pub faults: Vec<String>,
    /// Names of compactors that accepted chunks and could not condense them.
    pub failed: Vec<String>,
}

impl CompactionPlan {
    /// Whether nothing would change.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.replaced.is_empty() && self.dropped.is_empty()
    }
}

/// In percent of the limit in tokens: when pruning leaves no more than this, it was enough.
const ENOUGH: u64 = 80;

/// The tools of a compaction: its compactors, their time limit and the token count.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use daybook_working::compact::{ExtractiveCompactor, CompactionTools, estimate};
/// let means = CompactionTools {
///     compactors: vec![Arc::new(ExtractiveCompactor::default())],
///     limit: Duration::from_secs(60),
///     count: Arc::new(estimate),
///     window_tokens: 100_000,
/// };
/// assert_eq!(means.compactors.len(), 1);
/// ```
#[derive(Clone)]
pub struct CompactionTools {
    /// Tried in this order for the chunks that they accept.
    pub compactors: Vec<Arc<dyn Compactor>>,
    /// How long each compactor may take.
    pub limit: Duration,
    /// Counts the tokens of a text.
    pub count: Count,
    /// Tokens of the agent's window: the emptier it is, the more of the originals a summary keeps.
    pub window_tokens: u64,
}

/// Plans to condense `selection` out of `state`. Chunks that no compactor accepts, or can condense, stay.
///
/// ```
/// use daybook_domain::working::selection::Selection;
/// use daybook_domain::working::{IdSource, ThreadState};
/// use daybook_domain::Timestamp;
/// use daybook_working::compact::{CompactionTools, CompactionPlan, CompactionReason, plan};
/// /// Previews a compaction of those chunks. Nothing changes.
/// async fn preview(state: &ThreadState, those: &Selection, means: &CompactionTools, ids: IdSource) -> CompactionPlan {
///     plan(state, those, CompactionReason::Asked, means, ids, Timestamp(0)).await
/// }
/// # let _ = preview;
/// ```
pub async fn plan(
    state: &ThreadState,
    selection: &Selection,
    why: CompactionReason,
    means: &CompactionTools,
    mut ids: IdSource,
    now: Timestamp,
) -> CompactionPlan {
    let count = &means.count;
    let mut planned = CompactionPlan {
        dropped: names(&selection.disposable),
        by: "dropped".to_owned(),
        ..CompactionPlan::default()
    };
    let size = |chunks: &[Arc<Chunk>]| chunks.iter().map(|it| weight(it, count)).sum::<u64>();
    planned.tokens_before = size(&selection.disposable);
    let all: u64 = state.chunks().map(|chunk| weight(chunk, count)).sum();
    if let CompactionReason::Tokens(most) = why {
        let pruned = prune(&selection.condensable, count, &mut ids, now);
        let before: u64 = replaced_chunks(state, &pruned)
            .map(|chunk| weight(chunk, count))
            .sum();
        let after: u64 = pruned.iter().map(|it| weight(&it.chunk, count)).sum();
        if all + after - before - planned.tokens_before <= most * ENOUGH / 100 {
            planned.tokens_before += before;
            planned.tokens_after = after;
            if !pruned.is_empty() {
                planned.by = "pruned".to_owned();
            }
            planned.replaced = pruned;
            return planned;
        }
    }
    let mut left = selection.condensable.clone();
    for (number, compactor) in means.compactors.iter().enumerate() {
        let (taken, rest) = split_accepted(&**compactor, left);
        left = rest;
        if taken.is_empty() {
            continue;
        }
        let before = size(&taken);
        let number = u64::try_from(number).unwrap_or(u64::MAX);
        let mut context = CompactionContext::of(state, count, ids.part(number), now);
        context.room = SummaryRoom {
            window: means.window_tokens,
            stays: all.saturating_sub(before + size(&selection.disposable)),
        };
        let most = most_tokens(&taken, context.room, count);
        context.most_tokens = most.saturating_sub(super::PER_CHUNK);
        let (summary, _) = super::context::earlier(&taken);
        context.progress_summary = summary;
        match run_compactor(&**compactor, &taken, &context, means.limit).await {
            Ok((result, after)) => {
                planned.tokens_before += before;
                planned.tokens_after += after;
                planned.by.clone_from(&result.by);
                planned.faults.extend(result.faults);
                planned.replaced.push(ChunkReplacement {
                    targets: names(&taken),
                    chunk: Arc::new(result.compacted_chunk),
                });
            }
            Err(fault) => {
                let name = compactor.name();
                planned.faults.push(format!("{name}: {fault}"));
                planned.failed.push(name.to_owned());
                left.extend(taken);
                // Restores the order of the state.
                left.sort_by_key(|chunk| state.position(&chunk.id));
            }
        }
    }
    planned
}

/// The chunks of the state that replacements target.
fn replaced_chunks<'a>(
    state: &'a ThreadState,
    replaced: &'a [ChunkReplacement],
) -> impl Iterator<Item = &'a Arc<Chunk>> {
    replaced
        .iter()
        .flat_map(|it| &it.targets)
        .filter_map(|id| state.chunk(id))
}

/// Splits chunks into those that a compactor accepts, and the others. A call and its outcome stay together.
fn split_accepted(
    compactor: &dyn Compactor,
    chunks: Vec<Arc<Chunk>>,
) -> (Vec<Arc<Chunk>>, Vec<Arc<Chunk>>) {
    let mut calls: HashMap<String, Vec<Arc<Chunk>>> = HashMap::new();
    for chunk in &chunks {
        if let Some(call) = chunk.call_id() {
            calls
                .entry(call.to_owned())
                .or_default()
                .push(Arc::clone(chunk));
        }
    }
    let takes = |chunk: &Arc<Chunk>| match chunk.call_id().and_then(|call| calls.get(call)) {
        Some(unit) => compactor.can_compact(unit),
        None => compactor.can_compact(std::slice::from_ref(chunk)),
    };
    let (taken, rest): (Vec<_>, Vec<_>) = chunks.iter().cloned().partition(takes);
    match taken.is_empty() || compactor.can_compact(&taken) {
        true => (taken, rest),
        false => (Vec::new(), chunks),
    }
}

/// Runs a compactor. Returns its result and tokens, if the result passes the checks.
async fn run_compactor(
    compactor: &dyn Compactor,
    chunks: &[Arc<Chunk>],
    context: &CompactionContext<'_>,
    limit: Duration,
) -> Result<(CompactionResult, u64), String> {
    let asked = AssertUnwindSafe(compactor.compact(chunks, context)).catch_unwind();
    let result = match tokio::time::timeout(limit, asked).await {
        Err(_) => return Err(format!("no answer within {} s", limit.as_secs())),
        Ok(Err(_)) => return Err("it panicked".to_owned()),
        Ok(Ok(Err(error))) => return Err(error.to_string()),
        Ok(Ok(Ok(result))) => result,
    };
    if context.state.chunk(&result.compacted_chunk.id).is_some() {
        return Err("its chunk has the name of one that stands".to_owned());
    }
    let after = check(&result, chunks, context.room, context.count)?;
    Ok((result, after))
}

//! What a compaction would change: who condenses what, and who does when the first one fails.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use daybook_domain::Timestamp;
use daybook_domain::working::Replaced;
use daybook_domain::working::selection::Selection;
use daybook_domain::working::{Chunk, ChunkId, IdSource, State};
use futures_util::FutureExt;

use super::check::{check, most_tokens};
use super::context::{CompactionContext, names};
use super::prune::prune;
use super::{CompactionResult, Compactor, Count, weight};

/// Why a compaction is made.
///
/// ```
/// use daybook_engine::working::compact::Why;
/// assert_ne!(Why::Asked, Why::Tokens(80_000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// There are many chunks.
    Chunks,
    /// There are more tokens than this.
    Tokens(u64),
    /// Somebody asked.
    Asked,
}

/// What a compaction would change.
///
/// ```
/// use daybook_engine::working::compact::Planned;
/// let planned = Planned { dropped: vec!["chunk_1".into()], ..Planned::default() };
/// assert!(!planned.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Planned {
    /// One chunk in the place of others.
    pub replaced: Vec<Replaced>,
    /// Chunks that go.
    pub dropped: Vec<ChunkId>,
    /// Who condensed.
    pub by: String,
    /// Tokens of what goes.
    pub tokens_before: u64,
    /// Tokens of what comes.
    pub tokens_after: u64,
    /// What went wrong on the way.
    pub faults: Vec<String>,
    /// Compactors that took something and could not condense it, by their names.
    pub failed: Vec<String>,
}

impl Planned {
    /// Whether nothing would change.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.replaced.is_empty() && self.dropped.is_empty()
    }
}

/// Of a limit in tokens, in percent: with no more than this left, pruning was enough.
const ENOUGH: u64 = 80;

/// With what a compaction is made.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use daybook_engine::working::compact::{ExtractiveCompactor, Means, estimate};
/// let means = Means {
///     compactors: vec![Arc::new(ExtractiveCompactor::default())],
///     limit: Duration::from_secs(60),
///     count: Arc::new(estimate),
/// };
/// assert_eq!(means.compactors.len(), 1);
/// ```
#[derive(Clone)]
pub struct Means {
    /// Asked in turn for what they take.
    pub compactors: Vec<Arc<dyn Compactor>>,
    /// How long each of them may take.
    pub limit: Duration,
    /// Tokens of a text.
    pub count: Count,
}

/// What condensing `selection` out of `state` changes. What no compactor takes, or can do, stays.
///
/// ```
/// use daybook_domain::working::selection::Selection;
/// use daybook_domain::working::{IdSource, State};
/// use daybook_domain::Timestamp;
/// use daybook_engine::working::compact::{Means, Planned, Why, plan};
/// /// What compacting those would come to. Nothing changes.
/// async fn preview(state: &State, those: &Selection, means: &Means, ids: IdSource) -> Planned {
///     plan(state, those, Why::Asked, means, ids, Timestamp(0)).await
/// }
/// # let _ = preview;
/// ```
pub async fn plan(
    state: &State,
    selection: &Selection,
    why: Why,
    means: &Means,
    mut ids: IdSource,
    now: Timestamp,
) -> Planned {
    let count = &means.count;
    let mut planned = Planned {
        dropped: names(&selection.disposable),
        by: "dropped".to_owned(),
        ..Planned::default()
    };
    let size = |chunks: &[Arc<Chunk>]| chunks.iter().map(|it| weight(it, count)).sum::<u64>();
    planned.tokens_before = size(&selection.disposable);
    if let Why::Tokens(most) = why {
        let pruned = prune(&selection.condensable, count, &mut ids, now);
        let all: u64 = state.chunks().map(|chunk| weight(chunk, count)).sum();
        let before: u64 = of(state, &pruned).map(|chunk| weight(chunk, count)).sum();
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
        let (taken, rest) = taken(&**compactor, left);
        left = rest;
        if taken.is_empty() {
            continue;
        }
        let before = size(&taken);
        let number = u64::try_from(number).unwrap_or(u64::MAX);
        let mut context = CompactionContext::of(state, count, ids.part(number), now);
        context.most_tokens = most_tokens(before).saturating_sub(super::PER_CHUNK);
        let (summary, _) = super::context::earlier(&taken);
        context.progress_summary = summary;
        match condensed(&**compactor, &taken, &context, means.limit).await {
            Ok((result, after)) => {
                planned.tokens_before += before;
                planned.tokens_after += after;
                planned.by.clone_from(&result.by);
                planned.faults.extend(result.faults);
                planned.replaced.push(Replaced {
                    targets: names(&taken),
                    chunk: Arc::new(result.compacted_chunk),
                });
            }
            Err(fault) => {
                let name = compactor.name();
                planned.faults.push(format!("{name}: {fault}"));
                planned.failed.push(name.to_owned());
                left.extend(taken);
                // In the order of the state again.
                left.sort_by_key(|chunk| state.position(&chunk.id));
            }
        }
    }
    planned
}

/// The chunks that are replaced.
fn of<'a>(state: &'a State, replaced: &'a [Replaced]) -> impl Iterator<Item = &'a Arc<Chunk>> {
    replaced
        .iter()
        .flat_map(|it| &it.targets)
        .filter_map(|id| state.chunk(id))
}

/// What a compactor takes, and the rest. A call with its outcome is one thing.
fn taken(compactor: &dyn Compactor, chunks: Vec<Arc<Chunk>>) -> (Vec<Arc<Chunk>>, Vec<Arc<Chunk>>) {
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

/// A compactor's result, if it may stand, and its tokens.
async fn condensed(
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
    let after = check(&result, chunks, context.count)?;
    Ok((result, after))
}

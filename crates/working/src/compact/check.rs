//! Checks a compactor's result before it may replace chunks.

use std::collections::HashSet;
use std::sync::Arc;

use daybook_domain::working::{Chunk, ChunkType, WorkingFlowSubType};

use super::{CompactionResult, Count, weight};

/// Most tokens of a result, in percent of those of the chunks that it replaces: with less gain, the next
/// compaction would soon be due.
const MOST: u64 = 95;

/// Most tokens of a result that replaces chunks with `before` tokens.
pub(super) fn most_tokens(before: u64) -> u64 {
    before * MOST / 100
}

/// Returns the tokens of the result, if it may replace `chunks`.
///
/// # Errors
/// The reason for which it may not.
pub(super) fn check(
    result: &CompactionResult,
    chunks: &[Arc<Chunk>],
    count: &Count,
) -> Result<u64, String> {
    let chunk = &result.compacted_chunk;
    if chunk.content.to_text().trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    if chunk.kind == ChunkType::WorkingFlow && !chunk.is(WorkingFlowSubType::Compacted) {
        return Err("it passes for a part of the conversation that it is not".to_owned());
    }
    let given: HashSet<_> = chunks.iter().map(|chunk| &chunk.id).collect();
    let named: HashSet<_> = result.original_chunk_ids.iter().collect();
    if given != named {
        return Err("it does not stand for the chunks that were handed over".to_owned());
    }
    let before: u64 = chunks.iter().map(|chunk| weight(chunk, count)).sum();
    let after = weight(chunk, count);
    if after > most_tokens(before) {
        return Err(format!("it takes {after} tokens in the place of {before}"));
    }
    Ok(after)
}

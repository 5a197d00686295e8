//! Checks which chunks the built-in compactors accept, and a compactor's result before it may replace chunks.

use std::collections::HashSet;
use std::sync::Arc;

use daybook_domain::working::selection::is_compactable;
use daybook_domain::working::{Chunk, ChunkType, WorkingFlowSubType};

use super::{CompactionResult, Count, SummaryRoom, weight};

/// Most tokens of a result, in percent of those of the chunks that it replaces: with less gain, the next
/// compaction would soon be due.
const MOST: u64 = 95;
/// In a window that is half empty, fewer chunks are gain enough. A result may then take so many tokens more for each chunk:
/// the headings of a first summary take room that short chunks do not save.
const HEADINGS: u64 = 4;

/// Most tokens of a result that replaces `chunks`. An earlier summary among them counts in full: it was condensed before,
/// and a gain demanded of it, too, would make it shorter each time.
pub(super) fn most_tokens(chunks: &[Arc<Chunk>], room: SummaryRoom, count: &Count) -> u64 {
    let before: u64 = chunks.iter().map(|chunk| weight(chunk, count)).sum();
    if room.stays.saturating_add(before) <= room.window / 2 {
        return before + HEADINGS * chunks.len() as u64;
    }
    let tokens = chunks.iter().map(|chunk| {
        let tokens = weight(chunk, count);
        match chunk.is(WorkingFlowSubType::Compacted) {
            true => tokens * 100,
            false => tokens * MOST,
        }
    });
    tokens.sum::<u64>() / 100
}

/// Returns the tokens of the result, if it may replace `chunks`.
///
/// # Errors
/// The reason for which it may not.
pub(super) fn check(
    result: &CompactionResult,
    chunks: &[Arc<Chunk>],
    room: SummaryRoom,
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
    if after > most_tokens(chunks, room, count) {
        return Err(format!("it takes {after} tokens in the place of {before}"));
    }
    Ok(after)
}

/// Whether the built-in compactors accept these chunks.
pub(super) fn takes(chunks: &[Arc<Chunk>]) -> bool {
    !chunks.is_empty() && chunks.iter().all(|chunk| is_compactable(chunk))
}

//! Prunes long outcomes of calls to their ends: they take most room, and are missed least.

use std::sync::Arc;

use daybook_domain::Timestamp;
use daybook_domain::working::ChunkReplacement;
use daybook_domain::working::{Chunk, ChunkContent, IdSource, WorkingFlowSubType};
use serde_json::Value;

use super::excerpt::ends;
use super::{Count, weight};

/// Outcomes of fewer tokens are not pruned.
const LEAST: u64 = 500;
/// Most characters that remain of an outcome.
const LEFT: usize = 600;

/// Prunes the long outcomes among `chunks`. Each remains the outcome of its call, and names the event that has
/// the whole text.
pub(super) fn prune(
    chunks: &[Arc<Chunk>],
    count: &Count,
    ids: &mut IdSource,
    now: Timestamp,
) -> Vec<ChunkReplacement> {
    let long = chunks.iter().filter(|chunk| {
        chunk.is(WorkingFlowSubType::ActionResponse) && weight(chunk, count) > LEAST
    });
    long.filter_map(|chunk| {
        let pruned = Arc::new(prune_outcome(chunk, ids, now)?);
        (weight(&pruned, count) < weight(chunk, count)).then(|| ChunkReplacement {
            targets: vec![chunk.id.clone()],
            chunk: pruned,
        })
    })
    .collect()
}

fn prune_outcome(chunk: &Arc<Chunk>, ids: &mut IdSource, now: Timestamp) -> Option<Chunk> {
    let ChunkContent::Text { text, fields } = &chunk.content else {
        return None;
    };
    let mut fields = fields.clone();
    let seq = chunk.metadata.custom.get("seq").and_then(Value::as_u64);
    let source = seq.map_or(String::new(), |seq| format!(" (all of it: event {seq})"));
    for name in ["result", "error", "errorDetails"] {
        if let Some(value) = fields.get_mut(name) {
            let told = match &*value {
                Value::String(text) => text.clone(),
                Value::Null => continue,
                value => value.to_string(),
            };
            *value = Value::String(format!("{}{source}", ends(&told, LEFT)));
        }
    }
    let text = text.as_ref().map(|text| ends(text, LEFT));
    let mut pruned = chunk.derive(ids, now);
    pruned.content = ChunkContent::Text { text, fields };
    pruned
        .metadata
        .custom
        .insert("pruned".to_owned(), true.into());
    Some(pruned)
}

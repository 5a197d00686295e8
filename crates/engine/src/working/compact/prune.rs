//! Long outcomes of calls, cut to their ends: what takes most room, and is missed least.

use std::sync::Arc;

use daybook_domain::Timestamp;
use daybook_domain::working::Replaced;
use daybook_domain::working::{Chunk, Content, IdSource, WorkingFlowSubType};
use serde_json::Value;

use super::excerpt::ends;
use super::{Count, weight};

/// Outcomes of fewer tokens are left alone.
const LEAST: u64 = 500;
/// Characters that are left of an outcome.
const LEFT: usize = 600;

/// What long outcomes among `chunks` become. Each is still the outcome of its call, and says where all
/// of it can be read.
pub(super) fn prune(
    chunks: &[Arc<Chunk>],
    count: &Count,
    ids: &mut IdSource,
    now: Timestamp,
) -> Vec<Replaced> {
    let long = chunks.iter().filter(|chunk| {
        chunk.is(WorkingFlowSubType::ActionResponse) && weight(chunk, count) > LEAST
    });
    long.filter_map(|chunk| {
        let pruned = Arc::new(pruned(chunk, ids, now)?);
        (weight(&pruned, count) < weight(chunk, count)).then(|| Replaced {
            targets: vec![chunk.id.clone()],
            chunk: pruned,
        })
    })
    .collect()
}

fn pruned(chunk: &Arc<Chunk>, ids: &mut IdSource, now: Timestamp) -> Option<Chunk> {
    let Content::Text { text, fields } = &chunk.content else {
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
    pruned.content = Content::Text { text, fields };
    pruned
        .metadata
        .custom
        .insert("pruned".to_owned(), true.into());
    Some(pruned)
}

//! Marks chunks as critical, forgets chunks, and reduces news from outside.

use std::sync::Arc;

use daybook_domain::working::{
    Chunk, ChunkContent, ChunkId, ChunkType, EventType, OperationKind, RetentionStrategy,
    ThreadEvent, ThreadState,
};
use serde_json::{Value, json};

use crate::event_groups::{
    calls, chunk_choices, chunkless, messages, outcomes, task_ends, todo_changes,
};

use super::{ReduceContext, Reduced, content};

/// The chunks of the state with these ids, each once.
fn present_chunks<'a>(state: &'a ThreadState, ids: &[ChunkId]) -> Vec<&'a Arc<Chunk>> {
    let mut found: Vec<&Arc<Chunk>> = Vec::new();
    for chunk in ids.iter().filter_map(|id| state.chunk(id)) {
        if !found.iter().any(|known| known.id == chunk.id) {
            found.push(chunk);
        }
    }
    found
}

pub(super) fn mark_critical(
    state: &ThreadState,
    ids: &[ChunkId],
    at: &mut ReduceContext,
) -> Reduced {
    let mut reduced = Reduced::default();
    for old in present_chunks(state, ids) {
        if old.retention_strategy != RetentionStrategy::Critical {
            let new = old.derive(&mut at.ids, at.now);
            reduced.update(at, old, new.kept(RetentionStrategy::Critical));
        }
    }
    reduced
}

pub(super) fn forget(state: &ThreadState, ids: &[ChunkId], at: &mut ReduceContext) -> Reduced {
    let mut reduced = Reduced::default();
    for chunk in present_chunks(state, ids) {
        if chunk.retention_strategy != RetentionStrategy::Critical {
            let chunk_id = chunk.id.clone();
            reduced
                .operations
                .push(at.operation(OperationKind::Delete { chunk_id }));
        }
    }
    reduced
}

/// Reduces news from outside. Where a kind of news replaces itself, the newest takes the previous one's place.
pub(super) fn news(state: &ThreadState, event: &ThreadEvent, at: &mut ReduceContext) -> Reduced {
    let Some((key, retention, content)) = news_properties(&event.kind) else {
        return Reduced::default();
    };
    let mut chunk = at
        .chunk(ChunkType::Environment, content, event)
        .kept(retention);
    let Some(key) = key else {
        return Reduced::add(at, chunk);
    };
    let is_before = |chunk: &&Arc<Chunk>| {
        chunk.metadata.custom.get("key").and_then(Value::as_str) == Some(&key)
    };
    let before = state.chunks().find(is_before);
    chunk
        .metadata
        .custom
        .insert("key".to_owned(), key.clone().into());
    match before {
        None => Reduced::add(at, chunk),
        Some(old) => {
            chunk.metadata.parent_ids = vec![old.id.clone()];
            let mut reduced = Reduced::default();
            reduced.update(at, old, chunk);
            reduced
        }
    }
}

type NewsProperties = (Option<String>, RetentionStrategy, ChunkContent);

fn news_properties(event: &EventType) -> Option<NewsProperties> {
    use RetentionStrategy::{Compressible, Disposable};
    Some(match event {
        EventType::ExternalInject {
            source,
            content: text,
        } => {
            let fields = [("source", source.as_str().into())];
            (None, Compressible, content(Some(text.clone()), fields))
        }
        EventType::EnvironmentChange {
            change_type,
            old_value,
            new_value,
        } => {
            let fields = [
                ("changeType", change_type.as_str().into()),
                ("oldValue", json!(old_value)),
                ("newValue", json!(new_value)),
            ];
            (
                Some(format!("change:{change_type}")),
                Compressible,
                content(None, fields),
            )
        }
        EventType::ExternalTimer { timer_id, payload } => {
            let fields = [
                ("timerId", timer_id.as_str().into()),
                ("payload", json!(payload)),
            ];
            (
                Some(format!("timer:{timer_id}")),
                Disposable,
                content(None, fields),
            )
        }
        EventType::ExecutionRetry {
            retry_target,
            attempt_number,
            previous_error,
        } => {
            let fields = [
                ("retryTarget", retry_target.as_str().into()),
                ("attemptNumber", (*attempt_number).into()),
                ("previousError", json!(previous_error)),
            ];
            (
                Some(format!("retry:{retry_target}")),
                Disposable,
                content(None, fields),
            )
        }
        messages!() | calls!() | outcomes!() | task_ends!() => return None,
        todo_changes!() | chunk_choices!() | chunkless!() => return None,
    })
}

//! What is to stay and to go by name, and news from outside.

use std::sync::Arc;

use daybook_domain::working::{
    Act, Chunk, ChunkId, ChunkType, Content, EventType, RetentionStrategy, State, ThreadEvent,
};
use serde_json::{Value, json};

use super::{ReduceContext, Reduced, content};

/// Chunks of these names, each once, as far as they stand.
fn standing<'a>(state: &'a State, ids: &[ChunkId]) -> Vec<&'a Arc<Chunk>> {
    let mut found: Vec<&Arc<Chunk>> = Vec::new();
    for chunk in ids.iter().filter_map(|id| state.chunk(id)) {
        if !found.iter().any(|known| known.id == chunk.id) {
            found.push(chunk);
        }
    }
    found
}

pub(super) fn mark_critical(state: &State, ids: &[ChunkId], at: &mut ReduceContext) -> Reduced {
    let mut reduced = Reduced::default();
    for old in standing(state, ids) {
        if old.retention_strategy != RetentionStrategy::Critical {
            let new = old.derive(&mut at.ids, at.now);
            reduced.update(at, old, new.kept(RetentionStrategy::Critical));
        }
    }
    reduced
}

pub(super) fn forget(state: &State, ids: &[ChunkId], at: &mut ReduceContext) -> Reduced {
    let mut reduced = Reduced::default();
    for chunk in standing(state, ids) {
        if chunk.retention_strategy != RetentionStrategy::Critical {
            let chunk_id = chunk.id.clone();
            reduced
                .operations
                .push(at.operation(Act::Delete { chunk_id }));
        }
    }
    reduced
}

/// News from outside. The newest of what replaces itself stands where the one before stood.
pub(super) fn news(state: &State, event: &ThreadEvent, at: &mut ReduceContext) -> Reduced {
    let Some((key, retention, content)) = told(&event.kind) else {
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

type Told = (Option<String>, RetentionStrategy, Content);

fn told(event: &EventType) -> Option<Told> {
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
        _ => return None,
    })
}

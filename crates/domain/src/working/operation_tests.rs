//! Conformance of operations, states and names: W42 to W53.

use std::collections::BTreeSet;

use super::*;
use crate::ids::{EventSeq, SessionId, Tenant};
use crate::working::{ChunkContent, ChunkType, Provenance, RetentionStrategy, StateSource};

fn ids() -> IdSource {
    let thread = SessionId {
        tenant: Tenant::local(),
        agent: "agent".to_owned(),
        host_id: "thread_a".to_owned(),
    };
    IdSource::new(&thread, EventSeq(1))
}

fn chunk(id: &str) -> Arc<Chunk> {
    let content = ChunkContent::text(id);
    Arc::new(Chunk::new(
        id.into(),
        ChunkType::WorkingFlow,
        content,
        Timestamp(1),
    ))
}

fn metadata(seq: u64) -> StateMetadata {
    StateMetadata {
        created_at: Timestamp(1),
        previous_state_id: None,
        source_operation: None,
        provenance: Provenance {
            source: StateSource::EventDispatch,
            seq: EventSeq(seq),
            event_type: None,
        },
        custom: serde_json::Map::new(),
    }
}

fn state(chunks: &[&str]) -> ThreadState {
    let chunks = chunks.iter().map(|id| chunk(id)).collect();
    ThreadState::new("state_0".into(), metadata(0), chunks)
}

fn apply(
    state: &ThreadState,
    kind: OperationKind,
    pending: &[&str],
) -> Result<(ThreadState, StateDelta), OperationError> {
    apply_all(state, vec![kind], pending)
}

fn apply_all(
    state: &ThreadState,
    acts: Vec<OperationKind>,
    pending: &[&str],
) -> Result<(ThreadState, StateDelta), OperationError> {
    let mut ids = ids();
    let operations: Vec<_> = acts
        .into_iter()
        .map(|kind| Operation::new(&mut ids, kind, Timestamp(2)))
        .collect();
    let pending: Vec<_> = pending.iter().map(|id| chunk(id)).collect();
    state.after(&operations, &pending, "state_1".into(), metadata(1))
}

fn add(id: &str) -> OperationKind {
    OperationKind::Add {
        chunk_id: id.into(),
        position: None,
    }
}

#[track_caller]
fn check(
    result: Result<(ThreadState, StateDelta), OperationError>,
    order: &[&str],
    removed: &[&str],
) {
    let (state, applied) = result.expect("it applies");
    let names = |ids: &[ChunkId]| ids.iter().map(|id| id.0.to_string()).collect::<Vec<_>>();
    assert_eq!(names(state.chunk_ids()), order);
    assert_eq!(names(&applied.removed), removed);
    assert_eq!(state.chunks().count(), order.len());
}

#[test]
fn add_puts_a_chunk_at_the_end_or_at_a_position() {
    check(apply(&state(&[]), add("1"), &["1"]), &["1"], &[]);
    let at = |position| OperationKind::Add {
        chunk_id: "n".into(),
        position: Some(position),
    };
    check(
        apply(&state(&["1", "2"]), at(1), &["n"]),
        &["1", "n", "2"],
        &[],
    );
    check(
        apply(&state(&["1", "2"]), at(9), &["n"]),
        &["1", "2", "n"],
        &[],
    );
    check(
        apply(&state(&["1", "2"]), at(-1), &["n"]),
        &["1", "2", "n"],
        &[],
    );
}

#[test]
fn add_of_a_chunk_that_stands_is_refused() {
    let refused = apply(&state(&["1"]), add("1"), &["1"]).expect_err("a refusal");
    assert_eq!(refused, OperationError::Present("1".into()));
}

#[test]
fn an_operation_needs_the_chunk_that_it_brings() {
    let refused = apply(&state(&["1"]), add("2"), &[]).expect_err("a refusal");
    assert_eq!(refused.to_string(), "Chunk not found in context: 2");
}

#[test]
fn delete_takes_a_chunk_out() {
    let delete = OperationKind::Delete {
        chunk_id: "1".into(),
    };
    check(apply(&state(&["1"]), delete.clone(), &[]), &[], &["1"]);
    let refused = apply(&state(&[]), delete, &[]).expect_err("a refusal");
    assert_eq!(refused.to_string(), "Target chunk not found in state: 1");
}

#[test]
fn update_puts_a_derived_chunk_in_the_same_place() {
    let before = state(&["1", "2"]);
    let old = before.chunk(&"1".into()).expect("it stands");
    let mut ids = ids();
    let new = old
        .derive(&mut ids, Timestamp(5))
        .kept(RetentionStrategy::Critical);
    assert_eq!(new.metadata.parent_ids, [ChunkId::from("1")]);
    let update = OperationKind::Update {
        target_chunk_id: "1".into(),
        new_chunk_id: new.id.clone(),
    };
    let operation = Operation::new(&mut ids, update, Timestamp(5));
    let new = Arc::new(new);
    let (after, applied) = before
        .after(
            &[operation],
            &[Arc::clone(&new)],
            "state_1".into(),
            metadata(1),
        )
        .expect("it applies");
    assert_eq!(after.chunk_ids()[0], new.id);
    let kept = after.chunk(&new.id).expect("it stands");
    assert_eq!(kept.retention_strategy, RetentionStrategy::Critical);
    assert!(after.chunk(&"1".into()).is_none());
    assert_eq!((applied.added.len(), applied.removed.len()), (1, 1));
}

#[test]
fn reorder_moves_a_chunk() {
    let reorder = OperationKind::Reorder {
        chunk_id: "2".into(),
        new_position: 0,
    };
    check(apply(&state(&["1", "2"]), reorder, &[]), &["2", "1"], &[]);
}

fn batch_replace(targets: &[&str]) -> OperationKind {
    OperationKind::BatchReplace {
        target_chunk_ids: targets.iter().map(|id| (*id).into()).collect(),
        new_chunk_id: "n".into(),
    }
}

#[test]
fn batch_replace_puts_one_chunk_where_the_first_of_many_stood() {
    let before = state(&["a", "1", "b", "2", "c"]);
    check(
        apply(&before, batch_replace(&["2", "1"]), &["n"]),
        &["a", "n", "b", "c"],
        &["2", "1"],
    );
}

#[test]
fn batch_replace_passes_over_what_is_gone() {
    check(
        apply(
            &state(&["1", "b"]),
            batch_replace(&["1", "gone", "1"]),
            &["n"],
        ),
        &["n", "b"],
        &["1"],
    );
    check(
        apply(&state(&["b"]), batch_replace(&["gone"]), &["n"]),
        &["b", "n"],
        &[],
    );
}

#[test]
fn batch_is_all_or_nothing() {
    let operation = |kind| Operation::new(&mut ids(), kind, Timestamp(2));
    let delete = |id: &str| OperationKind::Delete {
        chunk_id: id.into(),
    };
    let batch = |acts: Vec<OperationKind>| OperationKind::Batch {
        operations: acts.into_iter().map(operation).collect(),
    };
    let good = batch(vec![add("2"), add("3"), delete("2")]);
    check(apply(&state(&["1"]), good, &["2", "3"]), &["1", "3"], &[]);
    let bad = batch(vec![add("2"), delete("gone")]);
    let mut before = state(&["1"]);
    let pending = [chunk("2")];
    let refused = before.advance(&[operation(bad)], &pending, "state_1".into(), metadata(1));
    assert_eq!(refused, Err(OperationError::Absent("gone".into())));
    assert_eq!(before, state(&["1"]));
}

#[test]
fn several_operations_make_one_state_that_names_the_one_before() {
    let before = state(&[]);
    let (after, applied) =
        apply_all(&before, vec![add("1"), add("2")], &["1", "2"]).expect("they apply");
    assert_eq!(after.len(), 2);
    assert_eq!(applied.added.len(), 2);
    assert_eq!(after.metadata.previous_state_id, Some(before.id));
    assert!(after.metadata.source_operation.is_some());
}

#[test]
fn a_state_that_somebody_holds_never_changes() {
    let mut state = state(&["1"]);
    let held = state.clone();
    let operation = Operation::new(&mut ids(), add("2"), Timestamp(2));
    let _ = state
        .advance(&[operation], &[chunk("2")], "state_1".into(), metadata(1))
        .expect("it applies");
    assert_eq!((held.len(), state.len()), (1, 2));
}

#[test]
fn states_survive_json() {
    let before = state(&["1", "2"]);
    let json = serde_json::to_string(&before).expect("json");
    assert_eq!(
        serde_json::from_str::<ThreadState>(&json).expect("a state"),
        before
    );
    let torn = json.replace("\"chunkIds\":[\"1\"", "\"chunkIds\":[\"3\"");
    assert!(serde_json::from_str::<ThreadState>(&torn).is_err());
}

#[test]
fn names_are_unique() {
    let mut ids = ids();
    let names: BTreeSet<_> = (0..100).map(|_| ids.operation()).collect();
    assert_eq!(names.len(), 100);
}

use serde_json::json;

use super::*;
use crate::ids::EventSeq;
use crate::time::Timestamp;
use crate::working::{ChunkContent, Provenance, StateMetadata, StateSource};

fn chunk(id: &str, part: WorkingFlowSubType, content: serde_json::Value) -> Chunk {
    let content: ChunkContent = serde_json::from_value(content).expect("content");
    Chunk::new(id.into(), ChunkType::WorkingFlow, content, Timestamp(1)).part(part)
}

fn user(id: &str) -> Chunk {
    chunk(
        id,
        WorkingFlowSubType::User,
        json!({"type": "TEXT", "text": id}),
    )
}

fn call(id: &str, call: &str) -> Chunk {
    let content = json!({"type": "TEXT", "action": "tool_call", "callId": call});
    chunk(id, WorkingFlowSubType::AgentAction, content)
}

fn outcome(id: &str, call: &str) -> Chunk {
    let content = json!({"type": "TEXT", "callId": call, "result": "done"});
    chunk(id, WorkingFlowSubType::ActionResponse, content)
}

fn state(chunks: Vec<Chunk>) -> ThreadState {
    let metadata = StateMetadata {
        created_at: Timestamp(1),
        previous_state_id: None,
        source_operation: None,
        provenance: Provenance {
            source: StateSource::Initial,
            seq: EventSeq(1),
            event_type: None,
        },
        custom: serde_json::Map::new(),
    };
    let chunks = chunks.into_iter().map(Arc::new).collect();
    ThreadState::new("state_test".into(), metadata, chunks)
}

#[track_caller]
fn check(chunks: Vec<Chunk>, recent: usize, expected: &[&str]) {
    let recent = RecentLimits {
        chunks: recent,
        tokens: 100,
    };
    let selection = select(&state(chunks), recent, |_| 10);
    let names: Vec<_> = selection.chunks().map(|chunk| &*chunk.id.0).collect();
    assert_eq!(names, expected);
}

#[test]
fn what_is_not_compactable_stays() {
    let kept = |id, retention| user(id).kept(retention);
    let system = Chunk::new(
        "s".into(),
        ChunkType::System,
        ChunkContent::text("s"),
        Timestamp(1),
    );
    let chunks = vec![
        system.kept(RetentionStrategy::Compressible),
        kept("critical", RetentionStrategy::Critical),
        kept("ephemeral", RetentionStrategy::Ephemeral),
        kept("one", RetentionStrategy::Compressible),
        kept("batch", RetentionStrategy::BatchCompressible),
        user("newest"),
    ];
    check(chunks, 0, &["one", "batch"]);
}

#[test]
fn what_is_disposable_comes_first() {
    let chunks = vec![
        user("a"),
        user("b").kept(RetentionStrategy::Disposable),
        user("newest"),
    ];
    check(chunks, 0, &["b", "a"]);
}

#[test]
fn the_newest_words_of_the_person_stay_however_much_follows() {
    let chunks = vec![
        user("a"),
        call("c", "1"),
        outcome("o", "1"),
        call("d", "2"),
        outcome("p", "2"),
    ];
    check(chunks, 0, &["c", "o", "d", "p"]);
}

#[test]
fn an_unanswered_call_stays() {
    let chunks = vec![
        call("open", "1"),
        call("c", "2"),
        outcome("o", "2"),
        user("u"),
    ];
    check(chunks, 0, &["c", "o"]);
}

#[test]
fn a_call_stays_while_its_outcome_does() {
    let chunks = vec![user("a"), call("c", "1"), outcome("o", "1"), user("u")];
    check(chunks, 2, &["a"]);
}

#[test]
fn the_newest_stay_within_their_tokens() {
    let chunks = (0..30).map(|n| user(&format!("u{n}"))).collect();
    let recent = RecentLimits {
        chunks: 20,
        tokens: 50,
    };
    assert_eq!(select(&state(chunks), recent, |_| 10).len(), 25);
}

#[test]
fn the_last_chunk_stays_however_large_it_is() {
    let chunks = vec![user("u"), call("c", "1"), outcome("o", "1")];
    let recent = RecentLimits {
        chunks: 6,
        tokens: 5,
    };
    assert!(select(&state(chunks), recent, |_| 1_000).is_empty());
}

#[test]
fn a_summary_is_carried_on_however_new_it_is_if_there_is_something_new() {
    let summary = chunk(
        "summary",
        WorkingFlowSubType::Compacted,
        json!({"type": "TEXT", "text": "so far"}),
    );
    check(
        vec![summary.clone(), user("a"), user("u")],
        1,
        &["summary", "a"],
    );
    check(vec![summary, user("u")], 6, &[]);
}

#[test]
fn who_chooses_a_call_chooses_its_outcome() {
    let state = state(vec![
        call("c", "1"),
        outcome("o", "1"),
        call("d", "2"),
        outcome("p", "2"),
    ]);
    let selection = select_of(&state, &["c".into(), "nowhere".into()]);
    let names: Vec<_> = selection.chunks().map(|chunk| &*chunk.id.0).collect();
    assert_eq!(names, ["c", "o"]);
}

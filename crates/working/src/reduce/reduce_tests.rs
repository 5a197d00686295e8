//! Conformance of reducers: W54 to W62, and what each event does.

use daybook_domain::working::{EventType, RetentionStrategy, ThreadState, WorkingFlowSubType};
use daybook_domain::{SessionId, Tenant};
use serde_json::json;

use super::*;
use crate::fold::Fold;

struct ReducedThread {
    fold: Fold,
    state: ThreadState,
    seq: u64,
}

impl ReducedThread {
    fn new() -> Self {
        let id = SessionId {
            tenant: Tenant::local(),
            agent: "agent".to_owned(),
            host_id: "thread_a".to_owned(),
        };
        let fold = Fold::new(&id, Arc::new(ReducerRegistry::default()));
        let state = fold.beginning(Timestamp(0));
        Self {
            fold,
            state,
            seq: 0,
        }
    }

    /// Applies an event; returns the added chunks, and the number of removed ones.
    fn apply(&mut self, event: Value) -> (Vec<Arc<Chunk>>, usize) {
        self.seq += 1;
        let event = serde_json::from_value(event).expect("an event");
        let entry = daybook_domain::working::ThreadEntry::Event { event };
        let seq = EventSeq(self.seq);
        let folded = self.fold.entry(&mut self.state, seq, Timestamp(9), &entry);
        assert_eq!(folded.fault, None);
        (folded.applied.added, folded.applied.removed.len())
    }
}

/// The chunk that an event makes on an empty state.
#[track_caller]
fn chunk_made_by(event: Value) -> Arc<Chunk> {
    let (mut added, removed) = ReducedThread::new().apply(event);
    assert_eq!((added.len(), removed), (1, 0));
    added.remove(0)
}

#[track_caller]
fn check(event: Value, kind: ChunkType, part: Option<WorkingFlowSubType>, kept: RetentionStrategy) {
    let chunk = chunk_made_by(event.clone());
    let found = (chunk.kind, chunk.sub_type, chunk.retention_strategy);
    assert_eq!(found, (kind, part, kept), "{event}");
    assert_eq!(chunk.metadata.custom["eventType"], event["type"]);
    assert_eq!(chunk.metadata.custom["timestamp"], event["timestamp"]);
}

use ChunkType::{Delegation, Environment, Output, System, WorkingFlow};
use RetentionStrategy::{BatchCompressible, Compressible, Critical, Disposable};
use WorkingFlowSubType::{ActionResponse, AgentAction, Response, User};

#[test]
fn words_are_part_of_the_conversation() {
    let user = json!({"type": "USER_MESSAGE", "timestamp": 1, "content": "Hello, world!"});
    check(user.clone(), WorkingFlow, Some(User), Compressible);
    assert_eq!(
        chunk_made_by(user).content,
        ChunkContent::text("Hello, world!")
    );
    let said = json!({"type": "LLM_TEXT_RESPONSE", "timestamp": 1, "content": "Hi.", "model": "m",
        "usage": {"inputTokens": 3, "outputTokens": 2}});
    check(said.clone(), WorkingFlow, Some(Response), Compressible);
    assert_eq!(
        chunk_made_by(said.clone()).content.str_field("role"),
        Some("assistant")
    );
    assert_eq!(
        chunk_made_by(said).metadata.custom["usage"]["outputTokens"],
        2
    );
    let asked = json!({"type": "LLM_CLARIFICATION", "timestamp": 1, "question": "Which?"});
    check(asked.clone(), WorkingFlow, Some(Response), Compressible);
    assert_eq!(
        chunk_made_by(asked).content.to_text(),
        "Which?\naction: clarification"
    );
    let parent = json!({"type": "PARENT_AGENT_MESSAGE", "timestamp": 1, "parentAgentId": "a", "content": "Do it."});
    check(parent, Delegation, None, Critical);
}

#[test]
fn calls_and_their_outcomes_are_batches() {
    let call = json!({"type": "LLM_TOOL_CALL", "timestamp": 1, "toolName": "read_file", "callId": "call_123",
        "arguments": {"path": "a.rs"}});
    check(
        call.clone(),
        WorkingFlow,
        Some(AgentAction),
        BatchCompressible,
    );
    let chunk = chunk_made_by(call);
    assert_eq!(chunk.content.str_field("toolName"), Some("read_file"));
    assert_eq!(chunk.call_id(), Some("call_123"));
    let events = [
        json!({"type": "LLM_SKILL_CALL", "timestamp": 1, "skillName": "s", "callId": "c", "input": 1}),
        json!({"type": "LLM_SUBAGENT_SPAWN", "timestamp": 1, "subAgentId": "a", "agentType": "t", "task": "x"}),
        json!({"type": "LLM_SUBAGENT_MESSAGE", "timestamp": 1, "subAgentId": "a", "content": "go on"}),
    ];
    for event in events {
        check(event, WorkingFlow, Some(AgentAction), BatchCompressible);
    }
    let events = [
        json!({"type": "TOOL_RESULT", "timestamp": 1, "toolName": "t", "callId": "c", "result": [1], "success": true}),
        json!({"type": "SKILL_RESULT", "timestamp": 1, "skillName": "s", "callId": "c", "result": "r", "success": false}),
        json!({"type": "SUBAGENT_RESULT", "timestamp": 1, "subAgentId": "c", "result": "r", "success": true}),
        json!({"type": "TOOL_ERROR", "timestamp": 1, "toolName": "t", "callId": "c", "error": "no"}),
        json!({"type": "SKILL_ERROR", "timestamp": 1, "skillName": "t", "callId": "c", "error": "no"}),
        json!({"type": "SUBAGENT_ERROR", "timestamp": 1, "subAgentId": "c", "error": "no", "errorDetails": {"a": 1}}),
    ];
    for event in events {
        check(
            event.clone(),
            WorkingFlow,
            Some(ActionResponse),
            BatchCompressible,
        );
        assert_eq!(chunk_made_by(event).call_id(), Some("c"));
    }
}

#[test]
fn how_it_ended_stays() {
    let done = json!({"type": "TASK_COMPLETED", "timestamp": 1, "result": 1, "summary": "done"});
    check(done, Output, None, Critical);
    check(
        json!({"type": "TASK_ABANDONED", "timestamp": 1, "reason": "stuck"}),
        Output,
        None,
        Critical,
    );
    check(
        json!({"type": "TASK_TERMINATED", "timestamp": 1, "terminatedBy": "user"}),
        Output,
        None,
        Critical,
    );
    check(
        json!({"type": "SYSTEM_ERROR", "timestamp": 1, "code": "E1", "error": "no"}),
        System,
        None,
        Critical,
    );
}

#[test]
fn news_from_outside_is_environment_and_the_newest_of_a_kind_stands() {
    check(
        json!({"type": "EXTERNAL_INJECT", "timestamp": 1, "source": "ci", "content": "red"}),
        Environment,
        None,
        Compressible,
    );
    check(
        json!({"type": "EXTERNAL_TIMER", "timestamp": 1, "timerId": "t"}),
        Environment,
        None,
        Disposable,
    );
    check(
        json!({"type": "EXECUTION_RETRY", "timestamp": 1, "retryTarget": "build", "attemptNumber": 2}),
        Environment,
        None,
        Disposable,
    );
    let mut thread = ReducedThread::new();
    let change = |value| json!({"type": "ENVIRONMENT_CHANGE", "timestamp": 1, "changeType": "branch", "newValue": value});
    thread.apply(change("main"));
    let (added, removed) = thread.apply(change("fix"));
    assert_eq!((added.len(), removed, thread.state.len()), (1, 1, 1));
}

#[test]
fn the_things_to_do_are_one_chunk_that_is_kept_up_to_date() {
    let mut thread = ReducedThread::new();
    let todos = json!([{"id": "a", "content": "one", "status": "pending"}, {"id": "b", "content": "two", "status": "pending"}]);
    let (added, _) = thread.apply(json!({"type": "TODO_SET", "timestamp": 1, "todos": todos}));
    assert_eq!(
        (added[0].kind, added[0].retention_strategy),
        (WorkingFlow, Critical)
    );
    thread.apply(json!({"type": "TODO_COMPLETED", "timestamp": 1, "todoId": "a"}));
    let sub = json!([{"id": "b1", "content": "part", "status": "in_progress"}]);
    thread.apply(json!({"type": "TODO_EXPANDED", "timestamp": 1, "todoId": "b", "subItems": sub}));
    thread.apply(
        json!({"type": "TODO_UPDATED", "timestamp": 1, "todoId": "b1", "content": "a part"}),
    );
    assert_eq!(thread.state.len(), 1);
    let list = thread
        .state
        .chunks()
        .next()
        .expect("the list")
        .content
        .to_text()
        .into_owned();
    assert!(
        list.starts_with("[x] one (a)\n[ ] two (b)\n  [>] a part (b1)"),
        "{list}"
    );
    thread.apply(json!({"type": "TODO_DELETED", "timestamp": 1, "todoId": "b1"}));
    let (added, removed) =
        thread.apply(json!({"type": "TODO_DELETED", "timestamp": 1, "todoId": "nowhere"}));
    assert_eq!((added.len(), removed), (0, 0));
    let left = todos_left(&thread.state);
    assert_eq!(left, ["a", "b"]);
}

fn todos_left(state: &ThreadState) -> Vec<String> {
    let list = state.chunks().next().expect("the list");
    assert!(todos::is_list(list));
    todos::todos_of(list)
        .into_iter()
        .map(|item| item.id)
        .collect()
}

#[test]
fn what_is_marked_critical_stays_and_what_is_forgotten_goes() {
    let mut thread = ReducedThread::new();
    let (a, _) = thread.apply(json!({"type": "USER_MESSAGE", "timestamp": 1, "content": "a"}));
    let (b, _) = thread.apply(json!({"type": "USER_MESSAGE", "timestamp": 1, "content": "b"}));
    let ids = json!([a[0].id, "chunk_nowhere", a[0].id]);
    let (marked, removed) =
        thread.apply(json!({"type": "MEMORY_MARK_CRITICAL", "timestamp": 1, "chunkIds": ids}));
    assert_eq!((marked.len(), removed), (1, 1));
    assert_eq!(marked[0].retention_strategy, Critical);
    assert_eq!(marked[0].metadata.parent_ids, [a[0].id.clone()]);
    // Marked once more, nothing changes; critical, it is not forgotten.
    let again = json!({"type": "MEMORY_MARK_CRITICAL", "timestamp": 1, "chunkIds": [marked[0].id]});
    assert_eq!(thread.apply(again), (vec![], 0));
    let forget =
        json!({"type": "MEMORY_FORGET", "timestamp": 1, "chunkIds": [marked[0].id, b[0].id]});
    assert_eq!(thread.apply(forget), (vec![], 1));
    assert_eq!(
        thread.state.chunk_ids(),
        std::slice::from_ref(&marked[0].id)
    );
}

#[test]
fn commands_and_unknown_events_leave_no_chunk() {
    let mut thread = ReducedThread::new();
    for event in [
        json!({"type": "MEMORY_COMPACT_MANUAL", "timestamp": 1}),
        json!({"type": "MEMORY_COMPACT_AUTO", "timestamp": 1, "threshold": 2, "currentSize": 1}),
        json!({"type": "EXECUTION_PAUSE", "timestamp": 1}),
        json!({"type": "EXECUTION_RESUME", "timestamp": 1}),
        json!({"type": "WEATHER", "timestamp": 1, "sky": "blue"}),
    ] {
        let before = thread.state.clone();
        assert_eq!(thread.apply(event), (vec![], 0));
        assert_eq!(thread.state, before, "no new state either");
    }
}

#[test]
fn two_events_make_two_chunks_in_order() {
    let mut thread = ReducedThread::new();
    thread.apply(json!({"type": "USER_MESSAGE", "timestamp": 1, "content": "a"}));
    thread.apply(json!({"type": "LLM_TEXT_RESPONSE", "timestamp": 1, "content": "b"}));
    let told: Vec<_> = thread
        .state
        .chunks()
        .map(|chunk| chunk.content.to_text().into_owned())
        .collect();
    assert_eq!(told, ["a", "b"]);
}

#[test]
fn the_default_registry_has_them_all() {
    let registry = ReducerRegistry::default();
    assert!(registry.len() >= 20);
    assert_eq!(registry.len(), EventType::WORDS.len() - 4);
    assert_eq!(registry.reducers_for("USER_MESSAGE").count(), 1);
    assert_eq!(registry.reducers_for("WEATHER").count(), 0);
}

/// Handles `WEATHER`, and fails where the event demands it.
struct Weather;

impl Reducer for Weather {
    fn name(&self) -> &str {
        "weather"
    }

    fn takes(&self, event_type: &str) -> bool {
        event_type == "WEATHER"
    }

    fn reduce(
        &self,
        _: &ThreadState,
        event: &ThreadEvent,
        at: &mut ReduceContext,
    ) -> Result<Reduced, BoxError> {
        let EventType::Custom { fields, .. } = &event.kind else {
            return Ok(Reduced::default());
        };
        let sky = fields["sky"].as_str().ok_or("there is no sky")?;
        let chunk = at.chunk(ChunkType::Environment, ChunkContent::text(sky), event);
        Ok(Reduced::add(at, chunk))
    }
}

#[test]
fn a_reducer_of_the_hosts_own_takes_its_events() {
    let mut registry = ReducerRegistry::default();
    let weather: Arc<dyn Reducer> = Arc::new(Weather);
    registry.register(Arc::clone(&weather));
    registry.register(weather);
    assert_eq!(registry.reducers_for("WEATHER").count(), 1);
    let mut thread = ReducedThread::new();
    let id = SessionId {
        tenant: Tenant::local(),
        agent: "agent".to_owned(),
        host_id: "thread_a".to_owned(),
    };
    thread.fold = Fold::new(&id, Arc::new(registry.clone()));
    let (added, _) = thread.apply(json!({"type": "WEATHER", "timestamp": 1, "sky": "blue"}));
    assert_eq!(added[0].content, ChunkContent::text("blue"));
    assert_eq!(registry.unregister("weather"), 1);
    assert_eq!(registry.unregister("weather"), 0);
}

#[test]
fn an_event_that_lacks_a_field_is_refused_by_name() {
    let event = json!({"type": "TOOL_RESULT", "timestamp": 1, "toolName": "t", "success": true});
    let refused = serde_json::from_value::<ThreadEvent>(event).expect_err("a refusal");
    assert_eq!(refused.to_string(), "TOOL_RESULT: missing field `callId`");
}

//! Small threads for the tests of contexts, and contexts rendered as a page of text.

use daybook_domain::model::{Message, Role};
use daybook_domain::working::{
    Chunk, ChunkContent, ChunkType, Provenance, RetentionStrategy, StateMetadata, StateSource,
    ThreadState, WorkingFlowSubType,
};
use daybook_domain::{EventSeq, Timestamp};
use serde_json::{Value, json};

use super::{ContextError, ContextOptions, ThreadContext, build};

/// A thread under construction. Its n-th chunk is `chunk_n`, made from event n.
#[derive(Debug, Clone, Default)]
pub(super) struct TestThread(pub(super) Vec<Chunk>);

impl TestThread {
    pub(super) fn add(mut self, kind: ChunkType, content: Value) -> Self {
        let number = self.0.len() + 1;
        let mut content = content;
        content["type"] = json!("TEXT");
        let content: ChunkContent = serde_json::from_value(content).expect("content");
        let id = format!("chunk_{number}");
        let mut chunk = Chunk::new(id.as_str().into(), kind, content, Timestamp(0));
        chunk
            .metadata
            .custom
            .insert("seq".to_owned(), json!(number));
        self.0.push(chunk);
        self
    }

    fn flow(self, part: WorkingFlowSubType, content: Value) -> Self {
        self.add(ChunkType::WorkingFlow, content)
            .change_last(|chunk| chunk.sub_type = Some(part))
    }

    /// The last chunk, changed.
    pub(super) fn change_last(mut self, change: impl FnOnce(&mut Chunk)) -> Self {
        change(self.0.last_mut().expect("a chunk"));
        self
    }

    pub(super) fn kept(self, retention: RetentionStrategy) -> Self {
        self.change_last(|chunk| chunk.retention_strategy = retention)
    }

    pub(super) fn user(self, text: &str) -> Self {
        self.flow(WorkingFlowSubType::User, json!({"text": text}))
    }

    pub(super) fn says(self, text: &str) -> Self {
        self.flow(WorkingFlowSubType::Response, json!({"text": text}))
    }

    pub(super) fn thinks(self, text: &str) -> Self {
        self.flow(WorkingFlowSubType::Thinking, json!({"text": text}))
    }

    pub(super) fn summary(self, text: &str) -> Self {
        self.flow(WorkingFlowSubType::Compacted, json!({"text": text}))
    }

    pub(super) fn calls(self, id: &str, tool: &str, arguments: Value) -> Self {
        let call = json!({"text": format!("Tool call: {tool}"), "action": "tool_call", "toolName": tool,
            "callId": id, "arguments": arguments, "status": "pending"});
        self.flow(WorkingFlowSubType::AgentAction, call)
    }

    pub(super) fn acts(self, content: Value) -> Self {
        self.flow(WorkingFlowSubType::AgentAction, content)
    }

    pub(super) fn result(self, id: &str, result: Value) -> Self {
        let result = json!({"text": "Tool result", "source": "tool", "callId": id, "result": result,
            "success": true});
        self.flow(WorkingFlowSubType::ActionResponse, result)
    }

    pub(super) fn answers(self, content: Value) -> Self {
        self.flow(WorkingFlowSubType::ActionResponse, content)
    }

    pub(super) fn state(self) -> ThreadState {
        let metadata = StateMetadata {
            created_at: Timestamp(0),
            previous_state_id: None,
            source_operation: None,
            provenance: Provenance {
                source: StateSource::Initial,
                seq: EventSeq(1),
                event_type: None,
            },
            custom: serde_json::Map::new(),
        };
        ThreadState::new(
            "state_1".into(),
            metadata,
            self.0.into_iter().map(Into::into).collect(),
        )
    }

    pub(super) fn context(
        self,
        options: &ContextOptions<'_>,
    ) -> Result<ThreadContext, ContextError> {
        build(&self.state(), options, &four_characters)
    }
}

/// Options with room for everything.
pub(super) fn roomy() -> ContextOptions<'static> {
    ContextOptions::new(1_000_000, 0)
}

/// Options with room for that many tokens.
pub(super) fn room(tokens: u32) -> ContextOptions<'static> {
    ContextOptions::new(tokens, 0)
}

/// Counts a token for every four characters, rounded up.
pub(super) fn four_characters(text: &str) -> u32 {
    u32::try_from(text.chars().count().div_ceil(4)).expect("a short text")
}

/// Renders messages as a page.
pub(super) fn page(messages: &[Message]) -> String {
    let messages = messages.iter().map(|message| {
        let who = match (message.role, &message.answers) {
            (Role::System, _) => "system".to_owned(),
            (Role::User, _) => "user".to_owned(),
            (Role::Assistant, _) => "assistant".to_owned(),
            (Role::Tool, id) => format!("tool {}", id.as_deref().unwrap_or("?")),
        };
        let calls = message.calls.iter();
        let calls: String = calls
            .map(|call| format!("  -> {} {}({})\n", call.id, call.name, call.arguments))
            .collect();
        let text: String = message
            .text
            .lines()
            .map(|line| format!("  {line}").trim_end().to_owned() + "\n")
            .collect();
        format!("{who}\n{text}{calls}")
    });
    messages.collect()
}

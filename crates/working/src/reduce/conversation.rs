//! Reduces messages, calls and outcomes to one chunk each.

use daybook_domain::working::{
    ChunkContent, ChunkType, EventType, RetentionStrategy, ThreadEvent, WorkingFlowSubType,
};
use serde_json::{Value, json};

use crate::event_groups::{
    calls, chunk_choices, chunkless, messages, news, outcomes, task_ends, todo_changes,
};

use super::{ReduceContext, Reduced, content};

use RetentionStrategy::{BatchCompressible, Compressible, Critical};
use WorkingFlowSubType::{ActionResponse, AgentAction, Response, User};

/// The properties of a new chunk: its type, its part of the conversation, its retention, its content.
type ChunkProperties = (
    ChunkType,
    Option<WorkingFlowSubType>,
    RetentionStrategy,
    ChunkContent,
);

pub(super) fn reduce(event: &ThreadEvent, at: &mut ReduceContext) -> Reduced {
    let Some((kind, part, retention, content)) = chunk_properties(&event.kind) else {
        return Reduced::default();
    };
    let mut chunk = at.chunk(kind, content, event).kept(retention);
    chunk.sub_type = part;
    if let EventType::LlmTextResponse { model, usage, .. } = &event.kind {
        let custom = &mut chunk.metadata.custom;
        if let Some(model) = model {
            custom.insert("model".to_owned(), model.as_str().into());
        }
        if let Some(usage) = usage {
            custom.insert("usage".to_owned(), json!(usage));
        }
    }
    Reduced::add(at, chunk)
}

fn chunk_properties(event: &EventType) -> Option<ChunkProperties> {
    message_chunk(event)
        .or_else(|| call_chunk(event))
        .or_else(|| end_chunk(event))
}

fn flow(
    part: WorkingFlowSubType,
    retention: RetentionStrategy,
    content: ChunkContent,
) -> Option<ChunkProperties> {
    Some((ChunkType::WorkingFlow, Some(part), retention, content))
}

fn call(content: ChunkContent) -> Option<ChunkProperties> {
    flow(AgentAction, BatchCompressible, content)
}

fn outcome(content: ChunkContent) -> Option<ChunkProperties> {
    flow(ActionResponse, BatchCompressible, content)
}

/// Properties of a chunk for a message.
fn message_chunk(event: &EventType) -> Option<ChunkProperties> {
    match event {
        EventType::UserMessage {
            content: text,
            attachments,
        } => {
            let attachments = match attachments.is_empty() {
                true => Value::Null,
                false => attachments.clone().into(),
            };
            let fields = [("attachments", attachments)];
            flow(User, Compressible, content(Some(text.clone()), fields))
        }
        EventType::ParentAgentMessage {
            parent_agent_id,
            content: text,
            task_context,
        } => {
            let fields = [
                ("role", "parent".into()),
                ("parentAgentId", parent_agent_id.as_str().into()),
                ("taskContext", json!(task_context)),
            ];
            let content = content(Some(text.clone()), fields);
            Some((ChunkType::Delegation, None, Critical, content))
        }
        EventType::LlmTextResponse { content: text, .. } => {
            let fields = [("role", "assistant".into())];
            flow(Response, Compressible, content(Some(text.clone()), fields))
        }
        EventType::LlmClarification {
            question,
            needed_info,
        } => {
            let needed = match needed_info.is_empty() {
                true => Value::Null,
                false => needed_info.clone().into(),
            };
            let fields = [
                ("role", "assistant".into()),
                ("action", "clarification".into()),
                ("neededInfo", needed),
            ];
            flow(
                Response,
                Compressible,
                content(Some(question.clone()), fields),
            )
        }
        calls!() | outcomes!() | task_ends!() => None,
        todo_changes!() | chunk_choices!() | news!() | chunkless!() => None,
    }
}

/// Properties of a chunk for a call.
fn call_chunk(event: &EventType) -> Option<ChunkProperties> {
    match event {
        EventType::LlmToolCall {
            tool_name,
            call_id,
            arguments,
        } => call(content(
            None,
            [
                ("action", "tool_call".into()),
                ("toolName", tool_name.as_str().into()),
                ("callId", call_id.as_str().into()),
                ("arguments", arguments.clone()),
            ],
        )),
        EventType::LlmSkillCall {
            skill_name,
            call_id,
            input,
        } => call(content(
            None,
            [
                ("action", "skill_call".into()),
                ("skillName", skill_name.as_str().into()),
                ("callId", call_id.as_str().into()),
                ("input", input.clone()),
            ],
        )),
        EventType::LlmSubagentSpawn {
            sub_agent_id,
            agent_type,
            task,
            config,
        } => call(content(
            None,
            [
                ("action", "spawn_subagent".into()),
                ("subAgentId", sub_agent_id.as_str().into()),
                ("agentType", agent_type.as_str().into()),
                ("task", task.as_str().into()),
                ("config", json!(config)),
            ],
        )),
        EventType::LlmSubagentMessage {
            sub_agent_id,
            content: text,
        } => call(content(
            Some(text.clone()),
            [
                ("action", "message_subagent".into()),
                ("subAgentId", sub_agent_id.as_str().into()),
            ],
        )),
        outcomes!() => outcome_chunk(event),
        messages!() | task_ends!() => None,
        todo_changes!() | chunk_choices!() | news!() | chunkless!() => None,
    }
}

fn outcome_chunk(event: &EventType) -> Option<ChunkProperties> {
    let (source, name, call_id, success, fields) = match event {
        EventType::ToolResult {
            tool_name,
            call_id,
            result,
            success,
        } => (
            "tool",
            Some(("toolName", tool_name)),
            call_id,
            *success,
            [("result", result.clone()), ("errorDetails", Value::Null)],
        ),
        EventType::SkillResult {
            skill_name,
            call_id,
            result,
            success,
        } => (
            "skill",
            Some(("skillName", skill_name)),
            call_id,
            *success,
            [("result", result.clone()), ("errorDetails", Value::Null)],
        ),
        EventType::SubagentResult {
            sub_agent_id,
            result,
            success,
        } => (
            "subagent",
            None,
            sub_agent_id,
            *success,
            [("result", result.clone()), ("errorDetails", Value::Null)],
        ),
        EventType::ToolError {
            tool_name,
            call_id,
            error,
            error_details,
        } => (
            "tool_error",
            Some(("toolName", tool_name)),
            call_id,
            false,
            error_fields(error, error_details.as_ref()),
        ),
        EventType::SkillError {
            skill_name,
            call_id,
            error,
            error_details,
        } => (
            "skill_error",
            Some(("skillName", skill_name)),
            call_id,
            false,
            error_fields(error, error_details.as_ref()),
        ),
        EventType::SubagentError {
            sub_agent_id,
            error,
            error_details,
        } => (
            "subagent_error",
            None,
            sub_agent_id,
            false,
            error_fields(error, error_details.as_ref()),
        ),
        messages!() | calls!() | task_ends!() => return None,
        todo_changes!() | chunk_choices!() | news!() | chunkless!() => return None,
    };
    let [first, second] = fields;
    let (name_field, named) = match name {
        Some((field, name)) => (field, name.as_str().into()),
        None => ("toolName", Value::Null),
    };
    let id_field = match source.starts_with("subagent") {
        true => "subAgentId",
        false => "callId",
    };
    outcome(content(
        None,
        [
            ("source", source.into()),
            (name_field, named),
            (id_field, call_id.as_str().into()),
            ("success", success.into()),
            first,
            second,
        ],
    ))
}

fn error_fields(error: &str, details: Option<&Value>) -> [(&'static str, Value); 2] {
    [("error", error.into()), ("errorDetails", json!(details))]
}

/// Properties of a chunk for the end of a task, or for an error.
fn end_chunk(event: &EventType) -> Option<ChunkProperties> {
    let (kind, content) = match event {
        EventType::SystemError {
            code,
            error,
            error_details,
        } => {
            let fields = [
                ("errorType", "system_error".into()),
                ("code", code.as_str().into()),
                ("errorDetails", json!(error_details)),
            ];
            (ChunkType::System, content(Some(error.clone()), fields))
        }
        EventType::TaskCompleted { result, summary } => {
            let fields = [
                ("action", "task_completed".into()),
                ("result", result.clone()),
            ];
            (ChunkType::Output, content(summary.clone(), fields))
        }
        EventType::TaskAbandoned {
            reason,
            partial_result,
        } => {
            let fields = [
                ("action", "task_abandoned".into()),
                ("partialResult", json!(partial_result)),
            ];
            (ChunkType::Output, content(Some(reason.clone()), fields))
        }
        EventType::TaskTerminated {
            terminated_by,
            reason,
        } => {
            let fields = [
                ("action", "task_terminated".into()),
                ("terminatedBy", json!(terminated_by)),
            ];
            (ChunkType::Output, content(reason.clone(), fields))
        }
        messages!() | calls!() | outcomes!() => return None,
        todo_changes!() | chunk_choices!() | news!() | chunkless!() => return None,
    };
    Some((kind, None, Critical, content))
}

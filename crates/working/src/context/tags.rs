//! Renders chunks as elements of text, with Team9's names.
//!
//! The text in an element is escaped, so that it can neither end the element nor begin another.

use std::fmt::Write as _;

use daybook_domain::working::{Chunk, ChunkType, WorkingFlowSubType};

use super::rendering;

/// Renders the chunk as an element.
pub(super) fn element(chunk: &Chunk) -> String {
    element_around(chunk, &body(chunk))
}

/// Renders the chunk as an element with another text than its own.
pub(super) fn element_around(chunk: &Chunk, text: &str) -> String {
    let name = name(chunk);
    let mut written = format!("<{name} id=\"{}\"", escape(&chunk.id.0));
    for (attribute, value) in attributes(chunk) {
        let value = escape(&value).replace('"', "&quot;");
        write!(written, " {attribute}=\"{value}\"").expect("a string takes everything");
    }
    let body = escape(text);
    written + ">\n" + body.trim_end() + "\n</" + name + ">"
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn name(chunk: &Chunk) -> &'static str {
    let action = chunk.content.str_field("action");
    match chunk.kind {
        ChunkType::System => "system_context",
        ChunkType::Agent => "agent_message",
        ChunkType::Workflow => "workflow",
        ChunkType::Delegation if chunk.content.str_field("role") == Some("parent") => {
            "parent_agent_message"
        }
        ChunkType::Delegation => "delegation",
        ChunkType::Environment => "environment",
        ChunkType::Output => match action {
            Some("task_completed") => "task_completed",
            Some("task_abandoned") => "task_abandoned",
            Some("task_terminated") => "task_terminated",
            _ => "output",
        },
        ChunkType::WorkingFlow => match chunk.sub_type {
            Some(WorkingFlowSubType::Compacted) => "progress_summary",
            Some(WorkingFlowSubType::User) => "user_message",
            Some(WorkingFlowSubType::Thinking) => "thinking",
            Some(WorkingFlowSubType::Response) if action == Some("clarification") => {
                "assistant_clarification"
            }
            Some(WorkingFlowSubType::Response) => "assistant_response",
            Some(WorkingFlowSubType::AgentAction) => "agent_action",
            Some(WorkingFlowSubType::ActionResponse) => "action_response",
            None => "working_flow",
        },
    }
}

fn attributes(chunk: &Chunk) -> Vec<(&'static str, String)> {
    let content = &chunk.content;
    let field = |name| content.str_field(name).map(str::to_owned);
    let call = || chunk.call_id().map(str::to_owned);
    let wanted = match chunk.sub_type {
        Some(WorkingFlowSubType::AgentAction) => vec![
            ("action", field("action")),
            ("tool", Some(rendering::call_name(content))),
            ("call_id", call()),
        ],
        Some(WorkingFlowSubType::ActionResponse) => vec![
            ("call_id", call()),
            (
                "error",
                rendering::is_failed(content).then(|| "true".to_owned()),
            ),
        ],
        Some(_) => Vec::new(),
        None if chunk.kind == ChunkType::System => {
            vec![("priority", Some(chunk.priority.to_string()))]
        }
        None => vec![("source", field("source"))],
    };
    wanted
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

fn body(chunk: &Chunk) -> String {
    match chunk.sub_type {
        Some(WorkingFlowSubType::AgentAction) => rendering::arguments(&chunk.content),
        Some(WorkingFlowSubType::ActionResponse) => rendering::outcome(&chunk.content),
        Some(WorkingFlowSubType::User | WorkingFlowSubType::Response) => {
            rendering::message_text(&chunk.content)
        }
        Some(WorkingFlowSubType::Compacted | WorkingFlowSubType::Thinking) | None => {
            chunk.content.to_text().into_owned()
        }
    }
}

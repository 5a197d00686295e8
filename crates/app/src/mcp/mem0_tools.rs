//! The tools of mem0's MCP server, as their clients know them.
//!
//! Not here: their work (`mem0`).

use rmcp::model::Tool;
use serde_json::{Value, json};

use super::described::{editing, object, reading, writing};

/// A tool of mem0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mem0Tool {
    Add,
    Search,
    List,
    Get,
    Update,
    Delete,
    DeleteAll,
    DeleteEntities,
    ListEntities,
    ListEvents,
    EventStatus,
}

impl Mem0Tool {
    pub(super) const ALL: [Self; 11] = [
        Self::Add,
        Self::Search,
        Self::List,
        Self::Get,
        Self::Update,
        Self::Delete,
        Self::DeleteAll,
        Self::DeleteEntities,
        Self::ListEntities,
        Self::ListEvents,
        Self::EventStatus,
    ];
}

pub(super) fn tool(tool: Mem0Tool) -> Tool {
    match tool {
        Mem0Tool::Add => writing(
            "add_memory",
            "Add memory",
            "Keep a text, or learn from a conversation. A text is kept as it is; messages are learned from in the \
             background, and get_event_status says what became of them.",
            of_owners(json!({
                "text": {"type": "string", "description": "what to keep"},
                "messages": {"type": "array", "items": {"type": "object"}, "description": "a conversation: objects with role and content"},
                "metadata": {"type": "object", "description": "whatever goes with it"},
                "infer": {"type": "boolean", "description": "whether to learn from it, instead of keeping it as it is"},
            })),
        ),
        Mem0Tool::Search => reading(
            "search_memories",
            "Search memories",
            "The memories that answer a question, best first.",
            found(
                json!({
                    "query": {"type": "string", "minLength": 1, "description": "what you want to know"},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
                }),
                &["query"],
            ),
        ),
        Mem0Tool::List => reading(
            "get_memories",
            "List memories",
            "Memories, newest first, page by page.",
            found(paging(), &[]),
        ),
        Mem0Tool::Get => reading(
            "get_memory",
            "Show a memory",
            "One memory by its id.",
            object(memory_id(), &["memory_id"]),
        ),
        Mem0Tool::Update => writing(
            "update_memory",
            "Change a memory",
            "Give a memory other words.",
            object(
                json!({"memory_id": memory_id()["memory_id"], "text": {"type": "string", "minLength": 1, "description": "the new words"}}),
                &["memory_id", "text"],
            ),
        ),
        Mem0Tool::Delete => editing(
            "delete_memory",
            "Forget a memory",
            "Forget one memory. The person can undo it.",
            object(memory_id(), &["memory_id"]),
        ),
        Mem0Tool::DeleteAll => editing(
            "delete_all_memories",
            "Forget memories",
            "Forget all memories that belong to a user, an agent, an app or a run. The person can undo it.",
            of_owners(json!({})),
        ),
        Mem0Tool::DeleteEntities => editing(
            "delete_entities",
            "Forget an owner",
            "Forget a user, an agent, an app or a run with all memories that belong to it. The person can undo it.",
            of_owners(json!({})),
        ),
        Mem0Tool::ListEntities => reading(
            "list_entities",
            "List owners",
            "The users, agents, apps and runs to whom memories belong.",
            object(json!({}), &[]),
        ),
        Mem0Tool::ListEvents => reading(
            "list_events",
            "List conversations",
            "What became of the conversations that were added, newest first, page by page.",
            object(paging(), &[]),
        ),
        Mem0Tool::EventStatus => reading(
            "get_event_status",
            "What became of a conversation",
            "Whether a conversation that was added has been learned from, and what was learned.",
            object(
                json!({"event_id": {"type": "string", "minLength": 1, "description": "as add_memory answered"}}),
                &["event_id"],
            ),
        ),
    }
}

fn paging() -> Value {
    json!({
        "page": {"type": "integer", "minimum": 1, "default": 1},
        "page_size": {"type": "integer", "minimum": 1, "maximum": 100, "default": 50},
    })
}

fn memory_id() -> Value {
    json!({"memory_id": {"type": "string", "minLength": 1, "description": "its id, from a search or a list"}})
}

/// Arguments with the owners of memories.
fn of_owners(mut properties: Value) -> Value {
    for (name, about) in [
        (
            "user_id",
            "whose it is; the person's where no owner is named",
        ),
        ("agent_id", "the agent that it is about"),
        ("app_id", "the app that it is from"),
        ("run_id", "the run or session that it is from"),
    ] {
        properties[name] = json!({"type": "string", "description": about});
    }
    object(properties, &[])
}

fn found(mut properties: Value, required: &[&str]) -> Value {
    let about = "which memories: {\"user_id\": \"ada\"}, with AND, OR, NOT and operators; the person's when left out";
    properties["filters"] = json!({"type": "object", "description": about});
    object(properties, required)
}

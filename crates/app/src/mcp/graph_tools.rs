//! The nine tools of the MCP server `server-memory`, as their clients know them.
//!
//! Not here: their work (`graph`).

use rmcp::model::Tool;
use serde_json::{Value, json};

use super::described::{editing, object, reading};

/// A tool of that server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GraphTool {
    CreateEntities,
    CreateRelations,
    AddObservations,
    DeleteEntities,
    DeleteObservations,
    DeleteRelations,
    ReadGraph,
    SearchNodes,
    OpenNodes,
}

impl GraphTool {
    /// In the order in which that server lists them.
    pub(super) const ALL: [Self; 9] = [
        Self::CreateEntities,
        Self::CreateRelations,
        Self::AddObservations,
        Self::DeleteEntities,
        Self::DeleteObservations,
        Self::DeleteRelations,
        Self::ReadGraph,
        Self::SearchNodes,
        Self::OpenNodes,
    ];
}

pub(super) fn tool(tool: GraphTool) -> Tool {
    match tool {
        GraphTool::CreateEntities => adding(
            "create_entities",
            "Create Entities",
            "Add entities to the knowledge graph, each with its observations. One whose name is known is left as it is.",
            object(json!({"entities": list_of(&entity())}), &["entities"]),
        ),
        GraphTool::CreateRelations => adding(
            "create_relations",
            "Create Relations",
            "Add relations between entities of the knowledge graph, worded in active voice.",
            object(json!({"relations": list_of(&relation())}), &["relations"]),
        ),
        GraphTool::AddObservations => adding(
            "add_observations",
            "Add Observations",
            "Add observations to entities that are in the knowledge graph.",
            object(
                json!({"observations": list_of(&observations("contents"))}),
                &["observations"],
            ),
        ),
        GraphTool::DeleteEntities => deleting(
            "delete_entities",
            "Delete Entities",
            "Delete entities from the knowledge graph, with the relations that name them.",
            object(
                json!({"entityNames": {"type": "array", "items": {"type": "string"}, "description": "their names"}}),
                &["entityNames"],
            ),
        ),
        GraphTool::DeleteObservations => deleting(
            "delete_observations",
            "Delete Observations",
            "Delete observations of entities of the knowledge graph.",
            object(
                json!({"deletions": list_of(&observations("observations"))}),
                &["deletions"],
            ),
        ),
        GraphTool::DeleteRelations => deleting(
            "delete_relations",
            "Delete Relations",
            "Delete relations from the knowledge graph.",
            object(json!({"relations": list_of(&relation())}), &["relations"]),
        ),
        GraphTool::ReadGraph => reading(
            "read_graph",
            "Read Graph",
            "The whole knowledge graph: its entities and relations.",
            object(json!({}), &[]),
        ),
        GraphTool::SearchNodes => reading(
            "search_nodes",
            "Search Nodes",
            "The entities whose name, type or observations contain a text, with the relations of each.",
            object(
                json!({"query": {"type": "string", "description": "the text, in small or large letters"}}),
                &["query"],
            ),
        ),
        GraphTool::OpenNodes => reading(
            "open_nodes",
            "Open Nodes",
            "The entities of these names, with the relations of each.",
            object(
                json!({"names": {"type": "array", "items": {"type": "string"}, "description": "the names"}}),
                &["names"],
            ),
        ),
    }
}

/// Describes a tool that adds something, and deletes nothing.
fn adding(name: &'static str, title: &str, about: &'static str, takes: Value) -> Tool {
    hinted(editing(name, title, about, takes), false, false)
}

fn deleting(name: &'static str, title: &str, about: &'static str, takes: Value) -> Tool {
    hinted(editing(name, title, about, takes), true, true)
}

fn hinted(mut tool: Tool, is_destructive: bool, is_idempotent: bool) -> Tool {
    let hints = tool.annotations.take().unwrap_or_default();
    tool.annotations = Some(hints.destructive(is_destructive).idempotent(is_idempotent));
    tool
}

fn list_of(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

/// Other fields are ignored, as that server does.
fn fields(properties: Value) -> Value {
    let names: Vec<&String> = properties
        .as_object()
        .into_iter()
        .flatten()
        .map(|it| it.0)
        .collect();
    json!({"type": "object", "properties": properties, "required": names})
}

fn entity() -> Value {
    fields(json!({
        "name": {"type": "string", "description": "its name"},
        "entityType": {"type": "string", "description": "what sort of thing it is"},
        "observations": {"type": "array", "items": {"type": "string"}, "description": "what is known of it"},
    }))
}

fn relation() -> Value {
    fields(json!({
        "from": {"type": "string", "description": "the entity where it starts"},
        "to": {"type": "string", "description": "the entity where it ends"},
        "relationType": {"type": "string", "description": "what the one does to the other"},
    }))
}

fn observations(contents: &str) -> Value {
    fields(json!({
        "entityName": {"type": "string", "description": "the entity's name"},
        contents: {"type": "array", "items": {"type": "string"}, "description": "the observations"},
    }))
}

//! The tools, and their descriptions for clients. The descriptions are in every agent's context
//! all the time, so they are short.
//!
//! Not here: the work of the tools (`calls`).

use clap::ValueEnum;
use daybook_engine::extract::entity_tools::{
    EntityTool, create_entity_tool, list_entities_tool, upsert_record_tool,
};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

/// Tools that are offered together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolSet {
    /// recall, remember, context, show
    Default,
    /// Also memory_create_entity, memory_upsert_record, memory_list_entities
    Entities,
}

/// Each tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolKind {
    Recall,
    Remember,
    Context,
    Show,
    CreateEntity,
    UpsertRecord,
    ListEntities,
}

/// A tool with its description.
pub(super) struct NamedTool {
    kind: ToolKind,
    tool: Tool,
}

impl NamedTool {
    pub(super) fn kind(&self) -> ToolKind {
        self.kind
    }

    pub(super) fn name(&self) -> &str {
        &self.tool.name
    }

    pub(super) fn described(&self) -> Tool {
        self.tool.clone()
    }
}

/// Tools under names that they had in the last release, with their present names. Calls by the old name are accepted until
/// the next release; the tools are listed by their present name only.
const RENAMED: [(&str, &str); 1] = [("read", "show")];

/// The present name of a tool.
pub(super) fn present_name(name: &str) -> &str {
    let renamed = RENAMED.iter().find(|(old, _)| *old == name);
    renamed.map_or(name, |(_, present)| present)
}

/// The tools of these sets; the default ones are always there.
pub(super) fn offered(sets: &[ToolSet]) -> Vec<NamedTool> {
    use ToolKind::{Context, CreateEntity, ListEntities, Recall, Remember, Show, UpsertRecord};
    let mut kind = vec![Recall, Remember, Context, Show];
    if sets.contains(&ToolSet::Entities) {
        kind.extend([CreateEntity, UpsertRecord, ListEntities]);
    }
    let named = |kind: ToolKind| NamedTool {
        kind,
        tool: tool(kind),
    };
    kind.into_iter().map(named).collect()
}

fn tool(kind: ToolKind) -> Tool {
    match kind {
        ToolKind::Recall => reading(
            "recall",
            "Recall from memory",
            "Find what is remembered from earlier sessions: decisions, preferences, values, fixes, \
             and what was said. Each answer has its scope and a citation for `show`. The field \
             `confidence` says whether the question was ever discussed: rely on answers that are \
             `likely`; check `weak` ones with `show`; with `unlikely` nothing answers it, so do not \
             present what comes as an answer.",
            recall(),
        ),
        ToolKind::Remember => writing(
            "remember",
            "Remember",
            "Keep a text as it is, for all later sessions. It goes to the memory of \
             the project at hand unless a scope is given. One self-contained fact per call; no \
             secrets.",
            remember(),
        ),
        ToolKind::Context => reading(
            "context",
            "What is known here",
            "What an agent should know before it works in a folder: where the work was left off, \
             what the person asked for and insists on, decisions, values.",
            context(),
        ),
        ToolKind::Show => reading(
            "show",
            "Show a source",
            "The original text behind a citation, or a memory file. Long ones come in pages: the \
             answer says which offset comes next.",
            show(),
        ),
        ToolKind::CreateEntity => {
            entity_tool(create_entity_tool(), "Create memory entity", writing)
        }
        ToolKind::UpsertRecord => entity_tool(upsert_record_tool(), "Write memory record", writing),
        ToolKind::ListEntities => {
            entity_tool(list_entities_tool(), "List memory entities", reading)
        }
    }
}

/// Describes a tool that memory agents have, too.
fn entity_tool(
    tool: EntityTool,
    title: &str,
    describe: fn(&'static str, &str, &'static str, Value) -> Tool,
) -> Tool {
    describe(tool.name, title, tool.about, tool.arguments)
}

fn reading(name: &'static str, title: &str, about: &'static str, takes: Value) -> Tool {
    let hints = ToolAnnotations::with_title(title).read_only(true);
    describe(name, title, about, takes, hints)
}

/// Describes a tool that writes. All of these are idempotent and delete nothing.
fn writing(name: &'static str, title: &str, about: &'static str, takes: Value) -> Tool {
    let hints = ToolAnnotations::with_title(title).read_only(false);
    describe(name, title, about, takes, hints)
}

fn describe(
    name: &'static str,
    title: &str,
    about: &'static str,
    takes: Value,
    hints: ToolAnnotations,
) -> Tool {
    let takes: Map<String, Value> = match takes {
        Value::Object(takes) => takes,
        _ => Map::new(),
    };
    let hints = hints.destructive(false).idempotent(true).open_world(false);
    Tool::new(name, about, takes)
        .with_title(title)
        .with_annotations(hints)
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn recall() -> Value {
    let properties = json!({
        "question": {"type": "string", "minLength": 1, "description": "what you want to know"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 8},
        "scope": {"type": "string", "description": "only this memory, such as project/tidepool or user/ada"},
        "layer": {"type": "string", "enum": ["entry", "observation", "event"], "description": "only curated entries, single observations, or what was said"},
        "tools": {"type": "boolean", "default": false, "description": "search what tools answered, too"},
        "at": {"type": "string", "description": "what held at this time, such as 2026-02-04"},
        "strict": {"type": "boolean", "default": false, "description": "no answer at all, unless the question was likely discussed"},
    });
    object(properties, &["question"])
}

fn remember() -> Value {
    let properties = json!({
        "text": {"type": "string", "minLength": 1, "description": "what to remember, understandable on its own"},
        "scope": {"type": "string", "description": "whose memory, such as project/tidepool or user/ada"},
        "everywhere": {"type": "boolean", "default": false, "description": "it holds for the person wherever they work"},
    });
    object(properties, &["text"])
}

fn context() -> Value {
    let properties = json!({
        "folder": {"type": "string", "description": "where you work; the server's own folder when left out"},
        "branch": {"type": "string", "description": "as if on this branch"},
        "project": {"type": "string", "description": "this project, wherever you are"},
        "budget": {"type": "integer", "minimum": 1, "maximum": super::answer::BUDGET, "description": "most tokens"},
    });
    object(properties, &[])
}

fn show() -> Value {
    let properties = json!({
        "target": {"type": "string", "minLength": 1, "description": "a citation such as 7f78:L636 or 7f78:L3-9, or a memory file such as projects/tidepool/memory/MEMORY.md"},
        "around": {"type": "integer", "minimum": 0, "maximum": super::arguments::AROUND, "default": 0, "description": "of a citation: so many lines before and after, too"},
        "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "where to go on, as the page before said"},
    });
    object(properties, &["target"])
}

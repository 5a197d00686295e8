//! The tools, and their descriptions for clients. The descriptions are in every agent's context
//! all the time, so they are short.
//!
//! Not here: the work of the tools (`calls`).

use clap::ValueEnum;
use daybook_domain::ObservationKind;
use daybook_engine::extract::entity_tools::{
    EntityTool, create_entity_tool, list_entities_tool, upsert_record_tool,
};
use rmcp::model::Tool;
use serde_json::{Value, json};

use super::described::{editing, object, reading, writing};
use super::graph_tools::{self, GraphTool};
use super::mem0_tools::{self, Mem0Tool};
use super::notes_tools::{self, NotesTool};

/// Tools that are offered together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolSet {
    /// recall, remember, context, show, list, forget
    Default,
    /// Also memory_create_entity, memory_upsert_record, memory_list_entities
    Entities,
    /// Also history, diff, why, edit
    History,
    /// Also memory: Anthropic's memory tool, on the memory folder
    MemoryTool,
    /// Instead of the default ones, the nine tools of the server `server-memory`
    ServerMemory,
    /// Instead of the default ones, the tools of mem0's server
    Mem0,
    /// Instead of the default ones, list, read, search and add_ad_hoc_note, as Codex's agents know them
    CodexMemories,
}

impl ToolSet {
    /// Whether it has all the tools of another server, for agents that know those.
    fn is_of_another_server(self) -> bool {
        match self {
            Self::ServerMemory | Self::Mem0 | Self::CodexMemories => true,
            Self::Default | Self::Entities | Self::History | Self::MemoryTool => false,
        }
    }
}

/// The sets of tools that the address of a request over HTTP names.
#[derive(Clone)]
pub(super) struct RequestedSets(pub(super) Vec<ToolSet>);

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
    History,
    Diff,
    Why,
    List,
    Forget,
    Edit,
    Memory,
    Graph(GraphTool),
    Mem0(Mem0Tool),
    Notes(NotesTool),
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

/// The tools of these sets. The default ones are there, too, unless a set of another server takes their place.
pub(super) fn offered(sets: &[ToolSet]) -> Vec<NamedTool> {
    use ToolKind::{Context, CreateEntity, Forget, List, ListEntities, Recall, Remember, Show};
    let mut kind = match sets.iter().any(|set| set.is_of_another_server())
        && !sets.contains(&ToolSet::Default)
    {
        true => Vec::new(),
        false => vec![Recall, Remember, Context, Show, List, Forget],
    };
    if sets.contains(&ToolSet::Entities) {
        kind.extend([CreateEntity, ToolKind::UpsertRecord, ListEntities]);
    }
    if sets.contains(&ToolSet::History) {
        use ToolKind::{Diff, Edit, History, Why};
        kind.extend([History, Diff, Why, Edit]);
    }
    if sets.contains(&ToolSet::MemoryTool) {
        kind.push(ToolKind::Memory);
    }
    if sets.contains(&ToolSet::ServerMemory) {
        kind.extend(GraphTool::ALL.map(ToolKind::Graph));
    }
    if sets.contains(&ToolSet::Mem0) {
        kind.extend(Mem0Tool::ALL.map(ToolKind::Mem0));
    }
    if sets.contains(&ToolSet::CodexMemories) {
        kind.extend(NotesTool::ALL.map(ToolKind::Notes));
    }
    let named = |kind: ToolKind| NamedTool {
        kind,
        tool: tool(kind),
    };
    let mut tools: Vec<NamedTool> = Vec::new();
    for tool in kind.into_iter().map(named) {
        // Sets may be requested together though they share a name: the first tool has it.
        if !tools.iter().any(|known| known.name() == tool.name()) {
            tools.push(tool);
        }
    }
    tools
}

fn tool(kind: ToolKind) -> Tool {
    match kind {
        ToolKind::Recall => reading(
            "recall",
            "Recall from memory",
            "Find what is remembered from earlier sessions: decisions, preferences, values, fixes, \
             and what was said; what was done yesterday, last week or on a day; all preferences, \
             decisions, traps or open ends. Each answer has its scope and a citation for `show`. The field \
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
        ToolKind::History => reading(
            "history",
            "History of memory",
            "The changes of memory files, newest first: id, time, author, subject.",
            history(),
        ),
        ToolKind::Diff => reading(
            "diff",
            "What changed in memory",
            "What changed in memory files: at the last change, at a named one, or between two states. \
             A state is a change's id, or a time such as 2026-02-04 or yesterday.",
            diff(),
        ),
        ToolKind::Why => reading(
            "why",
            "Where a line comes from",
            "The observations behind a line of memory, the original words, since when it stands and \
             what it was before.",
            why(),
        ),
        ToolKind::List => reading(
            "list",
            "What is remembered",
            "Everything that one memory holds, with ids and sources, page by page.",
            list(),
        ),
        ToolKind::Forget => writing(
            "forget",
            "Forget",
            "Remove something from memory because the person asks for it: from every file and from \
             recall. Takes an id from `list`, or the exact text. The person can undo it.",
            forget(),
        ),
        ToolKind::Edit => writing(
            "edit",
            "Change a line of memory",
            "Give a line of memory other words because the person asks for it, in every file that \
             shows it. The person can undo it.",
            edit(),
        ),
        ToolKind::Memory => editing(
            "memory",
            "Memory folder",
            "View and edit the files of the memory folder, below /memories, by commands: view, create, \
             str_replace, insert, delete, rename. The person can undo each change.",
            memory(),
        ),
        ToolKind::Graph(graph) => graph_tools::tool(graph),
        ToolKind::Mem0(mem0) => mem0_tools::tool(mem0),
        ToolKind::Notes(notes) => notes_tools::tool(notes),
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

/// As [`object`], with the fields in which a caller says who it is.
fn for_caller(mut properties: Value, required: &[&str]) -> Value {
    for (name, about) in [
        (
            "agent",
            "your name, if you are an agent with a memory of your own",
        ),
        (
            "user",
            "whom you talk with, if not the owner of this memory",
        ),
        ("room_id", "the room that you are in"),
        ("team", "the team that you speak for, such as alpha+beta"),
        (
            "project",
            "the key of the project that you work in, where you name yourself",
        ),
    ] {
        let field = &mut properties[name];
        if field.is_null() {
            *field = json!({"type": "string", "description": about});
        }
    }
    object(properties, required)
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
    for_caller(properties, &["question"])
}

fn remember() -> Value {
    let properties = json!({
        "text": {"type": "string", "minLength": 1, "description": "what to remember, understandable on its own"},
        "scope": {"type": "string", "description": "whose memory, such as project/tidepool or user/ada"},
        "everywhere": {"type": "boolean", "default": false, "description": "it holds for the person wherever they work"},
    });
    for_caller(properties, &["text"])
}

fn context() -> Value {
    let properties = json!({
        "folder": {"type": "string", "description": "where you work; left out, where your host started this server"},
        "branch": {"type": "string", "description": "as if on this branch"},
        "project": {"type": "string", "description": "this project, wherever you are"},
        "budget": {"type": "integer", "minimum": 1, "maximum": super::answer::BUDGET, "description": "most tokens"},
    });
    for_caller(properties, &[])
}

fn show() -> Value {
    let properties = json!({
        "target": {"type": "string", "minLength": 1, "description": "a citation such as 7f78:L636 or 7f78:L3-9, or a memory file such as projects/tidepool/memory/MEMORY.md"},
        "around": {"type": "integer", "minimum": 0, "maximum": super::arguments::AROUND, "default": 0, "description": "of a citation: so many lines before and after, too"},
        "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "where to go on, as the page before said"},
    });
    for_caller(properties, &["target"])
}

const SCOPE: &str =
    "whose memory, such as project/tidepool or user/ada; the project at hand when left out";

fn history() -> Value {
    let properties = json!({
        "file": {"type": "string", "description": "only changes of this file, such as MEMORY.md"},
        "scope": {"type": "string", "description": SCOPE},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
    });
    for_caller(properties, &[])
}

fn diff() -> Value {
    let properties = json!({
        "from": {"type": "string", "description": "the earlier state"},
        "to": {"type": "string", "description": "the later state; the newest when left out"},
        "at": {"type": "string", "description": "instead of both: the change made at this state"},
        "file": {"type": "string", "description": "only this file"},
        "scope": {"type": "string", "description": SCOPE},
    });
    for_caller(properties, &[])
}

fn why() -> Value {
    let properties = json!({
        "line": {"type": "string", "minLength": 1, "description": "a part of the line's words, an id from `list`, or MEMORY.md:12"},
        "scope": {"type": "string", "description": SCOPE},
    });
    for_caller(properties, &["line"])
}

fn list() -> Value {
    let properties = json!({
        "kind": {"type": "string", "enum": ObservationKind::ALL.map(ObservationKind::as_str)},
        "query": {"type": "string", "description": "only what contains these words"},
        "scope": {"type": "string", "description": SCOPE},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
        "after": {"type": "string", "description": "where to go on, as the page before said"},
    });
    for_caller(properties, &[])
}

fn forget() -> Value {
    let properties = json!({
        "memory": {"type": "string", "minLength": 1, "description": "an id from `list`, or the exact text"},
        "scope": {"type": "string", "description": SCOPE},
    });
    for_caller(properties, &["memory"])
}

fn edit() -> Value {
    let properties = json!({
        "line": {"type": "string", "minLength": 1, "description": "an id from `list`, or a part of the line's words"},
        "words": {"type": "string", "minLength": 1, "description": "the person's new words"},
        "scope": {"type": "string", "description": SCOPE},
    });
    for_caller(properties, &["line", "words"])
}

fn memory() -> Value {
    let properties = json!({
        "command": {"type": "string", "enum": ["view", "create", "str_replace", "insert", "delete", "rename"]},
        "path": {"type": "string", "description": "below /memories; for all but rename"},
        "view_range": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2, "description": "of view: the first and the last line; -1 is the end"},
        "file_text": {"type": "string", "description": "of create: the text"},
        "old_str": {"type": "string", "description": "of str_replace: a text that occurs once"},
        "new_str": {"type": "string", "description": "of str_replace: what it becomes"},
        "insert_line": {"type": "integer", "minimum": 0, "description": "of insert: the line behind which to insert"},
        "insert_text": {"type": "string", "description": "of insert: the lines"},
        "old_path": {"type": "string", "description": "of rename: its present path"},
        "new_path": {"type": "string", "description": "of rename: its new path"},
        "scope": {"type": "string", "description": "whose memory folder, such as project/tidepool; the person's when left out"},
    });
    for_caller(properties, &["command"])
}

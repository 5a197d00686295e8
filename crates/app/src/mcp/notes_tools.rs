//! The tools by which Codex's agents look through their memories and note what a person wishes, on the person's memory folder.
//!
//! Not here: what they answer (`daybook_engine::files::folder_tools`).

use anyhow::{Result, bail};
use daybook_engine::files::changes::FileChanges;
use daybook_engine::files::error::FilesError;
use daybook_engine::files::folder_tools::{
    self, FolderToolError, MatchMode, SearchQuery, files_at, note_path, parse_path,
};
use daybook_engine::files::layout::folder;
use daybook_engine::files::own_secrets::masked;
use daybook_engine::files::path::FilePath;
use daybook_engine::files::reader;
use daybook_engine::recall::interface_use::InterfaceUse;
use daybook_text::redact::Redactor;
use rmcp::model::Tool;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::VerbatimFailure;
use super::arguments::{count, parse_arguments};
use super::call::McpCall;
use super::described::{editing, object, reading};
use crate::process::block_on;
use crate::service::agent_answer::AgentAnswer;
use crate::service::file_changes::plan_change;
use crate::service::memory_changes::RequestedBy;
use crate::service::scope_choice::open_folder;
use crate::service::{RequestError, person_scope};
use crate::wiring::Daybook;

/// Most entries of a list, most places of a search, and most tokens of a file.
const MOST: (usize, usize, usize) = (2_000, 200, 20_000);

/// A tool of Codex's memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotesTool {
    List,
    Read,
    Search,
    AddNote,
}

impl NotesTool {
    pub(super) const ALL: [Self; 4] = [Self::List, Self::Read, Self::Search, Self::AddNote];
}

pub(super) fn tool(tool: NotesTool) -> Tool {
    match tool {
        NotesTool::List => reading(
            "list",
            "List memory files",
            "What is directly in the memory folder, or in a folder below it, by name.",
            object(
                json!({"path": path(), "cursor": cursor(), "max_results": number("most entries")}),
                &[],
            ),
        ),
        NotesTool::Read => reading(
            "read",
            "Read a memory file",
            "Lines of a memory file.",
            object(
                json!({
                    "path": path(), "line_offset": number("the first line, counted from 1"),
                    "max_lines": number("most lines"), "max_tokens": number("most tokens"),
                }),
                &["path"],
            ),
        ),
        NotesTool::Search => reading(
            "search",
            "Search memory files",
            "The lines of memory files that have texts, with lines around them.",
            object(
                json!({
                    "queries": {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "the texts"},
                    "match_mode": {"type": "object", "description": "{\"type\": \"any\"}, {\"type\": \"all_on_same_line\"}, or {\"type\": \"all_within_lines\", \"line_count\": 3}"},
                    "path": path(), "cursor": cursor(), "max_results": number("most places"),
                    "context_lines": {"type": "integer", "minimum": 0, "default": 0, "description": "lines before and behind"},
                    "case_sensitive": {"type": "boolean", "default": true},
                    "normalized": {"type": "boolean", "default": false, "description": "compare letters and digits alone"},
                }),
                &["queries"],
            ),
        ),
        NotesTool::AddNote => editing(
            "add_ad_hoc_note",
            "Note a wish",
            "Note what the person asks to remember, in a new file. A note is never overwritten.",
            object(
                json!({
                    "filename": {"type": "string", "description": "such as 2026-03-02T08-15-00-harbour.md"},
                    "note": {"type": "string", "description": "the note"},
                }),
                &["filename", "note"],
            ),
        ),
    }
}

fn path() -> Value {
    json!({"type": "string", "description": "relative to the memory folder, such as MEMORY.md"})
}

fn cursor() -> Value {
    json!({"type": "string", "description": "next_cursor of the page before"})
}

fn number(about: &str) -> Value {
    json!({"type": "integer", "minimum": 1, "description": about})
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    path: Option<String>,
    cursor: Option<String>,
    #[serde(default, deserialize_with = "count")]
    max_results: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    path: String,
    #[serde(default, deserialize_with = "count")]
    line_offset: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    max_lines: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    max_tokens: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    queries: Vec<String>,
    #[serde(default)]
    match_mode: MatchMode,
    path: Option<String>,
    cursor: Option<String>,
    #[serde(default, deserialize_with = "count")]
    context_lines: Option<u64>,
    #[serde(default = "yes")]
    case_sensitive: bool,
    #[serde(default)]
    normalized: bool,
    #[serde(default, deserialize_with = "count")]
    max_results: Option<u64>,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoteArguments {
    filename: String,
    note: String,
}

pub(super) fn run(
    call: &McpCall<'_>,
    tool: NotesTool,
    arguments: Map<String, Value>,
) -> Result<AgentAnswer> {
    let data = match tool {
        NotesTool::List => list(call, parse_arguments(arguments)?)?,
        NotesTool::Read => read(call, parse_arguments(arguments)?)?,
        NotesTool::Search => search(call, parse_arguments(arguments)?)?,
        NotesTool::AddNote => add_note(call, &parse_arguments(arguments)?)?,
    };
    let text = data.to_string();
    call.record_shown(InterfaceUse::Text(text.clone()));
    Ok(AgentAnswer { text, data })
}

/// A refusal in the words of Codex.
fn refused(error: FolderToolError) -> anyhow::Error {
    VerbatimFailure(error.to_string()).into()
}

/// A number that was given, or the most that there may be.
fn at_most(given: Option<u64>, most: usize) -> usize {
    given.map_or(most, |given| {
        usize::try_from(given).unwrap_or(most).clamp(1, most)
    })
}

/// The names of the files in the person's memory folder.
fn names(call: &McpCall<'_>, daybook: &Daybook) -> Result<Vec<String>> {
    let scope = person_scope(daybook);
    if !folder(&daybook.root, &scope).join(".git").exists() {
        return Ok(Vec::new());
    }
    let files = call.read(async { Ok(open_folder(daybook, &scope).await?.head_files()?) })?;
    Ok(files.into_keys().map(|file| file.to_string()).collect())
}

/// The text of a file without its secrets. A link is refused as a path that leads out.
fn text_of(daybook: &Daybook, file: &FilePath) -> Result<Option<String>> {
    let text = reader::text(&folder(&daybook.root, &person_scope(daybook)), file);
    let text = text.map_err(|_| refused(FolderToolError::InvalidPath(file.to_string())))?;
    Ok(text.map(|text| masked(&Redactor::current(), &text).into_owned()))
}

fn list(call: &McpCall<'_>, asked: ListArguments) -> Result<Value> {
    let path = parse_path(asked.path.as_deref()).map_err(refused)?;
    let names = match call.memory.existing()? {
        Some(daybook) => names(call, &daybook)?,
        None => Vec::new(),
    };
    let most = at_most(asked.max_results, MOST.0);
    let page = folder_tools::list(&names, path.as_ref(), (asked.cursor.as_deref(), most));
    let page = page.map_err(refused)?;
    Ok(json!({
        "path": asked.path, "entries": page.items, "next_cursor": page.next_cursor,
        "truncated": page.next_cursor.is_some(),
    }))
}

fn read(call: &McpCall<'_>, asked: ReadArguments) -> Result<Value> {
    let not_file = || refused(FolderToolError::NotFile(asked.path.clone()));
    let path = parse_path(Some(&asked.path))
        .map_err(refused)?
        .ok_or_else(not_file)?;
    let not_found = || refused(FolderToolError::NotFound(asked.path.clone()));
    let daybook = call.memory.existing()?.ok_or_else(not_found)?;
    let text = match text_of(&daybook, &path) {
        Ok(text) => text,
        Err(_) if files_at(&names(call, &daybook)?, Some(&path)).is_ok() => bail!(not_file()),
        Err(error) => return Err(error),
    };
    let text = text.ok_or_else(not_found)?;
    let from = usize::try_from(asked.line_offset.unwrap_or(1))?;
    let most = asked.max_lines.map(usize::try_from).transpose()?;
    let limits = (most, at_most(asked.max_tokens, MOST.2));
    Ok(json!(
        folder_tools::read((&path, &text), from, limits).map_err(refused)?
    ))
}

fn search(call: &McpCall<'_>, asked: SearchArguments) -> Result<Value> {
    let path = parse_path(asked.path.as_deref()).map_err(refused)?;
    let mut files = Vec::new();
    let daybook = call.memory.existing()?;
    let names = match &daybook {
        Some(daybook) => names(call, daybook)?,
        None => Vec::new(),
    };
    if let Some(daybook) = &daybook {
        for name in files_at(&names, path.as_ref()).map_err(refused)? {
            // A file that cannot be read costs no other.
            if let Ok(Some(text)) = FilePath::new(name)
                .map_err(Into::into)
                .and_then(|file| text_of(daybook, &file))
            {
                files.push((name, text));
            }
        }
    }
    let query = SearchQuery {
        queries: asked.queries.clone(),
        mode: asked.match_mode,
        context: usize::try_from(asked.context_lines.unwrap_or(0))?.min(MOST.1),
        case_sensitive: asked.case_sensitive,
        normalized: asked.normalized,
    };
    let most = at_most(asked.max_results, MOST.1);
    let page = folder_tools::search(&files, &query, (asked.cursor.as_deref(), most));
    let page = page.map_err(refused)?;
    Ok(json!({
        "queries": asked.queries, "path": asked.path, "matches": page.items,
        "next_cursor": page.next_cursor, "truncated": page.next_cursor.is_some(),
    }))
}

fn add_note(call: &McpCall<'_>, given: &NoteArguments) -> Result<Value> {
    let file = note_path(&given.filename, &given.note).map_err(refused)?;
    let _turn = call.memory.writing();
    call.check_cancelled()?;
    let daybook = call.memory.existing_or_new()?;
    let note = Redactor::current().redact(&given.note).text.into_owned();
    let exists = FolderToolError::AlreadyExists(given.filename.clone());
    let message = format!("Note: {}", given.filename);
    let scope = person_scope(&daybook);
    let planned = plan_change(
        &daybook,
        &scope,
        (&message, RequestedBy::Agent),
        |snapshot| {
            if snapshot.read(&file)?.is_some() {
                return Ok(Err(RequestError::Conflict(exists.to_string())));
            }
            let mut changes = FileChanges::none();
            changes.write(file.clone(), format!("{}\n", note.trim_end()));
            Ok::<_, FilesError>(Ok(changes))
        },
    );
    match block_on(planned) {
        Ok(_) => Ok(json!({})),
        Err(error) => match error.downcast_ref::<RequestError>() {
            Some(RequestError::Conflict(why)) => bail!(VerbatimFailure(why.clone())),
            Some(
                RequestError::Invalid(_) | RequestError::NotFound(_) | RequestError::Unavailable(_),
            )
            | None => Err(error),
        },
    }
}

//! The todo list: one chunk that is kept up to date.

use std::sync::Arc;

use daybook_domain::working::{
    Chunk, ChunkContent, ChunkType, EventType, RetentionStrategy, ThreadEvent, ThreadState,
    TodoItem, TodoStatus,
};
use serde_json::{Value, json};

use crate::event_groups::{calls, chunk_choices, chunkless, messages, news, outcomes, task_ends};

use super::{ReduceContext, Reduced, content};

/// The list's name in the chunk's metadata.
const NAME: &str = "todo";

pub(super) fn reduce(state: &ThreadState, event: &ThreadEvent, at: &mut ReduceContext) -> Reduced {
    let standing = state.chunks().find(|chunk| is_list(chunk));
    let mut todos = standing.map(todos_of).unwrap_or_default();
    if !change(&mut todos, &event.kind) {
        return Reduced::default();
    }
    let fields = [("action", "todo_set".into()), ("todos", json!(todos))];
    let content = content(Some(list_text(&todos)), fields);
    match standing {
        None => {
            let chunk = at.chunk(ChunkType::WorkingFlow, content, event);
            Reduced::add(at, with_label(chunk))
        }
        Some(old) => {
            let mut new = at.chunk(ChunkType::WorkingFlow, content, event);
            new.metadata.parent_ids = vec![old.id.clone()];
            let mut reduced = Reduced::default();
            reduced.update(at, old, with_label(new).kept(old.retention_strategy));
            reduced
        }
    }
}

fn with_label(chunk: Chunk) -> Chunk {
    let mut chunk = chunk.kept(RetentionStrategy::Critical);
    let custom = &mut chunk.metadata.custom;
    custom.insert("subType".to_owned(), NAME.into());
    chunk
}

/// Whether a chunk is the todo list.
pub(crate) fn is_list(chunk: &Chunk) -> bool {
    chunk.metadata.custom.get("subType").and_then(Value::as_str) == Some(NAME)
}

/// The items of the list.
pub(crate) fn todos_of(chunk: &Arc<Chunk>) -> Vec<TodoItem> {
    let todos = match &chunk.content {
        ChunkContent::Text { fields, .. } => fields.get("todos").cloned(),
        ChunkContent::Image { .. } | ChunkContent::Mixed { .. } | ChunkContent::ChunkRef { .. } => {
            None
        }
    };
    let todos = todos.and_then(|todos| serde_json::from_value(todos).ok());
    todos.unwrap_or_default()
}

/// Applies an event to the list; false when the event names no item of it.
fn change(todos: &mut Vec<TodoItem>, event: &EventType) -> bool {
    match event {
        EventType::TodoSet { todos: new } => {
            new.clone_into(todos);
            true
        }
        EventType::TodoCompleted { todo_id, .. } => {
            with(todos, todo_id, |item| item.status = TodoStatus::Completed)
        }
        EventType::TodoExpanded { todo_id, sub_items } => with(todos, todo_id, |item| {
            item.children.extend(sub_items.iter().cloned())
        }),
        EventType::TodoUpdated {
            todo_id,
            content,
            status,
        } => with(todos, todo_id, |item| {
            if let Some(content) = content {
                item.content.clone_from(content);
            }
            item.status = status.unwrap_or(item.status);
        }),
        EventType::TodoDeleted { todo_id } => delete(todos, todo_id),
        messages!() | calls!() | outcomes!() | task_ends!() => false,
        chunk_choices!() | news!() | chunkless!() => false,
    }
}

fn with(todos: &mut [TodoItem], id: &str, change: impl FnOnce(&mut TodoItem)) -> bool {
    find(todos, id).map(change).is_some()
}

fn find<'a>(todos: &'a mut [TodoItem], id: &str) -> Option<&'a mut TodoItem> {
    todos.iter_mut().find_map(|item| match item.id == id {
        true => Some(item),
        false => find(&mut item.children, id),
    })
}

fn delete(todos: &mut Vec<TodoItem>, id: &str) -> bool {
    let before = todos.len();
    todos.retain(|item| item.id != id);
    let gone = todos.len() < before;
    gone || todos.iter_mut().any(|item| delete(&mut item.children, id))
}

fn list_text(todos: &[TodoItem]) -> String {
    let mut lines = Vec::new();
    list(todos, 0, &mut lines);
    lines.join("\n")
}

fn list(todos: &[TodoItem], depth: usize, lines: &mut Vec<String>) {
    for item in todos {
        let mark = match item.status {
            TodoStatus::Pending => "[ ]",
            TodoStatus::InProgress => "[>]",
            TodoStatus::Completed => "[x]",
            TodoStatus::Cancelled => "[-]",
        };
        lines.push(format!(
            "{}{mark} {} ({})",
            "  ".repeat(depth),
            item.content,
            item.id
        ));
        list(&item.children, depth + 1, lines);
    }
}

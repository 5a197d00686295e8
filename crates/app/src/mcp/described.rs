//! Describes tools for clients: name, title, description, arguments and hints.
//!
//! Not here: which tools there are (`tools`, and the sets of other servers beside it).

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

/// Describes a tool that only reads.
pub(super) fn reading(name: &'static str, title: &str, about: &'static str, takes: Value) -> Tool {
    let hints = ToolAnnotations::with_title(title).read_only(true);
    describe(name, title, about, takes, hints)
}

/// Describes a tool that writes. All of these are idempotent and delete nothing.
pub(super) fn writing(name: &'static str, title: &str, about: &'static str, takes: Value) -> Tool {
    let hints = ToolAnnotations::with_title(title).read_only(false);
    describe(name, title, about, takes, hints)
}

/// Describes a tool that may delete, and that changes something again when it is called again.
pub(super) fn editing(name: &'static str, title: &str, about: &'static str, takes: Value) -> Tool {
    let hints = ToolAnnotations::with_title(title).read_only(false);
    let mut tool = describe(name, title, about, takes, hints);
    let hints = tool.annotations.take().unwrap_or_default();
    tool.annotations = Some(hints.destructive(true).idempotent(false));
    tool
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

pub(super) fn object(properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

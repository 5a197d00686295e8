//! The agent's file tools: what is offered, and the outcome of a call.

use daybook_domain::model::{Tool, ToolCall};
use daybook_text::fence::with_margin;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::workspace::Workspace;

/// Most bytes of a file that one call reads.
const READ_BYTES: usize = 14 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    path: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    path: String,
    from: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    query: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteArguments {
    path: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplaceArguments {
    path: String,
    old: String,
    new: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MoveArguments {
    from: String,
    to: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeleteArguments {
    path: String,
}

/// The seven tools. There is none that leaves the copy.
pub(super) fn tools() -> Vec<Tool> {
    let text = || json!({"type": "string"});
    let tool = |name: &str, about: &str, arguments: Value, required: &[&str]| Tool {
        name: name.to_owned(),
        description: about.to_owned(),
        arguments: json!({
            "type": "object", "properties": arguments, "required": required,
            "additionalProperties": false,
        }),
    };
    vec![
        tool(
            "list",
            "Lists files, of one folder or all.",
            json!({"path": text()}),
            &[],
        ),
        tool(
            "read",
            "Reads a file, from a line on. Each line is shown after one blank.",
            json!({"path": text(), "from": {"type": "integer"}}),
            &["path"],
        ),
        tool(
            "search",
            "Finds the lines of all files that hold all of these words.",
            json!({"query": text()}),
            &["query"],
        ),
        tool(
            "write",
            "Writes a whole file.",
            json!({"path": text(), "text": text()}),
            &["path", "text"],
        ),
        tool(
            "replace",
            "Replaces a text that occurs exactly once in a file.",
            json!({"path": text(), "old": text(), "new": text()}),
            &["path", "old", "new"],
        ),
        tool(
            "move",
            "Renames a skill.",
            json!({"from": text(), "to": text()}),
            &["from", "to"],
        ),
        tool(
            "delete",
            "Deletes a skill.",
            json!({"path": text()}),
            &["path"],
        ),
    ]
}

/// Carries out a call. A refusal is an outcome for the model.
pub(super) fn carry_out(workspace: &mut Workspace, call: &ToolCall) -> Result<String, String> {
    let done = |()| "Done.".to_owned();
    match call.name.as_str() {
        "list" => {
            let ListArguments { path } = parse(call)?;
            Ok(workspace.list(&path.unwrap_or_default()))
        }
        "read" => read(workspace, &parse(call)?),
        "search" => {
            let SearchArguments { query } = parse(call)?;
            workspace
                .search(&query)
                .map(|found| with_margin(&found, " "))
        }
        "write" => {
            let WriteArguments { path, text } = parse(call)?;
            workspace.write(&path, &text).map(done)
        }
        "replace" => replace(workspace, &parse(call)?).map(done),
        "move" => {
            let MoveArguments { from, to } = parse(call)?;
            workspace.rename(&from, &to).map(done)
        }
        "delete" => {
            let DeleteArguments { path } = parse(call)?;
            workspace.delete(&path).map(done)
        }
        _ => Err("There is no such tool.".to_owned()),
    }
}

fn read(workspace: &Workspace, arguments: &ReadArguments) -> Result<String, String> {
    let text = workspace.text(&arguments.path)?;
    let from = arguments.from.unwrap_or(1).max(1);
    let (mut out, mut read) = (String::new(), 0);
    for line in text.lines().skip(from - 1) {
        if read > 0 && out.len() + line.len() > READ_BYTES {
            break;
        }
        out.push_str(&format!(" {line}\n"));
        read += 1;
    }
    let left = text.lines().count().saturating_sub(from - 1 + read);
    if left > 0 {
        out.push_str(&format!("[{left} more lines, from line {}]", from + read));
    }
    match read {
        0 => Ok("There is nothing from this line on.".to_owned()),
        _ => Ok(out),
    }
}

fn replace(workspace: &mut Workspace, arguments: &ReplaceArguments) -> Result<(), String> {
    let ReplaceArguments { path, old, new } = arguments;
    let text = workspace.text(path)?;
    match text.matches(old.as_str()).take(2).count() {
        1 if !old.is_empty() => {
            let text = text.replacen(old.as_str(), new, 1);
            workspace.write(path, &text)
        }
        0 => Err(format!("{path} does not hold this text.")),
        _ => Err(format!(
            "{path} holds this text more than once; give more of it."
        )),
    }
}

fn parse<T: DeserializeOwned>(call: &ToolCall) -> Result<T, String> {
    let arguments = match call.arguments.trim() {
        "" => "{}",
        arguments => arguments,
    };
    let mut value: Value = serde_json::from_str(arguments)
        .map_err(|error| format!("These arguments are no JSON: {error}"))?;
    // Models write null for what they leave out.
    if let Value::Object(fields) = &mut value {
        fields.retain(|_, value| !value.is_null());
    }
    serde_json::from_value(value).map_err(|error| format!("These arguments do not fit: {error}"))
}

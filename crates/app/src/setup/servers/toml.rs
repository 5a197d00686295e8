//! Our MCP server in the TOML of Codex: `mcp_servers`.
//!
//! Not here: parsing of damaged documents (`toml_text`).

use anyhow::{Result, anyhow, bail};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use super::{NAME, ServerEntry};
use crate::toml_text::{parse_document, parse_table};

/// Edits TOML text so that it has our server as wanted; removes it for `None`.
pub(super) fn settle(text: &str, wanted: Option<&ServerEntry>) -> Result<String> {
    let mut document = parse_toml(text)?;
    let found = document.get("mcp_servers").map(table_of).transpose()?;
    let empty = found.is_some_and(|servers| servers.len() == 1);
    let found = found.and_then(|servers| servers.get(NAME)).map(read_toml);
    match (found, wanted) {
        (None, None) => return Ok(text.to_owned()),
        (Some(found), wanted) if !found.is_ours() || Some(&found) == wanted => {
            return Ok(text.to_owned());
        }
        (None, Some(server)) => {
            let servers = document.entry("mcp_servers").or_insert_with(implicit);
            insert_toml(servers, server);
        }
        (Some(_), Some(server)) => {
            let standing = document
                .get_mut("mcp_servers")
                .and_then(|all| all.get_mut(NAME));
            if let Some(standing) = standing.and_then(Item::as_table_like_mut) {
                standing.insert("command", value(&server.program));
                standing.insert("args", value(Array::from_iter(&server.arguments)));
            }
        }
        (Some(_), None) => {
            let servers = document
                .get_mut("mcp_servers")
                .and_then(Item::as_table_like_mut);
            servers.map(|servers| servers.remove(NAME));
            if empty {
                document.remove("mcp_servers");
            }
        }
    }
    Ok(line_ends_of(text, &document.to_string()))
}

/// Parses TOML text for its values.
pub(super) fn parse(text: &str) -> Result<serde_json::Value> {
    let root = parse_table(text).map_err(|error| anyhow!("it is not TOML: {error}"))?;
    Ok(serde_json::to_value(root)?)
}

fn parse_toml(text: &str) -> Result<DocumentMut> {
    parse_document(text).map_err(|error| anyhow!("it is not TOML: {error}"))
}

fn table_of(item: &Item) -> Result<&dyn TableLike> {
    match item.as_table_like() {
        Some(table) => Ok(table),
        None => bail!("its \"mcp_servers\" is {}, not a table", item.type_name()),
    }
}

/// A table without a heading of its own.
fn implicit() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

fn insert_toml(servers: &mut Item, server: &ServerEntry) {
    let mut table = Table::new();
    table.insert("command", value(&server.program));
    table.insert("args", value(Array::from_iter(&server.arguments)));
    let item = match servers.is_inline_table() {
        true => value(table.into_inline_table()),
        false => Item::Table(table),
    };
    if let Some(servers) = servers.as_table_like_mut() {
        servers.insert(NAME, item);
    }
}

/// Gives `new` the line ends of `text`, because the TOML editor makes all line ends alike.
fn line_ends_of(text: &str, new: &str) -> String {
    match text.contains("\r\n") {
        true => new.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => new.to_owned(),
    }
}

fn read_toml(found: &Item) -> ServerEntry {
    let text = |name: &str| {
        found
            .get(name)
            .and_then(Item::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let arguments = found.get("args").and_then(Item::as_array);
    ServerEntry {
        program: text("command"),
        arguments: arguments
            .into_iter()
            .flatten()
            .filter_map(|text| text.as_str().map(str::to_owned))
            .collect(),
    }
}

//! Our MCP server in a host's settings: `mcpServers` in JSON, `mcp_servers` in TOML.
//!
//! A server named `daybook` that is not ours belongs to the person and stays as it is.
//!
//! Not here: positions in JSON text (`json`), and files (`file`).

use anyhow::{Result, anyhow, bail};
use jsonc_parser::ast::Value;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use super::command::is_our_server;
use super::hooks::kind;
use super::json::{Document, EntrySpans, Json, member, span};
use crate::toml_text::{parse_document, parse_table};

/// The name of our server in settings of hosts.
const NAME: &str = "daybook";

/// Program and arguments of a server on standard input and output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerEntry {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
}

/// Edits JSON text so that it has our server as wanted; removes it for `None`.
pub(super) fn settle_json(text: &str, wanted: Option<&ServerEntry>) -> Result<String> {
    let text = match (text.trim().is_empty(), wanted) {
        (true, Some(_)) => "{}\n",
        (true, None) => return Ok(text.to_owned()),
        (false, _) => text,
    };
    let document = Document::parse(text)?;
    let Some(Value::Object(root)) = &document.root else {
        bail!("it holds something other than an object");
    };
    let (place, servers) = match member(root, "mcpServers") {
        Some((place, Value::Object(servers))) => (place, servers),
        Some((_, other)) => bail!("its \"mcpServers\" is {}, not an object", kind(other)),
        None => {
            return Ok(wanted.map_or_else(
                || text.to_owned(),
                |server| {
                    let servers = Json::Object(vec![(NAME, server.json())]);
                    document.appended(&EntrySpans::of_object(root), Some("mcpServers"), &servers)
                },
            ));
        }
    };
    let spans = EntrySpans::of_object(servers);
    Ok(match (member(servers, NAME), wanted) {
        (None, None) => text.to_owned(),
        (None, Some(server)) => document.appended(&spans, Some(NAME), &server.json()),
        (Some((at, found)), wanted) => match (read_json(found), wanted) {
            (Some(found), wanted) if !found.is_ours() || Some(&found) == wanted => text.to_owned(),
            (None, _) => text.to_owned(),
            (Some(_), Some(server)) => document.replaced(span(found), &server.json()),
            (Some(_), None) if servers.properties.len() == 1 => {
                document.without(&EntrySpans::of_object(root), place)
            }
            (Some(_), None) => document.without(&spans, at),
        },
    })
}

/// Parses JSON text, without our server.
pub(super) fn others_json(text: &str) -> Result<serde_json::Value> {
    let document = Document::parse(text)?;
    let mut root = document.root.map_or_else(
        || serde_json::Value::Object(serde_json::Map::new()),
        serde_json::Value::from,
    );
    if let Some(servers) = root
        .get_mut("mcpServers")
        .and_then(|all| all.as_object_mut())
    {
        servers.remove(NAME);
        if servers.is_empty() {
            root.as_object_mut().map(|root| root.remove("mcpServers"));
        }
    }
    Ok(root)
}

/// Edits TOML text so that it has our server as wanted; removes it for `None`.
pub(super) fn settle_toml(text: &str, wanted: Option<&ServerEntry>) -> Result<String> {
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

/// Parses TOML text, without our server.
pub(super) fn others_toml(text: &str) -> Result<toml::Table> {
    let mut root = parse_table(text).map_err(|error| anyhow!("it is not TOML: {error}"))?;
    if let Some(servers) = root
        .get_mut("mcp_servers")
        .and_then(|all| all.as_table_mut())
    {
        servers.remove(NAME);
        if servers.is_empty() {
            root.remove("mcp_servers");
        }
    }
    Ok(root)
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

fn read_json(found: &Value<'_>) -> Option<ServerEntry> {
    let object = found.as_object()?;
    let (_, program) = member(object, "command")?;
    let arguments = member(object, "args").and_then(|(_, list)| list.as_array());
    let texts = arguments.into_iter().flat_map(|list| &list.elements);
    Some(ServerEntry {
        program: program.as_string_lit()?.value.to_string(),
        arguments: texts
            .filter_map(|text| Some(text.as_string_lit()?.value.to_string()))
            .collect(),
    })
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

impl ServerEntry {
    fn is_ours(&self) -> bool {
        is_our_server(&self.program, &self.arguments)
    }

    fn json(&self) -> Json {
        let arguments = self.arguments.iter().cloned().map(Json::Text).collect();
        Json::Object(vec![
            ("type", Json::Text("stdio".to_owned())),
            ("command", Json::Text(self.program.clone())),
            ("args", Json::List(arguments)),
        ])
    }
}

/// Whether the name is taken by a server that is not ours.
pub(super) fn is_taken(settled: &str, is_toml: bool, wanted: &ServerEntry) -> bool {
    let found = match is_toml {
        true => parse_toml(settled)
            .ok()
            .and_then(|document| Some(read_toml(document.get("mcp_servers")?.get(NAME)?))),
        false => Document::parse(settled).ok().and_then(|document| {
            let (_, servers) = member(document.root.as_ref()?.as_object()?, "mcpServers")?;
            let (_, found) = member(servers.as_object()?, NAME)?;
            Some(read_json(found).unwrap_or(ServerEntry {
                program: String::new(),
                arguments: Vec::new(),
            }))
        }),
    };
    found.is_some_and(|found| found != *wanted)
}

#[cfg(test)]
#[path = "servers_tests.rs"]
mod tests;

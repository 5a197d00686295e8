//! Our MCP server in a host's settings.
//!
//! A server named `daybook` that is not ours belongs to the person and stays as it is.
//!
//! Not here: files (`file`), and which host has which format (`host`).

mod json;
mod toml;
mod yaml;

use anyhow::Result;
use serde_json::Value;

use super::command::is_our_server;
use super::json::parse_settings;

pub(super) use json::{EntryLayout, JsonLayout};

/// The name of our server in settings of hosts.
const NAME: &str = "daybook";

/// Program and arguments of a server on standard input and output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerEntry {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
}

impl ServerEntry {
    fn is_ours(&self) -> bool {
        is_our_server(&self.program, &self.arguments)
    }
}

/// How a host's settings hold its MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerFormat {
    Json(JsonLayout),
    /// `mcp_servers` in TOML, as Codex has them.
    Toml,
    /// `extensions` in YAML, as Goose has them.
    Yaml,
}

impl ServerFormat {
    /// Edits the text so that it has our server as wanted; removes it for `None`.
    pub(super) fn settle(self, text: &str, wanted: Option<&ServerEntry>) -> Result<String> {
        match self {
            Self::Json(layout) => json::settle(text, layout, wanted),
            Self::Toml => toml::settle(text, wanted),
            Self::Yaml => yaml::settle(text, wanted),
        }
    }

    /// Parses settings for their values.
    pub(super) fn parse(self, text: &str) -> Result<Value> {
        match self {
            Self::Json(_) => parse_settings(text),
            Self::Toml => toml::parse(text),
            Self::Yaml => yaml::parse(text),
        }
    }

    /// Removes a server of our name from parsed settings, and what held it alone.
    pub(super) fn strip(self, root: &mut Value) {
        let name = self.servers();
        let servers = root.get_mut(name);
        let is_empty = match servers {
            Some(Value::Object(servers)) => {
                servers.remove(NAME);
                servers.is_empty()
            }
            Some(Value::Null) => true,
            _ => false,
        };
        if is_empty {
            root.as_object_mut().map(|root| root.remove(name));
        }
    }

    /// Whether the name is taken by a server that is not ours.
    pub(super) fn is_taken(self, settled: &str, wanted: &ServerEntry) -> bool {
        let Ok(root) = self.parse(settled) else {
            return false;
        };
        let found = root.get(self.servers()).and_then(|all| all.get(NAME));
        found.is_some_and(|found| read(found).as_ref() != Some(wanted))
    }

    /// The member of the settings that holds the servers.
    fn servers(self) -> &'static str {
        match self {
            Self::Json(layout) => layout.servers,
            Self::Toml => "mcp_servers",
            Self::Yaml => "extensions",
        }
    }
}

/// Reads a server's entry: `command` with `args`, Goose's `cmd`, or OpenCode's one list. `None` for any other shape.
fn read(found: &Value) -> Option<ServerEntry> {
    let texts = |list: &Value| -> Vec<String> {
        let texts = list.as_array().into_iter().flatten();
        texts
            .filter_map(|text| text.as_str().map(str::to_owned))
            .collect()
    };
    let command = found.get("command").or_else(|| found.get("cmd"))?;
    if command.is_array() {
        let mut words = texts(command).into_iter();
        return Some(ServerEntry {
            program: words.next()?,
            arguments: words.collect(),
        });
    }
    Some(ServerEntry {
        program: command.as_str()?.to_owned(),
        arguments: found.get("args").map(texts).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests;

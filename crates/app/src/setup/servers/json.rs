//! Our MCP server in JSON, whose hosts differ in where servers are and how one is written.
//!
//! Not here: positions in the text (`setup::json`).

use anyhow::{Result, bail};
use jsonc_parser::ast::Value;

use super::super::hooks::kind;
use super::super::json::{Document, EntrySpans, Json, member, span};
use super::{NAME, ServerEntry, read};

/// Where a host's JSON has its servers, and how it writes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::setup) struct JsonLayout {
    /// The member of the settings that holds the servers.
    pub(in crate::setup) servers: &'static str,
    pub(in crate::setup) entry: EntryLayout,
}

/// How one server is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::setup) enum EntryLayout {
    /// `command` and `args`.
    Plain,
    /// The same, with the `type` of the connection.
    Typed,
    /// Copilot CLI: of the type `local`, with the tools that the agent may use.
    WithTools,
    /// OpenCode: of the type `local`, with program and arguments in one list.
    CommandList,
}

/// Edits JSON text so that it has our server as wanted; removes it for `None`.
pub(super) fn settle(
    text: &str,
    layout: JsonLayout,
    wanted: Option<&ServerEntry>,
) -> Result<String> {
    let text = match (text.trim().is_empty(), wanted) {
        (true, Some(_)) => "{}\n",
        (true, None) => return Ok(text.to_owned()),
        (false, _) => text,
    };
    let document = Document::parse(text)?;
    let Some(Value::Object(root)) = &document.root else {
        bail!("it holds something other than an object");
    };
    let (place, servers) = match member(root, layout.servers) {
        Some((place, Value::Object(servers))) => (place, servers),
        Some((_, other)) => bail!(
            "its \"{}\" is {}, not an object",
            layout.servers,
            kind(other)
        ),
        None => {
            return Ok(wanted.map_or_else(
                || text.to_owned(),
                |server| {
                    let servers = Json::Object(vec![(NAME, layout.entry.json(server))]);
                    let spans = EntrySpans::of_object(root);
                    document.appended(&spans, Some(layout.servers), &servers)
                },
            ));
        }
    };
    let spans = EntrySpans::of_object(servers);
    let Some((at, found)) = member(servers, NAME) else {
        return Ok(wanted.map_or_else(
            || text.to_owned(),
            |server| document.appended(&spans, Some(NAME), &layout.entry.json(server)),
        ));
    };
    let entry = read(&serde_json::Value::from(found.clone()));
    Ok(match (entry.filter(ServerEntry::is_ours), wanted) {
        (None, _) => text.to_owned(),
        (Some(entry), Some(server)) if entry == *server => text.to_owned(),
        (Some(_), Some(server)) => document.replaced(span(found), &layout.entry.json(server)),
        (Some(_), None) if servers.properties.len() == 1 => {
            document.without(&EntrySpans::of_object(root), place)
        }
        (Some(_), None) => document.without(&spans, at),
    })
}

impl EntryLayout {
    fn json(self, server: &ServerEntry) -> Json {
        let text = |text: &str| Json::Text(text.to_owned());
        let arguments = server.arguments.iter().map(|argument| text(argument));
        let command = ("command", text(&server.program));
        let plain = |arguments| [command.clone(), ("args", Json::List(arguments))];
        let mut members = Vec::new();
        match self {
            Self::Plain => members.extend(plain(arguments.collect())),
            Self::Typed => {
                members.push(("type", text("stdio")));
                members.extend(plain(arguments.collect()));
            }
            Self::WithTools => {
                members.push(("type", text("local")));
                members.extend(plain(arguments.collect()));
                members.push(("tools", Json::List(vec![text("*")])));
            }
            Self::CommandList => {
                let words = std::iter::once(text(&server.program)).chain(arguments);
                members.push(("type", text("local")));
                members.push(("command", Json::List(words.collect())));
                members.push(("enabled", Json::True));
            }
        }
        Json::Object(members)
    }
}

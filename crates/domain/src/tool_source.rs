//! Where the text of a tool's answer comes from, by the tool's name alone.
//!
//! Readers of transcripts bring each host's names into one form: a tool of an MCP server is `mcp__server__tool`. Names
//! of hosts' own tools are compared by their letters and digits, because hosts spell them differently (`WebSearch`,
//! `web_search`).
//!
//! Not here: what follows from a source (`pollution`, `trust`).

/// Daybook's own server. Its answers are memory, which readers recognise and never learn from again.
const OWN_SERVER: &str = "daybook";

/// Tools that search the web or fetch a page of it.
const WEB: &[&str] = &[
    "websearch",
    "websearchpreview",
    "webfetch",
    "fetchurl",
    "googlesearch",
];

/// Tools that search for tools: their answers are descriptions that servers wrote.
const TOOL_SEARCH: &[&str] = &["toolsearch", "toolsearchtoolregex", "toolsearchtoolbm25"];

/// Tools of hosts that read from an MCP server which only their arguments name.
const UNNAMED_SERVER: &[&str] = &[
    "listmcpresources",
    "listmcpresourcestool",
    "listmcpresourcetemplates",
    "readmcpresource",
    "readmcpresourcetool",
];

/// Where a tool's answers come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSource<'n> {
    /// The machine that the agent works on: commands, files, the host's own tools.
    Local,
    /// The web.
    Web,
    /// Descriptions of tools that servers offer.
    ToolSearch,
    /// An MCP server; empty if the tool's name does not say which.
    Server(&'n str),
}

impl<'n> ToolSource<'n> {
    /// The source of the answers of the tool named `name`.
    ///
    /// ```
    /// use daybook_domain::tool_source::ToolSource;
    ///
    /// assert_eq!(ToolSource::of("Bash"), ToolSource::Local);
    /// assert_eq!(ToolSource::of("WebSearch"), ToolSource::Web);
    /// assert_eq!(ToolSource::of("mcp__wiki__read_page"), ToolSource::Server("wiki"));
    /// ```
    #[must_use]
    pub fn of(name: &'n str) -> Self {
        if let Some(rest) = name.strip_prefix("mcp__") {
            let server = rest.split_once("__").map_or(rest, |(server, _)| server);
            return match server {
                OWN_SERVER => Self::Local,
                server => Self::Server(server),
            };
        }
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        let plain: String = letters.map(|c| c.to_ascii_lowercase()).collect();
        let is_in = |names: &[&str]| names.contains(&plain.as_str());
        if is_in(WEB) {
            Self::Web
        } else if is_in(TOOL_SEARCH) {
            Self::ToolSearch
        } else if is_in(UNNAMED_SERVER) {
            Self::Server("")
        } else {
            Self::Local
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tools_name_shows_where_its_answers_come_from() {
        for (name, source) in [
            ("WebSearch", ToolSource::Web),
            ("web_search", ToolSource::Web),
            ("WebFetch", ToolSource::Web),
            ("tool_search", ToolSource::ToolSearch),
            ("ToolSearch", ToolSource::ToolSearch),
            ("mcp__wiki__search", ToolSource::Server("wiki")),
            ("mcp__wiki", ToolSource::Server("wiki")),
            ("ReadMcpResourceTool", ToolSource::Server("")),
            ("mcp__daybook__recall", ToolSource::Local),
            ("Bash", ToolSource::Local),
            ("local_shell", ToolSource::Local),
            ("exec_command", ToolSource::Local),
            ("websearches_of_ours", ToolSource::Local),
            ("", ToolSource::Local),
        ] {
            assert_eq!(ToolSource::of(name), source, "{name}");
        }
    }
}

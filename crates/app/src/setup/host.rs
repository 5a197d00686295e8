//! The settings files of each host, and our entries in them.
//!
//! Each event runs one group of ours. The host waits for `daybook hook`, so its timeout is short. `daybook update` runs in
//! the background. For Claude Code and Qwen Code that is the option `async`. Codex before 0.148 skips hooks with that
//! option, and later versions end such a hook with the session. But all versions run commands through the person's shell,
//! which leaves a command running that is followed by `&` and holds no stream of the host. Windows has no such shell, so
//! Codex gets no update there. For all others the MCP server, which their agents keep running, does the same work.
//!
//! Hosts whose hooks report no session, or which have none, get the MCP server alone.
//!
//! Not here: edits of text (`hooks`, `servers`).

use std::path::PathBuf;

use anyhow::Result;

use super::SettingsPart;
use super::command::Program;
use super::hooks::{HookGroup, HookHandler, HookLayout};
use super::servers::{EntryLayout, JsonLayout, ServerEntry, ServerFormat};
use crate::folders::data_folder;
use crate::folders::hosts::AgentHost;

/// Timeout of an answer, in seconds.
const ANSWER_WITHIN: u32 = 10;

/// Timeout at the end of a session, in seconds: Codex reduces a longer one to this, with a message at every start.
const END_WITHIN: u32 = 3;

/// Seconds after which the host ends a background update; longer than the update's own limit.
const UPDATE_WITHIN: u32 = 60;

/// The host's names of the five events that a hook answers: start, prompt, end of a turn, compaction, end. Work of a
/// session becomes due during later sessions, so the start, each turn and the end of every session check for it.
type EventNames = [&'static str; 5];

/// The names that most hosts share.
const EVENTS: EventNames = [
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "PreCompact",
    "SessionEnd",
];
const EVENTS_OF_GEMINI: EventNames = [
    "SessionStart",
    "BeforeAgent",
    "AfterAgent",
    "PreCompress",
    "SessionEnd",
];
const EVENTS_OF_CURSOR: EventNames = [
    "sessionStart",
    "beforeSubmitPrompt",
    "stop",
    "preCompact",
    "sessionEnd",
];

/// Whether an update follows the hook of each event.
const UPDATES: [bool; 5] = [true, false, true, false, true];

impl AgentHost {
    /// The settings files that get entries of ours, with those entries; one file may get both.
    pub(super) fn parts(self, program: &Program, mcp: bool) -> Result<Vec<SettingsParts>> {
        let mut files: Vec<SettingsParts> = Vec::new();
        if let Some(path) = self.hooks_path()? {
            let hooks = SettingsPart::Hooks(self.groups(program));
            files.push(SettingsParts::new(path, hooks));
        }
        if mcp {
            let path = self.servers_path()?;
            let (program, arguments) = program.server();
            let server = ServerEntry { program, arguments };
            let part = SettingsPart::Servers(self.server_format(), server);
            match files.iter_mut().find(|file| file.path == path) {
                Some(file) => file.parts.push(part),
                None => files.push(SettingsParts::new(path, part)),
            }
        }
        Ok(files)
    }

    /// The file with its hooks; `None` for a host without any that serve memory.
    fn hooks_path(self) -> Result<Option<PathBuf>> {
        let file = match self {
            Self::ClaudeCode | Self::GeminiCli | Self::QwenCode => "settings.json",
            Self::Codex | Self::Cursor => "hooks.json",
            // Every file in this folder counts, so ours is one of its own.
            Self::CopilotCli => "hooks/daybook.json",
            Self::VsCode | Self::OpenCode | Self::Goose | Self::Zed | Self::Windsurf => {
                return Ok(None);
            }
        };
        Ok(Some(self.folder()?.join(file)))
    }

    /// The file with its MCP servers.
    fn servers_path(self) -> Result<PathBuf> {
        let moved = std::env::var_os("CLAUDE_CONFIG_DIR").is_some_and(|value| !value.is_empty());
        let folder = self.folder()?;
        Ok(folder.join(match self {
            Self::ClaudeCode if moved => ".claude.json",
            Self::ClaudeCode => return Ok(data_folder::home()?.join(".claude.json")),
            Self::Codex => "config.toml",
            Self::GeminiCli | Self::QwenCode | Self::Zed => "settings.json",
            Self::CopilotCli => "mcp-config.json",
            Self::Cursor | Self::VsCode => "mcp.json",
            Self::OpenCode if folder.join("opencode.jsonc").exists() => "opencode.jsonc",
            Self::OpenCode => "opencode.json",
            Self::Goose => "config.yaml",
            Self::Windsurf => "mcp_config.json",
        }))
    }

    fn server_format(self) -> ServerFormat {
        let json = |servers, entry| ServerFormat::Json(JsonLayout { servers, entry });
        match self {
            Self::Codex => ServerFormat::Toml,
            Self::Goose => ServerFormat::Yaml,
            Self::ClaudeCode => json("mcpServers", EntryLayout::Typed),
            Self::GeminiCli | Self::QwenCode | Self::Cursor | Self::Windsurf => {
                json("mcpServers", EntryLayout::Plain)
            }
            Self::CopilotCli => json("mcpServers", EntryLayout::WithTools),
            Self::VsCode => json("servers", EntryLayout::Typed),
            Self::OpenCode => json("mcp", EntryLayout::CommandList),
            Self::Zed => json("context_servers", EntryLayout::Plain),
        }
    }

    /// Whether its agents report through hooks, and start with what is remembered.
    pub(crate) fn has_hooks(self) -> bool {
        self.hooks_path().is_ok_and(|path| path.is_some())
    }

    /// Whether its hooks let `daybook update` run in the background.
    pub(super) fn has_updates(self) -> bool {
        match self {
            Self::ClaudeCode | Self::QwenCode => true,
            Self::Codex => !cfg!(windows),
            Self::GeminiCli
            | Self::CopilotCli
            | Self::Cursor
            | Self::VsCode
            | Self::OpenCode
            | Self::Goose
            | Self::Zed
            | Self::Windsurf => false,
        }
    }

    fn groups(self, program: &Program) -> Vec<HookGroup> {
        let (events, layout) = match self {
            Self::GeminiCli => (EVENTS_OF_GEMINI, HookLayout::Groups),
            Self::Cursor => (EVENTS_OF_CURSOR, HookLayout::Handlers),
            // With these names Copilot CLI sends the payload that the others send.
            Self::CopilotCli => (EVENTS, HookLayout::Handlers),
            _ => (EVENTS, HookLayout::Groups),
        };
        let groups = events.into_iter().zip(UPDATES);
        groups
            .map(|(event, updates)| {
                let ends = self == Self::Codex && event == "SessionEnd";
                let timeout = if ends { END_WITHIN } else { ANSWER_WITHIN };
                let mut handlers = vec![HookHandler {
                    command: program.hook(self.agent()),
                    timeout: self.timeout(timeout),
                    in_background: false,
                }];
                if updates && self.has_updates() {
                    handlers.push(self.update(program, timeout));
                }
                HookGroup {
                    event,
                    layout,
                    handlers,
                }
            })
            .collect()
    }

    fn update(self, program: &Program, timeout: u32) -> HookHandler {
        match self {
            Self::Codex => HookHandler {
                // Codex reports a hook that exits without reading its payload as failed, so `cat` reads it.
                command: format!(
                    "{} </dev/null >/dev/null 2>&1 & cat >/dev/null",
                    program.update()
                ),
                timeout: self.timeout(timeout),
                in_background: false,
            },
            _ => HookHandler {
                command: program.update(),
                timeout: self.timeout(UPDATE_WITHIN),
                in_background: true,
            },
        }
    }

    /// The member that limits a hook's time, and its value. Qwen Code reads large numbers as milliseconds in all versions,
    /// and small ones as seconds in new ones alone.
    fn timeout(self, seconds: u32) -> (&'static str, u32) {
        match self {
            Self::GeminiCli | Self::QwenCode => ("timeout", seconds * 1000),
            Self::CopilotCli => ("timeoutSec", seconds),
            _ => ("timeout", seconds),
        }
    }
}

/// What one file gets of ours.
pub(super) struct SettingsParts {
    pub(super) path: PathBuf,
    pub(super) parts: Vec<SettingsPart>,
}

impl SettingsParts {
    fn new(path: PathBuf, part: SettingsPart) -> Self {
        Self {
            path,
            parts: vec![part],
        }
    }
}

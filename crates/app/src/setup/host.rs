//! The settings files of each host, and our entries in them.
//!
//! Each event runs one group of ours. The host waits for `daybook hook`, so its timeout is short. `daybook update` runs in
//! the background. For Claude Code that is the option `async`. Codex before 0.148 skips hooks with that option, and later
//! versions end such a hook with the session. But all versions run commands through the person's shell, which leaves a
//! command running that is followed by `&` and holds no stream of the host. Windows has no such shell, so Codex gets no
//! update there.
//!
//! Not here: edits of text (`hooks`, `servers`).

use std::path::PathBuf;

use anyhow::Result;

use super::command::Program;
use super::hooks::{HookGroup, HookHandler};
use super::servers::ServerEntry;
use crate::folders::data_folder;
use crate::folders::hosts::AgentHost;

/// Timeout of an answer, in seconds.
const ANSWER_WITHIN: u32 = 10;

/// Timeout at the end of a session, in seconds: Codex reduces a longer one to this, with a message at every start.
const END_WITHIN: u32 = 3;

/// Seconds after which the host ends a background update; longer than the update's own limit.
const UPDATE_WITHIN: u32 = 60;

/// The events that a hook answers, and whether an update follows. Work of a session becomes due during later sessions, so
/// the start, each turn and the end of every session check for it.
const EVENTS: [(&str, bool); 5] = [
    ("SessionStart", true),
    ("UserPromptSubmit", false),
    ("Stop", true),
    ("PreCompact", false),
    ("SessionEnd", true),
];

impl AgentHost {
    /// The file with its hooks.
    pub(super) fn hooks_path(self) -> Result<PathBuf> {
        Ok(self.folder()?.join(match self {
            Self::ClaudeCode => "settings.json",
            Self::Codex => "hooks.json",
        }))
    }

    /// The file with its MCP servers.
    pub(super) fn servers_path(self) -> Result<PathBuf> {
        let moved = std::env::var_os("CLAUDE_CONFIG_DIR").is_some_and(|value| !value.is_empty());
        match self {
            Self::Codex => Ok(self.folder()?.join("config.toml")),
            Self::ClaudeCode if moved => Ok(self.folder()?.join(".claude.json")),
            Self::ClaudeCode => Ok(data_folder::home()?.join(".claude.json")),
        }
    }

    pub(super) fn servers_are_toml(self) -> bool {
        self == Self::Codex
    }

    pub(super) fn groups(self, program: &Program) -> Vec<HookGroup> {
        EVENTS
            .into_iter()
            .map(|(event, updates)| {
                let ends = self == Self::Codex && event == "SessionEnd";
                let timeout = if ends { END_WITHIN } else { ANSWER_WITHIN };
                let mut handlers = vec![HookHandler {
                    command: program.hook(self.agent()),
                    timeout,
                    in_background: false,
                }];
                handlers.extend(self.update(program, timeout).filter(|_| updates));
                HookGroup { event, handlers }
            })
            .collect()
    }

    fn update(self, program: &Program, timeout: u32) -> Option<HookHandler> {
        match self {
            Self::ClaudeCode => Some(HookHandler {
                command: program.update(),
                timeout: UPDATE_WITHIN,
                in_background: true,
            }),
            Self::Codex if cfg!(windows) => None,
            Self::Codex => Some(HookHandler {
                // Codex reports a hook that exits without reading its payload as failed, so `cat` reads it.
                command: format!(
                    "{} </dev/null >/dev/null 2>&1 & cat >/dev/null",
                    program.update()
                ),
                timeout,
                in_background: false,
            }),
        }
    }

    pub(super) fn server(self, program: &Program) -> ServerEntry {
        let (program, arguments) = program.server();
        ServerEntry { program, arguments }
    }
}

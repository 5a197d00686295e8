//! The hosts: where their settings stand, and what we want in them.
//!
//! Events run one group of ours each. `daybook hook` answers and is waited for, so its time is
//! short. `daybook update` works in the background. Claude Code is told so with `async`. Codex
//! before 0.148 skips a hook that says so, and later ones end it with the session; but all run commands
//! through the person's shell, which leaves one behind that is followed by `&` and holds no stream of
//! the host's. On Windows there is no such shell, so there Codex gets no update.
//!
//! Not here: edits of text (`hooks`, `servers`).

use std::path::PathBuf;

use anyhow::Result;

use super::command::Program;
use super::hooks::{Group, Handler};
use super::servers::Server;
use crate::{discover, root};

/// An agent that can be told of Daybook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Host {
    ClaudeCode,
    Codex,
}

/// Seconds that an answer may take.
const ANSWER_WITHIN: u32 = 10;

/// Seconds that the end of a session may take: Codex cuts more down to this, and says so at every
/// start.
const END_WITHIN: u32 = 3;

/// Seconds after which the host ends an update in the background; more than it takes by itself.
const UPDATE_WITHIN: u32 = 60;

/// The events that are answered, and whether an update follows. Work of a session falls due while
/// the next ones go on, so its start, each of its turns and its end all look for it.
const EVENTS: [(&str, bool); 5] = [
    ("SessionStart", true),
    ("UserPromptSubmit", false),
    ("Stop", true),
    ("PreCompact", false),
    ("SessionEnd", true),
];

impl Host {
    pub(crate) const ALL: [Self; 2] = [Self::ClaudeCode, Self::Codex];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
        }
    }

    /// As `daybook hook` is told.
    fn word(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    pub(crate) fn folder(self) -> Result<PathBuf> {
        match self {
            Self::ClaudeCode => discover::claude_code_folder(),
            Self::Codex => discover::codex_folder(),
        }
    }

    /// The file that its hooks stand in.
    pub(super) fn hooks_path(self) -> Result<PathBuf> {
        Ok(self.folder()?.join(match self {
            Self::ClaudeCode => "settings.json",
            Self::Codex => "hooks.json",
        }))
    }

    /// The file that its MCP servers stand in.
    pub(super) fn servers_path(self) -> Result<PathBuf> {
        let moved = std::env::var_os("CLAUDE_CONFIG_DIR").is_some_and(|value| !value.is_empty());
        match self {
            Self::Codex => Ok(self.folder()?.join("config.toml")),
            Self::ClaudeCode if moved => Ok(self.folder()?.join(".claude.json")),
            Self::ClaudeCode => Ok(root::home()?.join(".claude.json")),
        }
    }

    pub(super) fn servers_are_toml(self) -> bool {
        self == Self::Codex
    }

    pub(super) fn groups(self, program: &Program) -> Vec<Group> {
        EVENTS
            .into_iter()
            .map(|(event, updates)| {
                let ends = self == Self::Codex && event == "SessionEnd";
                let timeout = if ends { END_WITHIN } else { ANSWER_WITHIN };
                let mut handlers = vec![Handler {
                    command: program.hook(self.word()),
                    timeout,
                    in_background: false,
                }];
                handlers.extend(self.update(program, timeout).filter(|_| updates));
                Group { event, handlers }
            })
            .collect()
    }

    fn update(self, program: &Program, timeout: u32) -> Option<Handler> {
        match self {
            Self::ClaudeCode => Some(Handler {
                command: program.update(),
                timeout: UPDATE_WITHIN,
                in_background: true,
            }),
            Self::Codex if cfg!(windows) => None,
            Self::Codex => Some(Handler {
                // Codex calls a hook failed that ends before it has read its payload, so something does.
                command: format!(
                    "{} </dev/null >/dev/null 2>&1 & cat >/dev/null",
                    program.update()
                ),
                timeout,
                in_background: false,
            }),
        }
    }

    pub(super) fn server(self, program: &Program) -> Server {
        let (program, arguments) = program.server();
        Server { program, arguments }
    }
}

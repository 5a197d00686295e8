//! The hosts of agents on this machine, and the transcripts in their folders.

use std::path::{Path, PathBuf};

use anyhow::Result;
use daybook_domain::Timestamp;
use daybook_engine::hook_events::HookEvent;
use daybook_engine::transcripts::peek::{TranscriptPeek, peek};
use strum::{IntoStaticStr, VariantArray};

use super::data_folder;
use super::transcript_places::{TranscriptFolder, is_transcript, transcript_folders};

/// A program in which agents run, and whose settings Daybook changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "interfaces", derive(clap::ValueEnum))]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum AgentHost {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
    /// Gemini CLI
    GeminiCli,
    /// Qwen Code
    QwenCode,
    /// GitHub Copilot CLI
    CopilotCli,
    /// Cursor
    Cursor,
    /// Visual Studio Code, with Copilot
    #[strum(serialize = "vscode")]
    #[cfg_attr(feature = "interfaces", value(name = "vscode"))]
    VsCode,
    /// OpenCode
    #[strum(serialize = "opencode")]
    #[cfg_attr(feature = "interfaces", value(name = "opencode"))]
    OpenCode,
    /// Goose
    Goose,
    /// Zed
    Zed,
    /// Windsurf
    Windsurf,
}

impl AgentHost {
    /// Its name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::GeminiCli => "Gemini CLI",
            Self::QwenCode => "Qwen Code",
            Self::CopilotCli => "Copilot CLI",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::OpenCode => "OpenCode",
            Self::Goose => "Goose",
            Self::Zed => "Zed",
            Self::Windsurf => "Windsurf",
        }
    }

    /// Its agent's name in session ids and on the command line.
    pub(crate) fn agent(self) -> &'static str {
        self.into()
    }

    /// Its folder, which need not exist.
    pub(crate) fn folder(self) -> Result<PathBuf> {
        match self {
            Self::ClaudeCode => folder_or_default("CLAUDE_CONFIG_DIR", ".claude"),
            Self::Codex => folder_or_default("CODEX_HOME", ".codex"),
            Self::GeminiCli => folder_or_default("", ".gemini"),
            Self::QwenCode => folder_or_default("QWEN_HOME", ".qwen"),
            Self::CopilotCli => folder_or_default("COPILOT_HOME", ".copilot"),
            Self::Cursor => folder_or_default("", ".cursor"),
            Self::VsCode if cfg!(target_os = "macos") => {
                folder_or_default("", "Library/Application Support/Code/User")
            }
            Self::VsCode => settings_folder("Code/User"),
            Self::OpenCode => Ok(folder_or_default("XDG_CONFIG_HOME", ".config")?.join("opencode")),
            Self::Goose if cfg!(windows) => settings_folder("Block/goose/config"),
            Self::Goose => settings_folder("goose"),
            Self::Zed if cfg!(target_os = "macos") => folder_or_default("", ".config/zed"),
            Self::Zed => settings_folder("zed"),
            Self::Windsurf => folder_or_default("", ".codeium/windsurf"),
        }
    }
}

/// A transcript, and what its first and last lines show.
pub(crate) struct TranscriptFile {
    pub(crate) path: PathBuf,
    pub(crate) size: u64,
    pub(crate) peek: TranscriptPeek,
}

impl TranscriptFile {
    /// The last time in it.
    pub(crate) fn last_at(&self) -> Timestamp {
        self.peek.last_at.unwrap_or_default()
    }

    /// The last part of the folder that its agent worked in.
    pub(crate) fn project(&self) -> &str {
        let folder = self.peek.folder.as_deref().unwrap_or("(no folder)");
        let main = folder.split("/.worktrees/").next().unwrap_or(folder);
        main.trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or(main)
    }
}

/// The folder that `variable` names, else `default` below the person's home. An empty `variable` names none.
fn folder_or_default(variable: &str, default: &str) -> Result<PathBuf> {
    let named = (!variable.is_empty()).then(|| std::env::var_os(variable));
    match named.flatten().filter(|value| !value.is_empty()) {
        Some(named) => Ok(PathBuf::from(named)),
        None => Ok(data_folder::home()?.join(default)),
    }
}

/// A folder among the settings of a person's programs.
fn settings_folder(name: &str) -> Result<PathBuf> {
    let all = match cfg!(windows) {
        true => folder_or_default("APPDATA", "AppData/Roaming"),
        false => folder_or_default("XDG_CONFIG_HOME", ".config"),
    };
    Ok(all?.join(name))
}

/// The transcripts in a folder, in order of their paths.
pub(crate) fn transcripts_in(folder: &TranscriptFolder) -> Vec<TranscriptFile> {
    let mut paths = Vec::new();
    // A place may be one file, such as a database.
    match folder.path.is_file() {
        true => paths.push(folder.path.clone()),
        false => collect(&folder.path, &mut paths, 0),
    }
    paths.sort();
    paths
        .into_iter()
        .filter_map(|path| {
            let size = std::fs::metadata(&path).ok()?.len();
            let peek = peek(&path).unwrap_or_default();
            Some(TranscriptFile { path, size, peek })
        })
        .collect()
}

/// Finds the transcript of a hook's session, for hosts that name none.
pub(crate) fn transcript_of(event: &HookEvent) -> Option<PathBuf> {
    let mut paths = Vec::new();
    for folder in transcript_folders() {
        if folder.agent == event.agent {
            collect(&folder.path, &mut paths, 0);
        }
    }
    // Hosts with hooks put the session's id into the name of its file, or of the folder that the file is in.
    paths.into_iter().find(|path| {
        let mut names = path.iter().rev().take(2).map(|name| name.to_string_lossy());
        names.any(|name| name.contains(&event.session))
    })
}

/// Deepest folder that is searched.
const DEPTH: usize = 12;

fn collect(folder: &Path, paths: &mut Vec<PathBuf>, depth: usize) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let path = entry.path();
        if kind.is_dir() && depth < DEPTH {
            collect(&path, paths, depth + 1);
        } else if kind.is_file() && is_transcript(&path) {
            paths.push(path);
        }
    }
}

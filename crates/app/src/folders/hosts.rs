//! The hosts of agents on this machine, and the transcripts in their folders.

use std::path::{Path, PathBuf};

use anyhow::Result;
use daybook_domain::Timestamp;
use daybook_engine::hook_events::HookEvent;
use daybook_engine::transcripts::peek::{TranscriptPeek, peek};
use strum::{IntoStaticStr, VariantArray};

use super::data_folder;
use super::transcript_places::{TranscriptFolder, is_transcript, transcript_folders};

/// A program in which agents run, and whose hooks and transcripts Daybook supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum AgentHost {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
}

impl AgentHost {
    /// Its name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
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

fn folder_or_default(variable: &str, default: &str) -> Result<PathBuf> {
    match std::env::var_os(variable).filter(|value| !value.is_empty()) {
        Some(named) => Ok(PathBuf::from(named)),
        None => Ok(data_folder::home()?.join(default)),
    }
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
    // Hosts with hooks put the session's id into the name of its file.
    paths.into_iter().find(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.is_some_and(|name| name.contains(&event.session))
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

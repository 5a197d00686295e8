//! Where agents keep their sessions on this machine.

use std::path::{Path, PathBuf};

use anyhow::Result;
use daybook_domain::Timestamp;
use daybook_engine::ingest::peek::{Peek, peek};
use daybook_engine::notices::Notice;

use crate::root;

/// An agent's folder of sessions.
pub(crate) struct Host {
    pub(crate) name: &'static str,
    /// What it is called in session ids.
    pub(crate) agent: &'static str,
    pub(crate) folder: PathBuf,
}

/// A transcript that was found.
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) size: u64,
    pub(crate) peek: Peek,
}

impl Found {
    /// The last time that it names.
    pub(crate) fn last_at(&self) -> Timestamp {
        self.peek.last_at.unwrap_or_default()
    }

    /// The last part of the folder that work was done in.
    pub(crate) fn project(&self) -> &str {
        let folder = self.peek.folder.as_deref().unwrap_or("(no folder)");
        let main = folder.split("/.worktrees/").next().unwrap_or(folder);
        main.trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or(main)
    }
}

/// The folder of Claude Code, whether or not it exists.
pub(crate) fn claude_code_folder() -> Result<PathBuf> {
    named_or("CLAUDE_CONFIG_DIR", ".claude")
}

/// The folder of Codex, whether or not it exists.
pub(crate) fn codex_folder() -> Result<PathBuf> {
    named_or("CODEX_HOME", ".codex")
}

fn named_or(variable: &str, default: &str) -> Result<PathBuf> {
    match std::env::var_os(variable).filter(|value| !value.is_empty()) {
        Some(named) => Ok(PathBuf::from(named)),
        None => Ok(root::home()?.join(default)),
    }
}

/// The folders of sessions of the agents that are known, whether or not they exist.
pub(crate) fn hosts() -> Vec<Host> {
    let mut hosts = Vec::new();
    if let Ok(claude) = claude_code_folder() {
        hosts.push(Host {
            name: "Claude Code",
            agent: "claude-code",
            folder: claude.join("projects"),
        });
    }
    if let Ok(codex) = codex_folder() {
        for folder in ["sessions", "archived_sessions"] {
            hosts.push(Host {
                name: "Codex",
                agent: "codex",
                folder: codex.join(folder),
            });
        }
    }
    hosts
}

/// The transcripts in a host's folder, in order of their paths.
pub(crate) fn transcripts(host: &Host) -> Vec<Found> {
    let mut paths = Vec::new();
    collect(&host.folder, &mut paths, 0);
    paths.sort();
    paths
        .into_iter()
        .filter_map(|path| {
            let size = std::fs::metadata(&path).ok()?.len();
            let peek = peek(&path).unwrap_or_default();
            Some(Found { path, size, peek })
        })
        .collect()
}

/// Where the transcript of a session lies whose host did not say.
pub(crate) fn transcript_of(notice: &Notice) -> Option<PathBuf> {
    let mut paths = Vec::new();
    for host in hosts().iter().filter(|host| host.agent == notice.agent) {
        collect(&host.folder, &mut paths, 0);
    }
    // Both hosts put the session's id into the name of its file.
    paths.into_iter().find(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.is_some_and(|name| name.contains(&notice.session))
    })
}

/// Deepest folder that is looked into.
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

pub(crate) fn is_transcript(path: &Path) -> bool {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy())
        .unwrap_or_default();
    name.ends_with(".jsonl") || name.ends_with(".jsonl.zst")
}

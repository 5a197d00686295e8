//! Reads the files that hosts load into an agent's context by themselves, so that Daybook does not repeat them.

use std::path::{Path, PathBuf};

use daybook_engine::bounded;
use daybook_engine::places::stored_path::path_on_disk;
use daybook_engine::recall::host_text::HostText;

use crate::folders::hosts::AgentHost;

/// Most bytes of one such file that are read.
const BYTES: u64 = 256 * 1024;

/// Reads what `host` loads in `folder` of the checkout at `top`; what any known host loads when `host` is `None`.
pub(crate) fn loaded_by_host(folder: &Path, top: &Path, host: Option<AgentHost>) -> HostText {
    // A place names its folder as it is stored.
    let top = &path_on_disk(&top.to_string_lossy());
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut folders: Vec<&Path> = folder
        .ancestors()
        .take_while(|folder| folder.starts_with(top))
        .collect();
    if folders.is_empty() {
        folders = vec![folder, top];
    }
    // An unknown place has an empty path, which must not resolve to this process's folder.
    folders.retain(|folder| folder.is_absolute());
    if host != Some(AgentHost::Codex) {
        for folder in &folders {
            paths.extend(
                ["CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"].map(|f| folder.join(f)),
            );
        }
        if let Ok(own) = AgentHost::ClaudeCode.folder() {
            paths.push(own.join("CLAUDE.md"));
            paths.push(
                own.join("projects")
                    .join(slug(top))
                    .join("memory/MEMORY.md"),
            );
        }
    }
    if host != Some(AgentHost::ClaudeCode) {
        for folder in &folders {
            paths.extend(["AGENTS.md", "AGENTS.override.md"].map(|file| folder.join(file)));
        }
        if let Ok(own) = AgentHost::Codex.folder() {
            paths.push(own.join("AGENTS.md"));
            paths.push(own.join("memories/memory_summary.md"));
        }
    }
    let texts: Vec<String> = paths.iter().filter_map(|path| text(path)).collect();
    HostText::of(texts.iter().map(String::as_str))
}

fn text(path: &Path) -> Option<String> {
    // A pipe or a device in its place is not read: no host has loaded it.
    let bytes = bounded::read_start(path, BYTES).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The name of the folder in which Claude Code keeps what belongs to a checkout.
fn slug(folder: &Path) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    folder.to_string_lossy().chars().map(plain).collect()
}

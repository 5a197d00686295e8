//! The files that hosts put before their agents by themselves.

use std::path::{Path, PathBuf};

use daybook_engine::bounded;
use daybook_engine::recall::loaded::Loaded;

use super::Host;
use crate::discover::{claude_code_folder, codex_folder};

/// Most bytes of one such file that are looked at.
const BYTES: u64 = 256 * 1024;

/// What `host` loads in `folder` of the checkout at `top`; of every known host when it is not known.
pub(crate) fn loaded(folder: &Path, top: &Path, host: Option<Host>) -> Loaded {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut folders: Vec<&Path> = folder
        .ancestors()
        .take_while(|folder| folder.starts_with(top))
        .collect();
    if folders.is_empty() {
        folders = vec![folder, top];
    }
    // Somebody who is nowhere is not in this process's folder.
    folders.retain(|folder| folder.is_absolute());
    if host != Some(Host::Codex) {
        for folder in &folders {
            paths.extend(
                ["CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"].map(|f| folder.join(f)),
            );
        }
        if let Ok(own) = claude_code_folder() {
            paths.push(own.join("CLAUDE.md"));
            paths.push(
                own.join("projects")
                    .join(slug(top))
                    .join("memory/MEMORY.md"),
            );
        }
    }
    if host != Some(Host::ClaudeCode) {
        for folder in &folders {
            paths.extend(["AGENTS.md", "AGENTS.override.md"].map(|file| folder.join(file)));
        }
        if let Ok(own) = codex_folder() {
            paths.push(own.join("AGENTS.md"));
            paths.push(own.join("memories/memory_summary.md"));
        }
    }
    let texts: Vec<String> = paths.iter().filter_map(|path| text(path)).collect();
    Loaded::of(texts.iter().map(String::as_str))
}

fn text(path: &Path) -> Option<String> {
    // A pipe or a device in its place is nothing that a host has loaded.
    let bytes = bounded::read_start(path, BYTES).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The name under which Claude Code keeps what belongs to a folder.
fn slug(folder: &Path) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    folder.to_string_lossy().chars().map(plain).collect()
}

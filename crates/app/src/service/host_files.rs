//! Reads the files that hosts load into an agent's context by themselves, so that Daybook does not repeat them.

use std::path::{Path, PathBuf};

use daybook_engine::bounded;
use daybook_engine::places::stored_path::path_on_disk;
use daybook_engine::recall::host_text::HostText;
use strum::VariantArray;

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
    let hosts = match &host {
        Some(host) => std::slice::from_ref(host),
        None => AgentHost::VARIANTS,
    };
    for host in hosts {
        let (of_folder, of_home) = names(*host);
        for folder in &folders {
            paths.extend(of_folder.iter().map(|file| folder.join(file)));
        }
        if let Ok(own) = host.folder() {
            paths.extend(of_home.iter().map(|file| own.join(file)));
        }
    }
    if host.is_none_or(|host| host == AgentHost::ClaudeCode)
        && let Ok(own) = AgentHost::ClaudeCode.folder()
    {
        let projects = own.join("projects");
        paths.push(projects.join(slug(top)).join("memory/MEMORY.md"));
    }
    paths.sort();
    paths.dedup();
    let texts: Vec<String> = paths.iter().filter_map(|path| text(path)).collect();
    HostText::of(texts.iter().map(String::as_str))
}

/// The files that a host loads of each folder of a checkout, and of its own folder.
fn names(host: AgentHost) -> (&'static [&'static str], &'static [&'static str]) {
    match host {
        AgentHost::ClaudeCode => (
            &["CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"],
            &["CLAUDE.md"],
        ),
        AgentHost::Codex => (
            &["AGENTS.md", "AGENTS.override.md"],
            &["AGENTS.md", "memories/memory_summary.md"],
        ),
        AgentHost::GeminiCli => (&["GEMINI.md"], &["GEMINI.md"]),
        AgentHost::QwenCode => (&["QWEN.md"], &["QWEN.md"]),
        AgentHost::CopilotCli | AgentHost::VsCode => (
            &["AGENTS.md", ".github/copilot-instructions.md"],
            &["copilot-instructions.md"],
        ),
        AgentHost::OpenCode => (&["AGENTS.md"], &["AGENTS.md"]),
        AgentHost::Goose => (&[".goosehints", "AGENTS.md"], &[".goosehints"]),
        AgentHost::Cursor | AgentHost::Windsurf => (&["AGENTS.md"], &[]),
        AgentHost::Zed => (&[".rules", "AGENTS.md"], &[]),
    }
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

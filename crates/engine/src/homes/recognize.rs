//! Recognizes a home by what its files hold, and lists its files with what each is to an import.
//!
//! Hidden files and folders are passed over, and links are not followed: a home is what stands in its own folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::mindroom::LEDGER;
use super::{HomeKind, codex, daycare, mindroom};
use crate::bounded;

/// Deepest folder that is looked into.
const DEPTH: usize = 16;
/// Most files of one home. What lies beyond is not listed.
const FILES: usize = 200_000;
/// Bytes of a file that tell what it is.
const GLANCE: u64 = 4 * 1024;

/// What a file of a home is to an import and to a hand-back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRole {
    /// It states memories.
    Memory,
    /// A session's transcript.
    Transcript,
    /// It records which sessions the system has learned from.
    Ledger,
    /// It belongs to the memory, and states none of its own: it is handed back as it is, for this reason.
    Companion(&'static str),
    /// It is no part of the memory, and stays where it is, for this reason.
    Unknown(&'static str),
}

/// A file of a home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeFile {
    /// Its path below the home, with `/`.
    pub path: String,
    /// What it is.
    pub role: FileRole,
}

/// A recognized home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// The system whose home it is.
    pub kind: HomeKind,
    /// Its folder, as an absolute path.
    pub root: PathBuf,
    /// Its files, by path.
    pub files: Vec<HomeFile>,
}

impl Home {
    /// The paths of the files in a role, below the home.
    pub fn paths(&self, is: impl Fn(FileRole) -> bool) -> impl Iterator<Item = &str> {
        let files = self.files.iter().filter(move |file| is(file.role));
        files.map(|file| file.path.as_str())
    }

    /// Where a file of it lies.
    #[must_use]
    pub fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}

/// The home at `path`; `None` where no file there is in the form of one of the three systems.
#[must_use]
pub fn recognize(path: &Path) -> Option<Home> {
    let root = std::path::absolute(path).ok()?;
    if !fs::symlink_metadata(&root).ok()?.is_dir() {
        return None;
    }
    let kind = kind_of(&root)?;
    let mut paths = Vec::new();
    list(&root, "", 0, &mut paths);
    paths.sort();
    let files = paths.into_iter().map(|path| HomeFile {
        role: role_of(kind, &path),
        path,
    });
    let files = files.collect();
    Some(Home { kind, root, files })
}

fn kind_of(root: &Path) -> Option<HomeKind> {
    if is_codex(&root.join(codex::MEMORIES)) {
        return Some(HomeKind::Codex);
    }
    if is_mindroom(root) {
        return Some(HomeKind::Mindroom);
    }
    let users = folders(&root.join("users"));
    let is_one = users.iter().any(|user| is_daycare(&user.join("memory")));
    (is_one || is_daycare(&root.join("memory"))).then_some(HomeKind::Daycare)
}

fn is_codex(memories: &Path) -> bool {
    let starts = |file: &str, start: &str| start_of(&memories.join(file)).starts_with(start);
    let is_account = |file: &PathBuf| start_of(file).starts_with("thread_id:");
    starts("raw_memories.md", "# Raw Memories")
        || starts("memory_summary.md", "v1\n")
        || start_of(&memories.join("MEMORY.md")).contains("# Task Group:")
        || entries(&memories.join("rollout_summaries"))
            .iter()
            .any(is_account)
}

fn is_mindroom(root: &Path) -> bool {
    let is_ledger = start_of(&root.join(LEDGER)).contains("\"sessions\"");
    let agents = folders(&root.join("agents"));
    let has_memory = |agent: &PathBuf| {
        let workspace = agent.join("workspace");
        workspace.join("MEMORY.md").is_file() || has_scopes(&agent.join("memory_files")) || {
            let logs = entries(&workspace.join("memory"));
            logs.iter().any(|log| start_of(log).contains("- [id="))
        }
    };
    is_ledger || agents.iter().any(has_memory) || has_scopes(&root.join("memory_files"))
}

fn has_scopes(memory_files: &Path) -> bool {
    let scopes = folders(memory_files);
    scopes.iter().any(|scope| scope.join("MEMORY.md").is_file())
}

fn is_daycare(memory: &Path) -> bool {
    let log = start_of(&memory.join("observations.md"));
    let has_node = || {
        let nodes = entries(&memory.join("graph"));
        nodes.iter().any(|node| start_of(node).starts_with("---\n"))
    };
    (log.starts_with("## ") && log.contains("- **Text**:"))
        || start_of(&memory.join("INDEX.md")).starts_with("# Memory Index")
        || has_node()
}

/// The first bytes of a file as text; empty where it cannot be read.
fn start_of(path: &Path) -> String {
    let bytes = bounded::read_start(path, GLANCE).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The paths in a folder, in order.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = found.map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut found = entries(folder);
    found.retain(|path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir()));
    found
}

fn list(folder: &Path, below: &str, depth: usize, paths: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // A name that is not text has no path in an export.
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
            continue;
        };
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if name.starts_with('.') || paths.len() >= FILES {
            continue;
        }
        let path = match below {
            "" => name,
            below => format!("{below}/{name}"),
        };
        if kind.is_dir() && depth < DEPTH {
            list(&entry.path(), &path, depth + 1, paths);
        } else if kind.is_file() {
            paths.push(path);
        }
    }
}

fn role_of(kind: HomeKind, path: &str) -> FileRole {
    match kind {
        HomeKind::Codex => codex_role(path),
        HomeKind::Mindroom => mindroom_role(path),
        HomeKind::Daycare => daycare_role(path),
    }
}

fn codex_role(path: &str) -> FileRole {
    let is_below = |folder: &str| path.starts_with(folder);
    if codex::is_memory_file(path) {
        FileRole::Memory
    } else if (is_below("sessions/") || is_below("archived_sessions/")) && path.ends_with(".jsonl")
    {
        FileRole::Transcript
    } else if is_below("memories/skills/") || is_below("skills/") {
        FileRole::Companion("a skill: it is kept as it is, and nothing is learned from it")
    } else if is_below("memories/") {
        FileRole::Companion(
            "beside the memory files: it is kept as it is, and nothing is learned from it",
        )
    } else {
        FileRole::Unknown("not a memory file of Codex")
    }
}

fn mindroom_role(path: &str) -> FileRole {
    if mindroom::is_memory_file(path) {
        FileRole::Memory
    } else if path == LEDGER {
        FileRole::Ledger
    } else if path.starts_with("sessions/") && (path.ends_with(".json") || path.ends_with(".db")) {
        FileRole::Transcript
    } else if path.contains("/workspace/") || path.contains("memory_files/") {
        FileRole::Companion(
            "beside the memory files: it is kept as it is, and nothing is learned from it",
        )
    } else {
        FileRole::Unknown("not a memory file of MindRoom")
    }
}

fn daycare_role(path: &str) -> FileRole {
    let below = match path.strip_prefix("users/") {
        Some(rest) => rest.split_once('/').map_or("", |(_, below)| below),
        None => path,
    };
    if daycare::is_memory_file(path) {
        FileRole::Memory
    } else if daycare::is_index(path) {
        FileRole::Companion("the list of entities, whose own files are read")
    } else if below.starts_with("memory/graph/") {
        FileRole::Companion(
            "an older version of a node: it is kept as it is, and nothing is learned from it",
        )
    } else if below.starts_with("skills/") {
        FileRole::Companion("a skill: it is kept as it is, and nothing is learned from it")
    } else if below.starts_with("memory/") {
        FileRole::Companion(
            "beside the memory files: it is kept as it is, and nothing is learned from it",
        )
    } else {
        FileRole::Unknown("not a memory file of Daycare")
    }
}

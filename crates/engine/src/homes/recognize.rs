//! Recognizes a home by what its files hold, and lists its files with what each is to an import.
//!
//! Hidden files and folders are passed over, and links are not followed: a home is what stands in its own folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::head::Head;
use super::mindroom::LEDGER;
use super::{FILE_BYTES, HomeKind, claude, codex, daycare, graph, mem0, mindroom};
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
    /// What was recognized: its folder, or its one file.
    pub path: PathBuf,
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
        match self.kind {
            // Parts of an export lie in one file.
            HomeKind::Mem0 => self
                .root
                .join(path.split(mem0::USER).next().unwrap_or(path)),
            _ => self.root.join(path),
        }
    }
}

/// The home at `path`, a folder or a file; `None` where nothing there is in the form of a known system.
#[must_use]
pub fn recognize(path: &Path) -> Option<Home> {
    let root = std::path::absolute(path).ok()?;
    if !fs::symlink_metadata(&root).ok()?.is_dir() {
        return recognize_file(&root);
    }
    let kind = kind_of(&root)?;
    let mut paths = Vec::new();
    list(&root, "", 0, &mut paths);
    paths.sort();
    let files = paths.into_iter().map(|path| HomeFile {
        role: role_of(kind, &root, &path),
        path,
    });
    let files = files.collect();
    Some(Home {
        kind,
        path: root.clone(),
        root,
        files,
    })
}

/// The home that one file is.
fn recognize_file(file: &Path) -> Option<Home> {
    let (root, name) = (file.parent()?.to_owned(), file.file_name()?.to_str()?);
    let memory = |path: String| HomeFile {
        path,
        role: FileRole::Memory,
    };
    let (kind, paths) = if claude::is_persons_file(name) {
        (HomeKind::Claude, vec![name.to_owned()])
    } else if graph::is_evident(&first_line_of(file)) {
        (HomeKind::ServerMemory, vec![name.to_owned()])
    } else if name.ends_with(".json") && start_of(file).contains("\"memory\"") {
        let text = bounded::read_text(file, FILE_BYTES).ok()?;
        (HomeKind::Mem0, mem0::parts(name, &text)?)
    } else {
        return None;
    };
    let files = paths.into_iter().map(memory).collect();
    Some(Home {
        kind,
        path: file.to_owned(),
        root,
        files,
    })
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
    if is_one || is_daycare(&root.join("memory")) {
        return Some(HomeKind::Daycare);
    }
    if is_basic_memory(root) {
        return Some(HomeKind::BasicMemory);
    }
    if root.join(".obsidian").is_dir() {
        return Some(HomeKind::Obsidian);
    }
    is_claude(root).then_some(HomeKind::Claude)
}

/// Whether a folder is Claude Code's own, or that of a project's memory.
fn is_claude(root: &Path) -> bool {
    let projects = folders(&root.join("projects"));
    let has_memory = |project: &PathBuf| project.join("memory").is_dir();
    let is_own = root.join("CLAUDE.md").is_file() && !projects.is_empty();
    is_own
        || projects.iter().any(has_memory)
        || root.ends_with("memory") && root.join("MEMORY.md").is_file()
}

/// Whether a note in the folder, or in a folder of it, has the address that basic-memory gives each.
fn is_basic_memory(root: &Path) -> bool {
    let mut notes = entries(root);
    notes.extend(folders(root).iter().flat_map(|folder| entries(folder)));
    let mut notes = notes
        .iter()
        .filter(|note| note.extension().is_some_and(|ending| ending == "md"));
    notes.any(|note| Head::of(&start_of(note)).field("permalink").is_some())
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

/// The first line of a file of objects, which may be long; empty where it cannot be read.
fn first_line_of(path: &Path) -> String {
    match start_of(path).starts_with("{\"type\":\"") || start_of(path).starts_with("{\"type\": \"")
    {
        true => {
            let bytes = bounded::read_start(path, FILE_BYTES).unwrap_or_default();
            let line = bytes
                .split(|byte| *byte == b'\n')
                .next()
                .unwrap_or_default();
            String::from_utf8_lossy(line).into_owned()
        }
        false => String::new(),
    }
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

fn role_of(kind: HomeKind, root: &Path, path: &str) -> FileRole {
    match kind {
        HomeKind::Claude => claude_role(root, path),
        HomeKind::BasicMemory | HomeKind::Obsidian if path.ends_with(".md") => FileRole::Memory,
        HomeKind::BasicMemory | HomeKind::Obsidian => FileRole::Unknown("not a note"),
        // These are files, whose parts are listed as they are recognized.
        HomeKind::ServerMemory | HomeKind::Mem0 => FileRole::Memory,
        HomeKind::Codex => codex_role(path),
        HomeKind::Mindroom => mindroom_role(path),
        HomeKind::Daycare => daycare_role(path),
    }
}

fn claude_role(root: &Path, path: &str) -> FileRole {
    if claude::is_memory_file(root, path) {
        FileRole::Memory
    } else if path.starts_with("projects/") && path.ends_with(".jsonl") {
        FileRole::Transcript
    } else {
        FileRole::Unknown("not a memory file of Claude Code")
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

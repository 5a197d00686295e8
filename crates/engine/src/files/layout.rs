//! Where a scope's memory lives: folder and file names (DESIGN.md, "On disk").
//!
//! Not here: how a name becomes a component of a path (`name`).

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use daybook_domain::{Scope, ScopeKind, Tenant};

use super::name::FileName;
use super::path::FilePath;
use crate::consolidate::{Memory, Page};

/// `MEMORY.md`: curated, long-term.
pub const CURATED: &str = "MEMORY.md";
/// `memory_summary.md`: what is put in front of an agent.
pub const SUMMARY: &str = "memory_summary.md";
/// `branches.md`: where each branch stands.
pub const BRANCHES: &str = "branches.md";
/// Folders of kinds of scopes, below the folder of their tenant.
pub(super) const KINDS: [&str; 5] = ["users", "agents", "teams", "rooms", "projects"];
/// Where the tenants stand that are not the local one.
const TENANTS: &str = "tenants";
/// A memory folder, in the folder of its scope.
const MEMORY: &str = "memory";
/// The list of entities.
pub(super) const ENTITY_INDEX: &str = "INDEX.md";
/// Folders in which the engine keeps pages.
const OWNED_FOLDERS: [&str; 4] = ["daily", "sessions", "notes", "entities"];

/// A scope's memory folder below the root.
#[must_use]
pub fn folder(root: &Path, scope: &Scope) -> PathBuf {
    wall(root, &scope.tenant)
        .join(kind_folder(scope.kind))
        .join(FileName::folder(&scope.name))
        .join(MEMORY)
}

/// The folder that holds the scopes of a kind.
pub(super) fn kind_folder(kind: ScopeKind) -> &'static str {
    match kind {
        ScopeKind::User => "users",
        ScopeKind::Agent => "agents",
        ScopeKind::Team => "teams",
        ScopeKind::Room => "rooms",
        ScopeKind::Project => "projects",
    }
}

/// The folder that holds all that a tenant keeps in files.
#[must_use]
pub fn wall(root: &Path, tenant: &Tenant) -> PathBuf {
    if *tenant == Tenant::local() {
        return root.to_owned();
    }
    root.join(TENANTS).join(FileName::folder(&tenant.0))
}

/// The folder that holds what a tenant's hooks and processes leave for each other on this machine: its
/// spool, its known places, its lock for updates. Not part of a backup.
#[must_use]
pub fn run_folder(root: &Path, tenant: &Tenant) -> PathBuf {
    if *tenant == Tenant::local() {
        return root.to_owned();
    }
    root.join("run")
        .join("tenants")
        .join(FileName::folder(&tenant.0))
}

/// The pages of a memory, by file relative to the scope's folder.
#[must_use]
pub fn pages(memory: &Memory) -> BTreeMap<FilePath, &Page> {
    let mut pages = BTreeMap::from([
        (FilePath::owned(CURATED), &memory.curated),
        (FilePath::owned(SUMMARY), &memory.summary),
    ]);
    if !memory.branches.sections.is_empty() {
        pages.insert(FilePath::owned(BRANCHES), &memory.branches);
    }
    for (folder, named) in [
        ("daily", &memory.daily),
        ("sessions", &memory.sessions),
        ("notes", &memory.notes),
    ] {
        for (name, file) in FileName::unique(named.keys().map(String::as_str)) {
            pages.insert(FilePath::page(folder, &file), &named[name]);
        }
    }
    pages
}

/// Whether a file is one whose entries the engine may write: what a person keeps elsewhere in the
/// folder is never touched.
#[must_use]
pub fn is_ours(file: &str) -> bool {
    let below = |folder: &str| file.starts_with(folder) && file.ends_with(".md");
    [CURATED, SUMMARY, BRANCHES].contains(&file)
        || ["daily/", "sessions/", "notes/"].into_iter().any(below)
}

/// Whether the engine keeps a file at this path, entities too. A folder there is in its way.
pub(super) fn is_owned_file(path: &str) -> bool {
    is_ours(path)
        || path == ENTITY_INDEX
        || (path.starts_with("entities/") && path.ends_with(".md"))
}

/// Whether the engine keeps files in a folder at this path. A file there is in their way.
pub(super) fn is_owned_folder(path: &str) -> bool {
    OWNED_FOLDERS.contains(&path)
}

/// Cuts the path of a memory folder in two: the data folder, which may be reached through links, and
/// the components below it that the engine makes. Of another folder only the last is ours.
pub(super) fn split(memory: &Path) -> (PathBuf, Vec<OsString>) {
    let mut base = memory.to_owned();
    let mut below = VecDeque::new();
    let named: Vec<_> = memory.iter().rev().map(OsStr::to_str).collect();
    let ours = match named.as_slice() {
        [Some(MEMORY), _, Some(kind), _, Some(TENANTS), ..] if KINDS.contains(kind) => 5,
        [Some(MEMORY), _, Some(kind), ..] if KINDS.contains(kind) => 3,
        [_, ..] | [] => 1,
    };
    for _ in 0..ours {
        if let (Some(name), Some(parent)) = (base.file_name(), base.parent()) {
            below.push_front(name.to_owned());
            base = parent.to_owned();
        }
    }
    (base, below.into())
}

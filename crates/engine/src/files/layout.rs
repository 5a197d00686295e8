//! Folder and file names of a scope's memory (DESIGN.md, "On disk").
//!
//! Not here: encoding a name as a path component (`name`).

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use daybook_domain::{Scope, ScopeKind, Tenant};

use super::name::FileName;
use super::path::FilePath;
use super::rollouts::{SUMMARIES, is_rollout_file};
use crate::consolidate::{MemoryPage, ObservationLog, PlannedPage, ScopeMemory};

/// `MEMORY.md`: curated, long-term memory.
pub const CURATED: &str = "MEMORY.md";
/// `memory_summary.md`: what is shown to an agent.
pub const SUMMARY: &str = "memory_summary.md";
/// `branches.md`: the state of each branch.
pub const BRANCHES: &str = "branches.md";
/// `names.md`: people, projects, repositories and tools that recur.
pub const NAMES: &str = "names.md";
/// `observations.md`: a log of observations.
pub const LOG: &str = "observations.md";
/// `observations.ids`: the markers of its blocks.
pub const MARKS: &str = "observations.ids";
/// What programs of mem0 keep beside memories: each line names the memory, or the session, that it belongs to.
pub const ATTRIBUTES: &str = "mem0.jsonl";
/// Folders of the kinds of scopes, below the folder of their tenant.
pub(super) const KINDS: [&str; 5] = ["users", "agents", "teams", "rooms", "projects"];
/// Parent folder of all tenants but the local one.
const TENANTS: &str = "tenants";
/// Name of the memory folder inside a scope's folder.
const MEMORY: &str = "memory";
/// The list of entities.
pub(super) const ENTITY_INDEX: &str = "INDEX.md";
/// Folder of the diary, or of the logs of each day.
pub const DAILY: &str = "daily";
/// Folders in which the engine keeps pages.
const OWNED_FOLDERS: [&str; 6] = [DAILY, "sessions", "notes", "entities", SUMMARIES, SKILLS];
/// Folder of skills, each a folder with one page.
const SKILLS: &str = "skills";
/// Name of a skill's page.
const SKILL: &str = "SKILL.md";

/// A scope's memory folder below the root.
#[must_use]
pub fn folder(root: &Path, scope: &Scope) -> PathBuf {
    tenant_folder(root, &scope.tenant)
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

/// The folders of a tenant that hold its scopes, of every kind.
pub(crate) fn kind_folders(root: &Path, tenant: &Tenant) -> Vec<PathBuf> {
    let below = tenant_folder(root, tenant);
    KINDS.iter().map(|kind| below.join(kind)).collect()
}

/// The folder that holds all files of a tenant.
#[must_use]
pub fn tenant_folder(root: &Path, tenant: &Tenant) -> PathBuf {
    if *tenant == Tenant::local() {
        return root.to_owned();
    }
    root.join(TENANTS).join(FileName::folder(&tenant.0))
}

/// The folder that a tenant's hooks and processes on this machine share: its spool, its project cache, its
/// update lock. Not part of a backup.
#[must_use]
pub fn run_folder(root: &Path, tenant: &Tenant) -> PathBuf {
    if *tenant == Tenant::local() {
        return root.to_owned();
    }
    root.join("run")
        .join("tenants")
        .join(FileName::folder(&tenant.0))
}

/// The pages of a memory, by path relative to the scope's folder.
#[must_use]
pub fn pages<'a>(memory: &'a ScopeMemory) -> BTreeMap<FilePath, PlannedPage<'a>> {
    let made = PlannedPage::Made;
    let mut pages = BTreeMap::from([
        (FilePath::engine_file(CURATED), made(&memory.curated)),
        (FilePath::engine_file(SUMMARY), made(&memory.summary)),
    ]);
    if !memory.branches.sections.is_empty() {
        pages.insert(FilePath::engine_file(BRANCHES), made(&memory.branches));
    }
    if !memory.names.sections.is_empty() {
        pages.insert(FilePath::engine_file(NAMES), made(&memory.names));
    }
    let notes = memory.notes.iter();
    let notes = notes.map(|(name, page)| (name.as_str(), made(page)));
    add_named(&mut pages, "notes", notes.collect());
    for (name, page) in &memory.skills {
        // A name that is no path is none of a skill.
        if let Ok(path) = FilePath::new(format!("{SKILLS}/{name}/{SKILL}")) {
            pages.insert(path, made(page));
        }
    }
    match &memory.log {
        None => {
            add_named(&mut pages, DAILY, memory.dated.days().collect());
            add_named(&mut pages, "sessions", memory.dated.sessions().collect());
        }
        // Without observations there is no file.
        Some(ObservationLog::Whole(page)) if page.is_empty() => {}
        Some(ObservationLog::Whole(page)) => {
            pages.insert(FilePath::engine_file(LOG), made(page));
        }
        Some(ObservationLog::Daily(days)) => {
            let named = |(day, page): (&'a String, &'a MemoryPage)| (day.as_str(), made(page));
            add_named(&mut pages, DAILY, days.iter().map(named).collect());
        }
    }
    pages
}

fn add_named<'a>(
    pages: &mut BTreeMap<FilePath, PlannedPage<'a>>,
    folder: &'static str,
    named: BTreeMap<&'a str, PlannedPage<'a>>,
) {
    for (name, file) in FileName::unique(named.keys().copied()) {
        pages.insert(FilePath::page(folder, &file), named[name]);
    }
}

/// Whether the engine may write entries to a file. Other files in the folder are a person's and are never
/// changed.
#[must_use]
pub fn is_engine_page(file: &str) -> bool {
    let below = |folder: &str| file.starts_with(folder) && file.ends_with(".md");
    [CURATED, SUMMARY, BRANCHES, NAMES, LOG].contains(&file)
        || is_rollout_file(file)
        || is_skill_page(file)
        || ["daily/", "sessions/", "notes/"].into_iter().any(below)
}

/// Whether a file is the page of a skill.
#[must_use]
pub fn is_skill_page(file: &str) -> bool {
    let below = file
        .strip_prefix(SKILLS)
        .and_then(|rest| rest.strip_prefix('/'));
    let name = below.and_then(|rest| rest.strip_suffix(SKILL));
    name.is_some_and(|name| name.ends_with('/') && name.len() > 1)
}

/// Whether the engine keeps a file at this path, entities included. A folder at this path blocks it.
pub(super) fn is_engine_file(path: &str) -> bool {
    is_engine_page(path)
        || [ENTITY_INDEX, MARKS].contains(&path)
        || (path.starts_with("entities/") && path.ends_with(".md"))
}

/// Whether the engine keeps files in a folder at this path. A file at this path blocks them.
pub(super) fn is_engine_folder(path: &str) -> bool {
    OWNED_FOLDERS.contains(&path)
}

/// Splits the path of a memory folder in two: the data folder, which may be reached through links, and the
/// components below it that the engine creates. Of any other folder only the last component is the
/// engine's.
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

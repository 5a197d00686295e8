//! Where a scope's memory lives: folder and file names (DESIGN.md, "On disk").
//!
//! Names of scopes are only names: they map to folders injectively, also on file systems that
//! fold case, and no name leads out of the root.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use daybook_domain::{Scope, ScopeKind, Tenant};

use crate::consolidate::{Memory, Page};

/// `MEMORY.md`: curated, long-term.
pub const CURATED: &str = "MEMORY.md";
/// `memory_summary.md`: what is put in front of an agent.
pub const SUMMARY: &str = "memory_summary.md";
/// `branches.md`: where each branch stands.
pub const BRANCHES: &str = "branches.md";
/// Longest folder name made from a scope's name, in bytes; longer names end in a fingerprint.
const NAME: usize = 120;

/// A scope's memory folder below the root.
#[must_use]
pub fn folder(root: &Path, scope: &Scope) -> PathBuf {
    let kind = match scope.kind {
        ScopeKind::User => "users",
        ScopeKind::Agent => "agents",
        ScopeKind::Team => "teams",
        ScopeKind::Room => "rooms",
        ScopeKind::Project => "projects",
    };
    wall(root, &scope.tenant)
        .join(kind)
        .join(encoded(&scope.name))
        .join("memory")
}

/// The folder that holds all that a tenant keeps in files.
#[must_use]
pub fn wall(root: &Path, tenant: &Tenant) -> PathBuf {
    if *tenant == Tenant::local() {
        return root.to_owned();
    }
    root.join("tenants").join(encoded(&tenant.0))
}

/// The folder that holds what a tenant's hooks and processes leave for each other on this machine: its
/// spool, its known places, its lock for updates. Not part of a backup.
#[must_use]
pub fn run_folder(root: &Path, tenant: &Tenant) -> PathBuf {
    if *tenant == Tenant::local() {
        return root.to_owned();
    }
    root.join("run").join("tenants").join(encoded(&tenant.0))
}

/// A name as a folder: lower-case letters, digits, `-`, `_` and inner dots stay; everything else is
/// percent-encoded, capitals too, so that names that differ stay apart where case is folded.
///
/// ```
/// use daybook_engine::files::layout::encoded;
/// assert_eq!(encoded("entire"), "entire");
/// assert_eq!(encoded("Ada|x"), "%41da%7Cx");
/// assert_eq!(encoded("../up"), "%2E.%2Fup");
/// ```
#[must_use]
pub fn encoded(name: &str) -> String {
    let mut folder = String::new();
    for (n, byte) in name.bytes().enumerate() {
        let edge = n == 0 || n + 1 == name.len();
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => folder.push(char::from(byte)),
            b'.' if !edge => folder.push('.'),
            _ => folder.push_str(&format!("%{byte:02X}")),
        }
    }
    if folder.is_empty() {
        return "%".to_owned();
    }
    if is_reserved(&folder) {
        folder.push('%');
    }
    if folder.len() > NAME {
        let print = daybook_domain::EventId::of(&[name.as_bytes()]).0;
        folder.truncate(NAME);
        folder.push_str(&format!("%%{print:032x}"));
    }
    folder
}

/// Device names of one operating system, which it refuses as file names.
fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix)
            .is_some_and(|n| n.len() == 1 && n.as_bytes()[0].is_ascii_digit())
    };
    matches!(stem, "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

/// The pages of a memory, by file name relative to the scope's folder.
#[must_use]
pub fn pages(memory: &Memory) -> BTreeMap<String, &Page> {
    let mut pages = BTreeMap::new();
    let mut add = |name: String, page| {
        pages.insert(name, page);
    };
    add(CURATED.to_owned(), &memory.curated);
    add(SUMMARY.to_owned(), &memory.summary);
    if !memory.branches.sections.is_empty() {
        add(BRANCHES.to_owned(), &memory.branches);
    }
    for (folder, named) in [
        ("daily", &memory.daily),
        ("sessions", &memory.sessions),
        ("notes", &memory.notes),
    ] {
        for (name, page) in named {
            add(format!("{folder}/{name}.md"), page);
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

//! The path of a memory file, checked to stay inside its folder.
//!
//! A [`FilePath`] stays inside its folder on every platform: it is relative, its components are ordinary
//! visible names, and nothing in it can be mistaken for `.git`. Callers may join it to a folder without a
//! further check (symbolic links apart, which only the disk can show).
//!
//! Not here: the names of particular files (`layout`), and encoding a name as a component (`name`). This
//! module checks paths that people and trees hold.

use std::fmt;
use std::path::{Path, PathBuf};

use super::error::FilesError;
use super::name::FileName;

/// Longest path, in bytes. Longer ones fail on some file system that a person may sync to.
pub const MAX_PATH_BYTES: usize = 1024;
/// Most components of a path, and so the deepest folder that is read.
pub const MAX_PATH_DEPTH: usize = 32;
/// Longest component, in bytes: what common file systems allow.
const MAX_NAME_BYTES: usize = 255;

/// Path of a memory file relative to its folder, `/` between components.
///
/// Hidden components (a leading `.`) are not allowed: they belong to the person and their tools.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath(String);

impl FilePath {
    /// Checks `path`.
    ///
    /// # Errors
    /// [`FilesError::BadPath`] with the rule that it breaks.
    pub fn new(path: impl Into<String>) -> Result<Self, FilesError> {
        let path = path.into();
        match fault_in(&path) {
            None => Ok(Self(path)),
            Some(why) => Err(FilesError::BadPath { path, why }),
        }
    }

    /// A file that the engine keeps at the top of every memory folder.
    pub fn engine_file(file: &'static str) -> Self {
        debug_assert!(fault_in(file).is_none(), "{file}");
        Self(file.to_owned())
    }

    /// The path of the page `name` in one of the engine's folders.
    pub(super) fn page(folder: &'static str, name: &FileName) -> Self {
        let path = format!("{folder}/{name}.md");
        debug_assert!(fault_in(&path).is_none(), "{path:?}");
        Self(path)
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The file's path on disk when its folder is `root`.
    pub(super) fn under(&self, root: &Path) -> PathBuf {
        root.join(&self.0)
    }

    pub(super) fn components(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// Its folders, outermost first, without the root: `a/b/c.md` is in `a` and `a/b`.
    pub(super) fn folders(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').map(|(end, _)| &self.0[..end])
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn fault_in(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("it is empty");
    }
    if path.len() > MAX_PATH_BYTES {
        return Some("it is longer than 1024 bytes");
    }
    if path.split('/').count() > MAX_PATH_DEPTH {
        return Some("it is more than 32 folders deep");
    }
    path.split('/').find_map(fault_in_name)
}

/// The rule that a path component breaks; `None` if it is valid.
pub(super) fn fault_in_name(name: &str) -> Option<&'static str> {
    use gix::validate::path::component;
    if name.is_empty() {
        return Some("a component of it is empty");
    }
    if name.starts_with('.') {
        return Some("a component of it is hidden");
    }
    if name.len() > MAX_NAME_BYTES {
        return Some("a component of it is longer than 255 bytes");
    }
    // A backslash separates folders on Windows, where this folder may later be checked out.
    if name.contains(['\\', '\0']) {
        return Some("it holds a backslash or a NUL");
    }
    let rules = component::Options {
        protect_windows: cfg!(windows),
        protect_hfs: true,
        protect_ntfs: true,
    };
    match gix::validate::path::component(name.as_bytes().into(), None, rules) {
        Ok(_) => None,
        Err(_) => Some("a component of it can be taken for a git folder or a device"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_pass() {
        for path in [
            "MEMORY.md",
            "daily/2026-01-02.md",
            "notes/ä b:c.md",
            "a/b/c",
        ] {
            assert_eq!(FilePath::new(path).unwrap().as_str(), path);
        }
    }

    #[test]
    fn names_that_leave_the_folder_or_hide_in_it_are_refused() {
        for path in [
            "",
            "/a",
            "a/",
            "a//b",
            "..",
            "a/../b",
            ".git/config",
            "a/.hidden",
            "a\\b",
            "git~1/x",
            "a\0",
        ] {
            assert!(
                matches!(FilePath::new(path), Err(FilesError::BadPath { .. })),
                "{path:?}"
            );
        }
        assert!(FilePath::new("x".repeat(MAX_NAME_BYTES + 1)).is_err());
        assert!(FilePath::new("x/".repeat(MAX_PATH_DEPTH) + "x").is_err());
    }

    #[test]
    fn folders_are_listed_outermost_first() {
        let path = FilePath::new("a/b/c.md").unwrap();
        assert_eq!(path.folders().collect::<Vec<_>>(), ["a", "a/b"]);
    }
}

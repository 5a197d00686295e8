//! Paths of transcripts as they are stored, queued, logged and shown: without secrets.
//!
//! A stored path identifies its file. Where a secret was hidden in it, the file is found again by looking for the entry
//! that has this stored path.
//!
//! Not here: reading the files.

use std::borrow::Cow;
use std::fs;
use std::path::{Component, Path, PathBuf};

use daybook_text::names::redact_key;
use daybook_text::redact::Redactor;

/// How the redactor marks a secret.
const MARKER: &str = "[REDACTED:";
/// Most entries of a folder among which a file is looked for.
const ENTRIES: usize = 10_000;
/// Most folders that may be the one looked for, on each level.
const CANDIDATES: usize = 64;

/// The path as it is stored. The same on every call and for every process, so it uses the standard rules.
#[must_use]
pub fn stored_path(path: &Path) -> String {
    redact_key(&Redactor::current(), &path.to_string_lossy()).into_owned()
}

/// The path without secrets and without what tells it from others, for comparing folders.
pub(crate) fn shown_path(path: &Path) -> String {
    let path = path.to_string_lossy();
    Redactor::current().redact(&path).text.into_owned()
}

/// The file of a stored path. Returns the path itself where it hides nothing, or where no such file exists.
#[must_use]
pub fn path_on_disk(stored: &str) -> PathBuf {
    let hidden = stored.contains(MARKER).then(|| find(stored)).flatten();
    hidden.unwrap_or_else(|| PathBuf::from(stored))
}

/// Walks down the components. Those that hide something may be any entry that is redacted in the same way.
fn find(stored: &str) -> Option<PathBuf> {
    let (shown, _) = stored.rsplit_once('~').unwrap_or((stored, ""));
    let mut found = vec![PathBuf::new()];
    for component in Path::new(shown).components() {
        let name = component.as_os_str().to_string_lossy();
        found = match component {
            Component::Normal(_) if name.contains(MARKER) => found
                .iter()
                .flat_map(|folder| matching_entries(folder, &name))
                .take(CANDIDATES)
                .collect(),
            Component::Normal(_)
            | Component::Prefix(_)
            | Component::RootDir
            | Component::CurDir
            | Component::ParentDir => found.iter().map(|path| path.join(component)).collect(),
        };
    }
    found
        .into_iter()
        .find(|path| path.exists() && stored_path(path) == stored)
}

fn matching_entries(folder: &Path, name: &str) -> Vec<PathBuf> {
    let redactor = Redactor::current();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_match = |entry: &fs::DirEntry| {
        let plain = entry.file_name();
        let plain: Cow<'_, str> = plain.to_string_lossy();
        redactor.redact(&plain).text == name
    };
    let matching = entries.take(ENTRIES).filter(is_match);
    matching.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_by_its_stored_path() {
        let root = tempfile::tempdir().unwrap();
        let secret = |nth: u8| format!("gh{}_{}", 'p', format!("{nth}aB3dE5gH7jK9").repeat(3));
        let plain = root.path().join("plain.jsonl");
        assert_eq!(path_on_disk(&stored_path(&plain)), plain);
        for nth in 0..4 {
            let folder = root.path().join(secret(nth));
            fs::create_dir(&folder).unwrap();
            for name in [secret(nth + 4), "session".to_owned()] {
                fs::write(folder.join(format!("{name}.jsonl")), "").unwrap();
            }
        }
        for nth in 0..4 {
            for name in [secret(nth + 4), "session".to_owned()] {
                let path = root.path().join(secret(nth)).join(format!("{name}.jsonl"));
                let stored = stored_path(&path);
                assert!(!stored.contains(&secret(nth)) && !stored.contains(&secret(nth + 4)));
                assert_eq!(stored_path(Path::new(&stored)), stored);
                assert_eq!(path_on_disk(&stored), path);
                fs::remove_file(&path).unwrap();
                assert_eq!(path_on_disk(&stored), Path::new(&stored));
            }
        }
    }
}

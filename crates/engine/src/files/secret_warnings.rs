//! Lists the secrets in a person's own text in memory folders. They are reported and never changed.
//!
//! Not here: whose text is whose (`own_secrets`).

use std::fs;
use std::path::Path;

use daybook_domain::Scope;
use daybook_text::redact::Redactor;

use super::layout::folder;
use super::own_secrets::{FileOwner, PersonsSecret, persons_secrets};
use super::path::FilePath;
use super::reader::FolderReader;
use super::skipped::skip_reason;

/// Deepest folder below a scope's folder that is searched.
const MAX_DEPTH: usize = 8;

/// The secrets that a person's text holds in a scope's folder, by file and line. A file that is refused holds none.
#[must_use]
pub fn find_persons_secrets(
    redactor: &Redactor,
    root: &Path,
    scope: &Scope,
) -> Vec<(FilePath, PersonsSecret)> {
    let folder = folder(root, scope);
    let Ok(Some(reader)) = FolderReader::open(&folder) else {
        return Vec::new();
    };
    let mut files = Vec::new();
    collect_files(&folder, "", 0, &mut files);
    files.sort();
    let mut found = Vec::new();
    for path in files {
        let Ok(Some(text)) = reader.text(&path) else {
            continue;
        };
        // The engine's own files of entities were redacted: what they still hold is a person's.
        let owner = FileOwner::of(path.as_str(), || true);
        let secrets = persons_secrets(redactor, owner, &text);
        found.extend(secrets.into_iter().map(|secret| (path.clone(), secret)));
    }
    found
}

fn collect_files(folder: &Path, below: &str, depth: usize, found: &mut Vec<FilePath>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = match below {
            "" => name.clone(),
            below => format!("{below}/{name}"),
        };
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if name.starts_with('.') || skip_reason(Path::new(&path), kind).is_some() {
            continue;
        }
        if kind.is_dir() && depth < MAX_DEPTH {
            collect_files(&entry.path(), &path, depth + 1, found);
        } else if kind.is_file() {
            found.extend(FilePath::new(path));
        }
    }
}

//! Memory files into the index, when they have changed: also those that a person keeps, and also
//! what they changed in any editor.
//!
//! Diary, session pages and the summary stay out: they say again what the other layers say.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use daybook_domain::index::FileEntry;
use daybook_domain::seams::{ExtractionStore, Index, Store};
use daybook_domain::{Observation, ObservationId, Scope, StoreError, Tenant, Timestamp};

use super::audit::is_missing;
use super::entry::{Block, EntryId, bare, blocks, unmarked};
use super::folder::Folder;
use super::layout::{CURATED, SUMMARY, folder};
use super::path::FilePath;
use super::reader::{FILE_BYTES, Reader};
use super::refused::why_refused;
use super::shared::SharedError;
use crate::recall::tokens::outlined_text;

/// Longest file that is indexed, in bytes; of a longer one the beginning is.
const FILE: u64 = 1024 * 1024;
/// Deepest folder below a scope's that is looked into.
const DEPTH: usize = 4;

/// Brings the index up to date with the files of all scopes, and says how many files had changed.
///
/// # Errors
/// When the store fails. What is refused is not found (`refused` lists it).
pub async fn reindex_all(
    store: &dyn Store,
    root: &Path,
    tenant: &Tenant,
    now: Timestamp,
) -> Result<usize, StoreError> {
    let mut changed = 0;
    for state in store.scopes(tenant).await? {
        changed += reindex(store, root, &state.scope, now).await?;
    }
    Ok(changed)
}

/// Brings the index up to date with the files of one scope, as they lie in its folder.
///
/// # Errors
/// When the store fails.
pub async fn reindex(
    store: &dyn Store,
    root: &Path,
    scope: &Scope,
    now: Timestamp,
) -> Result<usize, StoreError> {
    reindex_if(store, root, scope, now, Which::Changed).await
}

/// Indexes all files of all scopes, also those that seem to be indexed already, and says how many those are.
/// Each file's old entries are found until its new ones are.
///
/// # Errors
/// When the store fails. A file that cannot be read is passed over until it can.
pub async fn reindex_anew(
    store: &dyn Store,
    root: &Path,
    tenant: &Tenant,
    now: Timestamp,
) -> Result<usize, StoreError> {
    let mut indexed = 0;
    for state in store.scopes(tenant).await? {
        indexed += reindex_if(store, root, &state.scope, now, Which::All).await?;
    }
    Ok(indexed)
}

/// Forgets the files of a scope whose folder was given up.
///
/// # Errors
/// When the store fails.
pub async fn forget(store: &dyn Store, scope: &Scope, now: Timestamp) -> Result<(), StoreError> {
    for (file, _) in Index::file_stamps(store, scope).await? {
        store.put_file(scope, &file, "", &[], now).await?;
    }
    Ok(())
}

/// Which files are indexed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Changed,
    All,
}

async fn reindex_if(
    store: &dyn Store,
    root: &Path,
    scope: &Scope,
    now: Timestamp,
    which: Which,
) -> Result<usize, StoreError> {
    let folder = folder(root, scope);
    // What is missing with its history, or may not be read, was not deleted by a person: what is known of
    // it is found until it is back.
    if !matches!(is_missing(&folder), Ok(false)) {
        return Ok(0);
    }
    let reader = Reader::open(&folder).ok().flatten();
    let mut found = BTreeMap::new();
    if reader.is_some() {
        stamps(&folder, "", 0, &mut found);
    }
    let read = |file: &str| {
        let path = FilePath::new(file).ok()?;
        reader.as_ref()?.read_start(&path, FILE).ok()?
    };
    bring_up(store, scope, &found, read, (now, which)).await
}

/// Brings the index up to date with the newest commit of a folder whose history is shared: every
/// machine then indexes the same.
///
/// # Errors
/// When the store fails, or the folder's history cannot be read.
pub async fn reindex_head(
    store: &dyn Store,
    folder: &Folder,
    scope: &Scope,
    now: Timestamp,
) -> Result<usize, SharedError> {
    let Some(head) = folder.head()? else {
        return Ok(0);
    };
    let files = folder.files_at(head)?;
    let indexed = files.iter().filter(|(path, _)| is_indexed(path.as_str()));
    let found = indexed.map(|(path, blob)| (path.as_str().to_owned(), blob.to_string()));
    let found: BTreeMap<String, String> = found.collect();
    let read = |file: &str| folder.read_at(head, &FilePath::new(file).ok()?).ok()?;
    Ok(bring_up(store, scope, &found, read, (now, Which::Changed)).await?)
}

/// Indexes what was found, each file with a stamp of its content, where it is not indexed like that.
async fn bring_up(
    store: &dyn Store,
    scope: &Scope,
    found: &BTreeMap<String, String>,
    read: impl Fn(&str) -> Option<Vec<u8>>,
    (now, which): (Timestamp, Which),
) -> Result<usize, StoreError> {
    let known: BTreeMap<String, String> = Index::file_stamps(store, scope)
        .await?
        .into_iter()
        .collect();
    let gone: Vec<&String> = known
        .keys()
        .filter(|file| !found.contains_key(*file))
        .collect();
    let new: Vec<(&String, &String)> = found
        .iter()
        .filter(|(file, stamp)| which == Which::All || known.get(*file) != Some(stamp))
        .collect();
    if gone.is_empty() && new.is_empty() {
        return Ok(0);
    }
    let observations = ExtractionStore::observations(store, scope).await?;
    for file in &gone {
        store.put_file(scope, file, "", &[], now).await?;
    }
    for (file, stamp) in &new {
        let Some(bytes) = read(file) else {
            continue;
        };
        let start = bytes.len().min(usize::try_from(FILE).unwrap_or(usize::MAX));
        let text = String::from_utf8_lossy(&bytes[..start]);
        store
            .put_file(scope, file, stamp, &entries(&text, &observations), now)
            .await?;
    }
    Ok(gone.len() + new.len())
}

/// Whether a file is indexed, by its path below the scope's folder.
fn is_indexed(path: &str) -> bool {
    let says_again = path == SUMMARY || path.starts_with("daily/") || path.starts_with("sessions/");
    path.ends_with(".md") && !says_again && path.matches('/').count() <= DEPTH
}

fn stamps(folder: &Path, below: &str, depth: usize, found: &mut BTreeMap<String, String>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() {
            name.clone()
        } else {
            format!("{below}/{name}")
        };
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if name.starts_with('.') {
            continue;
        }
        if why_refused(Path::new(&path), kind).is_some() {
            continue;
        }
        if kind.is_dir() && depth < DEPTH && !matches!(path.as_str(), "daily" | "sessions") {
            stamps(&entry.path(), &path, depth + 1, found);
        } else if kind.is_file() && is_indexed(&path) {
            found.extend(stamp(&entry).map(|stamp| (path, stamp)));
        }
    }
}

/// What changes when a file does; nothing for one that is too large to be read.
fn stamp(entry: &fs::DirEntry) -> Option<String> {
    let metadata = entry.metadata().ok()?;
    if metadata.len() > FILE_BYTES {
        return None;
    }
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}:{}", metadata.len(), modified.as_nanos()))
}

/// The entries of a file: list items and paragraphs, each with the heading that it stands under.
fn entries(text: &str, observations: &[Observation]) -> Vec<FileEntry> {
    let shown: BTreeMap<EntryId, ObservationId> = observations
        .iter()
        .map(|o| (EntryId::of(&o.id.to_string()), o.id))
        .collect();
    let mut heading = String::new();
    let mut line = 1;
    let mut entries: Vec<FileEntry> = Vec::new();
    let mut open = false;
    for block in blocks(text) {
        let (held, observation): (&[&str], _) = match &block {
            Block::Ours(marker, held) => (held, shown.get(&marker.id()).copied()),
            Block::Altered(_, held) => (held, None),
            Block::Heading(_, words) | Block::Other(words) => (std::slice::from_ref(words), None),
        };
        let first = bare(held.first().copied().unwrap_or_default());
        let is_text = matches!(block, Block::Other(_));
        if let Block::Heading(..) = block {
            heading = first.trim_start_matches('#').trim().to_owned();
            open = false;
        } else if is_text && (first.trim().is_empty() || first.starts_with('#')) {
            open = false;
        } else if is_text && open && !is_item(first) {
            // A paragraph, or an item, goes on over its lines.
            if let Some(entry) = entries.last_mut() {
                entry.text.push(' ');
                entry.text.push_str(first.trim());
            }
        } else {
            let lines: Vec<&str> = held.iter().map(|line| unmarked(line).trim()).collect();
            entries.push(entry(line, &heading, &lines.join(" "), observation));
            open = is_text;
        }
        line += u32::try_from(held.len()).unwrap_or(0);
    }
    for entry in &mut entries {
        entry.tokens = outlined_text(&format!("{} {}", entry.heading, entry.text));
    }
    entries
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

fn entry(line: u32, heading: &str, text: &str, observation: Option<ObservationId>) -> FileEntry {
    let text = text.trim_start_matches(['-', '*', '+']).trim();
    let (text, citation) = split_citation(text);
    FileEntry {
        line,
        text: text.to_owned(),
        heading: heading.to_owned(),
        observation,
        citation,
        tokens: String::new(),
    }
}

/// Takes the citations off the end of an entry: `… [7f78:L3] [ca:L5]`.
fn split_citation(text: &str) -> (&str, Option<String>) {
    let mut rest = text;
    let mut first = None;
    while let Some((before, inside)) = rest
        .trim_end()
        .strip_suffix(']')
        .and_then(|open| open.rsplit_once('['))
    {
        if daybook_domain::Citation::parse(inside).is_none() {
            break;
        }
        first = Some(inside.to_owned());
        rest = before;
    }
    (rest.trim_end(), first)
}

/// Whether a file's entries are the curated ones.
#[must_use]
pub fn is_curated(file: &str) -> bool {
    file == CURATED
}

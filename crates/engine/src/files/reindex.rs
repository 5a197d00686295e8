//! Indexes memory files that have changed, including a person's own files and edits.
//!
//! The diary of sessions, session pages and the summary are not indexed: they repeat what the other layers hold. The logs
//! of each day are, in the layout that has them. A secret in a file, also
//! in a person's, is masked in the index; files are indexed again when the rules for secrets change.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use daybook_domain::index::FileEntry;
use daybook_domain::page::read_all;
use daybook_domain::seams::{IndexWriter, ObservationStore, ScopeStore};
use daybook_domain::{Observation, ObservationId, Scope, StoreError, Tenant, Timestamp};

use super::audit::is_missing;
use super::entry::block::opens_block;
use super::entry::log_block;
use super::entry::{EntryId, PageBlock, parse_blocks, without_line_end, without_marker};
use super::folder::Folder;
use super::layout::{CURATED, DAILY, LOG, MARKS, SUMMARY, folder};
use super::layout_record::recorded;
use super::log_marks::{annotated, marks_in};
use super::own_secrets::masked;
use super::path::FilePath;
use super::reader::{FILE_BYTES, FolderReader};
use super::rollouts::block_texts;
use super::shared::SharedError;
use super::skipped::skip_reason;
use crate::consolidate::FileLayout;
use daybook_text::redact::Redactor;
use daybook_text::tokens::outlined_text;

/// Longest file that is indexed, in bytes; of a longer one only the beginning is.
const INDEXED_BYTES: u64 = 1024 * 1024;
/// Deepest folder below a scope's folder that is indexed.
const MAX_DEPTH: usize = 4;

/// Updates the index with the files of all scopes, and returns how many files had changed.
///
/// # Errors
/// When the store fails. Refused files are treated as missing (`refused` lists them).
pub async fn reindex_all(
    store: &(impl ScopeStore + ObservationStore + IndexWriter + ?Sized),
    root: &Path,
    tenant: &Tenant,
    now: Timestamp,
) -> Result<usize, StoreError> {
    let mut changed = 0;
    for state in read_all(|page| store.scopes(tenant, page)).await? {
        changed += reindex(store, root, &state.scope, now).await?;
    }
    Ok(changed)
}

/// Updates the index with the files of one scope, as they are in its folder.
///
/// # Errors
/// When the store fails.
pub async fn reindex(
    store: &(impl ScopeStore + ObservationStore + IndexWriter + ?Sized),
    root: &Path,
    scope: &Scope,
    now: Timestamp,
) -> Result<usize, StoreError> {
    reindex_written(store, root, scope, None, now).await
}

/// [`reindex`] after a consolidation. `known` are the ids of all observations of the scope, if it has them.
///
/// # Errors
/// When the store fails.
pub async fn reindex_written(
    store: &(impl ScopeStore + ObservationStore + IndexWriter + ?Sized),
    root: &Path,
    scope: &Scope,
    known: Option<Vec<ObservationId>>,
    now: Timestamp,
) -> Result<usize, StoreError> {
    let which = FilesToIndex::Changed;
    reindex_if(store, root, (scope, known), now, which).await
}

/// Indexes all files of all scopes, including unchanged ones, and returns how many. Each file's old entries
/// stay until the new ones replace them.
///
/// # Errors
/// When the store fails. A file that cannot be read is skipped until it can.
pub async fn reindex_everything(
    store: &(impl ScopeStore + ObservationStore + IndexWriter + ?Sized),
    root: &Path,
    tenant: &Tenant,
    now: Timestamp,
) -> Result<usize, StoreError> {
    let mut indexed = 0;
    for state in read_all(|page| store.scopes(tenant, page)).await? {
        indexed += reindex_if(store, root, (&state.scope, None), now, FilesToIndex::All).await?;
    }
    Ok(indexed)
}

/// Removes the files of a scope whose folder was retired from the index.
///
/// # Errors
/// When the store fails.
pub async fn remove_from_index(
    store: &(impl IndexWriter + ?Sized),
    scope: &Scope,
    now: Timestamp,
) -> Result<(), StoreError> {
    for (file, _) in IndexWriter::file_stamps(store, scope).await? {
        store.put_file(scope, &file, "", &[], now).await?;
    }
    Ok(())
}

/// Which files are indexed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FilesToIndex {
    Changed,
    All,
}

async fn reindex_if(
    store: &(impl ScopeStore + ObservationStore + IndexWriter + ?Sized),
    root: &Path,
    (scope, known): (&Scope, Option<Vec<ObservationId>>),
    now: Timestamp,
    which: FilesToIndex,
) -> Result<usize, StoreError> {
    let folder = folder(root, scope);
    // A folder that is missing with its history, or may not be read, was not deleted by a person: its
    // indexed entries stay until it is back.
    if !matches!(is_missing(&folder), Ok(false)) {
        return Ok(0);
    }
    let reader = FolderReader::open(&folder).ok().flatten();
    let mut found = BTreeMap::new();
    if reader.is_some() {
        // Each day has a file, and looking at all of them takes longer than a search.
        let has_days = has_logs_of_days(&folder);
        let is_left_out = |path: &str| path == "sessions" || (path == DAILY && !has_days);
        collect_stamps((&folder, ""), 0, &is_left_out, &mut found);
    }
    let read = |file: &str| {
        let path = FilePath::new(file).ok()?;
        let reader = reader.as_ref()?;
        let bytes = reader.read_start(&path, INDEXED_BYTES).ok()??;
        Some(with_markers(file, bytes, || marks_in(reader)))
    };
    update_index(store, (scope, known), &found, read, (now, which)).await
}

/// Updates the index with the newest commit of a folder whose history is shared, so that every machine
/// indexes the same.
///
/// # Errors
/// When the store fails, or the folder's history cannot be read.
pub async fn reindex_head(
    store: &(impl ScopeStore + ObservationStore + IndexWriter + ?Sized),
    folder: &Folder,
    scope: &Scope,
    now: Timestamp,
) -> Result<usize, SharedError> {
    let Some(head) = folder.head()? else {
        return Ok(0);
    };
    let files = folder.files_at(head)?;
    let has_days = has_logs_of_days(folder.root());
    let is_wanted = |path: &str| is_indexed(path) && (has_days || !is_of_day(path));
    let indexed = files.iter().filter(|(path, _)| is_wanted(path.as_str()));
    let found = indexed.map(|(path, blob)| (path.as_str().to_owned(), blob.to_string()));
    let found: BTreeMap<String, String> = found.collect();
    let read = |file: &str| {
        let bytes = folder.read_at(head, &FilePath::new(file).ok()?).ok()??;
        let marks = || folder.text_at(head, &FilePath::engine_file(MARKS)).ok()?;
        Some(with_markers(file, bytes, marks))
    };
    let when = (now, FilesToIndex::Changed);
    Ok(update_index(store, (scope, None), &found, read, when).await?)
}

/// Indexes the files of `found`, each with a stamp of its content, unless the index has that stamp already.
async fn update_index(
    store: &(impl ScopeStore + ObservationStore + IndexWriter + ?Sized),
    (scope, known_ids): (&Scope, Option<Vec<ObservationId>>),
    found: &BTreeMap<String, String>,
    read: impl Fn(&str) -> Option<Vec<u8>>,
    (now, which): (Timestamp, FilesToIndex),
) -> Result<usize, StoreError> {
    let redactor = Redactor::current();
    let found: BTreeMap<&String, String> = found
        .iter()
        .map(|(file, stamp)| (file, stamp_under(&redactor, stamp)))
        .collect();
    let known: BTreeMap<String, String> = IndexWriter::file_stamps(store, scope)
        .await?
        .into_iter()
        .collect();
    let gone: Vec<&String> = known
        .keys()
        .filter(|file| !found.contains_key(*file))
        .collect();
    let new: Vec<(&&String, &String)> = found
        .iter()
        .filter(|(file, stamp)| which == FilesToIndex::All || known.get(**file) != Some(*stamp))
        .collect();
    if gone.is_empty() && new.is_empty() {
        return Ok(0);
    }
    for file in &gone {
        store.put_file(scope, file, "", &[], now).await?;
    }
    let text_of = |file: &str| {
        let bytes = read(file)?;
        let start = bytes
            .len()
            .min(usize::try_from(INDEXED_BYTES).unwrap_or(usize::MAX));
        let text = String::from_utf8_lossy(&bytes[..start]);
        Some(masked(&redactor, &text).into_owned())
    };
    let has_blocks = |file: &str| text_of(file).is_some_and(|text| has_block(&text));
    let observations = match known_ids {
        Some(ids) if !new.iter().any(|(file, _)| has_blocks(file)) => {
            ShownObservations::of_ids(&ids)
        }
        _ => ShownObservations::of(&ObservationStore::observations(store, scope).await?),
    };
    for (file, stamp) in &new {
        if let Some(text) = text_of(file) {
            let entries = parse_entries(&text, &observations, !is_of_day(file));
            store.put_file(scope, file, stamp, &entries, now).await?;
        }
    }
    Ok(gone.len() + new.len())
}

/// A file's stamp together with the rules by which its secrets were masked.
fn stamp_under(redactor: &Redactor, stamp: &str) -> String {
    format!("{stamp}:{:x}", redactor.revision().0)
}

/// Whether a file is indexed, by its path below the scope's folder.
fn is_indexed(path: &str) -> bool {
    let says_again = path == SUMMARY || path.starts_with("sessions/");
    path.ends_with(".md") && !says_again && path.matches('/').count() <= MAX_DEPTH
}

/// Whether a file is that of a day: in most layouts it repeats what the other layers hold.
fn is_of_day(path: &str) -> bool {
    path.starts_with("daily/")
}

fn has_logs_of_days(memory: &Path) -> bool {
    recorded(memory).last() == Some(&FileLayout::Mindroom)
}

/// A file's bytes, of the log of observations with its markers.
fn with_markers(file: &str, bytes: Vec<u8>, marks: impl FnOnce() -> Option<String>) -> Vec<u8> {
    if file != LOG {
        return bytes;
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    annotated(file, text, marks).into_bytes()
}

/// Whether the index has a file of a scope as it is in the scope's folder now.
///
/// Always false where histories are shared: the index then has stamps of another kind.
///
/// # Errors
/// When the store fails.
pub async fn is_indexed_as_it_is(
    store: &(impl IndexWriter + ?Sized),
    root: &Path,
    scope: &Scope,
    file: &str,
) -> Result<bool, StoreError> {
    let now = fs::symlink_metadata(folder(root, scope).join(file));
    let Some(now) = now.ok().and_then(|metadata| stamp_of(&metadata)) else {
        return Ok(false);
    };
    let now = stamp_under(&Redactor::current(), &now);
    let stamps = IndexWriter::file_stamps(store, scope).await?;
    Ok(stamps
        .iter()
        .any(|(name, stamp)| name == file && *stamp == now))
}

/// Collects stamps of indexed files, without looking into folders that are left out.
fn collect_stamps(
    (folder, below): (&Path, &str),
    depth: usize,
    is_left_out: &dyn Fn(&str) -> bool,
    found: &mut BTreeMap<String, String>,
) {
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
        if skip_reason(Path::new(&path), kind).is_some() {
            continue;
        }
        if kind.is_dir() && depth < MAX_DEPTH && !is_left_out(&path) {
            collect_stamps((&entry.path(), &path), depth + 1, is_left_out, found);
        } else if kind.is_file() && is_indexed(&path) {
            let metadata = entry.metadata().ok();
            found.extend(metadata.and_then(|metadata| Some((path, stamp_of(&metadata)?))));
        }
    }
}

/// A stamp that changes with the file; `None` for one that is too large to be read.
fn stamp_of(metadata: &fs::Metadata) -> Option<String> {
    if metadata.len() > FILE_BYTES {
        return None;
    }
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}:{}", metadata.len(), modified.as_nanos()))
}

/// The observations of a scope, as its files show them.
#[derive(Default)]
struct ShownObservations {
    by_entry: HashMap<EntryId, ObservationId>,
    /// By their words: blocks alone are found by them.
    by_words: HashMap<String, ObservationId>,
}

impl ShownObservations {
    fn of(observations: &[Observation]) -> Self {
        let ids: Vec<ObservationId> = observations.iter().map(|one| one.id).collect();
        let of_words = |one: &Observation| (plain_words(&one.text), one.id);
        Self {
            by_words: observations.iter().map(of_words).collect(),
            ..Self::of_ids(&ids)
        }
    }

    /// Those of files without blocks.
    fn of_ids(ids: &[ObservationId]) -> Self {
        let of_entry = |id: &ObservationId| (EntryId::of(&id.to_string()), *id);
        Self {
            by_entry: ids.iter().map(of_entry).collect(),
            ..Self::default()
        }
    }
}

/// Whether an entry of a text is a block.
fn has_block(text: &str) -> bool {
    parse_blocks(text).iter().any(|block| match block {
        PageBlock::Ours(_, held) | PageBlock::Altered(_, held) => opens_block(held[0]),
        PageBlock::Pinned(..) | PageBlock::Heading(..) | PageBlock::Other(_) => false,
    })
}

/// Parses the entries of a file: list items and paragraphs, each with the heading above it. In a log of a day each line
/// is an entry of its own, so there `has_paragraphs` is false.
fn parse_entries(
    text: &str,
    observations: &ShownObservations,
    has_paragraphs: bool,
) -> Vec<FileEntry> {
    let shown = &observations.by_entry;
    let mut heading = String::new();
    let mut line = 1;
    let mut entries: Vec<FileEntry> = Vec::new();
    let mut open = false;
    for block in parse_blocks(text) {
        if let PageBlock::Ours(_, held) | PageBlock::Altered(_, held) = &block
            && opens_block(held[0])
        {
            entries.extend(block_entries(line, held, &observations.by_words));
            line += u32::try_from(held.len()).unwrap_or(0);
            open = false;
            continue;
        }
        let (held, observation): (&[&str], _) = match &block {
            PageBlock::Ours(marker, held)
            | PageBlock::Pinned(marker, held)
            | PageBlock::Altered(marker, held) => (held, shown.get(&marker.id()).copied()),
            PageBlock::Heading(_, words) | PageBlock::Other(words) => {
                (std::slice::from_ref(words), None)
            }
        };
        let first = without_line_end(held.first().copied().unwrap_or_default());
        let is_text = matches!(block, PageBlock::Other(_));
        if let PageBlock::Heading(..) = block {
            heading = first.trim_start_matches('#').trim().to_owned();
            open = false;
        } else if is_text && (first.trim().is_empty() || first.starts_with('#')) {
            open = false;
        } else if is_text && open && !is_item(first) {
            // A paragraph, or an item, continues over several lines.
            if let Some(entry) = entries.last_mut() {
                entry.text.push(' ');
                entry.text.push_str(first.trim());
            }
        } else if let Some((below, text)) = log_block::text_of(held) {
            let line = line + u32::try_from(below).unwrap_or(0);
            entries.push(log_entry(line, text, held, observation));
            open = false;
        } else {
            let lines: Vec<&str> = held
                .iter()
                .map(|line| without_marker(line).trim())
                .collect();
            entries.push(file_entry(line, &heading, &lines.join(" "), observation));
            open = is_text && has_paragraphs;
        }
        line += u32::try_from(held.len()).unwrap_or(0);
    }
    for entry in &mut entries {
        entry.tokens = outlined_text(&format!("{} {}", entry.heading, entry.text));
    }
    entries
}

/// The entry of a block of the log: its text, with its context and what it cites.
fn log_entry(
    line: u32,
    text: &str,
    held: &[&str],
    observation: Option<ObservationId>,
) -> FileEntry {
    let context = log_block::context_of(held).unwrap_or_default();
    file_entry(line, "", &format!("{text} · {context}"), observation)
}

/// The entries of a block that begins at `line`. One in the words of an observation belongs to it, so that recall
/// answers with either, not with both.
fn block_entries(
    line: u32,
    held: &[&str],
    by_words: &HashMap<String, ObservationId>,
) -> Vec<FileEntry> {
    let (texts, source) = block_texts(held);
    let source = source.and_then(|source| split_citation(&source).1);
    let entries = texts.into_iter().map(|text| {
        let first = line + u32::try_from(text.line).unwrap_or(0);
        let mut entry = file_entry(first, &text.heading, &text.text, None);
        entry.observation = by_words.get(&plain_words(&entry.text)).copied();
        entry.citation = entry.citation.or_else(|| source.clone());
        entry
    });
    entries.collect()
}

/// The words of a text, regardless of case, quotes and other signs around them.
fn plain_words(text: &str) -> String {
    let is_sign = |c: char| !c.is_alphanumeric();
    let words = text.split(is_sign).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

fn file_entry(
    line: u32,
    heading: &str,
    text: &str,
    observation: Option<ObservationId>,
) -> FileEntry {
    let text = log_block::without_field(text);
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

/// Splits the citations off the end of an entry: `… [7f78:L3] [ca:L5]`.
pub(crate) fn split_citation(text: &str) -> (&str, Option<String>) {
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

/// Whether a file is the curated `MEMORY.md`.
#[must_use]
pub fn is_curated(file: &str) -> bool {
    file == CURATED
}

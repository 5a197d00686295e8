//! Finds what is remembered as a person names it: by an id, by a line of a memory file, or by its words.
//!
//! Not here: changing it (`persons_word`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use daybook_domain::seams::ObservationStore;
use daybook_domain::{Observation, ObservationId, ObservationKind, Scope};

use super::WorkError;
use super::scope_memory::{MemorySource, build, memory_input};
use crate::consolidate::{FileLayout, ScopeMemory};
use crate::files::entry::{
    EntryId, PageBlock, is_pinned, log_block, main_words, marker_of, parse_blocks,
};
use crate::files::layout::{BRANCHES, CURATED, LOG, SUMMARY, folder, is_engine_page, pages};
use crate::files::log_marks::page_text;
use crate::files::parsed_texts::FolderTexts;
use crate::files::path::FilePath;
use crate::files::persons_lines::{PersonsLines, words_of};
use crate::files::{FilesConfig, Folder};

/// Fewest digits of an observation's id that name it: words such as `dead` are made of them, too.
const ID_DIGITS: usize = 8;
/// Letters of an entry's id, with or without its check.
const ENTRY_LETTERS: [usize; 2] = [6, 10];

/// A line of a memory file that shows something remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownLine {
    /// The file.
    pub file: FilePath,
    /// The line, counted from 1.
    pub line: usize,
    /// Its text, without the marker.
    pub text: String,
    /// The entry that it is; `None` for a person's own line.
    pub entry: Option<EntryId>,
    /// Whether a person changed it.
    pub is_altered: bool,
    /// Whether a person pinned it.
    pub is_pinned: bool,
}

/// One thing that is remembered, or one line of a memory file without anything behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Whose memory it is in.
    pub scope: Scope,
    /// The entry that shows it, where there is room.
    pub entry: Option<EntryId>,
    /// The observations with this content, by time of first evidence; empty for a line that rests on none.
    pub observations: Vec<Observation>,
    /// Its words: a person's, where they changed the line.
    pub words: String,
    /// The lines that show it, `MEMORY.md` first.
    pub lines: Vec<ShownLine>,
}

impl Memory {
    /// The observation that lends its words.
    #[must_use]
    pub fn observation(&self) -> Option<&Observation> {
        self.observations.first()
    }
}

/// What a name leads to.
#[must_use]
#[derive(Debug, Default)]
pub struct FoundMemories {
    /// Memories with this id, line or exact text.
    pub exact: Vec<Memory>,
    /// Others that contain the text.
    pub near: Vec<Memory>,
}

/// Everything that a scope remembers and shows, in the order of its memory file, then by time.
///
/// # Errors
/// When the store or the folder cannot be read.
pub async fn memories(
    source: MemorySource<'_>,
    root: &Path,
    scope: &Scope,
) -> Result<Vec<Memory>, WorkError> {
    let path = folder(root, scope);
    let persons = match path.join(".git").exists() {
        true => PersonsLines::load(&Folder::open(&path, FilesConfig::default())?)?,
        false => PersonsLines::default(),
    };
    let texts = FolderTexts::of(&path);
    let held = ObservationStore::observations(source.store, scope).await?;
    let input = memory_input(&source, scope, held, (&persons, &texts)).await?;
    let observations = input.observations.clone();
    let memory = build(input, &texts);
    let lines = shown_lines(&path, &memory)?;
    Ok(joined(scope, &memory, observations, lines))
}

/// The lines of the pages that show whole memories: those of sessions and days show parts.
fn shown_lines(path: &Path, memory: &ScopeMemory) -> Result<Vec<ShownLine>, WorkError> {
    let has_days = memory.layout() == FileLayout::Mindroom;
    let is_day = |file: &FilePath| has_days && file.as_str().starts_with("daily/");
    let named = pages(memory).into_keys();
    let named = named.filter(|file| file.as_str().starts_with("notes/") || is_day(file));
    let fixed = [CURATED, SUMMARY, BRANCHES, LOG].map(FilePath::engine_file);
    let mut lines = Vec::new();
    for file in fixed.into_iter().chain(named) {
        // A file that is refused shows nothing.
        if let Some(text) = page_text(path, &file) {
            lines.extend(lines_of(&file, &text));
        }
    }
    Ok(lines)
}

/// The lines of one file.
#[must_use]
pub fn lines_of(file: &FilePath, text: &str) -> Vec<ShownLine> {
    let mut lines = Vec::new();
    let mut line = 1;
    for block in parse_blocks(text) {
        let (entry, held, is_altered): (_, &[&str], _) = match &block {
            PageBlock::Ours(marker, held) | PageBlock::Pinned(marker, held) => {
                (Some(marker.id()), held, false)
            }
            PageBlock::Altered(marker, held) => (Some(marker.id()), held, true),
            PageBlock::Other(one) => (None, std::slice::from_ref(one), false),
            PageBlock::Heading(..) => (None, &[], false),
        };
        let first = held.first().copied().unwrap_or_default();
        let (below, words) = main_words(held);
        let words = words.trim();
        if !words.is_empty() {
            lines.push(ShownLine {
                file: file.clone(),
                line: line + below,
                text: words.to_owned(),
                entry,
                is_altered,
                is_pinned: is_pinned(first),
            });
        }
        line += held.len().max(1);
    }
    lines
}

/// The line that stands for line `line` of a text: of a block of a log, its text; else the line itself.
#[must_use]
pub fn main_line(text: &str, line: usize) -> usize {
    let mut first = 1;
    for block in parse_blocks(text) {
        let held: &[&str] = match &block {
            PageBlock::Ours(_, held) | PageBlock::Pinned(_, held) | PageBlock::Altered(_, held) => {
                held
            }
            PageBlock::Heading(_, one) | PageBlock::Other(one) => std::slice::from_ref(one),
        };
        let next = first + held.len();
        if line < next {
            let main = log_block::text_of(held).map(|(below, _)| first + below);
            return main.unwrap_or(line);
        }
        first = next;
    }
    line
}

/// The words of the memory that line `line` of a file of rollouts states; `None` for the other lines of its accounts.
#[must_use]
pub fn stated_in_rollout(text: &str, line: usize) -> Option<&str> {
    let item = text.lines().nth(line.checked_sub(1)?)?;
    let (words, _) = item.strip_prefix("- ")?.rsplit_once(" [")?;
    Some(words)
}

/// The entry that shows an observation, as consolidation names it.
pub(super) fn entry_of(first: &Observation) -> EntryId {
    match (&first.subject, first.kind) {
        (Some(subject), ObservationKind::Value) => EntryId::of(&format!("value/{subject}")),
        _ => EntryId::of(&first.id.to_string()),
    }
}

/// Puts observations with the same content together with the lines that show them; lines that rest on none follow.
fn joined(
    scope: &Scope,
    memory: &ScopeMemory,
    observations: Vec<Observation>,
    lines: Vec<ShownLine>,
) -> Vec<Memory> {
    let mut by_id: BTreeMap<ObservationId, Observation> =
        observations.into_iter().map(|one| (one.id, one)).collect();
    let mut by_entry: BTreeMap<EntryId, Vec<ShownLine>> = BTreeMap::new();
    let mut places: BTreeMap<EntryId, usize> = BTreeMap::new();
    let mut own = Vec::new();
    let order = lines.iter().enumerate();
    let order: BTreeMap<(FilePath, usize), usize> = order
        .map(|(place, line)| ((line.file.clone(), line.line), place))
        .collect();
    for (place, line) in lines.into_iter().enumerate() {
        match line.entry.clone() {
            Some(entry) => {
                places.entry(entry.clone()).or_insert(place);
                by_entry.entry(entry).or_default().push(line);
            }
            None => own.push(line),
        }
    }
    let mut all: Vec<Memory> = Vec::new();
    let mut shown = BTreeSet::new();
    for ids in &memory.merged {
        let merged: Vec<Observation> = ids.iter().filter_map(|id| by_id.remove(id)).collect();
        let Some(first) = merged.first() else {
            continue;
        };
        let entry = entry_of(first);
        let reworded = memory.reworded.get(&first.id);
        // A log shows each value by itself.
        let in_log = EntryId::of(&first.id.to_string());
        let entries = BTreeSet::from([&entry, &in_log]);
        let lines = entries.iter().filter_map(|entry| by_entry.get(*entry));
        let mut lines: Vec<ShownLine> = lines.flatten().cloned().collect();
        lines.sort_by_key(|line| order.get(&(line.file.clone(), line.line)).copied());
        shown.insert(in_log);
        all.push(Memory {
            scope: scope.clone(),
            words: reworded.unwrap_or(&first.text).clone(),
            lines,
            entry: Some(entry.clone()),
            observations: merged,
        });
        shown.insert(entry);
    }
    all.sort_by_key(|one| {
        let entry = one.entry.as_ref();
        entry
            .and_then(|entry| places.get(entry))
            .copied()
            .unwrap_or(usize::MAX)
    });
    let bare = by_entry
        .into_iter()
        .filter(|(entry, _)| !shown.contains(entry));
    let own = own.into_iter().map(|line| (None, vec![line]));
    let rest = bare.map(|(entry, lines)| (Some(entry), lines)).chain(own);
    all.extend(rest.map(|(entry, lines)| Memory {
        scope: scope.clone(),
        entry,
        observations: Vec::new(),
        words: words_of(&lines[0].text),
        lines,
    }));
    all
}

/// Finds among `all` what `name` names: `FILE:LINE`, `^` and an entry's id, the id of a line in MindRoom's form, the
/// first digits of an observation's id, or words of it.
pub fn find(all: &[Memory], name: &str) -> FoundMemories {
    let name = name.trim();
    let mut found = FoundMemories::default();
    let by_id: Vec<&Memory> = all.iter().filter(|one| is_named(one, name)).collect();
    if !by_id.is_empty() {
        found.exact = by_id.into_iter().cloned().collect();
        return found;
    }
    let wanted = name.to_lowercase();
    for one in all {
        let mut texts = one.observations.iter().map(|it| it.text.as_str());
        let mut lines = one.lines.iter().map(|line| line.text.as_str());
        if is_same_text(&one.words, name)
            || texts.clone().any(|text| is_same_text(text, name))
            || lines
                .clone()
                .any(|line| is_same_text(&words_of(line), &words_of(name)))
        {
            found.exact.push(one.clone());
        } else if one.words.to_lowercase().contains(&wanted)
            || texts.any(|text| text.to_lowercase().contains(&wanted))
            || lines.any(|line| line.to_lowercase().contains(&wanted))
        {
            found.near.push(one.clone());
        }
    }
    found
}

/// Whether `name` is a place or an id of the memory.
fn is_named(one: &Memory, name: &str) -> bool {
    if name.starts_with("m_") {
        let named = marker_of(&format!("- [id={name}] x")).map(|marker| marker.id());
        let mut entries = one.lines.iter().filter_map(|line| line.entry.as_ref());
        return named.is_some() && entries.any(|entry| Some(entry) == named.as_ref());
    }
    if let Some(id) = name.strip_prefix('^') {
        let entry = one.entry.as_ref().map(EntryId::as_str);
        return ENTRY_LETTERS.contains(&id.len()) && entry == id.get(..ENTRY_LETTERS[0]);
    }
    if let Some((file, line)) = name.rsplit_once(':')
        && let Ok(line) = line.parse::<usize>()
        && is_file(file)
    {
        let is_it = |shown: &ShownLine| shown.line == line && shown.file.as_str() == file;
        return one.lines.iter().any(is_it);
    }
    let is_id = name.len() >= ID_DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let low = name.to_lowercase();
    let mut ids = one.observations.iter().map(|it| it.id.to_string());
    is_id && ids.any(|id| id.starts_with(&low))
}

fn is_file(name: &str) -> bool {
    is_engine_page(name) || name.ends_with(".md")
}

/// Whether two texts have the same letters and digits, in their order: an observation's identity.
fn is_same_text(one: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let words_of_one = words(one);
    !words_of_one.is_empty() && words_of_one == words(other)
}

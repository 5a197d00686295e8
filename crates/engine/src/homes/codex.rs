//! Memory files of Codex: the handbook, the summary, raw memories, accounts of rollouts, and a person's notes.

use daybook_domain::{ObservationKind, Timestamp};

use super::entry::{HomeEntry, lines};
use super::markdown::{Passage, passages};
use crate::transcripts::time_of;

/// Folder of the memory files below the home.
pub(super) const MEMORIES: &str = "memories";
/// Sections of the handbook that point to files, and state nothing.
const POINTERS: [&str; 2] = ["rollout_summary_files", "keywords"];
/// The section of the summary that lists what the handbook holds.
const CONTENTS: &str = "What's in Memory";

/// The form of a memory file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileForm {
    Handbook,
    Summary,
    RawMemories,
    Rollout,
    Note,
}

fn form_of(path: &str) -> Option<FileForm> {
    let below = path.strip_prefix(MEMORIES)?.strip_prefix('/')?;
    let is_in = |folder: &str| {
        let name = below.strip_prefix(folder);
        name.is_some_and(|name| name.ends_with(".md") && !name.contains('/'))
    };
    match below {
        "MEMORY.md" => Some(FileForm::Handbook),
        "memory_summary.md" => Some(FileForm::Summary),
        "raw_memories.md" => Some(FileForm::RawMemories),
        _ if is_in("rollout_summaries/") => Some(FileForm::Rollout),
        _ if is_in("extensions/ad_hoc/notes/") => Some(FileForm::Note),
        _ => None,
    }
}

/// Whether a file below the home is one of memory.
pub(super) fn is_memory_file(path: &str) -> bool {
    form_of(path).is_some()
}

/// The entries of a file.
pub(super) fn entries(path: &str, text: &str) -> Vec<HomeEntry> {
    match form_of(path) {
        Some(FileForm::Handbook) => handbook(text),
        Some(FileForm::Summary) => summary(text),
        Some(FileForm::RawMemories) => raw_memories(text),
        Some(FileForm::Rollout) => rollout(text),
        Some(FileForm::Note) => note(path, text),
        None => Vec::new(),
    }
}

/// Fields at the beginning of a block: `key: value` lines.
#[derive(Default)]
pub(super) struct BlockFields {
    pub(super) thread: Option<String>,
    pub(super) updated_at: Option<Timestamp>,
    pub(super) cwd: Option<String>,
}

impl BlockFields {
    /// Reads one line; false where it is no field.
    fn read(&mut self, line: &str) -> bool {
        let Some((key, value)) = line.split_once(':') else {
            return false;
        };
        let value = value.trim();
        match key {
            "thread_id" => self.thread = Some(value.to_owned()),
            "updated_at" => self.updated_at = time_of(value),
            "cwd" => self.cwd = Some(value.to_owned()),
            "rollout_path" | "rollout_summary_file" | "git_branch" => {}
            _ => return false,
        }
        true
    }
}

/// The kind that a heading gives to what stands below it.
fn kind_below(headings: &[String]) -> ObservationKind {
    let last = headings.last().map(|heading| heading.to_lowercase());
    let last = last.unwrap_or_default();
    if last.contains("preference") {
        ObservationKind::Preference
    } else if last.contains("failure") || last.contains("do differently") {
        ObservationKind::Fix
    } else {
        ObservationKind::Fact
    }
}

fn context_of(headings: &[String]) -> Option<String> {
    let own = headings.iter().filter(|heading| !heading.is_empty());
    let own: Vec<&str> = own.map(String::as_str).collect();
    (!own.is_empty()).then(|| own.join(" · "))
}

fn as_entry(passage: Passage) -> HomeEntry {
    HomeEntry {
        kind: kind_below(&passage.headings),
        context: context_of(&passage.headings),
        ..passage.entry
    }
}

/// The folder that a task group of the handbook applies to: `applies_to: cwd=…; reuse_rule=…`.
fn applies_to(text: &str) -> Option<String> {
    let rest = text.split_once("applies_to:")?.1.split_once("cwd=")?.1;
    let folder = rest.split([';', '\n']).next()?.trim();
    folder.starts_with('/').then(|| folder.to_owned())
}

fn handbook(text: &str) -> Vec<HomeEntry> {
    let mut entries = Vec::new();
    let (mut group, mut folder) = (None, None);
    for passage in passages(text, 0) {
        let above = passage.headings.first().cloned();
        if group != above {
            (group, folder) = (above, None);
        }
        let words = &passage.entry.text;
        if words.starts_with("scope:") || words.starts_with("applies_to:") {
            folder = applies_to(&text[passage.entry.whole]).or(folder);
            continue;
        }
        let points = |heading: &String| POINTERS.contains(&heading.as_str());
        if !passage.headings.iter().any(points) {
            entries.push(HomeEntry {
                folder: folder.clone(),
                ..as_entry(passage)
            });
        }
    }
    entries
}

fn summary(text: &str) -> Vec<HomeEntry> {
    let first = lines(text).next().filter(|line| line.text.trim() == "v1");
    let passages = passages(text, first.map_or(0, |line| line.end)).into_iter();
    let lists = |passage: &Passage| passage.headings.iter().any(|heading| heading == CONTENTS);
    let stated = passages.filter(|passage| !lists(passage));
    stated.map(as_entry).collect()
}

/// The blocks of the threads of `raw_memories.md`: each thread, and the bytes of its block.
pub(super) fn threads(text: &str) -> Vec<(String, std::ops::Range<usize>)> {
    let mut blocks: Vec<(String, std::ops::Range<usize>)> = Vec::new();
    for line in lines(text) {
        let thread = line
            .text
            .strip_prefix("## Thread `")
            .and_then(|rest| rest.strip_suffix('`'));
        match (thread, blocks.last_mut()) {
            (Some(thread), _) => blocks.push((thread.to_owned(), line.start..line.end)),
            (None, Some((_, block))) => block.end = line.end,
            (None, None) => {}
        }
    }
    blocks
}

/// The fields of a block, and the first byte behind them. A block of a thread begins with its heading.
pub(super) fn fields(text: &str, block: std::ops::Range<usize>) -> (BlockFields, usize) {
    let mut fields = BlockFields::default();
    let mut end = block.start;
    for line in lines(text) {
        if line.start < block.start || line.start >= block.end {
            continue;
        }
        let is_heading = line.start == block.start && line.text.starts_with("## Thread `");
        if !is_heading && !fields.read(line.text) {
            break;
        }
        end = line.end;
    }
    (fields, end)
}

fn raw_memories(text: &str) -> Vec<HomeEntry> {
    let mut entries = Vec::new();
    for (_, block) in threads(text) {
        let (fields, start) = fields(text, block.clone());
        entries.extend(block_entries(text, start..block.end, &fields));
    }
    entries
}

fn rollout(text: &str) -> Vec<HomeEntry> {
    let (fields, start) = fields(text, 0..text.len());
    block_entries(text, start..text.len(), &fields)
}

fn block_entries(text: &str, body: std::ops::Range<usize>, fields: &BlockFields) -> Vec<HomeEntry> {
    let passages = passages(&text[..body.end], body.start).into_iter();
    passages
        .map(|passage| HomeEntry {
            at: fields.updated_at,
            folder: fields.cwd.clone(),
            ..as_entry(passage)
        })
        .collect()
}

/// The paragraphs of a note that the person asked Codex to keep. The name begins with its time.
fn note(path: &str, text: &str) -> Vec<HomeEntry> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let at = name.get(..19).and_then(|stamp| {
        let (date, time) = stamp.split_once('T')?;
        time_of(&format!("{date}T{}Z", time.replace('-', ":")))
    });
    let passages = passages(text, 0).into_iter();
    passages
        .map(|passage| HomeEntry {
            kind: ObservationKind::Note,
            at,
            ..as_entry(passage)
        })
        .collect()
}

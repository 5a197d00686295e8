//! The files of selected sessions: `raw_memories.md` with all raw memories, the latest first, and a summary of each
//! below `rollout_summaries/`, with the names and headers that Codex gives them.
//!
//! Every block carries a marker. A block that a person changed is theirs and stays, as does any line that a person
//! added; a block that a person deleted is not written again unchanged.
//!
//! Not here: which sessions are selected (`domain::selection`), what is kept of each (`consolidate::rollouts`).

mod entries;
mod stem;

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{SessionId, Timestamp};

use super::entry::block::{BlockEntry, RAW_MEMORIES_TITLE, THREAD, THREAD_ID, is_marker_line};
use super::entry::{EntryId, Marker, PageBlock, parse_blocks};
use super::page::Orphans;
use super::path::FilePath;
use crate::consolidate::Rollout;

use entries::SOURCE;
pub use entries::{BlockText, block_texts};

/// `raw_memories.md`: the raw memories of all selected sessions.
pub const RAW_MEMORIES: &str = "raw_memories.md";
/// Folder of the summaries.
pub const SUMMARIES: &str = "rollout_summaries";
/// Most bytes of `raw_memories.md`, 4 MiB. Sessions beyond have their summaries alone.
const RAW_MEMORIES_BYTES: usize = 4 * 1024 * 1024;
/// Identifies the block with the title.
const TITLE_KEY: &str = "rollouts";
/// Stands for a header's value that is not known.
const UNKNOWN: &str = "unknown";

/// The files, by path relative to the scope's folder, each with its blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RolloutFiles(BTreeMap<FilePath, Vec<BlockEntry>>);

impl RolloutFiles {
    /// The files of these sessions, which are in order, the latest first.
    #[must_use]
    pub fn of(rollouts: &[Rollout]) -> Self {
        let names = stem::names(rollouts);
        let mut files = BTreeMap::new();
        let mut raw = vec![title(rollouts.is_empty())];
        let mut bytes = 0;
        for rollout in rollouts {
            let name = &names[&rollout.session];
            let path = FilePath::page(SUMMARIES, name);
            files.insert(path, vec![summary_block(rollout)]);
            let block = raw_block(rollout, name.as_str());
            bytes += block.lines.iter().map(|line| line.len() + 1).sum::<usize>();
            if bytes <= RAW_MEMORIES_BYTES {
                raw.push(block);
            }
        }
        files.insert(FilePath::engine_file(RAW_MEMORIES), raw);
        Self(files)
    }

    /// The files with their blocks.
    pub fn iter(&self) -> impl Iterator<Item = (&FilePath, &[BlockEntry])> {
        self.0
            .iter()
            .map(|(path, blocks)| (path, blocks.as_slice()))
    }

    /// Whether the file at `path` is one of them.
    #[must_use]
    pub fn contains(&self, path: &FilePath) -> bool {
        self.0.contains_key(path)
    }

    /// Whether any session has content here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.len() <= 1
    }
}

/// Whether the file at `path` is one that this module writes.
#[must_use]
pub fn is_rollout_file(path: &str) -> bool {
    path == RAW_MEMORIES
        || path
            .strip_prefix(SUMMARIES)
            .is_some_and(|below| below.starts_with('/') && below.ends_with(".md"))
}

fn title(is_empty: bool) -> BlockEntry {
    let below = match is_empty {
        true => "No raw memories yet.",
        false => "Merged stage-1 raw memories (latest first):",
    };
    let below = [String::new(), below.to_owned()];
    BlockEntry::new(TITLE_KEY.to_owned(), RAW_MEMORIES_TITLE.to_owned(), below)
}

fn raw_block(rollout: &Rollout, name: &str) -> BlockEntry {
    let headers = [
        format!("updated_at: {}", rfc3339(rollout.updated_at)),
        format!("cwd: {}", known(&rollout.cwd)),
        format!("rollout_path: {}", known(&rollout.rollout_path)),
        format!("rollout_summary_file: {name}.md"),
    ];
    let first = format!("{THREAD}{}`", one_word(&rollout.session));
    block(rollout, first, headers, &rollout.raw_memory)
}

fn summary_block(rollout: &Rollout) -> BlockEntry {
    let headers = [
        format!("updated_at: {}", rfc3339(rollout.updated_at)),
        format!("rollout_path: {}", known(&rollout.rollout_path)),
        format!("cwd: {}", known(&rollout.cwd)),
    ];
    let branch = rollout.branch.as_ref();
    let headers = headers
        .into_iter()
        .chain(branch.map(|branch| format!("git_branch: {branch}")));
    let first = format!("{THREAD_ID}{}", one_word(&rollout.session));
    block(rollout, first, headers, &rollout.summary)
}

fn block(
    rollout: &Rollout,
    first: String,
    headers: impl IntoIterator<Item = String>,
    body: &str,
) -> BlockEntry {
    let body = body.lines().map(str::to_owned);
    let source = rollout.source.iter();
    let source = source.flat_map(|source| [String::new(), format!("{SOURCE}{source}")]);
    let below = headers
        .into_iter()
        .chain([String::new()])
        .chain(body)
        .chain(source);
    BlockEntry::new(format!("rollout/{}", rollout.session), first, below)
}

fn known(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or(UNKNOWN)
}

/// The host's id as one word without the backticks that enclose it.
fn one_word(session: &SessionId) -> String {
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || c == '`';
    session.host_id.replace(is_odd, "_")
}

/// `2026-11-22T09:30:00Z`
fn rfc3339(at: Timestamp) -> String {
    let second = jiff::Timestamp::from_second(at.0.div_euclid(1000));
    second.map_or_else(|_| UNKNOWN.to_owned(), |time| time.to_string())
}

/// The new text of a file that holds `current`: the blocks in place of the engine's, and a person's lines as they
/// are. A block in `withheld` is not written.
#[must_use]
pub fn merge_blocks(
    blocks: &[BlockEntry],
    current: &str,
    withheld: &BTreeSet<Marker>,
    orphans: Orphans,
) -> String {
    let planned = blocks
        .iter()
        .filter(|block| !withheld.contains(&block.marker()));
    let mut missing: Vec<&BlockEntry> = planned.collect();
    let pieces = parse_blocks(current);
    let is_ours = |piece: &PageBlock<'_>| match piece {
        PageBlock::Ours(..) => orphans == Orphans::Remove,
        PageBlock::Other(line) => line.trim().is_empty(),
        PageBlock::Pinned(..) | PageBlock::Altered(..) | PageBlock::Heading(..) => false,
    };
    if pieces.iter().all(is_ours) {
        return missing.into_iter().map(text_of).collect();
    }
    let mut take = |id: &EntryId| {
        let at = missing
            .iter()
            .position(|block| EntryId::of(&block.key) == *id)?;
        Some(missing.remove(at))
    };
    let mut merged: Vec<String> = Vec::new();
    let (mut last, mut below_title) = (0, None);
    let title = EntryId::of(TITLE_KEY);
    for piece in pieces {
        let is_title = matches!(&piece, PageBlock::Ours(marker, _) | PageBlock::Pinned(marker, _) | PageBlock::Altered(marker, _)
            if marker.id() == title);
        match piece {
            PageBlock::Ours(marker, lines) => match (take(&marker.id()), orphans) {
                (Some(block), _) => merged.push(text_of(block)),
                (None, Orphans::Remove) => {}
                (None, Orphans::Keep) => merged.push(lines.concat()),
                (None, Orphans::Disown) => merged.push(without_marker_lines(&lines)),
            },
            PageBlock::Pinned(marker, lines) | PageBlock::Altered(marker, lines) => {
                take(&marker.id());
                merged.push(lines.concat());
            }
            PageBlock::Heading(_, line) | PageBlock::Other(line) => {
                merged.push(line.to_owned());
                continue;
            }
        }
        last = merged.len();
        if is_title {
            below_title = Some(last);
        }
    }
    // The latest come first, below the title; without one, the title comes behind the last block of the engine.
    let at = below_title.unwrap_or(last);
    let new = missing.into_iter().map(text_of);
    merged.splice(at..at, new);
    end_lines(merged)
}

fn text_of(block: &BlockEntry) -> String {
    block.render().into_iter().map(|line| line + "\n").collect()
}

fn without_marker_lines(lines: &[&str]) -> String {
    let lines = lines.iter().filter(|line| !is_marker_line(line));
    lines.copied().collect()
}

/// The pieces as one text. One that lacks a line end gets one where another follows.
fn end_lines(pieces: Vec<String>) -> String {
    let mut text = String::new();
    for piece in pieces {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&piece);
    }
    text
}

//! Reads the entries of memory files that a context or an answer may hold.
//!
//! Not here: selecting among them.

use std::rc::Rc;

use crate::consolidate::DECIDED;
use crate::files::entry::{PageBlock, parse_blocks, without_marker};

/// Most entries of one memory that are read.
pub(super) const LINES: usize = 5_000;
/// Sections in the order in which the budget serves them; all others come last.
const ORDER: [&str; 7] = [
    "where we left off",
    "asked to remember",
    "insisted on",
    "decisions",
    "what changed",
    "what failed",
    "facts",
];
/// The index in [`ORDER`] of work that was left off; work left off on other branches is served last.
const LEFT_OFF_RANK: usize = 0;
/// The last index in [`ORDER`] of a section that the person asked for, which has no limit of entries.
const ASKED_FOR_RANK: usize = 2;

/// An entry of a memory file.
pub(super) struct PageEntry {
    /// The rank of its section in [`ORDER`].
    pub(super) rank: usize,
    /// The index of its scope's memory.
    pub(super) memory: usize,
    /// Its index in that memory.
    pub(super) place: usize,
    /// Its index in its section.
    pub(super) nth: usize,
    pub(super) section: Rc<str>,
    pub(super) text: String,
}

impl PageEntry {
    /// Whether it is in the section of work that was left off.
    pub(super) fn is_left_off(&self) -> bool {
        self.rank == LEFT_OFF_RANK
    }

    /// Whether it is in a section of what the person asked to remember or insisted on.
    pub(super) fn is_asked_for(&self) -> bool {
        !self.is_left_off() && self.rank <= ASKED_FOR_RANK
    }
}

/// Reads the entries of the text of `MEMORY.md`, of the memory with the index `memory`.
pub(super) fn entries(memory: usize, text: &str) -> Vec<PageEntry> {
    let mut entries: Vec<PageEntry> = Vec::new();
    let mut section: Rc<str> = "".into();
    let mut section_rank = rank(&section);
    let mut nth = 0;
    for block in &parse_blocks(text) {
        if let PageBlock::Heading(level, line) = block {
            if *level == 2 {
                section = heading_text(line).into();
                section_rank = rank(&section);
                nth = 0;
            }
            continue;
        }
        let Some(text) = entry_text(block) else {
            continue;
        };
        if entries.len() == LINES {
            break;
        }
        entries.push(PageEntry {
            rank: section_rank,
            memory,
            place: entries.len(),
            nth,
            section: Rc::clone(&section),
            text,
        });
        nth += 1;
    }
    entries
}

/// Reads the entries of one branch from `branches.md`.
pub(super) fn branch_entries(page: &str, branch: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut here = false;
    for block in &parse_blocks(page) {
        match block {
            PageBlock::Heading(2, line) => here = heading_text(line) == branch,
            PageBlock::Heading(..) => {}
            PageBlock::Ours(..)
            | PageBlock::Pinned(..)
            | PageBlock::Altered(..)
            | PageBlock::Other(_) => {
                lines.extend(entry_text(block).filter(|_| here));
            }
        }
    }
    lines
}

/// A line without its bullet and its mark of a decision: equal for an entry of a branch and the same entry of
/// `MEMORY.md`.
pub(super) fn comparable(text: &str) -> String {
    let text = text.trim_start_matches("- ");
    text.trim_start_matches(DECIDED).to_owned()
}

/// A heading without its `##`.
fn heading_text(line: &str) -> String {
    without_marker(line)
        .trim_start_matches('#')
        .trim()
        .to_owned()
}

/// The text of a block for an agent: its lines without markers. `None` for headings and blank lines.
fn entry_text(block: &PageBlock<'_>) -> Option<String> {
    let held: &[&str] = match block {
        PageBlock::Heading(..) => return None,
        PageBlock::Ours(_, held) | PageBlock::Pinned(_, held) | PageBlock::Altered(_, held) => held,
        PageBlock::Other(line) if line.trim().is_empty() => return None,
        PageBlock::Other(line) => std::slice::from_ref(line),
    };
    let text: Vec<&str> = held
        .iter()
        .map(|line| without_marker(line).trim_end())
        .collect();
    Some(text.join("\n"))
}

fn rank(section: &str) -> usize {
    let section = section.to_lowercase();
    let known = ORDER.iter().position(|known| section.contains(known));
    known.unwrap_or(ORDER.len())
}

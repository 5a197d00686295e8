//! Merges a page of memory into its file: the engine's entries are placed around a person's text.
//!
//! The engine owns only entries that carry its marker and still agree with it. Everything else in the file
//! is a person's and stays byte for byte, in its order. An entry that a person changed is not written again
//! beside theirs; one that a person deleted is withheld.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::{
    EntryId, Marker, PageBlock, is_own_heading, parse_blocks, render, render_heading,
    without_line_end, without_marker,
};
use crate::consolidate::{MemoryEntry, MemoryPage, MemorySection};

/// What happens to the engine's entries that the page no longer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orphans {
    /// They are removed: their content no longer holds, or lost its place.
    Remove,
    /// They stay as the person's text, without their marker: this database has no record of them.
    Disown,
    /// They stay as they are: the file is curated in passes.
    Keep,
}

/// Renders the page as a new file.
#[must_use]
pub fn render_page(page: &MemoryPage, withheld: &BTreeSet<Marker>) -> String {
    let mut out = Vec::new();
    if !page.heading.is_empty() {
        out.push(render_heading(&page.heading));
    }
    for section in &page.sections {
        let entries: Vec<&MemoryEntry> = section
            .entries
            .iter()
            .filter(|entry| !withheld.contains(&Marker::of(entry)))
            .collect();
        if entries.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(String::new());
        }
        if !section.title.is_empty() {
            out.push(format!("## {}", section.title));
        }
        out.extend(entries.iter().flat_map(|entry| render(entry)));
    }
    out.push(String::new());
    out.join("\n")
}

/// Merges the page into the file's current text.
#[must_use]
pub fn merge_page(
    page: &MemoryPage,
    current: &str,
    withheld: &BTreeSet<Marker>,
    orphans: Orphans,
) -> String {
    if orphans == Orphans::Remove && is_untouched(page, current) {
        return render_page(page, withheld);
    }
    // A carriage return at the very end becomes such a line end as soon as a line follows it.
    let ending = if current.contains("\r\n") || current.ends_with('\r') {
        "\r\n"
    } else {
        "\n"
    };
    let mut merge = PageMerge::new(page, withheld, orphans, ending);
    for block in parse_blocks(current) {
        merge.add_block(block);
    }
    merge.add_missing(page);
    merge.text()
}

/// Whether the file holds only the engine's text: no line, heading or blank line of a person.
#[must_use]
pub fn is_untouched(page: &MemoryPage, current: &str) -> bool {
    let mut lines: Vec<&str> = Vec::new();
    let mut below_heading = false;
    for block in parse_blocks(current) {
        match block {
            PageBlock::Heading(1, line) if lines.is_empty() && is_own_heading(line) => {
                lines.push(without_line_end(line));
                below_heading = true;
            }
            PageBlock::Heading(2, line) if page.sections.iter().any(|s| s.title == title(line)) => {
                if !lines.is_empty() {
                    lines.push("");
                }
                lines.push(without_line_end(line));
                below_heading = false;
            }
            PageBlock::Ours(_, held) => {
                if std::mem::take(&mut below_heading) {
                    lines.push("");
                }
                lines.extend(held.iter().map(|line| without_line_end(line)));
            }
            PageBlock::Other(line) if without_line_end(line).is_empty() => {}
            PageBlock::Altered(..) | PageBlock::Heading(..) | PageBlock::Other(_) => return false,
        }
    }
    lines.push("");
    lines.join("\n") == current
}

fn title(heading: &str) -> &str {
    without_line_end(heading).trim_start_matches('#').trim()
}

/// Markers of entries in `written` that a person has since deleted from `current`.
#[must_use]
pub fn deleted_markers(current: &str, written: &str) -> Vec<Marker> {
    let left: BTreeSet<EntryId> = markers(current).iter().map(Marker::id).collect();
    markers(written)
        .into_iter()
        .filter(|marker| !left.contains(&marker.id()))
        .collect()
}

/// The markers in a file, including those of changed entries.
fn markers(text: &str) -> Vec<Marker> {
    parse_blocks(text)
        .into_iter()
        .filter_map(|block| match block {
            PageBlock::Ours(marker, _) | PageBlock::Altered(marker, _) => Some(marker),
            PageBlock::Heading(..) | PageBlock::Other(_) => None,
        })
        .collect()
}

/// One piece of the file under construction.
struct PagePiece {
    /// The `##` heading above it.
    section: String,
    /// Whether it is an engine's entry, changed or not: new ones are inserted after the last of these.
    is_entry: bool,
    /// A person's lines with their line ends; the engine's without.
    lines: Vec<String>,
}

struct PageMerge<'a> {
    planned: BTreeMap<EntryId, &'a MemoryEntry>,
    heading: String,
    orphans: Orphans,
    ending: &'static str,
    section: String,
    placed: BTreeSet<EntryId>,
    pieces: Vec<PagePiece>,
}

impl<'a> PageMerge<'a> {
    fn new(
        page: &'a MemoryPage,
        withheld: &BTreeSet<Marker>,
        orphans: Orphans,
        ending: &'static str,
    ) -> Self {
        let entries = page.sections.iter().flat_map(|section| &section.entries);
        let (kept_back, planned): (Vec<&MemoryEntry>, Vec<&MemoryEntry>) =
            entries.partition(|entry| withheld.contains(&Marker::of(entry)));
        let id = |entry: &MemoryEntry| EntryId::of(&entry.key);
        Self {
            placed: kept_back.into_iter().map(id).collect(),
            planned: planned
                .into_iter()
                .map(|entry| (id(entry), entry))
                .collect(),
            heading: page.heading.clone(),
            orphans,
            ending,
            section: String::new(),
            pieces: Vec::new(),
        }
    }

    fn add_block(&mut self, block: PageBlock<'_>) {
        match block {
            PageBlock::Ours(marker, lines) => self.add_own_entry(marker.id(), lines),
            PageBlock::Altered(marker, lines) => {
                self.placed.insert(marker.id());
                self.push(true, owned(&lines));
            }
            PageBlock::Heading(1, line) if is_own_heading(line) && !self.heading.is_empty() => {
                self.push(false, vec![render_heading(&self.heading)]);
            }
            PageBlock::Heading(level, line) => {
                if level == 2 {
                    title(line).clone_into(&mut self.section);
                }
                self.push(false, owned(&[line]));
            }
            PageBlock::Other(line) => self.push(false, owned(&[line])),
        }
    }

    fn add_own_entry(&mut self, id: EntryId, lines: Vec<&str>) {
        let planned = self.planned.get(&id).copied();
        match (planned, self.orphans) {
            (Some(entry), _) if !self.placed.contains(&id) => {
                self.placed.insert(id);
                self.push(true, render(entry));
            }
            (Some(_), _) | (None, Orphans::Remove) => {}
            (None, Orphans::Keep) => self.push(true, owned(&lines)),
            (None, Orphans::Disown) => {
                let own = |line: &&str| {
                    format!(
                        "{}{}",
                        without_marker(line),
                        &line[without_line_end(line).len()..]
                    )
                };
                let own = lines.iter().map(own).collect();
                self.push(false, own);
            }
        }
    }

    fn push(&mut self, is_entry: bool, lines: Vec<String>) {
        self.pieces.push(PagePiece {
            section: self.section.clone(),
            is_entry,
            lines,
        });
    }

    fn add_missing(&mut self, page: &MemoryPage) {
        for section in &page.sections {
            let missing: Vec<&MemoryEntry> = section
                .entries
                .iter()
                .filter(|entry| self.placed.insert(EntryId::of(&entry.key)))
                .collect();
            if !missing.is_empty() {
                self.add_to(section, &missing);
            }
        }
    }

    fn add_to(&mut self, section: &MemorySection, missing: &[&MemoryEntry]) {
        let of_section = |piece: &PagePiece| piece.section == section.title;
        let last_entry = self
            .pieces
            .iter()
            .rposition(|p| of_section(p) && p.is_entry);
        let heading = self.pieces.iter().position(of_section);
        let at = match last_entry.or(heading) {
            Some(at) => at + 1,
            None => {
                self.open_section(&section.title);
                self.pieces.len()
            }
        };
        let pieces = missing.iter().map(|entry| PagePiece {
            section: section.title.clone(),
            is_entry: true,
            lines: render(entry),
        });
        self.pieces.splice(at..at, pieces);
    }

    fn open_section(&mut self, title: &str) {
        let last_line = self.pieces.last().and_then(|piece| piece.lines.last());
        let ends_open = last_line.is_some_and(|line| !without_line_end(line).is_empty());
        self.section = title.to_owned();
        if ends_open {
            self.push(false, vec![self.ending.to_owned()]);
        }
        if !title.is_empty() {
            self.push(false, vec![format!("## {title}")]);
        }
    }

    /// Renders the file. A line gets a line end where it has none, except for a person's last one.
    fn text(self) -> String {
        let ending = self.ending;
        let mut text = String::new();
        let mut persons = false;
        for piece in self.pieces {
            for line in piece.lines {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push_str(ending);
                }
                persons = line.ends_with('\n') || !piece.is_entry;
                text.push_str(&line);
            }
        }
        if !persons && !text.ends_with('\n') {
            text.push_str(ending);
        }
        text
    }
}

fn owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;

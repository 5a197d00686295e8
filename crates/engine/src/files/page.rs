//! Merges a page of memory into its file: the engine's entries are placed around a person's text.
//!
//! The engine owns only entries that carry its marker and still agree with it. Everything else in the file
//! is a person's and stays byte for byte, in its order. An entry that a person changed is not written again
//! beside theirs; one that a person deleted is withheld. What a person pinned comes first in its section.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::{
    EntryId, Marker, PageBlock, disowned, heading_marker, is_log_entry, is_own_heading, is_pinned,
    parse_blocks, render, render_heading, render_pinned, without_line_end,
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

/// A person's choices for one page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageChoices {
    /// Versions of entries that are not written.
    pub withheld: BTreeSet<Marker>,
    /// Versions of entries that are not removed.
    pub kept: BTreeSet<Marker>,
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
    choices: &PageChoices,
    orphans: Orphans,
) -> String {
    let keeps_none = match orphans {
        Orphans::Remove => true,
        Orphans::Disown => !has_orphans(page, current),
        Orphans::Keep => false,
    };
    let is_free = keeps_none && !has_chosen(page, current, choices);
    if is_free && is_untouched(page, current) {
        return render_page(page, &choices.withheld);
    }
    let mut merge = PageMerge::new(page, choices, orphans, line_end(current));
    for block in parse_blocks(current) {
        merge.add_block(block);
    }
    merge.add_missing(page);
    merge.order_pinned_first();
    merge.text()
}

/// The line end of a file: that of its first line, whatever a person's editor puts behind one of their own further down.
fn line_end(current: &str) -> &'static str {
    // A carriage return at the very end becomes a line end as soon as a line follows it.
    let first = current.split('\n').next().unwrap_or_default();
    match first.ends_with('\r') {
        true => "\r\n",
        false => "\n",
    }
}

/// Whether the file has a version of an entry or of the heading that stays because a person chose it.
fn has_chosen(page: &MemoryPage, current: &str, choices: &PageChoices) -> bool {
    if choices == &PageChoices::default() {
        return false;
    }
    let entries = page.sections.iter().flat_map(|section| &section.entries);
    let planned = entries.map(Marker::of).chain(planned_heading(page));
    let refused: BTreeSet<EntryId> = planned
        .filter(|marker| choices.withheld.contains(marker))
        .map(|marker| marker.id())
        .collect();
    let is_chosen =
        |marker: &Marker| choices.kept.contains(marker) || refused.contains(&marker.id());
    own_markers(current).iter().any(is_chosen)
}

/// Whether the file has an entry of the engine's that the page does not have.
fn has_orphans(page: &MemoryPage, current: &str) -> bool {
    let entries = page.sections.iter().flat_map(|section| &section.entries);
    let planned = entries.map(Marker::of).chain(planned_heading(page));
    let planned: BTreeSet<EntryId> = planned.map(|marker| marker.id()).collect();
    let own = own_markers(current);
    own.iter().any(|marker| !planned.contains(&marker.id()))
}

/// The version of a page's heading.
pub(super) fn planned_heading(page: &MemoryPage) -> Option<Marker> {
    heading_marker(&render_heading(&page.heading)).filter(|_| !page.heading.is_empty())
}

/// The markers of the engine's unchanged entries in a file, pinned or not, and of its heading.
#[must_use]
pub fn own_markers(text: &str) -> BTreeSet<Marker> {
    parse_blocks(text)
        .into_iter()
        .filter_map(|block| match block {
            PageBlock::Ours(marker, _) | PageBlock::Pinned(marker, _) => Some(marker),
            PageBlock::Heading(1, line) => heading_marker(line),
            PageBlock::Altered(..) | PageBlock::Heading(..) | PageBlock::Other(_) => None,
        })
        .collect()
}

/// Whether a text has an entry of the engine's.
#[must_use]
pub fn has_entries(text: &str) -> bool {
    !markers(text).is_empty()
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
            PageBlock::Pinned(..)
            | PageBlock::Altered(..)
            | PageBlock::Heading(..)
            | PageBlock::Other(_) => return false,
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
            PageBlock::Ours(marker, _)
            | PageBlock::Pinned(marker, _)
            | PageBlock::Altered(marker, _) => Some(marker),
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
    /// The name of the entry that it is.
    entry: Option<EntryId>,
    /// A person's lines with their line ends; the engine's without.
    lines: Vec<String>,
}

struct PageMerge<'a> {
    planned: BTreeMap<EntryId, &'a MemoryEntry>,
    /// Entries whose planned version a person refused.
    refused: BTreeSet<EntryId>,
    choices: &'a PageChoices,
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
        choices: &'a PageChoices,
        orphans: Orphans,
        ending: &'static str,
    ) -> Self {
        let entries = page.sections.iter().flat_map(|section| &section.entries);
        let id = |entry: &MemoryEntry| EntryId::of(&entry.key);
        let refused = entries
            .clone()
            .filter(|entry| choices.withheld.contains(&Marker::of(entry)));
        let is_heading_refused =
            planned_heading(page).is_some_and(|marker| choices.withheld.contains(&marker));
        Self {
            placed: BTreeSet::new(),
            refused: refused.map(id).collect(),
            planned: entries.map(|entry| (id(entry), entry)).collect(),
            choices,
            heading: match is_heading_refused {
                true => String::new(),
                false => page.heading.clone(),
            },
            orphans,
            ending,
            section: String::new(),
            pieces: Vec::new(),
        }
    }

    fn add_block(&mut self, block: PageBlock<'_>) {
        match block {
            PageBlock::Ours(marker, lines) => self.add_own_entry(&marker, &lines),
            PageBlock::Pinned(marker, lines) => self.add_pinned_entry(&marker, &lines),
            PageBlock::Altered(marker, lines) => {
                self.placed.insert(marker.id());
                self.push_entry(marker.id(), owned(&lines));
            }
            PageBlock::Heading(1, line) if is_own_heading(line) && !self.heading.is_empty() => {
                self.push(vec![render_heading(&self.heading)]);
            }
            PageBlock::Heading(level, line) => {
                if level == 2 {
                    title(line).clone_into(&mut self.section);
                }
                self.push(owned(&[line]));
            }
            PageBlock::Other(line) => self.push(owned(&[line])),
        }
    }

    /// Adds an entry whose words are the engine's and whose place is a person's: its words follow the memory.
    fn add_pinned_entry(&mut self, marker: &Marker, lines: &[&str]) {
        let id = marker.id();
        let planned = self.planned.get(&id).copied();
        let planned = planned.filter(|_| !self.refused.contains(&id));
        match planned {
            Some(entry) if self.placed.insert(id.clone()) => {
                self.push_entry(id, render_pinned(entry));
            }
            Some(_) | None => self.push_entry(id, owned(lines)),
        }
    }

    fn add_own_entry(&mut self, marker: &Marker, lines: &[&str]) {
        let id = marker.id();
        let planned = self.planned.get(&id).copied();
        let is_kept = match planned {
            Some(_) => self.refused.contains(&id),
            None => self.choices.kept.contains(marker),
        };
        match (planned, self.orphans) {
            _ if is_kept && !self.placed.contains(&id) => {
                self.placed.insert(id.clone());
                self.push_entry(id, owned(lines));
            }
            (Some(entry), _) if !self.placed.contains(&id) => {
                self.placed.insert(id.clone());
                self.push_entry(id, lines_of(entry, self.ending));
            }
            // It leaves its place to what comes instead.
            (Some(_), _) | (None, Orphans::Remove) => self.push_entry(id, Vec::new()),
            (None, Orphans::Keep) => self.push_entry(id, owned(lines)),
            (None, Orphans::Disown) => {
                let own = lines.iter().map(|line| disowned(line)).collect();
                self.push(own);
            }
        }
    }

    fn push(&mut self, lines: Vec<String>) {
        self.pieces.push(PagePiece {
            section: self.section.clone(),
            is_entry: false,
            entry: None,
            lines,
        });
    }

    fn push_entry(&mut self, entry: EntryId, lines: Vec<String>) {
        self.pieces.push(PagePiece {
            section: self.section.clone(),
            is_entry: true,
            entry: Some(entry),
            lines,
        });
    }

    fn add_missing(&mut self, page: &MemoryPage) {
        for section in &page.sections {
            let missing: Vec<&MemoryEntry> = section
                .entries
                .iter()
                .filter(|entry| !self.refused.contains(&EntryId::of(&entry.key)))
                .filter(|entry| self.placed.insert(EntryId::of(&entry.key)))
                .collect();
            if missing.iter().any(|entry| is_log_entry(entry)) {
                self.add_in_order(section, &missing);
            } else if !missing.is_empty() {
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
        let pieces = missing
            .iter()
            .map(|entry| new_piece(section, entry, self.ending));
        self.pieces.splice(at..at, pieces);
    }

    /// Adds entries of a log, each behind the one before it: a log that is made anew is then the same.
    fn add_in_order(&mut self, section: &MemorySection, missing: &[&MemoryEntry]) {
        let missing: BTreeSet<&str> = missing.iter().map(|entry| entry.key.as_str()).collect();
        let ids = section.entries.iter().map(|entry| EntryId::of(&entry.key));
        let known: BTreeSet<EntryId> = ids.collect();
        let here = self.pieces.iter().filter_map(|piece| piece.entry.as_ref());
        let here: BTreeSet<EntryId> = here.filter(|id| known.contains(*id)).cloned().collect();
        let mut before: Option<EntryId> = None;
        let mut ahead = Vec::new();
        for entry in &section.entries {
            let id = EntryId::of(&entry.key);
            let is_missing = missing.contains(entry.key.as_str());
            match &before {
                Some(before) if is_missing => {
                    let is_at = |piece: &PagePiece| piece.entry.as_ref() == Some(before);
                    let place = self
                        .pieces
                        .iter()
                        .rposition(is_at)
                        .map_or(0, |place| place + 1);
                    self.pieces
                        .insert(place, new_piece(section, entry, self.ending));
                }
                None if is_missing => {
                    ahead.push(entry);
                    continue;
                }
                Some(_) | None => {}
            }
            if is_missing || here.contains(&id) {
                before = Some(id);
            }
        }
        let is_known = |piece: &PagePiece| {
            let entry = piece.entry.as_ref();
            entry.is_some_and(|id| known.contains(id))
        };
        match self.pieces.iter().position(is_known) {
            Some(first) => {
                let pieces = ahead
                    .into_iter()
                    .map(|entry| new_piece(section, entry, self.ending));
                self.pieces.splice(first..first, pieces);
            }
            None => self.add_to(section, &ahead),
        }
    }

    fn open_section(&mut self, title: &str) {
        let last_line = self
            .pieces
            .iter()
            .rev()
            .find_map(|piece| piece.lines.last());
        let ends_open = last_line.is_some_and(|line| !without_line_end(line).is_empty());
        self.section = title.to_owned();
        if ends_open {
            self.push(vec![self.ending.to_owned()]);
        }
        if !title.is_empty() {
            self.push(vec![format!("## {title}")]);
        }
    }

    /// Moves the pinned entries of each section before its others; everything else keeps its place.
    fn order_pinned_first(&mut self) {
        let is_pinned = |piece: &PagePiece| piece.lines.first().is_some_and(|line| is_pinned(line));
        if !self
            .pieces
            .iter()
            .any(|piece| piece.is_entry && is_pinned(piece))
        {
            return;
        }
        let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, piece) in self.pieces.iter().enumerate() {
            if piece.is_entry {
                places.entry(piece.section.clone()).or_default().push(place);
            }
        }
        for places in places.into_values() {
            let mut entries: Vec<Vec<String>> = places
                .iter()
                .map(|place| std::mem::take(&mut self.pieces[*place].lines))
                .collect();
            let first =
                |lines: &Vec<String>| lines.first().is_some_and(|line| !self::is_pinned(line));
            entries.sort_by_key(first);
            for (place, lines) in places.into_iter().zip(entries) {
                self.pieces[place].lines = lines;
            }
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

/// The lines of an entry. The blank line behind a block is a whole one.
fn lines_of(entry: &MemoryEntry, ending: &str) -> Vec<String> {
    let lines = render(entry).into_iter();
    lines
        .map(|line| {
            if line.is_empty() {
                ending.to_owned()
            } else {
                line
            }
        })
        .collect()
}

fn new_piece(section: &MemorySection, entry: &MemoryEntry, ending: &str) -> PagePiece {
    PagePiece {
        section: section.title.clone(),
        is_entry: true,
        entry: Some(EntryId::of(&entry.key)),
        lines: lines_of(entry, ending),
    }
}

fn owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;

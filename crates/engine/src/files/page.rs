//! A page of memory and what stands in its file: what the engine wants to say, put around what a
//! person has written.
//!
//! The engine owns only entries that carry its marker and still agree with it. Everything else in
//! the file is a person's and stays byte for byte, in its order. An entry that a person changed is
//! not written again beside theirs; one that a person deleted is withheld.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::{
    Block, EntryId, Marker, bare, blocks, is_own_heading, render, render_heading, unmarked,
};
use crate::consolidate::{Entry, Page, Section};

/// What happens to the engine's own entries that the page no longer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orphans {
    /// They are removed: what they said no longer holds, or lost its place.
    Remove,
    /// They are left to the person, without their marker: this database never knew them.
    Disown,
}

/// The page as a new file.
#[must_use]
pub fn fresh(page: &Page, withheld: &BTreeSet<Marker>) -> String {
    let mut out = Vec::new();
    if !page.heading.is_empty() {
        out.push(render_heading(&page.heading));
    }
    for section in &page.sections {
        let entries: Vec<&Entry> = section
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

/// The page merged into what stands in the file.
#[must_use]
pub fn merged(page: &Page, current: &str, withheld: &BTreeSet<Marker>, orphans: Orphans) -> String {
    if orphans == Orphans::Remove && is_untouched(page, current) {
        return fresh(page, withheld);
    }
    // A carriage return at the very end becomes such an ending as soon as a line follows it.
    let ending = if current.contains("\r\n") || current.ends_with('\r') {
        "\r\n"
    } else {
        "\n"
    };
    let mut merge = Merge::new(page, withheld, orphans, ending);
    for block in blocks(current) {
        merge.take(block);
    }
    merge.add_missing(page);
    merge.text()
}

/// Whether nobody but the engine has written in the file: not a line, a heading or a blank.
#[must_use]
pub fn is_untouched(page: &Page, current: &str) -> bool {
    let mut lines: Vec<&str> = Vec::new();
    let mut below_heading = false;
    for block in blocks(current) {
        match block {
            Block::Heading(1, line) if lines.is_empty() && is_own_heading(line) => {
                lines.push(bare(line));
                below_heading = true;
            }
            Block::Heading(2, line) if page.sections.iter().any(|s| s.title == title(line)) => {
                if !lines.is_empty() {
                    lines.push("");
                }
                lines.push(bare(line));
                below_heading = false;
            }
            Block::Ours(_, held) => {
                if std::mem::take(&mut below_heading) {
                    lines.push("");
                }
                lines.extend(held.iter().map(|line| bare(line)));
            }
            Block::Other(line) if bare(line).is_empty() => {}
            Block::Altered(..) | Block::Heading(..) | Block::Other(_) => return false,
        }
    }
    lines.push("");
    lines.join("\n") == current
}

fn title(heading: &str) -> &str {
    bare(heading).trim_start_matches('#').trim()
}

/// Entries that the engine wrote and a person has deleted since, as they were written.
#[must_use]
pub fn deleted(current: &str, written: &str) -> Vec<Marker> {
    let left: BTreeSet<EntryId> = markers(current).iter().map(Marker::id).collect();
    markers(written)
        .into_iter()
        .filter(|marker| !left.contains(&marker.id()))
        .collect()
}

/// The marks in a file, of entries that were changed too.
fn markers(text: &str) -> Vec<Marker> {
    blocks(text)
        .into_iter()
        .filter_map(|block| match block {
            Block::Ours(marker, _) | Block::Altered(marker, _) => Some(marker),
            Block::Heading(..) | Block::Other(_) => None,
        })
        .collect()
}

/// One piece of the file under construction.
struct Piece {
    /// The `##` heading that it stands under.
    section: String,
    /// An entry of the engine's, changed or not: new ones are put behind the last of these.
    is_entry: bool,
    /// A person's lines with their own line ends; the engine's without.
    lines: Vec<String>,
}

struct Merge<'a> {
    planned: BTreeMap<EntryId, &'a Entry>,
    heading: String,
    orphans: Orphans,
    ending: &'static str,
    section: String,
    placed: BTreeSet<EntryId>,
    pieces: Vec<Piece>,
}

impl<'a> Merge<'a> {
    fn new(
        page: &'a Page,
        withheld: &BTreeSet<Marker>,
        orphans: Orphans,
        ending: &'static str,
    ) -> Self {
        let entries = page.sections.iter().flat_map(|section| &section.entries);
        let (kept_back, planned): (Vec<&Entry>, Vec<&Entry>) =
            entries.partition(|entry| withheld.contains(&Marker::of(entry)));
        let id = |entry: &Entry| EntryId::of(&entry.key);
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

    fn take(&mut self, block: Block<'_>) {
        match block {
            Block::Ours(marker, lines) => self.take_ours(marker.id(), lines),
            Block::Altered(marker, lines) => {
                self.placed.insert(marker.id());
                self.put(true, owned(&lines));
            }
            Block::Heading(1, line) if is_own_heading(line) && !self.heading.is_empty() => {
                self.put(false, vec![render_heading(&self.heading)]);
            }
            Block::Heading(level, line) => {
                if level == 2 {
                    title(line).clone_into(&mut self.section);
                }
                self.put(false, owned(&[line]));
            }
            Block::Other(line) => self.put(false, owned(&[line])),
        }
    }

    fn take_ours(&mut self, id: EntryId, lines: Vec<&str>) {
        let planned = self.planned.get(&id).copied();
        match (planned, self.orphans) {
            (Some(entry), _) if !self.placed.contains(&id) => {
                self.placed.insert(id);
                self.put(true, render(entry));
            }
            (Some(_), _) | (None, Orphans::Remove) => {}
            (None, Orphans::Disown) => {
                let own = |line: &&str| format!("{}{}", unmarked(line), &line[bare(line).len()..]);
                let own = lines.iter().map(own).collect();
                self.put(false, own);
            }
        }
    }

    fn put(&mut self, is_entry: bool, lines: Vec<String>) {
        self.pieces.push(Piece {
            section: self.section.clone(),
            is_entry,
            lines,
        });
    }

    fn add_missing(&mut self, page: &Page) {
        for section in &page.sections {
            let missing: Vec<&Entry> = section
                .entries
                .iter()
                .filter(|entry| self.placed.insert(EntryId::of(&entry.key)))
                .collect();
            if !missing.is_empty() {
                self.add_to(section, &missing);
            }
        }
    }

    fn add_to(&mut self, section: &Section, missing: &[&Entry]) {
        let of_section = |piece: &Piece| piece.section == section.title;
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
        let pieces = missing.iter().map(|entry| Piece {
            section: section.title.clone(),
            is_entry: true,
            lines: render(entry),
        });
        self.pieces.splice(at..at, pieces);
    }

    fn open_section(&mut self, title: &str) {
        let last_line = self.pieces.last().and_then(|piece| piece.lines.last());
        let ends_open = last_line.is_some_and(|line| !bare(line).is_empty());
        self.section = title.to_owned();
        if ends_open {
            self.put(false, vec![self.ending.to_owned()]);
        }
        if !title.is_empty() {
            self.put(false, vec![format!("## {title}")]);
        }
    }

    /// The file. A line gets a line end where it has none, but for a person's last one.
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

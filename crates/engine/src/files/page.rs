//! A page of memory and what stands in its file: what the engine wants to say, put around what a
//! person has written.
//!
//! The engine owns only entries that carry its marker and still agree with it. Everything else in
//! the file is a person's and stays byte for byte, in its order. An entry that a person changed is
//! not written again beside theirs; one that a person deleted is withheld.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::{Block, EntryId, bare, blocks, render, unmarked};
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
pub fn fresh(page: &Page, withheld: &BTreeSet<EntryId>) -> String {
    let mut out = Vec::new();
    if !page.heading.is_empty() {
        out.push(format!("# {}", page.heading));
    }
    for section in &page.sections {
        let entries: Vec<&Entry> = section
            .entries
            .iter()
            .filter(|e| !withheld.contains(&EntryId::of(&e.key)))
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

/// The page merged into what stands in the file. `written` is what the engine last wrote there.
#[must_use]
pub fn merged(
    page: &Page,
    current: &str,
    written: Option<&str>,
    withheld: &BTreeSet<EntryId>,
    orphans: Orphans,
) -> String {
    if orphans == Orphans::Remove && written.is_some_and(|written| written == current) {
        return fresh(page, withheld);
    }
    let mut merge = Merge::new(page, written, withheld, orphans);
    for block in blocks(current) {
        merge.take(block);
    }
    merge.add_missing(page);
    merge.text(if current.contains("\r\n") {
        "\r\n"
    } else {
        "\n"
    })
}

/// Entries that the engine wrote and a person has deleted since.
#[must_use]
pub fn deleted(current: &str, written: &str) -> BTreeSet<EntryId> {
    let left = ids(current);
    ids(written).difference(&left).cloned().collect()
}

/// Entries in a file that carry a marker, changed or not.
#[must_use]
pub fn ids(text: &str) -> BTreeSet<EntryId> {
    blocks(text)
        .into_iter()
        .filter_map(|block| match block {
            Block::Ours(id, _) | Block::Altered(id, _) => Some(id),
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
    old_heading: Option<String>,
    orphans: Orphans,
    section: String,
    placed: BTreeSet<EntryId>,
    pieces: Vec<Piece>,
}

impl<'a> Merge<'a> {
    fn new(
        page: &'a Page,
        written: Option<&str>,
        withheld: &BTreeSet<EntryId>,
        orphans: Orphans,
    ) -> Self {
        let entries = page.sections.iter().flat_map(|section| &section.entries);
        Self {
            planned: entries
                .map(|entry| (EntryId::of(&entry.key), entry))
                .collect(),
            heading: page.heading.clone(),
            old_heading: written
                .and_then(|text| text.lines().next())
                .map(str::to_owned),
            orphans,
            section: String::new(),
            placed: withheld.clone(),
            pieces: Vec::new(),
        }
    }

    fn take(&mut self, block: Block<'_>) {
        match block {
            Block::Ours(id, lines) => self.take_ours(id, lines),
            Block::Altered(id, lines) => {
                self.placed.insert(id);
                self.put(true, owned(&lines));
            }
            Block::Heading(1, line) if self.old_heading.as_deref() == Some(bare(line)) => {
                self.put(false, vec![format!("# {}", self.heading)]);
            }
            Block::Heading(level, line) => {
                if level == 2 {
                    self.section = bare(line).trim_start_matches('#').trim().to_owned();
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
                let own = lines.iter().map(|line| unmarked(line).to_owned()).collect();
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
            self.put(false, vec![String::new()]);
        }
        if !title.is_empty() {
            self.put(false, vec![format!("## {title}")]);
        }
    }

    /// The file. A line gets a line end where it has none, but for a person's last one.
    fn text(self, ending: &str) -> String {
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

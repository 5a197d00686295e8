//! Entries of a memory file: a list item, further lines under it, and a marker that shows its owner.
//!
//! A page's heading is marked like an entry. A marker is `^` and ten characters at the end of the item: six
//! name the entry, four are a check of its words. While the check agrees, the entry is the engine's; once
//! it does not, a person has changed the words, and the entry is theirs. The form is that of block
//! references in Markdown note takers, which hide it when the page is read. Files of rollouts hold entries of another
//! form, see [`block`].
//!
//! The word `#pinned` before the marker, or after it, is a person's: it keeps the entry on its page. The check is
//! of the words without it, so the engine still updates the words of a pinned entry that are its own.
//!
//! Not here: which entries a page has (`page`).

pub mod block;

use daybook_domain::EventId;

use daybook_text::fence::one_line;

use crate::consolidate::MemoryEntry;

const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
const ID: usize = 6;
const CHECK: usize = 4;
/// The word that keeps an entry on its page, with the blank before it.
const PIN: &str = " #pinned";

/// A name of an entry within its file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(String);

impl EntryId {
    /// The name of the entry with this key.
    #[must_use]
    pub fn of(key: &str) -> Self {
        Self(letters(EventId::of(&[b"entry", key.as_bytes()]).0, ID))
    }

    /// The six characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The whole marker of an engine's entry: its name, and the check of its words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Marker(String);

impl Marker {
    /// The marker of an entry as it would be written now.
    #[must_use]
    pub fn of(entry: &MemoryEntry) -> Self {
        let lines = plain_lines(entry);
        let check = check(lines.iter().map(String::as_str));
        Self(format!("{}{check}", EntryId::of(&entry.key).0))
    }

    /// Parses a marker from a file, without the `^`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let known = text.len() == ID + CHECK && text.bytes().all(|byte| LETTERS.contains(&byte));
        known.then(|| Self(text.to_owned()))
    }

    /// The name of the marked entry.
    #[must_use]
    pub fn id(&self) -> EntryId {
        EntryId(self.0[..ID].to_owned())
    }

    /// The ten characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn check(&self) -> &str {
        &self.0[ID..]
    }
}

/// A piece of a memory file, with its line ends. All pieces joined are the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageBlock<'a> {
    /// An entry that the engine wrote and that is unchanged.
    Ours(Marker, Vec<&'a str>),
    /// An entry that the engine wrote and a person pinned, without changing its words.
    Pinned(Marker, Vec<&'a str>),
    /// An entry that the engine wrote and a person changed.
    Altered(Marker, Vec<&'a str>),
    /// A heading of the first or second level: its level and its line.
    Heading(usize, &'a str),
    /// Anything else: one line.
    Other(&'a str),
}

/// Renders the lines of an entry with the engine's marker.
#[must_use]
pub fn render(entry: &MemoryEntry) -> Vec<String> {
    let mut lines = plain_lines(entry);
    if let Some(first) = lines.first_mut() {
        first.push_str(&format!(" ^{}", Marker::of(entry).0));
    }
    lines
}

/// Renders the lines of an entry with the engine's marker, and the pin of a person before it.
#[must_use]
pub fn render_pinned(entry: &MemoryEntry) -> Vec<String> {
    let mut lines = plain_lines(entry);
    if let Some(first) = lines.first_mut() {
        first.push_str(&format!("{PIN} ^{}", Marker::of(entry).0));
    }
    lines
}

/// Whether a line carries a marker and the word that pins its entry.
#[must_use]
pub fn is_pinned(line: &str) -> bool {
    split_marker(without_line_end(line)).is_some_and(|(words, _)| words.ends_with(PIN))
        || split_late_pin(without_line_end(line)).is_some()
}

/// An entry's lines, joined, with the word that pins it, or without.
#[must_use]
pub fn with_pin(entry: &str, pinned: bool) -> String {
    let end = entry.find('\n').map_or(entry.len(), |at| at + 1);
    let (first, below) = entry.split_at(end);
    let line = without_line_end(first);
    let late = split_late_pin(line);
    let Some((words, marker)) = late.or_else(|| split_marker(line)) else {
        return entry.to_owned();
    };
    let words = words.strip_suffix(PIN).unwrap_or(words);
    let pin = if pinned { PIN } else { "" };
    let line_end = &first[line.len()..];
    format!("{words}{pin} ^{}{line_end}{below}", marker.as_str())
}

fn plain_lines(entry: &MemoryEntry) -> Vec<String> {
    let item = |(n, line): (usize, &String)| {
        format!("{}{}", if n == 0 { "- " } else { "  - " }, one_line(line))
    };
    entry.lines.iter().enumerate().map(item).collect()
}

/// Renders a page's heading with the engine's marker.
#[must_use]
pub fn render_heading(words: &str) -> String {
    let line = format!("# {}", one_line(words));
    let check = check(std::iter::once(line.as_str()));
    format!("{line} ^{}{check}", EntryId::of("heading").0)
}

/// Whether the engine wrote a heading and it is unchanged.
#[must_use]
pub fn is_own_heading(line: &str) -> bool {
    let marked = split_marker(without_line_end(line)).filter(|_| line.starts_with("# "));
    marked.is_some_and(|(words, marker)| check(std::iter::once(words)) == marker.check())
}

/// The marker of a heading that the engine wrote and that is unchanged.
#[must_use]
pub fn heading_marker(line: &str) -> Option<Marker> {
    let marked = split_marker(without_line_end(line)).filter(|_| is_own_heading(line));
    marked.map(|(_, marker)| marker)
}

/// An entry or heading of the engine with other words: its name stays, and the check is made anew.
#[must_use]
pub fn re_marked(text: &str, change: impl Fn(&str) -> String) -> String {
    if let Some(block) = block::re_marked(text, &change) {
        return block;
    }
    let end = text.find('\n').map_or(text.len(), |at| at + 1);
    let (first, below) = text.split_at(end);
    let Some((words, marker)) = split_marker(without_line_end(first)) else {
        return text.to_owned();
    };
    let line_end = &first[without_line_end(first).len()..];
    let after = change(&format!("{words}{line_end}{below}"));
    let end = after.find('\n').map_or(after.len(), |at| at + 1);
    let (first, below) = after.split_at(end);
    let line_end = &first[without_line_end(first).len()..];
    let words = without_line_end(first);
    let lines = below.lines().map(without_line_end);
    let check = check(std::iter::once(words).chain(lines));
    format!("{words} ^{}{check}{line_end}{below}", marker.id().as_str())
}

/// A line without its marker and its line end.
#[must_use]
pub fn without_marker(line: &str) -> &str {
    let line = without_line_end(line);
    split_pinned_marker(line).map_or(line, |(words, _)| words)
}

/// The marker of an entry's first line; `None` for other lines.
#[must_use]
pub fn marker_of(line: &str) -> Option<Marker> {
    split_pinned_marker(without_line_end(line)).map(|(_, marker)| marker)
}

/// The words of a line before its marker and without a pin, and the marker.
fn split_pinned_marker(line: &str) -> Option<(&str, Marker)> {
    let (words, marker) = split_late_pin(line).or_else(|| split_marker(line))?;
    Some((words.strip_suffix(PIN).unwrap_or(words), marker))
}

/// Splits a line whose pin a person typed after the marker.
fn split_late_pin(line: &str) -> Option<(&str, Marker)> {
    split_marker(line.trim_end().strip_suffix(PIN)?)
}

/// A line without its line end.
#[must_use]
pub fn without_line_end(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r'])
}

/// Splits a file's text into blocks.
#[must_use]
pub fn parse_blocks(text: &str) -> Vec<PageBlock<'_>> {
    let mut blocks = Vec::new();
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if let Some(block) = block::take_block(line, &mut lines) {
            blocks.push(block);
            continue;
        }
        let marked = split_pinned_marker(without_line_end(line)).filter(|_| line.starts_with("- "));
        let Some((words, marker)) = marked else {
            blocks.push(plain_block(line));
            continue;
        };
        let mut held = vec![line];
        while let Some(under) = lines.next_if(|next| next.starts_with("  ")) {
            held.push(under);
        }
        let under = held.iter().skip(1).map(|line| without_line_end(line));
        let intact = check(std::iter::once(words).chain(under)) == marker.check();
        let block = match (intact, is_pinned(line)) {
            (true, false) => PageBlock::Ours,
            (true, true) => PageBlock::Pinned,
            (false, _) => PageBlock::Altered,
        };
        blocks.push(block(marker, held));
    }
    blocks
}

fn plain_block(line: &str) -> PageBlock<'_> {
    match () {
        () if line.starts_with("# ") => PageBlock::Heading(1, line),
        () if line.starts_with("## ") => PageBlock::Heading(2, line),
        () => PageBlock::Other(line),
    }
}

fn split_marker(line: &str) -> Option<(&str, Marker)> {
    if !line.starts_with("- ") && !line.starts_with("# ") {
        return None;
    }
    // Searching for one character is much faster than for two.
    let (words, marker) = line.trim_end().rsplit_once('^')?;
    Some((words.strip_suffix(' ')?, Marker::parse(marker)?))
}

fn check<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines: Vec<&[u8]> = lines.map(str::as_bytes).collect();
    letters(EventId::of(&lines).0, CHECK)
}

fn letters(mut bits: u128, count: usize) -> String {
    let mut text = String::with_capacity(count);
    for _ in 0..count {
        text.push(char::from(LETTERS[(bits & 31) as usize]));
        bits >>= 5;
    }
    text
}

//! Entries of a memory file: a list item, further lines under it, and a marker that shows its owner.
//!
//! A page's heading is marked like an entry, within a comment, because a heading is shown in outlines as it is. A marker is `^` and ten characters at the end of the item: six
//! name the entry, four are a check of its words. While the check agrees, the entry is the engine's; once
//! it does not, a person has changed the words, and the entry is theirs. The form is that of block
//! references in Markdown note takers, which hide it when the page is read. Files that other systems read, too, hold
//! entries of other forms: [`block`] in files of rollouts, [`log_block`] and `id_line` in logs of observations.
//!
//! The word `#pinned` before the marker, or after it, is a person's: it keeps the entry on its page. The check is
//! of the words without it, so the engine still updates the words of a pinned entry that are its own.
//!
//! Not here: which entries a page has (`page`).

pub mod block;
mod id_line;
pub mod log_block;

use std::borrow::Cow;

use daybook_domain::EventId;

use daybook_text::fence::one_line;

use crate::consolidate::MemoryEntry;

use id_line::IdLine;

const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
const ID: usize = 6;
const CHECK: usize = 4;
/// What is before and behind a marker in a heading. Older files have it as entries do, which is still read.
const IN_HEADING: [&str; 2] = [" <!-- ^", " -->"];
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

    /// Parses the six characters.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let known = text.len() == ID && text.bytes().all(|byte| LETTERS.contains(&byte));
        known.then(|| Self(text.to_owned()))
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
        *first = marked(first, &Marker::of(entry));
    }
    if is_log_block(entry) {
        lines.push(String::new());
    }
    lines
}

/// Renders the lines of an entry with the engine's marker, and the pin of a person before it.
#[must_use]
pub fn render_pinned(entry: &MemoryEntry) -> Vec<String> {
    let mut lines = render(entry);
    if let Some(first) = lines.first_mut() {
        *first = with_pin(first, true);
    }
    lines
}

/// A planned first line with its marker.
fn marked(plain: &str, marker: &Marker) -> String {
    let [before, behind] = IN_HEADING;
    match plain {
        plain if id_line::is_planned(plain) => id_line::render(plain, marker),
        plain if plain.starts_with("# ") => format!("{plain}{before}{}{behind}", marker.0),
        plain => format!("{plain} ^{}", marker.0),
    }
}

/// Whether an entry is a block of a log.
#[must_use]
pub fn is_log_block(entry: &MemoryEntry) -> bool {
    let first = entry.lines.first();
    first.is_some_and(|line| log_block::is_heading(line))
}

/// Whether an entry belongs to a log, in which entries stand in the order of their times.
#[must_use]
pub fn is_log_entry(entry: &MemoryEntry) -> bool {
    let first = entry.lines.first();
    is_log_block(entry) || first.is_some_and(|line| id_line::is_planned(&format!("- {line}")))
}

/// What an entry of a file says, with the place of that line among its lines: the first one, without its marker; of a
/// block of a log, its text.
#[must_use]
pub fn main_words<'t>(held: &[&'t str]) -> (usize, &'t str) {
    let first = held.first().copied().unwrap_or_default();
    log_block::text_of(held).unwrap_or_else(|| (0, without_marker(first).trim()))
}

/// Whether a line carries a marker and the word that pins its entry.
#[must_use]
pub fn is_pinned(line: &str) -> bool {
    if let Some(line) = IdLine::parse(line) {
        return line.is_pinned;
    }
    split_marker(without_line_end(line)).is_some_and(|(words, _)| words.ends_with(PIN))
        || split_late_pin(without_line_end(line)).is_some()
}

/// An entry's lines, joined, with the word that pins it, or without.
#[must_use]
pub fn with_pin(entry: &str, pinned: bool) -> String {
    let end = entry.find('\n').map_or(entry.len(), |at| at + 1);
    let (first, below) = entry.split_at(end);
    let line = without_line_end(first);
    let line_end = &first[line.len()..];
    if let Some(line) = IdLine::parse(line) {
        return format!("{}{line_end}{below}", line.with_pin(pinned));
    }
    let late = split_late_pin(line);
    let Some((words, marker)) = late.or_else(|| split_marker(line)) else {
        return entry.to_owned();
    };
    let words = words.strip_suffix(PIN).unwrap_or(words);
    let pin = if pinned { PIN } else { "" };
    format!("{words}{pin} ^{}{line_end}{below}", marker.as_str())
}

fn plain_lines(entry: &MemoryEntry) -> Vec<String> {
    if is_log_block(entry) {
        return entry.lines.iter().map(|line| one_line(line)).collect();
    }
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
    let marker = Marker(format!("{}{check}", EntryId::of("heading").0));
    marked(&line, &marker)
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
    let id_line = IdLine::parse(first).map(|line| (line.plain, line.marker));
    let own = split_marker(without_line_end(first));
    let own = own.map(|(words, marker)| (words.to_owned(), marker));
    let Some((words, marker)) = id_line.or(own) else {
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
    let marker = Marker(format!("{}{check}", marker.id().as_str()));
    format!("{}{line_end}{below}", marked(words, &marker))
}

/// A line of the engine's as a person's own: without its marker.
#[must_use]
pub fn disowned(line: &str) -> String {
    let line_end = &line[without_line_end(line).len()..];
    let own = match IdLine::parse(line) {
        Some(line) => line.plain,
        None => without_marker(line).to_owned(),
    };
    format!("{own}{line_end}")
}

/// The first line of an entry with other words, which may begin with a dash. Its marker stays, so that it is known as
/// changed.
#[must_use]
pub fn with_words(line: &str, words: &str) -> String {
    if let Some(line) = IdLine::parse(line) {
        return line.with_words(words.trim_start_matches("- "));
    }
    let pin = if is_pinned(line) { PIN } else { "" };
    let marker = marker_of(line).map(|marker| format!("{pin} ^{}", marker.0));
    format!("{words}{}", marker.unwrap_or_default())
}

/// A line without its marker and its line end; of a line with an id, its words.
#[must_use]
pub fn without_marker(line: &str) -> &str {
    let line = without_line_end(line);
    if let Some(line) = IdLine::parse(line) {
        return line.words();
    }
    if let Some((heading, _)) = log_block::split_heading(line) {
        return heading;
    }
    split_pinned_marker(line).map_or(line, |(words, _)| words)
}

/// The marker of an entry's first line; `None` for other lines.
#[must_use]
pub fn marker_of(line: &str) -> Option<Marker> {
    let id_line = IdLine::parse(line).map(|line| line.marker);
    id_line.or_else(|| Some(split_pinned_marker(without_line_end(line))?.1))
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
        let block = block::take_block(line, &mut lines);
        if let Some(block) = block.or_else(|| log_block::take_block(line, &mut lines)) {
            blocks.push(block);
            continue;
        }
        let Some((words, marker)) = marked_item(line) else {
            blocks.push(plain_block(line));
            continue;
        };
        let mut held = vec![line];
        while let Some(under) = lines.next_if(|next| next.starts_with("  ")) {
            held.push(under);
        }
        let under = held.iter().skip(1).map(|line| without_line_end(line));
        let intact = check(std::iter::once(&*words).chain(under)) == marker.check();
        let block = match (intact, is_pinned(line)) {
            (true, false) => PageBlock::Ours,
            (true, true) => PageBlock::Pinned,
            (false, _) => PageBlock::Altered,
        };
        blocks.push(block(marker, held));
    }
    blocks
}

/// The words that the check of a list item is made of, and its marker.
fn marked_item(line: &str) -> Option<(Cow<'_, str>, Marker)> {
    if !line.starts_with("- ") {
        return None;
    }
    if let Some(line) = IdLine::parse(line) {
        return Some((Cow::Owned(line.plain), line.marker));
    }
    let (words, marker) = split_pinned_marker(without_line_end(line))?;
    Some((Cow::Borrowed(words), marker))
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
    let line = line.trim_end();
    let [before, behind] = IN_HEADING;
    if let Some(commented) = line.strip_suffix(behind).filter(|_| line.starts_with("# ")) {
        let (words, marker) = commented.rsplit_once(before)?;
        return Some((words, Marker::parse(marker)?));
    }
    // Searching for one character is much faster than for two.
    let (words, marker) = line.rsplit_once('^')?;
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

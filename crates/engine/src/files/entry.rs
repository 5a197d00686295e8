//! Entries as they stand in a file: a list item, further lines under it, and a marker that says
//! whose it is.
//!
//! A page's heading is marked like an entry. A marker is `^` and ten characters at the end of the item: six name the entry, four are a check
//! of its words. While the check agrees, the entry is the engine's; once it does not, a person has
//! changed the words, and the entry is theirs. The form is that of block references in Markdown
//! note takers, which hide it when the page is read.
//!
//! Not here: which entries a page should have. That is `page`.

use daybook_domain::EventId;

use crate::consolidate::Entry;

const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
const ID: usize = 6;
const CHECK: usize = 4;

/// A name of an entry within its file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(String);

impl EntryId {
    /// The name of what has this key.
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

/// The whole mark that an entry of the engine's carries: its name, and the check of its words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Marker(String);

impl Marker {
    /// The mark of an entry as it would be written now.
    #[must_use]
    pub fn of(entry: &Entry) -> Self {
        let lines = plain_lines(entry);
        let check = check(lines.iter().map(String::as_str));
        Self(format!("{}{check}", EntryId::of(&entry.key).0))
    }

    /// A mark as it stands in a file, without the `^`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let known = text.len() == ID + CHECK && text.bytes().all(|byte| LETTERS.contains(&byte));
        known.then(|| Self(text.to_owned()))
    }

    /// The entry that it names.
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

/// A piece of a memory file, with its line ends: pieces put together again are the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block<'a> {
    /// An entry that the engine wrote and nobody changed.
    Ours(Marker, Vec<&'a str>),
    /// An entry that the engine wrote and a person changed.
    Altered(Marker, Vec<&'a str>),
    /// A heading of the first or second level: its level and its line.
    Heading(usize, &'a str),
    /// Anything else: one line.
    Other(&'a str),
}

/// The lines of an entry, marked as the engine's.
#[must_use]
pub fn render(entry: &Entry) -> Vec<String> {
    let mut lines = plain_lines(entry);
    if let Some(first) = lines.first_mut() {
        first.push_str(&format!(" ^{}", Marker::of(entry).0));
    }
    lines
}

fn plain_lines(entry: &Entry) -> Vec<String> {
    let item = |(n, line): (usize, &String)| {
        format!("{}{}", if n == 0 { "- " } else { "  - " }, one_line(line))
    };
    entry.lines.iter().enumerate().map(item).collect()
}

/// A page's heading, marked as the engine's.
#[must_use]
pub fn render_heading(words: &str) -> String {
    let line = format!("# {}", one_line(words));
    let check = check(std::iter::once(line.as_str()));
    format!("{line} ^{}{check}", EntryId::of("heading").0)
}

/// Whether a heading is one that the engine wrote and nobody changed.
#[must_use]
pub fn is_own_heading(line: &str) -> bool {
    let marked = split_marker(bare(line)).filter(|_| line.starts_with("# "));
    marked.is_some_and(|(words, marker)| check(std::iter::once(words)) == marker.check())
}

/// A line without its marker and its line end.
#[must_use]
pub fn unmarked(line: &str) -> &str {
    let line = bare(line);
    split_marker(line).map_or(line, |(words, _)| words)
}

/// A line without its line end.
#[must_use]
pub fn bare(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r'])
}

/// Cuts a file's text into blocks.
#[must_use]
pub fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let marked = split_marker(bare(line)).filter(|_| line.starts_with("- "));
        let Some((words, marker)) = marked else {
            blocks.push(plain(line));
            continue;
        };
        let mut held = vec![line];
        while let Some(under) = lines.next_if(|next| next.starts_with("  ")) {
            held.push(under);
        }
        let under = held.iter().skip(1).map(|line| bare(line));
        let intact = check(std::iter::once(words).chain(under)) == marker.check();
        let block = if intact { Block::Ours } else { Block::Altered };
        blocks.push(block(marker, held));
    }
    blocks
}

fn plain(line: &str) -> Block<'_> {
    match () {
        () if line.starts_with("# ") => Block::Heading(1, line),
        () if line.starts_with("## ") => Block::Heading(2, line),
        () => Block::Other(line),
    }
}

fn split_marker(line: &str) -> Option<(&str, Marker)> {
    if !line.starts_with("- ") && !line.starts_with("# ") {
        return None;
    }
    let (words, marker) = line.trim_end().rsplit_once(" ^")?;
    Some((words, Marker::parse(marker)?))
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

/// Words in one line, without characters that would end it.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

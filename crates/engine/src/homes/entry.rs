//! One entry of a memory file: what it states, and which bytes state it.

use std::ops::Range;

use daybook_domain::{ObservationKind, Timestamp};

/// Whose memory an entry is, as its home files it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum HomeOwner {
    /// The person of the data folder.
    Person,
    /// A user, by name.
    User(String),
    /// An agent, by name.
    Agent(String),
    /// A team, by its id, such as `alpha+beta`.
    Team(String),
    /// A room, by the name of its folder.
    Room(String),
}

/// Who wrote an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EntryAuthor {
    /// The person of the data folder.
    Person,
    /// An agent, also where it repeats its person.
    #[default]
    Agent,
    /// Another person or program: it was taken from a page or a message.
    Outside,
}

/// One entry of a memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeEntry {
    /// The bytes of the entry with its markup. Entries that share one line have the same.
    pub whole: Range<usize>,
    /// The bytes of its words: what an edit replaces.
    pub words: Range<usize>,
    /// Its first line, counted from 1.
    pub line: u32,
    /// Its words on one line.
    pub text: String,
    /// What makes it understandable: the headings above it, or what the file itself gives as context.
    pub context: Option<String>,
    /// What sort of thing it is.
    pub kind: ObservationKind,
    /// Who wrote it.
    pub author: EntryAuthor,
    /// When it was learned, where the file names a time.
    pub at: Option<Timestamp>,
    /// The folder that it is about.
    pub folder: Option<String>,
}

impl HomeEntry {
    /// An entry of `words` in `text`, within `whole`.
    pub(super) fn new(text: &str, whole: Range<usize>, words: Range<usize>, line: usize) -> Self {
        Self {
            text: one_line(&text[words.clone()]),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            whole,
            words,
            context: None,
            kind: ObservationKind::Fact,
            author: EntryAuthor::Agent,
            at: None,
            folder: None,
        }
    }
}

/// One line of a file: its bytes without the line end, and where they begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileLine<'a> {
    /// Its number, counted from 1.
    pub(super) number: usize,
    /// Its first byte.
    pub(super) start: usize,
    /// The first byte behind its line end.
    pub(super) end: usize,
    /// Its text.
    pub(super) text: &'a str,
}

impl FileLine<'_> {
    /// The bytes of its text behind `before` bytes of markup, without white space at both ends.
    pub(super) fn words_after(&self, before: usize) -> Range<usize> {
        let rest = &self.text[before..];
        let start = self.start + before + (rest.len() - rest.trim_start().len());
        let length = rest.trim().len();
        start..start + length
    }
}

/// The lines of a text, whatever its line ends.
pub(super) fn lines(text: &str) -> impl Iterator<Item = FileLine<'_>> {
    let mut start = 0;
    text.split_inclusive('\n')
        .enumerate()
        .map(move |(nth, whole)| {
            let line = FileLine {
                number: nth + 1,
                start,
                end: start + whole.len(),
                text: whole.trim_end_matches(['\n', '\r']),
            };
            start = line.end;
            line
        })
}

/// The words of a text on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The length of the marker of a list item at the beginning of a line, with its indentation: `- `, `* ` or `1. `.
pub(super) fn item_marker(line: &str) -> Option<usize> {
    let rest = line.trim_start();
    let indent = line.len() - rest.len();
    if ["- ", "* ", "+ "].iter().any(|mark| rest.starts_with(mark)) {
        return Some(indent + 2);
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let is_numbered = digits > 0 && rest[digits..].starts_with(". ");
    is_numbered.then_some(indent + digits + 2)
}

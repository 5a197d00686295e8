//! The block in which Codex's agents say which memories they used, at the end of an answer.
//!
//! The block is for programs: it is taken out of every text that people see or that is learned from, and what it
//! names counts as used. It may arrive in parts that are cut anywhere ([`CitationStream`]); the parts of a text give
//! the same as the whole text.
//!
//! Not here: which sessions the ids mean, and what a use is worth.

use std::borrow::Cow;

use daybook_domain::{Event, Origin};

const OPEN: &str = "<oai-mem-citation>";
const CLOSE: &str = "</oai-mem-citation>";
/// Longest block that is recognised, in bytes; more is text. A stream holds no more back.
const BLOCK: usize = 64 * 1024;
/// Most entries, and most ids, that are read of all blocks of a text.
const ENTRIES: usize = 256;
/// The list of the sessions that were used; the second name is the older one.
const IDS: [&str; 2] = ["rollout_ids", "thread_ids"];

/// The memories that a text's blocks name.
///
/// ```
/// use daybook_text::citation_block::{CitationBlock, split};
///
/// let answer = "The limit is 50.\n<oai-mem-citation>\n<citation_entries>\nMEMORY.md:3-4|note=[limit]\n\
///     </citation_entries>\n<rollout_ids>\n0194f5a6-89ab-7cde-8123-456789abcdef\n</rollout_ids>\n</oai-mem-citation>";
/// let (visible, cited) = split(answer);
/// assert_eq!(visible, "The limit is 50.\n");
/// assert_eq!((cited.entries[0].first, cited.entries[0].last), (3, 4));
/// assert_eq!(cited.sessions, ["0194f5a6-89ab-7cde-8123-456789abcdef"]);
/// assert_ne!(cited, CitationBlock::default());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CitationBlock {
    /// The cited lines of memory files, in order. Malformed entries are passed over.
    pub entries: Vec<CitedLines>,
    /// The hosts' ids of the sessions that the cited memories come from, each once, in order. What is no id is passed
    /// over.
    pub sessions: Vec<String>,
}

/// Cited lines of one memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitedLines {
    /// The file's path in its memory folder.
    pub path: String,
    /// The first line, counted from 1.
    pub first: u32,
    /// The last line.
    pub last: u32,
    /// What it was used for.
    pub note: String,
}

impl CitationBlock {
    fn add(&mut self, block: &str) {
        let entries = content(block, "citation_entries").lines();
        for entry in entries.filter_map(CitedLines::parse) {
            if self.entries.len() < ENTRIES {
                self.entries.push(entry);
            }
        }
        for id in IDS.iter().flat_map(|name| content(block, name).lines()) {
            let id = id.trim();
            let is_new = !self.sessions.iter().any(|known| known == id);
            if is_uuid(id) && is_new && self.sessions.len() < ENTRIES {
                self.sessions.push(id.to_owned());
            }
        }
    }
}

impl CitedLines {
    /// Reads `MEMORY.md:234-236|note=[why]`.
    fn parse(line: &str) -> Option<Self> {
        let (place, note) = line.trim().split_once("|note=[")?;
        let note = note.strip_suffix(']')?;
        let (path, lines) = place.rsplit_once(':')?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (!path.is_empty() && 0 < first && first <= last).then(|| Self {
            path: path.to_owned(),
            first,
            last,
            note: note.to_owned(),
        })
    }
}

/// The text between the tags of an element; empty without it. An element that is not closed reaches to the end.
fn content<'t>(block: &'t str, name: &str) -> &'t str {
    let Some((_, rest)) = block.split_once(&format!("<{name}>")) else {
        return "";
    };
    rest.split_once(&format!("</{name}>"))
        .map_or(rest, |(inner, _)| inner)
}

fn is_uuid(id: &str) -> bool {
    let groups = id.split('-').map(str::len);
    groups.eq([8, 4, 4, 4, 12]) && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// The text without its blocks, and the memories that they name.
#[must_use]
pub fn split(text: &str) -> (Cow<'_, str>, CitationBlock) {
    let mut cited = CitationBlock::default();
    if !text.contains(OPEN) {
        return (Cow::Borrowed(text), cited);
    }
    let mut visible = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        visible.push_str(before);
        match block_at_start(after, Ended::Yes) {
            Found::Block { body, rest: behind } => {
                cited.add(body);
                rest = behind;
            }
            Found::Text | Found::Open => {
                visible.push_str(OPEN);
                rest = after;
            }
        }
    }
    visible.push_str(rest);
    (Cow::Owned(visible), cited)
}

/// Takes the blocks out of an agent's event: events that an older version stored have them in their text.
pub fn hide_in(event: &mut Event) {
    if event.origin == Origin::Assistant
        && let (Cow::Owned(visible), _) = split(&event.text)
    {
        visible.trim_end().clone_into(&mut event.text);
    }
}

/// Whether more of a text may come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    Yes,
    NotYet,
}

/// What follows an opening tag.
enum Found<'t> {
    /// The block's content, and the text behind it.
    Block { body: &'t str, rest: &'t str },
    /// The tag is text like any other.
    Text,
    /// It cannot be known yet.
    Open,
}

/// A block that is closed is one whatever it holds. One that is not, because its text was cut off, must begin like one:
/// an answer may speak of the tag.
fn block_at_start(after: &str, ended: Ended) -> Found<'_> {
    if let Some((body, rest)) = after.split_once(CLOSE) {
        return match body.len() <= BLOCK {
            true => Found::Block { body, rest },
            false => Found::Text,
        };
    }
    let longest = BLOCK + CLOSE.len();
    match ended {
        _ if after.len() > longest => Found::Text,
        Ended::NotYet => Found::Open,
        Ended::Yes => {
            let begins = after.trim_start();
            let names = ["citation_entries"].into_iter().chain(IDS);
            let is_block = names.map(|name| format!("<{name}>")).any(|tag| {
                // The cut may go through the first tag.
                begins.starts_with(&tag) || tag.starts_with(begins)
            });
            match is_block {
                true => Found::Block {
                    body: after,
                    rest: "",
                },
                false => Found::Text,
            }
        }
    }
}

/// Takes blocks out of a text that arrives in parts, for hosts that show an answer while it is made.
///
/// ```
/// use daybook_text::citation_block::CitationStream;
///
/// let mut stream = CitationStream::default();
/// assert_eq!(stream.push("Done. <oai-mem"), "Done. ");
/// assert_eq!(stream.push("-citation><rollout_ids></rollout_ids>"), "");
/// let (rest, cited) = stream.finish();
/// assert_eq!((rest.as_str(), cited.sessions.len()), ("", 0));
/// ```
#[derive(Debug, Default)]
pub struct CitationStream {
    /// What cannot be shown yet: the beginning of a tag, or a block without its end.
    held: String,
    cited: CitationBlock,
}

impl CitationStream {
    /// Takes the next part, and returns what can be shown of the text now.
    #[must_use]
    pub fn push(&mut self, part: &str) -> String {
        self.held.push_str(part);
        self.advance(Ended::NotYet)
    }

    /// Ends the text: returns the rest of what can be shown, and the memories that were named.
    #[must_use]
    pub fn finish(mut self) -> (String, CitationBlock) {
        let rest = self.advance(Ended::Yes);
        (rest, self.cited)
    }

    fn advance(&mut self, ended: Ended) -> String {
        let mut visible = String::new();
        let mut rest = std::mem::take(&mut self.held);
        while let Some(at) = rest.find(OPEN) {
            let after = &rest[at + OPEN.len()..];
            match block_at_start(after, ended) {
                Found::Block { body, rest: behind } => {
                    self.cited.add(body);
                    visible.push_str(&rest[..at]);
                    rest = behind.to_owned();
                }
                Found::Text => {
                    visible.push_str(&rest[..at + OPEN.len()]);
                    rest = after.to_owned();
                }
                Found::Open => {
                    visible.push_str(&rest[..at]);
                    self.held = rest.split_off(at);
                    return visible;
                }
            }
        }
        let keep = match ended {
            Ended::Yes => 0,
            Ended::NotYet => beginning_of_tag(&rest),
        };
        self.held = rest.split_off(rest.len() - keep);
        visible.push_str(&rest);
        visible
    }
}

/// How many bytes at the end of a text may be the beginning of an opening tag.
fn beginning_of_tag(text: &str) -> usize {
    let longest = text.len().min(OPEN.len() - 1);
    (1..=longest)
        .rev()
        .find(|len| text.as_bytes().ends_with(&OPEN.as_bytes()[..*len]))
        .unwrap_or(0)
}

#[cfg(test)]
#[path = "citation_block_tests.rs"]
mod tests;

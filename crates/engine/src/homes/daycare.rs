//! Memory files of Daycare: the log of observations, entities with their records, and nodes of the graph.

use std::ops::Range;

use daybook_domain::Timestamp;

use super::entry::{FileLine, HomeEntry, HomeOwner, lines};
use super::markdown::passages;
use crate::transcripts::time_of;

/// The log of observations.
const LOG: &str = "observations.md";
/// The list of entities.
const INDEX: &str = "INDEX.md";
const TEXT: &str = "- **Text**:";
const CONTEXT: &str = "- **Context**:";

/// The path of a file below its user's memory folder; `None` outside of one.
fn below_memory(path: &str) -> Option<&str> {
    let path = match path.strip_prefix("users/") {
        Some(rest) => rest.split_once('/')?.1,
        None => path,
    };
    path.strip_prefix("memory/")
}

/// Whether a file is one of memory. Snapshots of older versions of a node are not.
pub(super) fn is_memory_file(path: &str) -> bool {
    let Some(name) = below_memory(path).and_then(|below| below.strip_suffix(".md")) else {
        return false;
    };
    let is_version = |name: &str| {
        let version = name.rsplit_once(".v").map(|(_, version)| version);
        version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit()))
    };
    match name.strip_prefix("graph/") {
        Some(node) => !node.contains('/') && !is_version(node),
        None => !name.contains('/') && name != "INDEX",
    }
}

/// Whether a file lists the entities: it states nothing that their files do not.
pub(super) fn is_index(path: &str) -> bool {
    below_memory(path) == Some(INDEX)
}

/// Whose memory a file is.
pub(super) fn owner(path: &str) -> HomeOwner {
    let user = path
        .strip_prefix("users/")
        .and_then(|rest| rest.split_once('/'));
    user.map_or(HomeOwner::Person, |(user, _)| {
        HomeOwner::User(user.to_owned())
    })
}

/// The entries of a file.
pub(super) fn entries(path: &str, text: &str) -> Vec<HomeEntry> {
    match below_memory(path) {
        Some(LOG) => log_entries(text),
        Some(_) => page_entries(text),
        None => Vec::new(),
    }
}

/// A block of the log while it is read.
struct LogBlock {
    start: usize,
    at: Option<Timestamp>,
    line: usize,
    text: Option<Range<usize>>,
    context: Option<Range<usize>>,
    last: Option<LogField>,
}

#[derive(Clone, Copy)]
enum LogField {
    Text,
    Context,
}

impl LogBlock {
    fn read(&mut self, line: &FileLine<'_>) {
        if line.text.starts_with(TEXT) {
            self.text = Some(line.words_after(TEXT.len()));
            self.line = line.number;
            self.last = Some(LogField::Text);
        } else if line.text.starts_with(CONTEXT) {
            self.context = Some(line.words_after(CONTEXT.len()));
            self.last = Some(LogField::Context);
        } else {
            // Line breaks are not escaped: a field goes on until the next one.
            let field = match self.last {
                Some(LogField::Text) => self.text.as_mut(),
                Some(LogField::Context) => self.context.as_mut(),
                None => None,
            };
            let words = line.words_after(0);
            if let Some(field) = field.filter(|_| !words.is_empty()) {
                field.end = words.end;
            }
        }
    }

    fn entry(self, text: &str, end: usize) -> Option<HomeEntry> {
        let words = self.text.filter(|words| !words.is_empty())?;
        let context = self.context.map(|context| text[context].trim().to_owned());
        Some(HomeEntry {
            at: self.at,
            context: context.filter(|context| !context.is_empty()),
            ..HomeEntry::new(text, self.start..end, words, self.line)
        })
    }
}

fn log_entries(text: &str) -> Vec<HomeEntry> {
    let mut entries = Vec::new();
    let mut open: Option<LogBlock> = None;
    for line in lines(text) {
        if let Some(at) = line.text.strip_prefix("## ").and_then(block_time) {
            entries.extend(open.take().and_then(|block| block.entry(text, line.start)));
            open = Some(LogBlock {
                start: line.start,
                at: Some(at),
                line: line.number,
                text: None,
                context: None,
                last: None,
            });
        } else if let Some(block) = &mut open {
            block.read(&line);
        }
    }
    entries.extend(open.and_then(|block| block.entry(text, text.len())));
    entries
}

/// The time of a block's heading: `YYYY-MM-DD HH:MM`, in UTC.
fn block_time(heading: &str) -> Option<Timestamp> {
    let (date, time) = heading.trim().split_once(' ')?;
    (time.len() == 5).then(|| time_of(&format!("{date}T{time}:00Z")))?
}

/// The entries of an entity or a node: its records and paragraphs, below the name of the page.
fn page_entries(text: &str) -> Vec<HomeEntry> {
    let front = front_matter(text);
    let field = |key: &str| {
        let value = text[..front]
            .lines()
            .find_map(|line| line.strip_prefix(key))?;
        let value = value.trim().trim_matches('"').trim();
        (!value.is_empty()).then(|| value.to_owned())
    };
    let name = field("name:").or_else(|| field("title:"));
    let at = field("updatedAt:")
        .and_then(|at| at.parse().ok())
        .map(Timestamp);
    let passages = passages(text, front).into_iter();
    passages
        .map(|passage| {
            let record = passage.headings.get(1).cloned();
            let place: Vec<String> = name.iter().cloned().chain(record).collect();
            HomeEntry {
                context: (!place.is_empty()).then(|| place.join(" · ")),
                at,
                ..passage.entry
            }
        })
        .collect()
}

/// The bytes of the block between `---` lines at the beginning of a page.
fn front_matter(text: &str) -> usize {
    let mut marks = lines(text).filter(|line| line.text.trim_end() == "---");
    let first = marks.next().filter(|line| line.start == 0);
    first.and_then(|_| marks.next()).map_or(0, |line| line.end)
}

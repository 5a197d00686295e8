//! Notes in Markdown: folders of basic-memory, which an agent writes, and vaults of Obsidian, which people write.
//!
//! A note that names where its text was taken from is text from outside, whoever keeps it.

use daybook_domain::{ObservationKind, Timestamp};

use super::claude::context;
use super::entry::{EntryAuthor, HomeEntry, lines, one_line};
use super::markdown::{Passage, passages};
use crate::transcripts::time_of;

/// The folder into which Obsidian's clipper puts pages.
const CLIPPINGS: &str = "Clippings/";
/// Fields of a note's head that name where its text was taken from.
const SOURCES: [&str; 4] = ["source", "source_url", "url", "clipped"];
/// Fields that name when it was written.
const TIMES: [&str; 4] = ["modified", "updated", "created", "date"];

/// Who keeps the notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoteKeeper {
    /// An agent, with basic-memory.
    BasicMemory,
    /// A person, with Obsidian.
    Obsidian,
}

/// The fields at a note's beginning, between lines of `---`.
#[derive(Debug, Default)]
pub(super) struct Head {
    fields: Vec<(String, String)>,
    /// The first byte behind it.
    pub(super) end: usize,
}

impl Head {
    /// Reads the head of a note; one without has no fields.
    pub(super) fn of(text: &str) -> Self {
        let mut head = Self::default();
        for (nth, line) in lines(text).enumerate() {
            match (nth, line.text.trim_end()) {
                (0, "---") => {}
                (0, _) => return Self::default(),
                (_, "---") => {
                    head.end = line.end;
                    return head;
                }
                (_, field) => {
                    if let Some((key, value)) = field.split_once(':') {
                        let value = value.trim().trim_matches(['"', '\'']);
                        head.fields
                            .push((key.trim().to_lowercase(), value.to_owned()));
                    }
                }
            }
        }
        // A line of dashes that nothing closes is no head.
        Self::default()
    }

    /// The value of a field; `None` where it is empty.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let field = self
            .fields
            .iter()
            .find(|(key, value)| key == name && !value.is_empty());
        field.map(|(_, value)| value.as_str())
    }

    fn time(&self) -> Option<Timestamp> {
        let times = TIMES.iter().filter_map(|name| self.field(name));
        times
            .filter_map(|time| time_of(time).or_else(|| time_of(&format!("{time}T00:00:00Z"))))
            .next()
    }
}

/// The entries of a note.
pub(super) fn entries(keeper: NoteKeeper, path: &str, text: &str) -> Vec<HomeEntry> {
    let head = Head::of(text);
    let is_taken = SOURCES.iter().any(|name| head.field(name).is_some());
    let author = match (keeper, is_taken || path.starts_with(CLIPPINGS)) {
        (_, true) => EntryAuthor::Outside,
        (NoteKeeper::BasicMemory, false) => EntryAuthor::Agent,
        (NoteKeeper::Obsidian, false) => EntryAuthor::Person,
    };
    let name = path
        .rsplit('/')
        .next()
        .and_then(|name| name.strip_suffix(".md"));
    let title = head.field("title").or(name);
    let entries = passages(text, head.end).into_iter().map(|passage| {
        let (kind, words) = statement(keeper, &passage, title.unwrap_or_default());
        HomeEntry {
            kind: match author {
                // What came from outside is nobody's wish and nobody's decision.
                EntryAuthor::Outside => ObservationKind::Fact,
                EntryAuthor::Person | EntryAuthor::Agent => kind,
            },
            text: words,
            author,
            at: head.time(),
            context: context(&passage, title),
            ..passage.entry
        }
    });
    entries.filter(|entry| !entry.text.is_empty()).collect()
}

/// What a passage states, and as what: basic-memory marks observations with a category, and relations with a link.
fn statement(keeper: NoteKeeper, passage: &Passage, title: &str) -> (ObservationKind, String) {
    let words = without_links(&passage.entry.text);
    if keeper == NoteKeeper::Obsidian {
        return (ObservationKind::Fact, words);
    }
    let is_relation = passage
        .headings
        .last()
        .is_some_and(|heading| heading == "Relations");
    let category = words
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "));
    match category {
        _ if is_relation => (
            ObservationKind::Fact,
            format!("{title} {}", words.replace('_', " ")),
        ),
        Some((category, words)) => {
            let kind = match category.to_lowercase().as_str() {
                "preference" => ObservationKind::Preference,
                "decision" => ObservationKind::Decision,
                _ => ObservationKind::Fact,
            };
            (kind, words.to_owned())
        }
        None => (ObservationKind::Fact, words),
    }
}

/// A text with the names of linked notes in place of the links: `[[note]]` and `[[note|name]]`.
fn without_links(text: &str) -> String {
    let mut words = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[[") {
        let Some((link, behind)) = after.split_once("]]") else {
            break;
        };
        words.push_str(before);
        words.push_str(link.rsplit('|').next().unwrap_or(link));
        rest = behind;
    }
    words.push_str(rest);
    one_line(&words)
}

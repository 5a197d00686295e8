//! Notes in Markdown: folders of basic-memory, which an agent writes, and vaults of Obsidian, which people write.
//!
//! A note that names where its text was taken from is text from outside, in either.

use daybook_domain::ObservationKind;

use super::entry::{EntryAuthor, HomeEntry, one_line};
use super::head::Head;
use super::markdown::{Passage, context, passages};

/// The folder into which Obsidian's clipper puts pages.
const CLIPPINGS: &str = "Clippings/";
/// Fields of a note's head that name where its text was taken from.
const SOURCES: [&str; 4] = ["source", "source_url", "url", "clipped"];
/// Who keeps the notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoteKeeper {
    /// An agent, with basic-memory.
    BasicMemory,
    /// A person, with Obsidian.
    Obsidian,
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
                // What came from outside is no wish and no decision of the person.
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

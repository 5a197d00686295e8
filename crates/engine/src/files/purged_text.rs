//! Recognises in memory files what rested on purged events, or repeats their words.
//!
//! A line is purged where it cites a purged event, repeats or quotes the words of a purged observation, names a purged
//! session, or has a word that nothing else in the memory has. An entry of the engine goes with any such line. An entry that a
//! person changed goes where it rests on what was purged; all other text of a person stays, and is reported.
//!
//! Not here: which words those are (`jobs::purge`), reading or writing files (`purge_folder`).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use daybook_domain::index::BETWEEN_TOKENS;
use daybook_domain::{Citation, Origin};
use daybook_text::indexed_tokens;

use super::entry::{EntryId, Marker, PageBlock, is_own_heading, parse_blocks, without_marker};
use super::history_rewrite::{FileEdit, HistoryEdit};
use super::layout::{LOG, MARKS};
use super::own_secrets::FileOwner;
use super::rollouts::is_rollout_file;

/// Takes the place of a commit's subject that repeats purged words.
const PURGED_SUBJECT: &str = "(purged)";
/// Fewest words of a subject that count as the beginning of a purged statement.
const SUBJECT_WORDS: usize = 2;

/// What was purged, as far as files may repeat it.
#[derive(Debug, Clone, Default)]
pub struct PurgedText {
    /// Words, as the index has them, that only purged texts have.
    pub words: HashSet<String>,
    /// Statements, as the words that the index has of them.
    pub statements: BTreeSet<String>,
    /// Ids of sessions and observations: any text with one names something purged.
    pub names: Vec<String>,
    /// Labels of sessions, with the purged lines of each.
    pub lines: BTreeMap<String, Vec<(u32, u32)>>,
    /// Entries of observations of which nothing is left.
    pub entries: HashSet<EntryId>,
    /// What the present memory shows: it rests on what is left.
    pub shown: ShownText,
}

/// What the files of a present memory show, by which it is known in them and in their past.
#[derive(Debug, Clone, Default)]
pub struct ShownText {
    /// Entries.
    pub entries: HashSet<Marker>,
    /// Pages, by their paths.
    pub pages: HashSet<String>,
    /// Headings of pages and sections, as they stand in files.
    pub headings: HashSet<String>,
}

/// The words that the index has of a text.
#[must_use]
pub fn index_words(text: &str) -> String {
    let tokens = indexed_tokens(Origin::Human, text);
    let words = tokens.split(BETWEEN_TOKENS).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// A line without markers and citations, as the index has its words: letters and numbers of those are no words of the memory.
fn said_words(line: &str) -> String {
    let mut said = String::with_capacity(line.len());
    let mut rest = without_marker(line);
    while let Some((before, behind)) = rest.split_once('[') {
        said.push_str(before);
        said.push(' ');
        // Up to the next bracket of either sort, so that a line of brackets is read once.
        let inside = behind.split(['[', ']']).next().unwrap_or_default();
        let after = behind[inside.len()..].strip_prefix(']');
        let cites = Citation::parse(inside).is_some_and(|cited| !cited.lines.is_empty());
        rest = after.filter(|_| cites).unwrap_or(behind);
    }
    said.push_str(rest);
    index_words(&said)
}

impl PurgedText {
    /// Whether a line rests on something purged, or repeats its words.
    pub(super) fn has(&self, line: &str) -> bool {
        if self.cites(line) || self.names.iter().any(|name| line.contains(name.as_str())) {
            return true;
        }
        let words = said_words(line);
        let is_statement = || !words.is_empty() && self.statements.contains(&words);
        words.split(' ').any(|word| self.words.contains(word))
            || is_statement()
            || self.quotes_statement(line)
    }

    /// Whether a line quotes a purged statement: an entry may name what contradicts it, without citing that.
    fn quotes_statement(&self, line: &str) -> bool {
        line.contains('"')
            && line.split('"').any(|part| {
                let words = index_words(part.trim_end_matches('…'));
                let is_cut = part.ends_with('…');
                words.contains(' ')
                    && match is_cut {
                        true => {
                            let mut after = self.statements.range(words.clone()..);
                            after.next().is_some_and(|next| next.starts_with(&words))
                        }
                        false => self.statements.contains(&words),
                    }
            })
    }

    /// Whether a line cites a purged event.
    fn cites(&self, line: &str) -> bool {
        line.split('[').skip(1).any(|rest| {
            let inner = rest.split(']').next().unwrap_or_default();
            let Some(cited) = Citation::parse(inner) else {
                return false;
            };
            let Some(purged) = self.lines.get(&cited.session) else {
                return false;
            };
            let overlaps = |&(from, to): &(u32, u32)| {
                purged
                    .iter()
                    .any(|&(first, last)| from <= last && first <= to)
            };
            cited.lines.is_empty() || cited.lines.iter().any(overlaps)
        })
    }

    /// Whether an entry goes.
    fn takes(&self, block: &PageBlock<'_>) -> bool {
        match block {
            PageBlock::Ours(marker, lines) | PageBlock::Pinned(marker, lines) => {
                !self.shown.entries.contains(marker)
                    && (self.entries.contains(&marker.id())
                        || lines.iter().any(|line| self.has(line)))
            }
            PageBlock::Altered(marker, lines) => {
                self.entries.contains(&marker.id()) || lines.iter().any(|line| self.cites(line))
            }
            // The engine's headings of sections carry no marker.
            PageBlock::Heading(_, line) => {
                !self.shown.headings.contains(line.trim_end()) && self.has(line)
            }
            PageBlock::Other(_) => false,
        }
    }

    /// The present content of a file without what goes. Logs are left: they are written anew from the store.
    pub(super) fn present_file(&self, path: &str, owner: FileOwner, text: &str) -> FileEdit {
        match [LOG, MARKS].contains(&path) {
            true => FileEdit::Keep,
            false => self.file(path, owner, text),
        }
    }

    /// The lines of a person's text that repeat purged words, counted from 1.
    pub(super) fn persons_lines(&self, owner: FileOwner, text: &str) -> Vec<usize> {
        if owner == FileOwner::Engine {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut number = 1;
        for block in parse_blocks(text) {
            let (lines, is_ours): (Vec<&str>, bool) = match block {
                PageBlock::Ours(_, lines) | PageBlock::Pinned(_, lines) => (lines, true),
                PageBlock::Altered(_, lines) => (lines, false),
                PageBlock::Heading(_, line) | PageBlock::Other(line) => (vec![line], false),
            };
            for line in lines {
                if !(is_ours && owner == FileOwner::Page) && self.has(line) {
                    found.push(number);
                }
                number += 1;
            }
        }
        found
    }

    fn page(&self, path: &str, text: &str) -> FileEdit {
        let is_of_session = path.starts_with("sessions/") || is_rollout_file(path);
        let blocks = parse_blocks(text);
        let mut left = String::with_capacity(text.len());
        let mut has_content = false;
        for block in &blocks {
            let is_taken = self.takes(block);
            if let PageBlock::Heading(1, line) = block
                && is_taken
                && is_of_session
                && is_own_heading(line)
            {
                return FileEdit::Remove;
            }
            if is_taken {
                continue;
            }
            match block {
                PageBlock::Ours(_, lines)
                | PageBlock::Pinned(_, lines)
                | PageBlock::Altered(_, lines) => {
                    has_content = true;
                    lines.iter().for_each(|line| left.push_str(line));
                }
                PageBlock::Other(line) => {
                    has_content |= !line.trim().is_empty();
                    left.push_str(line);
                }
                PageBlock::Heading(_, line) => left.push_str(line),
            }
        }
        match (left == text, has_content) {
            (true, _) => FileEdit::Keep,
            (false, true) => FileEdit::Replace(left),
            (false, false) => FileEdit::Remove,
        }
    }

    /// A file that is the engine's as a whole, without the lines that go.
    fn whole(&self, text: &str) -> FileEdit {
        let kept = text.split_inclusive('\n').filter(|line| !self.has(line));
        let left: String = kept.collect();
        let is_content = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
        match left == text {
            true => FileEdit::Keep,
            false if left.lines().any(is_content) => FileEdit::Replace(left),
            false => FileEdit::Remove,
        }
    }

    /// A text of lines without those that go; `None` if none does.
    pub(super) fn without_lines(&self, text: &str) -> Option<String> {
        let kept = text.split_inclusive('\n').filter(|line| !self.has(line));
        let left: String = kept.collect();
        (left != text).then_some(left)
    }

    fn repeats_statement(&self, subject: &str) -> bool {
        let words = subject.split_once(": ").map_or(subject, |(_, words)| words);
        let words = index_words(words.trim_end_matches('…'));
        let begins = |statement: &String| statement.starts_with(&words);
        words.split(' ').count() >= SUBJECT_WORDS && self.statements.iter().any(begins)
    }
}

impl HistoryEdit for PurgedText {
    fn file(&self, path: &str, owner: FileOwner, text: &str) -> FileEdit {
        match owner {
            // A block of the log does not show by itself who wrote it.
            _ if path == LOG => self.whole(text),
            FileOwner::Page if !self.shown.pages.contains(path) && self.has(path) => {
                FileEdit::Remove
            }
            FileOwner::Page => self.page(path, text),
            FileOwner::Engine => self.whole(text),
            FileOwner::Person => FileEdit::Keep,
        }
    }

    fn message(&self, message: &str, _: bool) -> String {
        let mut lines = message.split_inclusive('\n');
        let subject = lines.next().unwrap_or_default();
        let mut left = match self.has(subject) || self.repeats_statement(subject.trim_end()) {
            true => format!(
                "{PURGED_SUBJECT}{}",
                if subject.ends_with('\n') { "\n" } else { "" }
            ),
            false => subject.to_owned(),
        };
        left.extend(lines.filter(|line| !self.has(line)));
        left
    }

    fn log_message(&self, message: &str) -> String {
        // Behind the author and the time.
        let Some((before, subject)) = message.split_once('\t') else {
            return message.to_owned();
        };
        format!("{before}\t{}", self.message(subject, false))
    }

    fn is_unwanted(&self, _: Option<&str>) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consolidate::MemoryEntry;
    use crate::files::entry::{render, render_heading};

    fn entry(key: &str, words: &str) -> String {
        let entry = MemoryEntry {
            key: key.to_owned(),
            lines: vec![words.to_owned()],
            observations: Vec::new(),
        };
        render(&entry).join("\n") + "\n"
    }

    fn purged() -> PurgedText {
        PurgedText {
            words: HashSet::from([index_words("kestrel")]),
            statements: BTreeSet::from([index_words("Always sail at dawn.")]),
            names: vec!["0f8a-host-id".to_owned()],
            lines: BTreeMap::from([("5e7a".to_owned(), vec![(3, 9)])]),
            entries: HashSet::from([EntryId::of("gone")]),
            shown: ShownText::default(),
        }
    }

    #[track_caller]
    fn check(line: &str, expected: bool) {
        assert_eq!(purged().has(line), expected, "{line}");
    }

    #[test]
    fn a_line_is_purged_by_citation_statement_name_or_a_word_of_its_own() {
        check("- stays [5e7a:L12]", false);
        check("- goes [5e7a:L8,12]", true);
        check("- goes [9b1c:L8] [5e7a:L1-4]", true);
        check("- a day of a session [5e7a]", true);
        check("- another session [9b1c:L5]", false);
        check("- the Kestrel is moored", true);
        check("\"Always sail at dawn.\"", true);
        check("always sail at dawn with company", false);
        check(
            "- \"we sail at noon\" · open: \"Always sail at dawn.\" was stated [9b1c:L5]",
            true,
        );
        check(
            "- \"we sail at noon\" · open: \"Always sail…\" was stated [9b1c:L5]",
            true,
        );
        check(
            "- \"we sail at noon\" · open: \"Never sail at dawn.\" was stated [9b1c:L5]",
            false,
        );
        check("# Thread 0f8a-host-id", true);
    }

    #[test]
    fn entries_go_and_a_persons_lines_stay() {
        let mine = "- my own kestrel\n";
        let page = format!(
            "## Facts\n{}{}{mine}",
            entry("a", "- kestrel"),
            entry("b", "- other")
        );
        let left = format!("## Facts\n{}{mine}", entry("b", "- other"));
        let edit = purged().file("MEMORY.md", FileOwner::Page, &page);
        assert_eq!(edit, FileEdit::Replace(left));
        assert_eq!(purged().persons_lines(FileOwner::Page, &page), [4]);
        let edit = purged().file("topics/mine.md", FileOwner::Person, mine);
        assert_eq!(edit, FileEdit::Keep);
    }

    #[test]
    fn an_entry_that_a_person_changed_goes_where_it_rests_on_what_was_purged() {
        let gone = entry("gone", "- one").replace("one", "mine");
        let cites = entry("b", "- two [5e7a:L3]").replace("two", "mine");
        let stays = entry("c", "- three").replace("three", "kestrel");
        let page = format!("{gone}{cites}{stays}");
        let edit = purged().file("MEMORY.md", FileOwner::Page, &page);
        assert_eq!(edit, FileEdit::Replace(stays));
    }

    #[test]
    fn the_page_of_a_purged_session_and_a_page_without_entries_are_removed() {
        let heading = render_heading("A day [5e7a]") + "\n";
        let page = format!("{heading}{}", entry("a", "- branch main"));
        let edit = purged().file("sessions/a.md", FileOwner::Page, &page);
        assert_eq!(edit, FileEdit::Remove);
        let only = entry("a", "- kestrel");
        let edit = purged().file("daily/a.md", FileOwner::Page, &only);
        assert_eq!(edit, FileEdit::Remove);
    }

    #[test]
    fn what_a_program_keeps_beside_a_purged_memory_goes_with_it() {
        let named = "{\"of\":\"0f8a-host-id\",\"metadata\":{\"source\":\"chat\"}}\n";
        let quoted = "{\"of\":\"9b1c\",\"metadata\":{\"boat\":\"the Kestrel\"}}\n";
        let stays = "{\"of\":\"77aa\",\"metadata\":{\"source\":\"letter\"}}\n";
        let owner = FileOwner::of("mem0.jsonl", || true);
        let text = format!("{named}{quoted}{stays}");
        let edit = purged().file("mem0.jsonl", owner, &text);
        assert_eq!(edit, FileEdit::Replace(stays.to_owned()));
        assert_eq!(purged().persons_lines(owner, &text), Vec::<usize>::new());
    }

    #[test]
    fn an_entry_that_the_memory_shows_stays_in_its_past() {
        let line = entry("a", "- kestrel");
        let mut purged = purged();
        for block in parse_blocks(&line) {
            if let PageBlock::Ours(marker, _) = block {
                purged.shown.entries.insert(marker);
            }
        }
        let edit = purged.file("MEMORY.md", FileOwner::Page, &line);
        assert_eq!(edit, FileEdit::Keep);
    }

    #[test]
    fn parts_of_a_marker_or_a_citation_are_no_purged_words() {
        let line = entry("a", "- stays [9b1c:L5,17]");
        let marker = parse_blocks(&line).iter().find_map(|block| match block {
            PageBlock::Ours(marker, _) => Some(marker.as_str().to_owned()),
            _ => None,
        });
        let mut words = index_words(&marker.unwrap());
        words.push_str(" 5 17");
        let purged = PurgedText {
            words: words.split(' ').map(str::to_owned).collect(),
            ..purged()
        };
        assert!(!purged.has(line.trim_end()), "{line}");
        assert!(purged.has("- 17 [9b1c:L5]"));
        assert!(purged.has("- [17] stays"));
        assert!(purged.has("- [[9b1c:L5] 17"));
        assert!(!purged.has("- [[9b1c:L5] stays"));
    }

    #[test]
    fn words_of_several_passages_are_purged_one_by_one() {
        let words = index_words("The kestrel.\n\nIs it moored? At dawn.");
        assert_eq!(words, "the kestrel is it moor at dawn");
    }

    #[test]
    fn pages_that_the_memory_shows_stay_whatever_words_are_in_their_names() {
        let heading = render_heading("The kestrel [9b1c]") + "\n";
        let page = format!("{heading}## Facts\n{}", entry("a", "- branch main"));
        let path = "sessions/2026-05-04-the-kestrel-9b1c.md";
        let mut purged = purged();
        let edit = |purged: &PurgedText| purged.file(path, FileOwner::Page, &page);
        assert_eq!(edit(&purged), FileEdit::Remove);
        purged.shown.pages.insert(path.to_owned());
        assert_eq!(edit(&purged), FileEdit::Remove);
        purged.shown.headings.insert(heading.trim_end().to_owned());
        assert_eq!(edit(&purged), FileEdit::Keep);
    }

    #[test]
    fn messages_lose_purged_words_and_keep_the_rest() {
        let message = |text| purged().message(text, false);
        assert_eq!(message("Forget: Always sail at…\n"), "(purged)\n");
        assert_eq!(message("Edit: the kestrel"), "(purged)");
        assert_eq!(message("Post 3 entries"), "Post 3 entries");
        assert_eq!(message("Forget 2\n\nForgot 0f8a-host-id\n"), "Forget 2\n\n");
    }
}

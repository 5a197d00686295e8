//! Reads the lines that a person changed or pinned in the engine's pages: they hold for the whole memory.
//!
//! A changed entry still carries the id of what it was made from. `MEMORY.md` wins over the summary, the summary over
//! all other pages.
//!
//! Not here: what the words mean for other pages (`consolidate`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use daybook_domain::{EventSeq, Observation, ObservationId, ObservationKind, SessionId};
use daybook_text::lazy_pattern::constant_regex;
use regex::Regex;

use super::entry::{EntryId, PageBlock, is_pinned, main_words, parse_blocks};
use super::error::FilesError;
use super::folder::Folder;
use super::layout::{BRANCHES, CURATED, DAILY, LOG, SUMMARY};
use super::layout_record::has_had;
use super::path::FilePath;
use super::reindex::split_citation;
use super::withdrawn;
use crate::consolidate::{DECIDED, FileLayout, PersonsWords};

/// What stands before an open end.
const OPEN: &str = "open: ";

/// The entries that a person changed or pinned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PersonsLines {
    words: BTreeMap<EntryId, String>,
    pinned: BTreeSet<EntryId>,
    forgotten: BTreeSet<(SessionId, EventSeq)>,
}

impl PersonsLines {
    /// Reads them from the newest commit.
    ///
    /// # Errors
    /// If the history is damaged.
    pub fn load(folder: &Folder) -> Result<Self, FilesError> {
        let mut lines = Self::default();
        let Some(head) = folder.head()? else {
            return Ok(lines);
        };
        let withdrawn = withdrawn::load(folder)?;
        lines = lines.with_forgotten(withdrawn.iter().map(|one| &one.observation));
        let notes = folder.files_below(head, "notes")?;
        // The diary of sessions shows no whole observations.
        let days = match has_had(folder.root(), FileLayout::Mindroom) {
            true => folder.files_below(head, DAILY)?,
            false => Vec::new(),
        };
        let fixed = [CURATED, SUMMARY, BRANCHES, LOG].map(FilePath::engine_file);
        for path in fixed.into_iter().chain(notes).chain(days) {
            if let Some(text) = folder.page_at(head, &path)? {
                lines.add_page(&path, &text);
            }
        }
        Ok(lines)
    }

    fn add_page(&mut self, path: &FilePath, text: &str) {
        for block in parse_blocks(text) {
            let (PageBlock::Altered(marker, held) | PageBlock::Pinned(marker, held)) = &block
            else {
                continue;
            };
            let first = held.first().copied().unwrap_or_default();
            if path.as_str() == CURATED && is_pinned(first) {
                self.pinned.insert(marker.id());
            }
            if matches!(block, PageBlock::Altered(..)) {
                let words = words_of(main_words(held).1);
                self.words.entry(marker.id()).or_insert(words);
            }
        }
    }

    /// The same, with a person's words for one more entry.
    #[must_use]
    pub fn with_words(mut self, entry: &EntryId, line: &str) -> Self {
        self.words.insert(entry.clone(), words_of(line));
        self
    }

    /// The same, with an entry pinned, or not.
    #[must_use]
    pub fn with_pin(mut self, entry: &EntryId, pinned: bool) -> Self {
        match pinned {
            true => self.pinned.insert(entry.clone()),
            false => self.pinned.remove(entry),
        };
        self
    }

    /// The same, without words for these entries: they are about to be removed.
    #[must_use]
    pub fn without(mut self, entries: &BTreeSet<EntryId>) -> Self {
        self.words.retain(|entry, _| !entries.contains(entry));
        self.pinned.retain(|entry| !entries.contains(entry));
        self
    }

    /// The same, with more withdrawn observations.
    #[must_use]
    pub fn with_forgotten<'a>(mut self, withdrawn: impl Iterator<Item = &'a Observation>) -> Self {
        for evidence in withdrawn.flat_map(|observation| &observation.evidence) {
            let events = evidence.events.iter();
            self.forgotten
                .extend(events.map(|event| (evidence.session.clone(), *event)));
        }
        self
    }

    /// Whether a person changed and pinned nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What the lines mean for these observations.
    #[must_use]
    pub fn about(&self, observations: &[Observation]) -> PersonsWords {
        let mut about = PersonsWords::default();
        if self.is_empty() {
            return about;
        }
        about.forgotten.clone_from(&self.forgotten);
        let mut last_of_subject: BTreeMap<&str, &Observation> = BTreeMap::new();
        for observation in observations {
            let entry = EntryId::of(&observation.id.to_string());
            if let Some(words) = self.words.get(&entry) {
                let words = without_subject(words, subject_of(observation));
                about.reworded.insert(observation.id, words.to_owned());
            }
            if self.pinned.contains(&entry) {
                about.pinned.insert(observation.id);
            }
            if let Some(subject) = subject_of(observation) {
                let last = last_of_subject.entry(subject).or_insert(observation);
                if last.last_at() < observation.last_at() {
                    *last = observation;
                }
            }
        }
        for (subject, last) in last_of_subject {
            self.add_value(subject, last.id, &mut about);
        }
        about
    }

    /// An entry of a subject shows all its values; a person's words are about the last one.
    fn add_value(&self, subject: &str, last: ObservationId, about: &mut PersonsWords) {
        let entry = EntryId::of(&format!("value/{subject}"));
        if let Some(words) = self.words.get(&entry) {
            let value = words.strip_prefix(&format!("{subject}:")).unwrap_or(words);
            let value = value.rsplit('→').next().unwrap_or(value);
            let value = value.trim().trim_matches('*').to_owned();
            about.reworded.insert(last, value);
        }
        if self.pinned.contains(&entry) {
            about.pinned.insert(last);
        }
    }
}

/// The words without the subject, which a log has before each value.
fn without_subject<'w>(words: &'w str, subject: Option<&str>) -> &'w str {
    let value = subject.and_then(|subject| words.strip_prefix(subject)?.strip_prefix(':'));
    value.map_or(words, str::trim)
}

/// The subject whose values share an entry.
fn subject_of(observation: &Observation) -> Option<&str> {
    let subject = observation.subject.as_deref();
    subject.filter(|_| observation.kind == ObservationKind::Value)
}

/// What the engine writes after an entry's words: how often, on which branch, and when.
static APPENDED: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"^(\d+ times in (one session|\d+ sessions)|(.+, )?(\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|undated)|to review: .+|open: .+ was stated at the same time)$",
    )
});

/// The past of a statement, which the engine writes in brackets.
static PAST: LazyLock<Regex> =
    LazyLock::new(|| constant_regex(r" \(before (\d{1,2} [A-Z][a-z]{2}|undated): .*\)$"));

/// The words of an entry's line: without the item's dash, citations, and what the engine writes around them.
#[must_use]
pub fn words_of(line: &str) -> String {
    let line = line.trim().trim_start_matches("- ");
    let uncounted = match line.rsplit_once(" +") {
        Some((before, count)) if count.bytes().all(|byte| byte.is_ascii_digit()) => before,
        Some(_) | None => line,
    };
    let mut words = split_citation(uncounted).0;
    loop {
        let past = PAST.find(words).map(|past| &words[..past.start()]);
        let part = words.rsplit_once(" · ");
        let part = part.filter(|(_, last)| APPENDED.is_match(last));
        match past.or(part.map(|(before, _)| before)) {
            Some(before) => words = before,
            None => break,
        }
    }
    let words = words.strip_prefix(OPEN).unwrap_or(words);
    let words = words.strip_prefix(DECIDED).unwrap_or(words);
    words.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_line_are_without_what_the_engine_writes_around_them() {
        for (line, words) in [
            ("- test first [7f78:L1]", "test first"),
            (
                "- \"tests\" · 4 times in one session [7f78:L1,3] [ca:L2] [d0:L1] +2",
                "\"tests\"",
            ),
            ("- decided: B · fix-tides, 2 Mar [7f78:L1]", "B"),
            ("- open: größer? · 3 branches, 2 Mar [7f78:L1]", "größer?"),
            (
                "- \"spaces\" · 2 times in one session (before 3 Mar: \"tabs\"; before 2 Mar: \"both\") [7f78:L1]",
                "\"spaces\"",
            ),
            (
                "- \"B\" · main, 2 Mar · to review: \"A\" no longer holds since 3 Mar [7f78:L1]",
                "\"B\"",
            ),
            ("- mine · by hand", "mine · by hand"),
            ("- a list [of two]", "a list [of two]"),
        ] {
            assert_eq!(words_of(line), words);
        }
    }
}

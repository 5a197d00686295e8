//! Recognises what is only repeated from memory: word for word, or nearly.
//!
//! An agent is given memory, reads its files, and says it again. If that counted as evidence, each session would make a
//! memory look better founded than it is. So a suggestion that states what a line of memory states, without a person's own
//! words in this window, is dropped. What states more than the line, or denies it, is no repetition.
//!
//! Not here: the removal of Daybook's own element from transcripts (`text::recalled`), citations as usage.

use std::collections::HashSet;

use daybook_domain::{Citation, Origin};

use crate::extract::Window;
use crate::extract::extractive::text_analysis::significant_words;

/// Most lines of memory that suggestions are compared with.
const MAX_LINES: usize = 4_000;
/// Words by which one text denies or changes what another says.
const CHANGES: [&str; 16] = [
    "not", "no", "never", "longer", "instead", "stop", "without", "but", "except", "now", "nicht",
    "kein", "keine", "nie", "jetzt", "aber",
];

/// The lines of memory that the agent had before it in a window, and those about the window's topics.
#[derive(Debug)]
pub(super) struct MemoryLines(Vec<MemoryLine>);

#[derive(Debug)]
struct MemoryLine {
    words: HashSet<String>,
    changes: Vec<&'static str>,
    numbers: HashSet<String>,
}

impl MemoryLines {
    pub(super) fn of(window: Window<'_>) -> Self {
        let shown = window.before.iter().chain(window.events);
        let shown = shown.flat_map(|event| {
            let is_recalled = event.origin == Origin::Recalled;
            let lines = event.text.lines();
            lines.filter(move |line| is_recalled || cited_words(line).is_some())
        });
        let known = window.known.relevant.iter().chain(window.known.recent);
        Self::of_lines(shown.chain(known.flat_map(|text| text.lines())))
    }

    fn of_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let lines = lines.map(MemoryLine::of);
        let lines = lines.filter(|line| line.words.len() >= 2);
        Self(lines.take(MAX_LINES).collect())
    }

    /// Whether a line of memory says what `text` says, whose significant words are `words`.
    pub(super) fn hold(&self, text: &str, words: &HashSet<String>) -> bool {
        let (changes, numbers) = (changes(text), numbers(text));
        let says_it = |line: &MemoryLine| {
            let missing = words.difference(&line.words).count();
            missing * 5 <= words.len()
                && line.changes == changes
                && numbers.is_subset(&line.numbers)
        };
        words.len() >= 2 && self.0.iter().any(says_it)
    }
}

impl MemoryLine {
    fn of(line: &str) -> Self {
        // The numbers of a citation are none of what it says.
        let line = cited_words(line).unwrap_or(line);
        Self {
            words: significant_words(line),
            changes: changes(line),
            numbers: numbers(line),
        }
    }
}

/// The words of a line that has the form of an entry of a memory file or of a context: it ends in our citations.
fn cited_words(line: &str) -> Option<&str> {
    let is_marker =
        |mark: &str| mark.len() == 10 && mark.chars().all(|c| c.is_ascii_alphanumeric());
    let mut words = match line.trim_end().rsplit_once(" ^") {
        Some((words, mark)) if is_marker(mark) => words,
        Some(_) | None => line.trim_end(),
    };
    let mut is_cited = false;
    while let Some((before, _)) = words
        .strip_suffix(']')
        .and_then(|open| open.rsplit_once('['))
        .filter(|(_, inside)| Citation::parse(inside).is_some_and(|it| !it.lines.is_empty()))
    {
        is_cited = true;
        words = before.trim_end();
    }
    is_cited.then_some(words)
}

/// The words of change in a text, each once.
fn changes(text: &str) -> Vec<&'static str> {
    let low = text.to_lowercase();
    let words: HashSet<&str> = low.split(|c: char| !c.is_alphanumeric()).collect();
    let has = |word: &&str| words.contains(word) || (*word == "not" && low.contains("n't"));
    CHANGES.into_iter().filter(has).collect()
}

/// The words with a digit in a text.
fn numbers(text: &str) -> HashSet<String> {
    let low = text.to_lowercase();
    let words = low.split(|c: char| !c.is_alphanumeric());
    let numbers = words.filter(|word| word.contains(|c: char| c.is_ascii_digit()));
    numbers.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "The staging server is called pelican and has 4 GB of memory";

    #[track_caller]
    fn check(said: &str, expected: bool) {
        let lines = MemoryLines::of_lines([LINE, "We keep the tide tables in SQLite"].into_iter());
        let held = lines.hold(said, &significant_words(said));
        assert_eq!(held, expected, "{said}");
    }

    #[test]
    fn the_same_in_nearly_the_same_words_is_a_repetition() {
        check(
            "the staging server is called pelican, with 4 GB of memory",
            true,
        );
        check("staging server pelican has 4 GB memory", true);
        check("tide tables: keep in SQLite", true);
    }

    #[test]
    fn what_says_more_or_something_else_is_none() {
        check("the staging server pelican has 8 GB of memory", false);
        check("the staging server is no longer called pelican", false);
        check("we don't keep the tide tables in SQLite", false);
        check("the deploy script copies the page to the harbour", false);
    }

    #[test]
    fn lines_of_memory_files_are_known_by_their_citations() {
        let check = |line: &str, words: Option<&str>| assert_eq!(cited_words(line), words);
        check(
            "- Use tabs. [7f78:L3,9-12] [ca:L1] ^abcdef2345",
            Some("- Use tabs."),
        );
        check("Use tabs. [7f78:L3]", Some("Use tabs."));
        check("let a = b[0]", None);
        check("see [the manual]", None);
    }

    #[test]
    fn the_numbers_of_a_citation_are_not_those_of_its_line() {
        let lines = MemoryLines::of_lines(
            [format!("- {LINE} [7f78:L3,8] ^abcdef2345").as_str()].into_iter(),
        );
        let held = |said: &str| lines.hold(said, &significant_words(said));
        assert!(held(
            "the staging server is called pelican and has 4 GB of memory"
        ));
        assert!(!held(
            "the staging server is called pelican and has 8 GB of memory"
        ));
    }
}

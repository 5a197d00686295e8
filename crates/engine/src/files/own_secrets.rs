//! Finds secrets in the files of a memory folder, and hides those in the engine's own text.
//!
//! The engine's are the entries that agree with their markers, marked headings, and the files of entities that no
//! person has edited. Everything else is a person's: a secret there is reported, never changed.
//!
//! Not here: reading or writing files.

use std::borrow::Cow;
use std::collections::BTreeMap;

use daybook_text::redact::Redactor;

use super::entry::{PageBlock, is_own_heading, parse_blocks, re_marked, with_pin};
use super::layout::{ATTRIBUTES, LOG, is_engine_file, is_engine_page};

/// Who wrote a file's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum FileOwner {
    /// The engine wrote its marked entries, and a person all else.
    Page,
    /// The engine wrote all of it.
    Engine,
    /// A person wrote all of it.
    Person,
}

impl FileOwner {
    /// The owner of the file at a path; `is_edited` says whether a person ever changed it.
    pub(super) fn of(path: &str, is_edited: impl FnOnce() -> bool) -> Self {
        // A block of the log does not show by itself who wrote it.
        if is_engine_page(path) && path != LOG {
            return Self::Page;
        }
        // Programs write it through the engine, in a person's name.
        if path == ATTRIBUTES {
            return Self::Engine;
        }
        match is_engine_file(path) && !is_edited() {
            true => Self::Engine,
            false => Self::Person,
        }
    }
}

/// A secret in a person's text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PersonsSecret {
    /// The line, counted from 1.
    pub line: usize,
    /// The rule that would hide it.
    pub rule: String,
}

/// The file's text without the secrets in the engine's own text; `None` if there are none.
pub(super) fn hide_own(redactor: &Redactor, owner: FileOwner, text: &str) -> Option<String> {
    // Most files hold no secret at all, which costs one scan.
    let Cow::Owned(hidden) = redactor.redact(text).text else {
        return None;
    };
    match owner {
        FileOwner::Engine => Some(hidden),
        FileOwner::Person => None,
        FileOwner::Page => {
            let blocks = parse_blocks(text);
            let after: String = blocks
                .iter()
                .map(|block| own_block(redactor, block))
                .collect();
            (after != text).then_some(after)
        }
    }
}

/// A block as it is to be written.
fn own_block(redactor: &Redactor, block: &PageBlock<'_>) -> String {
    match block {
        PageBlock::Ours(_, lines) => re_marked(&lines.concat(), |words| hidden(redactor, words)),
        PageBlock::Pinned(_, lines) => {
            let unpinned = with_pin(&lines.concat(), false);
            with_pin(&re_marked(&unpinned, |words| hidden(redactor, words)), true)
        }
        PageBlock::Heading(1, line) if is_own_heading(line) => {
            re_marked(line, |words| hidden(redactor, words))
        }
        PageBlock::Altered(_, lines) => lines.concat(),
        PageBlock::Heading(_, line) | PageBlock::Other(line) => (*line).to_owned(),
    }
}

fn hidden(redactor: &Redactor, words: &str) -> String {
    redactor.redact(words).text.into_owned()
}

/// The secrets in a person's text of a file.
pub(super) fn persons_secrets(
    redactor: &Redactor,
    owner: FileOwner,
    text: &str,
) -> Vec<PersonsSecret> {
    let persons: Cow<'_, str> = match owner {
        FileOwner::Engine => return Vec::new(),
        FileOwner::Person => Cow::Borrowed(text),
        FileOwner::Page => Cow::Owned(without_own_blocks(text)),
    };
    let redacted = redactor.redact(&persons);
    let mut secrets: Vec<PersonsSecret> = Vec::new();
    for finding in &redacted.findings {
        // A marker takes no line break out of what is before it, unless a secret held one.
        let before = &redacted.text[..finding.range.start];
        secrets.push(PersonsSecret {
            line: before.matches('\n').count() + 1,
            rule: finding.rule.to_string(),
        });
    }
    secrets
}

/// The text with its lines in place, and those of the engine blank.
fn without_own_blocks(text: &str) -> String {
    let mut persons = String::with_capacity(text.len());
    for block in parse_blocks(text) {
        let lines = match block {
            PageBlock::Ours(_, lines) | PageBlock::Pinned(_, lines) => {
                lines.iter().for_each(|_| persons.push('\n'));
                continue;
            }
            PageBlock::Heading(1, line) if is_own_heading(line) => vec!["\n"; line.lines().count()],
            PageBlock::Altered(_, lines) => lines,
            PageBlock::Heading(_, line) | PageBlock::Other(line) => vec![line],
        };
        lines.iter().for_each(|line| persons.push_str(line));
    }
    persons
}

/// A text of memory as it may be shown and indexed: without secrets, also where a person wrote them.
#[must_use]
pub fn masked<'a>(redactor: &Redactor, text: &'a str) -> Cow<'a, str> {
    redactor.redact(text).text
}

/// The text of a file that a client was shown masked and sent back: secrets that it brings are hidden, and lines that it
/// sent back as they were shown keep what the person wrote. Returns how many secrets were hidden.
#[must_use]
pub fn sent_back(redactor: &Redactor, current: &str, sent: &str) -> (String, usize) {
    let redacted = redactor.redact(sent);
    let shown = masked(redactor, current);
    let pairs: Vec<(&str, &str)> = shown.lines().zip(current.lines()).collect();
    // A secret of several lines is one marker, so that lines no longer stand for each other.
    let stand_alike = shown.lines().count() == current.lines().count();
    let mut own = pairs.iter().filter(|(shown, own)| shown != own).peekable();
    if !stand_alike || own.peek().is_none() {
        return (redacted.text.into_owned(), redacted.findings.len());
    }
    let own: BTreeMap<&str, &str> = own.copied().collect();
    let text = redacted.text.split_inclusive('\n').map(|line| {
        let bare = line.trim_end_matches(['\n', '\r']);
        match own.get(bare) {
            Some(own) => format!("{own}{}", &line[bare.len()..]),
            None => line.to_owned(),
        }
    });
    (text.collect(), redacted.findings.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consolidate::MemoryEntry;
    use crate::files::entry::render;

    fn secret(nth: u8) -> String {
        format!("gh{}_{}", 'p', format!("{nth}aB3dE5gH7jK9").repeat(3))
    }

    fn own_entry(words: &str) -> String {
        let entry = MemoryEntry {
            key: "key".to_owned(),
            lines: vec![words.to_owned(), "below".to_owned()],
            observations: Vec::new(),
        };
        render(&entry).join("\n") + "\n"
    }

    #[test]
    fn the_engines_entries_are_rewritten_and_stay_its_own() {
        let redactor = Redactor::standard();
        let mine = format!("- mine {}\n", secret(2));
        let page = format!("## Facts\n{}\n{mine}", own_entry(&secret(1)));
        let after = hide_own(&redactor, FileOwner::Page, &page).expect("a secret");
        assert!(!after.contains(&secret(1)) && after.contains(&mine));
        let ours = parse_blocks(&after);
        let ours = ours.iter().filter(|b| matches!(b, PageBlock::Ours(..)));
        assert_eq!(ours.count(), 1);
        assert_eq!(hide_own(&redactor, FileOwner::Page, &after), None);
        let found = persons_secrets(&redactor, FileOwner::Page, &page);
        let lines: Vec<usize> = found.iter().map(|secret| secret.line).collect();
        assert_eq!(lines, [5]);
    }

    #[test]
    fn lines_that_come_back_masked_keep_the_persons_words_and_new_secrets_are_hidden() {
        let redactor = Redactor::standard();
        let current = format!("# Mine\n- token {}\n- tides\n", secret(1));
        let shown = masked(&redactor, &current).into_owned();
        assert_ne!(shown, current);
        let edited = shown.replace("tides", "charts");
        let (kept, hidden) = sent_back(&redactor, &current, &edited);
        assert_eq!((kept, hidden), (current.replace("tides", "charts"), 0));
        let (kept, hidden) = sent_back(&redactor, &current, &format!("- new {}\n", secret(2)));
        assert!(hidden == 1 && !kept.contains(&secret(2)), "{kept}");
    }

    #[test]
    fn an_entry_that_a_person_changed_is_theirs() {
        let redactor = Redactor::standard();
        let page = own_entry(&secret(1)).replace("below", "my words");
        assert_eq!(hide_own(&redactor, FileOwner::Page, &page), None);
        assert_eq!(persons_secrets(&redactor, FileOwner::Page, &page).len(), 1);
    }

    #[test]
    fn other_files_are_a_persons_except_those_of_entities() {
        let of = |path, edited| FileOwner::of(path, || edited);
        assert_eq!(of("MEMORY.md", true), FileOwner::Page);
        assert_eq!(of("entities/reef.md", false), FileOwner::Engine);
        assert_eq!(of("entities/reef.md", true), FileOwner::Person);
        assert_eq!(of("topics/tides.md", false), FileOwner::Person);
    }
}

//! Changes single lines of a page, as a person does: everything else stays byte for byte.
//!
//! Not here: which lines (`jobs::persons_word`).

use std::collections::BTreeSet;

use super::entry::{
    EntryId, PageBlock, log_block, main_words, parse_blocks, with_pin, with_words, without_marker,
};
use super::persons_lines::words_of;

/// A line of a page.
#[derive(Debug, Clone, Copy)]
pub struct LinePlace<'a> {
    /// Its text, without the marker.
    pub text: &'a str,
    /// The entry that it is; `None` for a person's own line.
    pub entry: Option<&'a EntryId>,
}

/// A page's text, block by block.
fn mapped(text: &str, change: impl Fn(Option<EntryId>, String) -> String) -> String {
    let blocks = parse_blocks(text).into_iter();
    let changed = blocks.map(|block| match block {
        PageBlock::Ours(marker, held)
        | PageBlock::Pinned(marker, held)
        | PageBlock::Altered(marker, held) => change(Some(marker.id()), held.concat()),
        PageBlock::Heading(_, line) | PageBlock::Other(line) => change(None, line.to_owned()),
    });
    changed.collect()
}

/// The text without these entries.
#[must_use]
pub fn without_entries(text: &str, gone: &BTreeSet<EntryId>) -> String {
    mapped(text, |entry, block| match entry {
        Some(entry) if gone.contains(&entry) => String::new(),
        Some(_) | None => block,
    })
}

/// The text without a person's own line.
#[must_use]
pub fn without_line(text: &str, line: &str) -> String {
    mapped(text, |entry, block| match entry {
        None if without_marker(&block).trim() == line => String::new(),
        Some(_) | None => block,
    })
}

/// The text with an entry pinned, or not.
#[must_use]
pub fn pinned_entry(text: &str, wanted: &EntryId, pinned: bool) -> String {
    mapped(text, |entry, block| match entry {
        Some(entry) if entry == *wanted => with_pin(&block, pinned),
        Some(_) | None => block,
    })
}

/// The line with new words. It keeps its source: the citations at its end.
#[must_use]
pub fn edited_line(line: &str, words: &str) -> String {
    let words = words.trim().trim_start_matches("- ");
    let dash = if line.starts_with("- ") { "- " } else { "" };
    let before = line.trim_start_matches("- ");
    let cited = before.rfind(" [").map_or("", |_| citations_of(before));
    match cited.is_empty() || words.ends_with(cited.trim()) {
        true => format!("{dash}{words}"),
        false => format!("{dash}{words} {}", cited.trim()),
    }
}

/// The citations at the end of a line.
fn citations_of(line: &str) -> &str {
    let kept = words_of(line);
    let mut from = line.len();
    // The citations begin where only bracketed words follow.
    for (at, _) in line.match_indices(" [") {
        if words_of(&line[..at]) == kept {
            from = at;
            break;
        }
    }
    &line[from..]
}

/// A page's text with a line in other words. The marker stays, so that the entry is known as changed.
#[must_use]
pub fn with_line(text: &str, line: &LinePlace<'_>, edited: &str) -> String {
    mapped(text, |entry, block| {
        let held: Vec<&str> = block.split_inclusive('\n').collect();
        if entry.as_ref() != line.entry || main_words(&held).1.trim() != line.text {
            return block;
        }
        if let Some(block) = log_block::with_text(&held, edited) {
            return block;
        }
        let first = block.lines().next().unwrap_or_default();
        format!("{}{}", with_words(first, edited), &block[first.len()..])
    })
}

#[cfg(test)]
mod tests {
    use super::super::entry::marker_of;
    use super::*;

    #[test]
    fn new_words_keep_the_source_of_a_line() {
        for (line, words, expected) in [
            (
                "- \"test first\" · 2 times in one session [7f78:L1,3] [ca:L2] +1",
                "Tests first.",
                "- Tests first. [7f78:L1,3] [ca:L2] +1",
            ),
            (
                "- test first [7f78:L1]",
                "- Tests first. [7f78:L1]",
                "- Tests first. [7f78:L1]",
            ),
            ("- a list [of two]", "größer", "- größer"),
            ("mine", "ours", "ours"),
        ] {
            assert_eq!(edited_line(line, words), expected);
        }
    }

    #[test]
    fn only_the_named_line_changes_and_the_entry_keeps_its_marker() {
        let text = "# T\r\n- old ^abcdefghij\r\n  - below\r\nold\r\n";
        let id = marker_of("- old ^abcdefghij").map(|marker| marker.id());
        let line = LinePlace {
            text: "- old",
            entry: id.as_ref(),
        };
        assert_eq!(
            with_line(text, &line, "- new"),
            "# T\r\n- new ^abcdefghij\r\n  - below\r\nold\r\n"
        );
        let own = LinePlace {
            text: "old",
            entry: None,
        };
        assert_eq!(
            with_line(text, &own, "mine"),
            "# T\r\n- old ^abcdefghij\r\n  - below\r\nmine\r\n"
        );
        assert_eq!(
            without_line(text, "old"),
            text.replace("below\r\nold\r\n", "below\r\n")
        );
        let gone = BTreeSet::from_iter(id.clone());
        assert_eq!(without_entries(text, &gone), "# T\r\nold\r\n");
        let pinned = pinned_entry(text, &gone.into_iter().next().unwrap(), true);
        assert!(pinned.contains("- old #pinned ^abcdefghij\r\n"), "{pinned}");
    }
}

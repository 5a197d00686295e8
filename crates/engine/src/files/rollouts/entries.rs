//! The entries of a block for the index: the list items and paragraphs of a raw memory, and a summary in larger parts,
//! since its lines say little apart.
//!
//! Headers are left out, because each of them says where something is and nothing about it. What cites nothing itself
//! has the citation of its block.

use crate::files::entry::block::{THREAD_ID, is_marker_line};
use crate::files::entry::without_line_end;

/// Most characters of a part of a summary, unless a single paragraph has more.
const PART: usize = 1_200;
/// Headers within a raw memory that was made without a model: they repeat what the session's messages say.
const REPEATED: [&str; 2] = ["task: ", "task_outcome: "];
/// Begins the last line of a block, which cites the session.
pub(super) const SOURCE: &str = "source: ";

/// A list item or paragraph of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockText {
    /// Its first line within the block, counted from 0.
    pub line: usize,
    /// The heading above it, without `#`.
    pub heading: String,
    /// Its words, in one line.
    pub text: String,
}

/// The items and paragraphs of a block, and the citation of the block: `[7f78:L3]`.
#[must_use]
pub fn block_texts(lines: &[&str]) -> (Vec<BlockText>, Option<String>) {
    let (texts, source) = items(lines);
    let is_summary = lines
        .first()
        .is_some_and(|first| first.starts_with(THREAD_ID));
    match is_summary {
        true => (parts(texts), source),
        false => (texts, source),
    }
}

/// Consecutive texts together, up to [`PART`].
fn parts(texts: Vec<BlockText>) -> Vec<BlockText> {
    let mut parts: Vec<BlockText> = Vec::new();
    for text in texts {
        match parts.last_mut() {
            Some(part) if part.text.len() + text.text.len() <= PART => {
                part.text.push_str(" · ");
                part.text.push_str(&text.text);
            }
            Some(_) | None => parts.push(text),
        }
    }
    parts
}

fn items(lines: &[&str]) -> (Vec<BlockText>, Option<String>) {
    let mut texts: Vec<BlockText> = Vec::new();
    let (mut source, mut heading, mut is_open) = (None, String::new(), false);
    let body = lines.iter().map(|line| without_line_end(line)).enumerate();
    let body = body.skip_while(|(_, line)| !line.is_empty());
    for (at, line) in body {
        let words = line.trim();
        if let Some(cited) = words.strip_prefix(SOURCE) {
            source = Some(cited.to_owned());
        } else if words.starts_with('#') {
            words
                .trim_start_matches('#')
                .trim()
                .clone_into(&mut heading);
            is_open = false;
        } else if words.is_empty()
            || words == "---"
            || is_marker_line(line)
            || REPEATED.iter().any(|header| words.starts_with(header))
        {
            is_open = false;
        } else if let Some(open) = texts.last_mut().filter(|_| is_open && !is_item(words)) {
            open.text.push(' ');
            open.text.push_str(words);
        } else {
            texts.push(BlockText {
                line: at,
                heading: heading.clone(),
                text: words.trim_start_matches(['-', '*', '+']).trim().to_owned(),
            });
            is_open = true;
        }
    }
    (texts, source)
}

fn is_item(line: &str) -> bool {
    ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(block: &str, expected: &[(usize, &str, &str)]) {
        let lines: Vec<&str> = block.split_inclusive('\n').collect();
        let (texts, source) = block_texts(&lines);
        let found: Vec<(usize, &str, &str)> = texts
            .iter()
            .map(|it| (it.line, it.heading.as_str(), it.text.as_str()))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(source.as_deref(), Some("[7f78:L1]"));
    }

    #[test]
    fn a_raw_memory_is_found_by_its_items_and_paragraphs_and_not_by_its_headers() {
        let block = "## Thread `a`\nupdated_at: x\ncwd: /home/ada/tidepool\n\ntask: cap it\ntask_outcome: success\n\n\
            Cap the cache\nwith care.\n\n### Values\n- cache limit 50 [7f78:L3]\n- two\n  lines\n\nsource: [7f78:L1]\n\
            ^abcdefghij\n\n";
        let expected = [
            (7, "", "Cap the cache with care."),
            (11, "Values", "cache limit 50 [7f78:L3]"),
            (12, "Values", "two lines"),
        ];
        check(block, &expected);
    }

    #[test]
    fn a_summary_is_found_in_large_parts() {
        let long = "word ".repeat(PART / 5);
        let block = format!(
            "thread_id: a\ncwd: x\n\n# Cap the cache\n- 2 May\n- outcome: success\n\n### Later\n{long}\n\n\
             source: [7f78:L1]\n^abcdefghij\n\n"
        );
        let expected = [
            (4, "Cap the cache", "2 May · outcome: success"),
            (8, "Later", long.trim()),
        ];
        check(&block, &expected);
    }
}

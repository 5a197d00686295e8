//! The entries of a block for the index: its list items and paragraphs.
//!
//! Headers are left out, because each of them says where something is and nothing about it. What cites nothing itself
//! has the citation of its block.

use crate::files::entry::block::is_marker_line;
use crate::files::entry::without_line_end;

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
    let mut texts: Vec<BlockText> = Vec::new();
    let (mut source, mut heading, mut is_open) = (None, String::new(), false);
    let body = lines.iter().map(|line| without_line_end(line)).enumerate();
    let mut body = body.skip_while(|(_, line)| !line.is_empty()).peekable();
    while let Some((at, line)) = body.next() {
        let words = line.trim();
        if let Some(cited) = words.strip_prefix(SOURCE) {
            source = Some(cited.to_owned());
        } else if words.starts_with('#') {
            words
                .trim_start_matches('#')
                .trim()
                .clone_into(&mut heading);
            is_open = false;
        } else if words.is_empty() || words == "---" || is_marker_line(line) {
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

    #[test]
    fn a_block_is_found_by_its_items_and_paragraphs_and_not_by_its_headers() {
        let block = "## Thread `a`\nupdated_at: x\ncwd: /home/ada/tidepool\n\ntask: cap the cache\nwith care\n\n\
            ### Values\n- cache limit 50 [7f78:L3]\n- two\n  lines\n\nsource: [7f78:L1]\n^abcdefghij\n\n";
        let lines: Vec<&str> = block.split_inclusive('\n').collect();
        let (texts, source) = block_texts(&lines);
        let found: Vec<(usize, &str, &str)> = texts
            .iter()
            .map(|it| (it.line, it.heading.as_str(), it.text.as_str()))
            .collect();
        let expected = [
            (4, "", "task: cap the cache with care"),
            (8, "Values", "cache limit 50 [7f78:L3]"),
            (9, "Values", "two lines"),
        ];
        assert_eq!(found, expected);
        assert_eq!(source.as_deref(), Some("[7f78:L1]"));
    }
}

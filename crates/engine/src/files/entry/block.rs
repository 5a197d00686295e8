//! Entries that are blocks: several plain lines, closed by a line that holds the marker alone.
//!
//! Files of rollouts consist of blocks, because other programs read their lines as they are. A block begins with a
//! line that only these files have, and reaches to the next line that is a marker. The blank line behind it belongs
//! to it.

use std::iter::Peekable;
use std::str::SplitInclusive;

use super::{EntryId, Marker, PageBlock, check, without_line_end};

/// First line of the file of all raw memories.
pub const RAW_MEMORIES_TITLE: &str = "# Raw Memories";
/// Begins the block of one raw memory; the session's id and a backtick follow.
pub const THREAD: &str = "## Thread `";
/// Begins the file of one summary; the session's id follows.
pub const THREAD_ID: &str = "thread_id: ";

/// One block, before it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockEntry {
    /// Identifies the block; it stays the same when the words change.
    pub key: String,
    /// Its lines. The first one opens a block.
    pub lines: Vec<String>,
}

impl BlockEntry {
    /// The block of these lines. Lines below the first that look like the beginning or the end of a block are
    /// indented.
    #[must_use]
    pub fn new(key: String, first: String, below: impl IntoIterator<Item = String>) -> Self {
        let below = below.into_iter().map(|line| match is_frame(&line) {
            true => format!(" {line}"),
            false => line,
        });
        Self {
            key,
            lines: std::iter::once(first).chain(below).collect(),
        }
    }

    /// Its marker as it would be written now.
    #[must_use]
    pub fn marker(&self) -> Marker {
        let check = check(self.lines.iter().map(String::as_str));
        Marker(format!("{}{check}", EntryId::of(&self.key).0))
    }

    /// Its lines as they are written: with the marker, and a blank one behind.
    #[must_use]
    pub fn render(&self) -> Vec<String> {
        let marker = format!("^{}", self.marker().0);
        let lines = self.lines.iter().cloned();
        lines.chain([marker, String::new()]).collect()
    }
}

/// Whether a line begins a block.
#[must_use]
pub fn opens_block(line: &str) -> bool {
    line.starts_with(THREAD)
        || line.starts_with(THREAD_ID)
        || without_line_end(line) == RAW_MEMORIES_TITLE
}

/// Whether a line is a marker and nothing else.
#[must_use]
pub fn is_marker_line(line: &str) -> bool {
    closing_marker(line).is_some()
}

/// The marker that a line consists of.
fn closing_marker(line: &str) -> Option<Marker> {
    Marker::parse(without_line_end(line).strip_prefix('^')?)
}

/// Whether a line begins or ends a block.
fn is_frame(line: &str) -> bool {
    opens_block(line) || is_marker_line(line)
}

/// The block that `line` begins, with its `rest`, which then continues behind the block.
pub(super) fn take_block<'t>(
    line: &'t str,
    rest: &mut Peekable<SplitInclusive<'t, char>>,
) -> Option<PageBlock<'t>> {
    if !opens_block(line) {
        return None;
    }
    let mut held = vec![line];
    let mut ahead = rest.clone();
    while let Some(next) = ahead.next_if(|next| !opens_block(next)) {
        let Some(marker) = closing_marker(next) else {
            held.push(next);
            continue;
        };
        let is_intact = check(held.iter().map(|line| without_line_end(line))) == marker.check();
        held.push(next);
        held.extend(ahead.next_if(|next| without_line_end(next).is_empty()));
        *rest = ahead;
        return Some(match is_intact {
            true => PageBlock::Ours(marker, held),
            false => PageBlock::Altered(marker, held),
        });
    }
    None
}

/// The block with other words: its name stays, and the check is made anew. `None` for what is no block.
pub(super) fn re_marked(text: &str, change: impl FnOnce(&str) -> String) -> Option<String> {
    let (end, marker) = text
        .split_inclusive('\n')
        .scan(0, |end, line| {
            let start = *end;
            *end += line.len();
            Some((start, line))
        })
        .filter_map(|(start, line)| Some((start, closing_marker(line)?)))
        .last()
        .filter(|_| opens_block(text.split_inclusive('\n').next().unwrap_or_default()))?;
    let words = change(&text[..end]);
    let check = check(words.split_terminator('\n').map(without_line_end));
    let tail = &text[end + 1 + marker.0.len()..];
    Some(format!("{words}^{}{check}{tail}", marker.id().as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::{parse_blocks, re_marked};
    use super::*;

    fn block(key: &str, below: &[&str]) -> BlockEntry {
        let below = below.iter().map(|line| (*line).to_owned());
        BlockEntry::new(key.to_owned(), format!("{THREAD}{key}`"), below)
    }

    fn text(blocks: &[BlockEntry]) -> String {
        let lines = blocks.iter().flat_map(BlockEntry::render);
        lines.map(|line| line + "\n").collect()
    }

    fn check(text: &str, expected: &[&str]) {
        let blocks = parse_blocks(text);
        let words: Vec<String> = blocks
            .iter()
            .map(|block| match block {
                PageBlock::Ours(_, lines) => format!("ours {}", lines.len()),
                PageBlock::Pinned(_, lines) => format!("pinned {}", lines.len()),
                PageBlock::Altered(_, lines) => format!("altered {}", lines.len()),
                PageBlock::Heading(level, _) => format!("heading {level}"),
                PageBlock::Other(_) => "other".to_owned(),
            })
            .collect();
        assert_eq!(words, expected, "{text}");
        let joined: String = blocks
            .iter()
            .map(|block| match block {
                PageBlock::Ours(_, lines)
                | PageBlock::Pinned(_, lines)
                | PageBlock::Altered(_, lines) => lines.concat(),
                PageBlock::Heading(_, line) | PageBlock::Other(line) => (*line).to_owned(),
            })
            .collect();
        assert_eq!(joined, text, "all pieces joined are the file");
    }

    #[test]
    fn a_block_is_ours_until_a_person_changes_it() {
        let written = text(&[block("a", &["x: 1", "", "body"]), block("b", &["body"])]);
        check(&written, &["ours 6", "ours 4"]);
        check(&written.replace("x: 1", "x: 2"), &["altered 6", "ours 4"]);
        check(&written.replace('\n', "\r\n"), &["ours 6", "ours 4"]);
        check(
            &format!("mine\n{written}mine"),
            &["other", "ours 6", "ours 4", "other"],
        );
    }

    #[test]
    fn a_block_that_lost_its_marker_is_a_persons() {
        let written = text(&[block("a", &["body"]), block("b", &["body"])]);
        let (first, second) = written.split_at(written.len() / 2);
        let unmarked: String = first
            .lines()
            .filter(|l| !l.starts_with('^'))
            .map(|l| l.to_owned() + "\n")
            .collect();
        check(
            &format!("{unmarked}{second}"),
            &["heading 2", "other", "other", "ours 4"],
        );
    }

    #[test]
    fn lines_of_a_body_neither_begin_nor_end_a_block() {
        let forged = text(&[block("b", &["body"])]);
        let lines: Vec<&str> = forged.lines().collect();
        let written = text(&[block("a", &lines)]);
        check(&written, &["ours 7"]);
    }

    #[test]
    fn a_block_stays_ours_when_the_engine_changes_its_words() {
        let written = text(&[block("a", &["key: hunter2", "hunter2"])]);
        let hidden = re_marked(&written, |words| words.replace("hunter2", "***"));
        assert_eq!(hidden, text(&[block("a", &["key: ***", "***"])]));
    }
}

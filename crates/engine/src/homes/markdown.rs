//! Parses Markdown into its items and paragraphs, each below the headings that lead to it.
//!
//! An item continues over the indented lines below it, a paragraph until a blank line. A fenced block belongs to what it
//! follows.

use super::entry::{FileLine, HomeEntry, item_marker, lines, one_line};

/// An item or a paragraph, and the headings above it, outermost first.
pub(super) struct Passage {
    pub(super) entry: HomeEntry,
    pub(super) headings: Vec<String>,
}

/// The passages of `text` from its `after`-th byte on.
pub(super) fn passages(text: &str, after: usize) -> Vec<Passage> {
    let mut reader = PassageReader {
        text,
        headings: Vec::new(),
        open: None,
        fence: false,
        passages: Vec::new(),
    };
    for line in lines(text).filter(|line| line.start >= after) {
        reader.read(&line);
    }
    reader.close();
    reader.passages
}

/// The headings above a passage, behind the name of its file.
pub(super) fn context(passage: &Passage, name: Option<&str>) -> Option<String> {
    let headings = passage.headings.iter().map(|heading| one_line(heading));
    let parts = name.map(one_line).into_iter().chain(headings);
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

struct PassageReader<'a> {
    text: &'a str,
    /// Each with its level.
    headings: Vec<(usize, String)>,
    /// The first byte, the first byte of the words, the end of the words, the end and the first line of what is read.
    open: Option<OpenPassage>,
    fence: bool,
    passages: Vec<Passage>,
}

struct OpenPassage {
    start: usize,
    words: std::ops::Range<usize>,
    end: usize,
    line: usize,
    is_item: bool,
}

impl PassageReader<'_> {
    fn read(&mut self, line: &FileLine<'_>) {
        let trimmed = line.text.trim();
        if self.fence || trimmed.starts_with("```") {
            self.fence ^= trimmed.starts_with("```");
            return self.extend(line, 0);
        }
        if trimmed.is_empty() {
            return self.close();
        }
        if let Some(level) = heading_level(trimmed) {
            self.close();
            self.headings.retain(|(above, _)| *above < level);
            let words = trimmed.trim_start_matches('#').trim().to_owned();
            return self.headings.push((level, words));
        }
        let continues = self.open.as_ref().is_some_and(|open| {
            let is_indented = line.text.starts_with([' ', '\t']);
            item_marker(line.text).is_none() && (!open.is_item || is_indented)
        });
        if !continues {
            self.close();
        }
        self.extend(line, item_marker(line.text).unwrap_or(0));
    }

    /// Adds a line to what is open, or opens a passage whose words begin behind `marker` bytes.
    fn extend(&mut self, line: &FileLine<'_>, marker: usize) {
        let words = line.words_after(marker);
        match &mut self.open {
            Some(open) => {
                open.words.end = words.end.max(open.words.end);
                open.end = line.end;
            }
            None => {
                self.open = Some(OpenPassage {
                    start: line.start,
                    words,
                    end: line.end,
                    line: line.number,
                    is_item: marker > 0,
                });
            }
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.take().filter(|open| !open.words.is_empty()) else {
            return;
        };
        let entry = HomeEntry::new(self.text, open.start..open.end, open.words, open.line);
        let headings = self.headings.iter().map(|(_, words)| words.clone());
        self.passages.push(Passage {
            entry,
            headings: headings.collect(),
        });
    }
}

fn heading_level(line: &str) -> Option<usize> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let is_heading = (1..=6).contains(&level) && line[level..].starts_with(' ');
    is_heading.then_some(level)
}

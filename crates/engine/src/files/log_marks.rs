//! Knows the engine's blocks in `observations.md`, whose form has no place for markers.
//!
//! The markers stand beside it, in `observations.ids`: one line for each block with the hash of its words and its
//! heading. Both files are written together. A block with a known hash is the engine's. One with other words and the
//! heading of a marker that no block has is the engine's, changed by a person. Every other block is a person's.
//!
//! All that works with the file's entries works with its text as `annotate` makes it, in which the headings carry
//! the markers. It has the same lines as the file.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use daybook_domain::EventId;

use super::entry::log_block::{continues, is_heading, split_heading};
use super::entry::{
    EntryId, Marker, PageBlock, parse_blocks, render, without_line_end, without_marker,
};
use super::error::FilesError;
use super::folder::Folder;
use super::history::CommitHash;
use super::layout::{LOG, MARKS};
use super::path::FilePath;
use super::reader::FolderReader;
use crate::consolidate::MemoryPage;

/// Longest list that is read, in bytes: a line for each block of the longest log.
const MARKS_BYTES: u64 = 4 * 1024 * 1024;

/// One block as the engine wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LogMark {
    marker: Marker,
    hash: u64,
    /// The heading: `2026-01-27 13:56`.
    time: String,
}

/// The blocks that the engine wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LogMarks(Vec<LogMark>);

impl LogMarks {
    /// Parses the text of a list. Lines that are none are left out.
    pub(super) fn parse(text: &str) -> Self {
        let mark = |line: &str| {
            let (marker, rest) = line.split_once(' ')?;
            let (hash, time) = rest.split_once(' ')?;
            Some(LogMark {
                marker: Marker::parse(marker)?,
                hash: u64::from_str_radix(hash, 16).ok()?,
                time: time.to_owned(),
            })
        };
        Self(text.lines().filter_map(mark).collect())
    }

    fn render(&self) -> String {
        let line = |LogMark { marker, hash, time }: &LogMark| {
            format!("{} {hash:016x} {time}\n", marker.as_str())
        };
        self.0.iter().map(line).collect()
    }

    /// The same, with the versions of `more` that are not known.
    fn with_versions(mut self, more: Self) -> Self {
        let known: BTreeSet<Marker> = self.0.iter().map(|mark| mark.marker.clone()).collect();
        let is_new = |mark: &LogMark| !known.contains(&mark.marker);
        self.0.extend(more.0.into_iter().filter(is_new));
        self
    }

    /// The same, with the entries of `more` that are not known. A block that a person changed stays theirs, also where
    /// the memory has their words by now.
    pub(super) fn with_entries(mut self, more: Self) -> Self {
        let known: BTreeSet<EntryId> = self.0.iter().map(|mark| mark.marker.id()).collect();
        let is_new = |mark: &LogMark| !known.contains(&mark.marker.id());
        self.0.extend(more.0.into_iter().filter(is_new));
        self
    }

    /// The blocks of a page as it is to be written: a list that was lost is made anew from them.
    pub(super) fn planned(page: &MemoryPage) -> Self {
        let entries = page.sections.iter().flat_map(|section| &section.entries);
        let text: String = entries.flat_map(render).map(|line| line + "\n").collect();
        detach(&text, &Self::default()).1
    }
}

/// The text of the log with its markers. `None` where a person wrote what looks like a marker: then all of it is theirs.
pub(super) fn annotate(text: &str, marks: &LogMarks) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.iter().any(|line| split_heading(line).is_some()) {
        return None;
    }
    let headings = lines.iter().enumerate();
    let headings = headings.filter(|(_, line)| is_heading(line));
    let blocks: Vec<(usize, u64)> = headings
        .map(|(place, _)| (place, hash_of_block(&lines[place..])))
        .collect();
    let mut written: BTreeMap<u64, VecDeque<usize>> = BTreeMap::new();
    for (nth, mark) in marks.0.iter().enumerate() {
        written.entry(mark.hash).or_default().push_back(nth);
    }
    let mut free: BTreeSet<usize> = (0..marks.0.len()).collect();
    let mut markers: BTreeMap<usize, &Marker> = BTreeMap::new();
    let mut changed = Vec::new();
    for (place, hash) in blocks {
        match written.get_mut(&hash).and_then(VecDeque::pop_front) {
            Some(nth) => {
                free.remove(&nth);
                markers.insert(place, &marks.0[nth].marker);
            }
            None => changed.push(place),
        }
    }
    let mut lost: BTreeMap<&str, VecDeque<usize>> = BTreeMap::new();
    for nth in free {
        lost.entry(&marks.0[nth].time).or_default().push_back(nth);
    }
    for place in changed {
        let of_time = lost.get_mut(time_of(lines[place]));
        if let Some(nth) = of_time.and_then(VecDeque::pop_front) {
            markers.insert(place, &marks.0[nth].marker);
        }
    }
    let annotated = lines.iter().enumerate().map(|(place, line)| {
        let marker = markers.get(&place);
        let line_end = &line[without_line_end(line).len()..];
        marker.map_or_else(
            || (*line).to_owned(),
            |marker| format!("{} ^{}{line_end}", without_line_end(line), marker.as_str()),
        )
    });
    Some(annotated.collect())
}

/// The text as it is written, and its marks. A block that a person changed keeps the hash that `before` has of it.
pub(super) fn detach(annotated: &str, before: &LogMarks) -> (String, LogMarks) {
    let (mut text, mut marks) = (String::new(), LogMarks::default());
    for block in parse_blocks(annotated) {
        let (marker, held, is_changed) = match block {
            PageBlock::Ours(marker, held) => (marker, held, false),
            PageBlock::Altered(marker, held) => (marker, held, true),
            PageBlock::Pinned(_, held) => {
                text.extend(held);
                continue;
            }
            PageBlock::Heading(_, line) | PageBlock::Other(line) => {
                text.push_str(line);
                continue;
            }
        };
        let plain = without_marks(&held);
        if let Some((heading, _)) = held.first().and_then(|line| split_heading(line)) {
            let known = before.0.iter().find(|mark| mark.marker == marker);
            let lines: Vec<&str> = plain.split_inclusive('\n').collect();
            let hash = match is_changed {
                true => known.map_or(0, |mark| mark.hash),
                false => hash_of_block(&lines),
            };
            let time = known.filter(|_| is_changed).map(|mark| mark.time.clone());
            marks.0.push(LogMark {
                marker,
                hash,
                time: time.unwrap_or_else(|| time_of(heading).to_owned()),
            });
        }
        text.push_str(&plain);
    }
    (text, marks)
}

fn without_marks(held: &[&str]) -> String {
    let plain = |line: &&str| match split_heading(line) {
        Some(_) => format!(
            "{}{}",
            without_marker(line),
            &line[without_line_end(line).len()..]
        ),
        None => (*line).to_owned(),
    };
    held.iter().map(plain).collect()
}

fn time_of(heading: &str) -> &str {
    without_line_end(heading).trim_start_matches("## ")
}

fn hash_of_block(lines: &[&str]) -> u64 {
    let body = lines.iter().skip(1).take_while(|line| continues(line));
    let lines = lines.iter().take(1).chain(body);
    let lines: Vec<&[u8]> = lines
        .map(|line| without_line_end(line).as_bytes())
        .collect();
    (EventId::of(&lines).0 & u128::from(u64::MAX)) as u64
}

/// The two files that hold an annotated text: the log, and its marks, `None` where there are none.
pub(super) fn files_of(annotated: &str, before: &LogMarks) -> (String, Option<String>) {
    let (text, marks) = detach(annotated, before);
    (text, Some(marks.render()).filter(|marks| !marks.is_empty()))
}

/// The file at `path` of an open memory folder as text with its markers, and what `read` returns of it.
pub(super) fn annotated(
    path: &str,
    text: String,
    marks: impl FnOnce() -> Option<String>,
) -> String {
    if path != LOG {
        return text;
    }
    let marks = LogMarks::parse(&marks().unwrap_or_default());
    annotate(&text, &marks).unwrap_or(text)
}

/// Reads a page of a memory folder as text with its markers; `None` if it does not exist or is refused.
#[must_use]
pub fn page_text(memory: &std::path::Path, path: &FilePath) -> Option<String> {
    let reader = FolderReader::open(memory).ok()??;
    let text = reader.text(path).ok()??;
    Some(annotated(path.as_str(), text, || marks_in(&reader)))
}

/// The list of marks in an open folder.
pub(super) fn marks_in(reader: &FolderReader) -> Option<String> {
    let bytes = reader
        .read(&FilePath::engine_file(MARKS), MARKS_BYTES)
        .ok()??;
    String::from_utf8(bytes).ok()
}

impl Folder {
    /// The text of a page in a commit with its markers; `None` if it did not exist or is not UTF-8.
    pub(super) fn page_at(
        &self,
        commit: CommitHash,
        path: &FilePath,
    ) -> Result<Option<String>, FilesError> {
        let Some(text) = self.text_at(commit, path)? else {
            return Ok(None);
        };
        if path.as_str() != LOG {
            return Ok(Some(text));
        }
        let marks = self.marks_at(commit)?;
        Ok(Some(annotate(&text, &marks).unwrap_or(text)))
    }

    /// A page before and after a change. The marks of either side count for both: a person who loses a line of the list
    /// has deleted no observation.
    pub(super) fn page_before_and_after(
        &self,
        (before, after): (CommitHash, CommitHash),
        path: &FilePath,
    ) -> Result<(String, String), FilesError> {
        let was = self.text_at(before, path)?.unwrap_or_default();
        let is = self.text_at(after, path)?.unwrap_or_default();
        if path.as_str() != LOG {
            return Ok((was, is));
        }
        let marks = self.marks_at(before)?.with_versions(self.marks_at(after)?);
        let annotated = |text: String| annotate(&text, &marks).unwrap_or(text);
        Ok((annotated(was), annotated(is)))
    }

    fn marks_at(&self, commit: CommitHash) -> Result<LogMarks, FilesError> {
        let marks = self.text_at(commit, &FilePath::engine_file(MARKS))?;
        Ok(LogMarks::parse(&marks.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consolidate::MemoryEntry;

    fn page(entries: &[(&str, &str, &str)]) -> MemoryPage {
        let entries = entries.iter().map(|(key, time, text)| MemoryEntry {
            key: (*key).to_owned(),
            lines: vec![
                format!("## {time}"),
                format!("- **Text**: {text}"),
                "- **Context**: a test [7f78:L3]".to_owned(),
            ],
            observations: Vec::new(),
        });
        MemoryPage {
            heading: String::new(),
            sections: vec![crate::consolidate::MemorySection {
                title: String::new(),
                entries: entries.collect(),
            }],
        }
    }

    fn two() -> MemoryPage {
        page(&[
            ("a", "2026-02-21 14:30", "tests first"),
            ("b", "2026-02-21 14:30", "tabs"),
        ])
    }

    /// The log's text and marks.
    fn written(page: &MemoryPage) -> (String, LogMarks) {
        let entries = page.sections.iter().flat_map(|section| &section.entries);
        let text: String = entries.flat_map(render).map(|line| line + "\n").collect();
        detach(&text, &LogMarks::default())
    }

    /// What each block of the text is, by its first line.
    fn owners(text: &str, marks: &LogMarks) -> Vec<&'static str> {
        let annotated = annotate(text, marks).expect("no markers of a person");
        assert_eq!(detach(&annotated, marks).0, text, "nothing else changes");
        let blocks = parse_blocks(&annotated).into_iter();
        let owners = blocks.filter_map(|block| match block {
            PageBlock::Ours(..) => Some("ours"),
            PageBlock::Altered(..) => Some("altered"),
            PageBlock::Heading(..) => Some("theirs"),
            PageBlock::Pinned(..) | PageBlock::Other(_) => None,
        });
        owners.collect()
    }

    #[test]
    fn d47_and_d48_blocks_have_the_exact_form_and_no_markers() {
        let (text, marks) = written(&two());
        let expected = "## 2026-02-21 14:30\n- **Text**: tests first\n- **Context**: a test [7f78:L3]\n\n\
                        ## 2026-02-21 14:30\n- **Text**: tabs\n- **Context**: a test [7f78:L3]\n\n";
        assert_eq!(text, expected);
        assert_eq!(owners(&text, &marks), ["ours", "ours"]);
        assert_eq!(LogMarks::parse(&marks.render()), marks);
    }

    #[test]
    fn d50_what_a_person_wrote_around_blocks_is_theirs() {
        let (text, marks) = written(&two());
        let own = "## 2026-02-22 09:00\n- **Text**: mine\n- **Context**: by hand\n\n";
        let text = format!("# Observations\n\nMy log.\n\n{text}{own}");
        assert_eq!(owners(&text, &marks), ["theirs", "ours", "ours", "theirs"]);
        assert_eq!(
            owners(&text.replace('\n', "\r\n"), &marks)[1..3],
            ["ours", "ours"]
        );
    }

    #[test]
    fn a_block_with_other_words_is_known_by_its_time() {
        let (text, marks) = written(&two());
        let changed = text.replace("tests first", "tests last");
        assert_eq!(owners(&changed, &marks), ["altered", "ours"]);
        // It is known the next time, too.
        let annotated = annotate(&changed, &marks).expect("no markers of a person");
        let (again, kept) = detach(&annotated, &marks);
        assert_eq!((again.as_str(), &kept), (changed.as_str(), &marks));
        let moved = changed.replacen("14:30", "15:30", 1);
        assert_eq!(owners(&moved, &marks), ["theirs", "ours"]);
    }

    #[test]
    fn without_the_list_the_planned_blocks_are_known() {
        let (text, marks) = written(&two());
        assert_eq!(owners(&text, &LogMarks::default()), ["theirs", "theirs"]);
        let planned = LogMarks::parse("garbage\n").with_entries(LogMarks::planned(&two()));
        assert_eq!(planned, marks);
    }

    #[test]
    fn a_heading_that_carries_a_marker_makes_the_file_a_persons() {
        let (_, marks) = written(&two());
        assert_eq!(
            annotate("## 2026-02-21 14:30 ^abcdefghij\n- mine\n", &marks),
            None
        );
    }
}

//! Reads a scope's diary, or its log of observations, including a person's edits: the newest lines, or the entries of some
//! days.
//!
//! Not here: what is written to the diary (`consolidate`).

use std::fs;
use std::io;
use std::path::Path;

use super::entry::{log_block, without_marker};
use super::layout::LOG;
use super::path::FilePath;
use super::reader::FolderReader;

/// Most bytes that are read of one day.
const DAY_BYTES: u64 = 256 * 1024;

/// An entry of a diary: of a session, or of an observation in the layouts that log these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiaryEntry {
    /// The day, as in the file's name: `2026-01-27`.
    pub day: String,
    /// Its first line, without markers.
    pub line: String,
    /// The lines below it.
    pub below: Vec<String>,
}

/// The entries of the days from one to another, inclusive, in the order of time. At most those of `most` days, the latest.
///
/// # Errors
/// When the disk fails, or the folder is refused.
pub fn between(
    memory: &Path,
    (from, to): (&str, &str),
    most: usize,
) -> io::Result<Vec<DiaryEntry>> {
    let opened = FolderReader::open(memory).map_err(|refused| io::Error::from(refused.why))?;
    let Some(reader) = opened else {
        return Ok(Vec::new());
    };
    let is_within = |day: &str| from <= day && day <= to;
    let days = days(memory)?;
    if days.is_empty() {
        let logged = logged(&reader).into_iter();
        let logged = logged.filter(|(day, _)| is_within(day));
        return Ok(logged.map(|(day, line)| entry(&day, &line)).collect());
    }
    let days: Vec<&(String, FilePath)> = days.iter().filter(|(day, _)| is_within(day)).collect();
    let mut entries = Vec::new();
    for (day, path) in &days[days.len().saturating_sub(most)..] {
        // A day that cannot be read is skipped.
        if let Ok(Some(bytes)) = reader.read_start(path, DAY_BYTES) {
            add_entries(day, &String::from_utf8_lossy(&bytes), &mut entries);
        }
    }
    Ok(entries)
}

fn add_entries(day: &str, text: &str, entries: &mut Vec<DiaryEntry>) {
    let of_earlier_days = entries.len();
    for line in text.lines().map(without_marker) {
        let words = line.trim();
        if words.is_empty() || words.starts_with('#') {
            continue;
        }
        let words = words.strip_prefix("- ").unwrap_or(words);
        let is_below = line.starts_with([' ', '\t']);
        match entries[of_earlier_days..].last_mut() {
            Some(above) if is_below => above.below.push(words.to_owned()),
            _ => entries.push(entry(day, words)),
        }
    }
}

fn entry(day: &str, words: &str) -> DiaryEntry {
    DiaryEntry {
        day: day.to_owned(),
        line: words.to_owned(),
        below: Vec::new(),
    }
}

/// The last lines of the diary in the folder `memory`, each with its day, oldest first.
///
/// At most `most` lines, without titles; empty if there is no diary. Reads the newest days only.
///
/// # Errors
/// When the disk fails.
pub fn tail(memory: &Path, most: usize) -> io::Result<Vec<(String, String)>> {
    let opened = FolderReader::open(memory).map_err(|refused| io::Error::from(refused.why))?;
    let Some(reader) = opened else {
        return Ok(Vec::new());
    };
    let mut newest_first = Vec::new();
    for (day, path) in days(memory)?.into_iter().rev() {
        // A day that cannot be read is skipped.
        let Ok(Some(bytes)) = reader.read_start(&path, DAY_BYTES) else {
            continue;
        };
        let lines = lines_of(&bytes).into_iter().rev();
        newest_first.extend(lines.map(|line| (day.clone(), line)));
        if newest_first.len() >= most {
            break;
        }
    }
    if newest_first.is_empty() {
        newest_first = logged(&reader).into_iter().rev().collect();
    }
    newest_first.truncate(most);
    newest_first.reverse();
    Ok(newest_first)
}

/// The observations of a folder that logs them in one file instead, each with its day. A file that cannot be read is
/// skipped.
fn logged(reader: &FolderReader) -> Vec<(String, String)> {
    let text = reader.text(&FilePath::engine_file(LOG)).ok().flatten();
    let (mut lines, mut day) = (Vec::new(), String::new());
    for line in text.unwrap_or_default().lines() {
        if log_block::is_heading(line) {
            let words = line.trim_start_matches("## ").split(' ');
            day = words.take(1).collect();
        } else if let Some(text) = log_block::text_line(line) {
            lines.push((day.clone(), text.to_owned()));
        }
    }
    lines
}

/// The days of the diary, oldest first, each with its file.
fn days(memory: &Path) -> io::Result<Vec<(String, FilePath)>> {
    let daily = memory.join("daily");
    if !fs::symlink_metadata(&daily).is_ok_and(|found| found.is_dir()) {
        return Ok(Vec::new());
    }
    let mut days = Vec::new();
    for entry in fs::read_dir(daily)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let day = name.strip_suffix(".md").map(str::to_owned);
        if let (Some(day), Ok(path)) = (day, FilePath::new(format!("daily/{name}"))) {
            days.push((day, path));
        }
    }
    days.sort();
    Ok(days)
}

fn lines_of(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().map(|line| without_marker(line).trim());
    let says = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let words = |line: &str| line.strip_prefix("- ").unwrap_or(line).to_owned();
    lines.filter(says).map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail_of(days: &[(&str, &str)], most: usize) -> Vec<String> {
        let memory = tempfile::tempdir().unwrap();
        fs::create_dir(memory.path().join("daily")).unwrap();
        for (name, text) in days {
            fs::write(memory.path().join("daily").join(name), text).unwrap();
        }
        let lines = tail(memory.path(), most).unwrap().into_iter();
        lines.map(|(day, line)| format!("{day}: {line}")).collect()
    }

    #[test]
    fn the_newest_lines_are_returned_oldest_first_without_titles() {
        let days = [
            ("2026-01-01.md", "# Old\n\n- never read\n"),
            (
                "2026-01-03.md",
                "# Third\n\n- 10:00 cache · done [a1b2]\n  - limit is 50\n",
            ),
            ("2026-01-02.md", "# Second\n\n- first\n- last\n"),
            ("notes.txt", "no day"),
        ];
        let expected = [
            "2026-01-02: last",
            "2026-01-03: 10:00 cache · done [a1b2]",
            "2026-01-03: limit is 50",
        ];
        assert_eq!(tail_of(&days, 3), expected);
    }

    #[test]
    fn entries_of_some_days_are_read_with_the_lines_below_them() {
        let memory = tempfile::tempdir().unwrap();
        fs::create_dir(memory.path().join("daily")).unwrap();
        for (name, text) in [
            ("2026-01-01.md", "# Old\n\n- never read\n"),
            (
                "2026-01-02.md",
                "# Second\n\n- 10:00 cache [a1b2]\n  - limit is 50\n- 11:00 tides\n",
            ),
            ("2026-01-03.md", "  - of nothing\nMy own line.\n"),
            ("2026-01-04.md", "- later\n"),
            ("notes.md", "- of no day\n"),
        ] {
            fs::write(memory.path().join("daily").join(name), text).unwrap();
        }
        let shown = |most: usize| {
            let entries = between(memory.path(), ("2026-01-02", "2026-01-03"), most).unwrap();
            let entries = entries.into_iter();
            let shown = entries.map(|one| format!("{} {} {:?}", one.day, one.line, one.below));
            shown.collect::<Vec<_>>()
        };
        let last = ["2026-01-03 of nothing []", "2026-01-03 My own line. []"];
        let first = [
            "2026-01-02 10:00 cache [a1b2] [\"limit is 50\"]",
            "2026-01-02 11:00 tides []",
        ];
        assert_eq!(shown(9), [first, last].concat());
        assert_eq!(shown(1), last);
    }

    #[test]
    fn a_log_of_observations_takes_the_place_of_a_diary() {
        let memory = tempfile::tempdir().unwrap();
        let log = "# Observations\n\n## 2026-01-27 13:56\n- **Text**: tests first\n- **Context**: asked\n\n\
                   ## 2026-01-28 09:00\n- **Text**: tabs\n- **Context**: asked\n\n";
        fs::write(memory.path().join(LOG), log).unwrap();
        let line = |day: &str, line: &str| (day.to_owned(), line.to_owned());
        let both = [
            line("2026-01-27", "tests first"),
            line("2026-01-28", "tabs"),
        ];
        assert_eq!(tail(memory.path(), 80).unwrap(), both);
        assert_eq!(tail(memory.path(), 1).unwrap(), both[1..]);
    }

    #[test]
    fn without_a_diary_there_are_no_lines() {
        let memory = tempfile::tempdir().unwrap();
        assert_eq!(tail(memory.path(), 80).unwrap(), []);
        assert_eq!(tail_of(&[], 80), [""; 0]);
    }
}

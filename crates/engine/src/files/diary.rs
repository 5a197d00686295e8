//! The end of a scope's diary: what its newest days say, as a person may have changed them.
//!
//! Not here: what is written there (`consolidate`).

use std::fs;
use std::io;
use std::path::Path;

use super::entry::unmarked;
use super::path::FilePath;
use super::reader::Reader;

/// Most bytes that are read of one day.
const DAY_BYTES: u64 = 256 * 1024;

/// The last lines of the diary in the memory folder `memory`, each with its day, oldest first: at most
/// `most`, without titles. No diary has none. Reads the newest days only.
///
/// # Errors
/// When the disk fails.
pub fn tail(memory: &Path, most: usize) -> io::Result<Vec<(String, String)>> {
    let opened = Reader::open(memory).map_err(|refused| io::Error::from(refused.why))?;
    let Some(reader) = opened else {
        return Ok(Vec::new());
    };
    let mut newest_first = Vec::new();
    for (day, path) in days(memory)?.into_iter().rev() {
        // A day that is refused costs no other.
        let Ok(Some(bytes)) = reader.read_start(&path, DAY_BYTES) else {
            continue;
        };
        let lines = lines_of(&bytes).into_iter().rev();
        newest_first.extend(lines.map(|line| (day.clone(), line)));
        if newest_first.len() >= most {
            break;
        }
    }
    newest_first.truncate(most);
    newest_first.reverse();
    Ok(newest_first)
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
    let lines = text.lines().map(|line| unmarked(line).trim());
    let says = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let words = |line: &str| line.strip_prefix("- ").unwrap_or(line).to_owned();
    lines.filter(says).map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(days: &[(&str, &str)], most: usize) -> Vec<String> {
        let memory = tempfile::tempdir().unwrap();
        fs::create_dir(memory.path().join("daily")).unwrap();
        for (name, text) in days {
            fs::write(memory.path().join("daily").join(name), text).unwrap();
        }
        let lines = tail(memory.path(), most).unwrap().into_iter();
        lines.map(|(day, line)| format!("{day}: {line}")).collect()
    }

    #[test]
    fn the_newest_lines_are_told_oldest_first_without_titles() {
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
        assert_eq!(told(&days, 3), expected);
    }

    #[test]
    fn where_there_is_no_diary_nothing_is_told() {
        let memory = tempfile::tempdir().unwrap();
        assert_eq!(tail(memory.path(), 80).unwrap(), []);
        assert_eq!(told(&[], 80), [""; 0]);
    }
}

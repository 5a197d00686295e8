//! The end of a scope's diary: what its newest days say, as a person may have changed them.
//!
//! Not here: what is written there (`consolidate`).

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::entry::unmarked;

/// Most bytes that are read of one day.
const DAY_BYTES: u64 = 256 * 1024;

/// The last lines of the diary in the memory folder `memory`, each with its day, oldest first: at most
/// `most`, without titles. No diary has none. Reads the newest days only.
///
/// # Errors
/// When the disk fails.
pub fn tail(memory: &Path, most: usize) -> io::Result<Vec<(String, String)>> {
    let entries = match fs::read_dir(memory.join("daily")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut days = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // What is a link may lead out of the memory.
        if let (Some(day), true) = (name.strip_suffix(".md"), entry.file_type()?.is_file()) {
            days.push((day.to_owned(), entry.path()));
        }
    }
    days.sort();
    let mut newest_first = Vec::new();
    for (day, path) in days.into_iter().rev() {
        let lines = lines_of(&path)?.into_iter().rev();
        newest_first.extend(lines.map(|line| (day.clone(), line)));
        if newest_first.len() >= most {
            break;
        }
    }
    newest_first.truncate(most);
    newest_first.reverse();
    Ok(newest_first)
}

fn lines_of(path: &Path) -> io::Result<Vec<String>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(DAY_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(|line| unmarked(line).trim());
    let says = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let words = |line: &str| line.strip_prefix("- ").unwrap_or(line).to_owned();
    Ok(lines.filter(says).map(words).collect())
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

//! The tools by which Codex's agents look through their memories: list, read and search the files of a folder, and the rules
//! for the notes that they add.
//!
//! Paths are relative to the folder. What is hidden is not there, and what would lead out is refused.
//!
//! Not here: reading the files, and writing a note.

mod search;

use std::collections::BTreeMap;

use serde::Serialize;

use super::path::FilePath;
pub use search::{FoundText, MatchMode, SearchQuery, search};

/// Where notes are kept.
pub const NOTES: &str = "extensions/ad_hoc/notes";
/// Bytes that a token is taken to have.
const TOKEN_BYTES: usize = 4;

/// Why a call is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FolderToolError {
    /// The path leads out of the folder, or over a link.
    #[error("InvalidPath: {0} is not a path below the memory folder")]
    InvalidPath(String),
    /// The cursor is none that an answer had.
    #[error("InvalidCursor: {0} is no cursor of this list; begin without one")]
    InvalidCursor(String),
    /// Nothing is there.
    #[error("NotFound: there is no {0}")]
    NotFound(String),
    /// A folder cannot be read.
    #[error("NotFile: {0} is a folder; list it")]
    NotFile(String),
    /// Lines are counted from 1.
    #[error("InvalidLineOffset: lines are counted from 1")]
    InvalidLineOffset,
    /// No line was asked for.
    #[error("InvalidMaxLines: ask for at least one line")]
    InvalidMaxLines,
    /// The file is shorter.
    #[error("LineOffsetExceedsFileLength: the file has {0} lines")]
    LineOffsetExceedsFileLength(usize),
    /// There is nothing to search for.
    #[error("EmptyQuery: give at least one query, and none that is blank")]
    EmptyQuery,
    /// A window of no lines.
    #[error("InvalidLineCount: a window has at least one line")]
    InvalidLineCount,
    /// The name is not one of a note.
    #[error("InvalidFilename: write a name such as 2026-03-02T08-15-00-harbour.md")]
    InvalidFilename,
    /// A note is never overwritten.
    #[error("AlreadyExists: there is a note {0} already; choose another name")]
    AlreadyExists(String),
    /// The note says nothing.
    #[error("EmptyNote: the note is blank")]
    EmptyNote,
}

/// Something in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FolderEntry {
    path: String,
    entry_type: &'static str,
}

/// Some of what a list or a search has, and where it goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage<T> {
    /// Those of this page.
    pub items: Vec<T>,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

/// Lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileLines {
    path: String,
    start_line_number: usize,
    content: String,
    truncated: bool,
}

/// The checked path, `None` for the folder itself.
///
/// # Errors
/// [`FolderToolError::InvalidPath`] for one that leads out, [`FolderToolError::NotFound`] for one that is hidden.
pub fn parse_path(given: Option<&str>) -> Result<Option<FilePath>, FolderToolError> {
    let given = given.unwrap_or_default();
    let path = given.trim_end_matches('/');
    if path.is_empty() && !given.starts_with('/') || path == "." {
        return Ok(None);
    }
    let invalid = || FolderToolError::InvalidPath(given.to_owned());
    if path.split('/').any(|part| ["", ".", ".."].contains(&part)) {
        return Err(invalid());
    }
    if path.split('/').any(|part| part.starts_with('.')) {
        return Err(FolderToolError::NotFound(given.to_owned()));
    }
    FilePath::new(path).map(Some).map_err(|_| invalid())
}

/// The names of files at or below a path: the file itself, or all below the folder.
///
/// # Errors
/// [`FolderToolError::NotFound`] if nothing is there.
pub fn files_at<'a>(
    names: &'a [String],
    path: Option<&FilePath>,
) -> Result<Vec<&'a str>, FolderToolError> {
    let is_shown = |name: &&str| !name.split('/').any(|part| part.starts_with('.'));
    let shown = names.iter().map(String::as_str).filter(is_shown);
    let Some(path) = path else {
        return Ok(shown.collect());
    };
    let is_at = |name: &str| {
        let rest = name.strip_prefix(path.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let found: Vec<&str> = shown.filter(|name| is_at(name)).collect();
    match found.is_empty() {
        true => Err(FolderToolError::NotFound(path.to_string())),
        false => Ok(found),
    }
}

/// Lists what is directly in a folder, by name; of a file that file.
///
/// # Errors
/// When nothing is there, or the cursor is none of this list.
pub fn list(
    names: &[String],
    path: Option<&FilePath>,
    (cursor, most): (Option<&str>, usize),
) -> Result<ListPage<FolderEntry>, FolderToolError> {
    let mut entries = BTreeMap::new();
    for name in files_at(names, path)? {
        let below = match path {
            Some(path) => name[path.as_str().len()..]
                .strip_prefix('/')
                .unwrap_or_default(),
            None => name,
        };
        let (first, is_folder) = match below.split_once('/') {
            Some((first, _)) => (first, true),
            None => (below, false),
        };
        let end = name.len() - below.len() + first.len();
        let entry_type = if is_folder { "directory" } else { "file" };
        entries.insert(name[..end].to_owned(), entry_type);
    }
    let entries = entries.into_iter();
    let entries = entries.map(|(path, entry_type)| FolderEntry { path, entry_type });
    page(entries.collect(), cursor, most)
}

/// The page of a whole that a cursor names.
fn page<T>(all: Vec<T>, cursor: Option<&str>, most: usize) -> Result<ListPage<T>, FolderToolError> {
    let from = match cursor {
        None => 0,
        Some(cursor) => match cursor.parse::<usize>() {
            Ok(from) if from <= all.len() => from,
            Ok(_) | Err(_) => return Err(FolderToolError::InvalidCursor(cursor.to_owned())),
        },
    };
    let to = (from + most).min(all.len());
    let next_cursor = (to < all.len()).then(|| to.to_string());
    let items = all.into_iter().skip(from).take(most).collect();
    Ok(ListPage { items, next_cursor })
}

/// Lines of a file from one on, at most so many and at most so many tokens.
///
/// # Errors
/// When there are no such lines.
pub fn read(
    (path, text): (&FilePath, &str),
    from: usize,
    (most_lines, most_tokens): (Option<usize>, usize),
) -> Result<FileLines, FolderToolError> {
    let first = from
        .checked_sub(1)
        .ok_or(FolderToolError::InvalidLineOffset)?;
    if most_lines == Some(0) {
        return Err(FolderToolError::InvalidMaxLines);
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if first >= lines.len().max(1) {
        return Err(FolderToolError::LineOffsetExceedsFileLength(lines.len()));
    }
    let rest = lines.get(first..).unwrap_or_default();
    let content: String = rest
        .iter()
        .take(most_lines.unwrap_or(rest.len()))
        .copied()
        .collect();
    let cut = content.floor_char_boundary(most_tokens.saturating_mul(TOKEN_BYTES));
    let truncated = cut < content.len() || most_lines.is_some_and(|most| most < rest.len());
    Ok(FileLines {
        path: path.to_string(),
        start_line_number: from,
        content: content[..cut].to_owned(),
        truncated,
    })
}

/// The path of a new note.
///
/// # Errors
/// For a name that is none of a note, and for a blank note.
pub fn note_path(name: &str, note: &str) -> Result<FilePath, FolderToolError> {
    // 2026-03-02T08-15-00-
    const TIME: &str = "dddd-dd-ddTdd-dd-dd-";
    let time = name.get(..TIME.len()).unwrap_or_default();
    let fits = |(letter, form): (char, char)| match form {
        'd' => letter.is_ascii_digit(),
        form => letter == form,
    };
    let is_timed = time.len() == TIME.len() && time.chars().zip(TIME.chars()).all(fits);
    let slug = name
        .get(TIME.len()..)
        .and_then(|rest| rest.strip_suffix(".md"));
    let is_plain = |slug: &str| {
        let letters = slug
            .bytes()
            .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-');
        (1..=80).contains(&slug.len()) && letters && !slug.starts_with('-')
    };
    if !is_timed || !slug.is_some_and(is_plain) {
        return Err(FolderToolError::InvalidFilename);
    }
    if note.trim().is_empty() {
        return Err(FolderToolError::EmptyNote);
    }
    FilePath::new(format!("{NOTES}/{name}")).map_err(|_| FolderToolError::InvalidFilename)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        let names = [
            ".hidden/x.md",
            "MEMORY.md",
            "a.txt",
            "a/one.md",
            "a/b/two.md",
            "b.txt",
        ];
        names.map(str::to_owned).to_vec()
    }

    fn paths(page: &ListPage<FolderEntry>) -> Vec<(&str, &str)> {
        page.items
            .iter()
            .map(|it| (it.path.as_str(), it.entry_type))
            .collect()
    }

    #[test]
    fn c115_a_folder_is_listed_shallow_in_order_and_in_pages() {
        let (names, most) = (names(), 10);
        let all = list(&names, None, (None, most)).unwrap();
        let whole = [
            ("MEMORY.md", "file"),
            ("a", "directory"),
            ("a.txt", "file"),
            ("b.txt", "file"),
        ];
        assert_eq!(paths(&all), whole);
        let first = list(&names, None, (None, 3)).unwrap();
        assert_eq!(
            (paths(&first).len(), first.next_cursor.as_deref()),
            (3, Some("3"))
        );
        let rest = list(&names, None, (Some("3"), 3)).unwrap();
        assert_eq!(paths(&rest), [("b.txt", "file")]);
        assert_eq!(rest.next_cursor, None);
        for cursor in ["five", "5", "-1"] {
            let refused = list(&names, None, (Some(cursor), 3));
            assert_eq!(
                refused,
                Err(FolderToolError::InvalidCursor(cursor.to_owned()))
            );
        }
    }

    #[test]
    fn c116_a_file_is_listed_as_itself_and_what_is_missing_is_not_found() {
        let at = |path: &str| {
            let path = parse_path(Some(path)).unwrap();
            list(&names(), path.as_ref(), (None, 10))
        };
        assert_eq!(
            paths(&at("a/").unwrap()),
            [("a/b", "directory"), ("a/one.md", "file")]
        );
        assert_eq!(paths(&at("a.txt").unwrap()), [("a.txt", "file")]);
        assert_eq!(at("c"), Err(FolderToolError::NotFound("c".to_owned())));
    }

    #[test]
    fn c117_and_c118_lines_are_read_and_those_that_are_not_there_are_refused() {
        let path = FilePath::new("a.md").unwrap();
        let text = "first\nsecond needle line\nthird";
        let lines = |from, most| read((&path, text), from, (most, 100));
        let second = lines(2, Some(1)).unwrap();
        assert_eq!(
            (second.content.as_str(), second.start_line_number),
            ("second needle line\n", 2)
        );
        assert!(second.truncated && !lines(1, None).unwrap().truncated);
        assert_eq!(lines(0, None), Err(FolderToolError::InvalidLineOffset));
        assert_eq!(
            lines(4, None),
            Err(FolderToolError::LineOffsetExceedsFileLength(3))
        );
        assert_eq!(lines(1, Some(0)), Err(FolderToolError::InvalidMaxLines));
        let cut = read((&path, text), 1, (None, 2)).unwrap();
        assert_eq!((cut.content.as_str(), cut.truncated), ("first\nse", true));
    }

    #[test]
    fn c119_no_path_leads_out() {
        for out in ["../x", "a/../../x", "/etc/passwd", "a//b", "./a", "/"] {
            let refused = parse_path(Some(out));
            assert_eq!(
                refused,
                Err(FolderToolError::InvalidPath(out.to_owned())),
                "{out}"
            );
        }
        let hidden = parse_path(Some(".git/config"));
        assert_eq!(
            hidden,
            Err(FolderToolError::NotFound(".git/config".to_owned()))
        );
        assert_eq!(parse_path(Some(".")), Ok(None));
    }

    #[test]
    fn c123_a_note_has_a_name_with_a_time_and_says_something() {
        let name = "2026-03-02T08-15-00-the-harbour.md";
        let path = note_path(name, "text").unwrap();
        assert_eq!(path.as_str(), format!("{NOTES}/{name}"));
        assert_eq!(note_path(name, " \n"), Err(FolderToolError::EmptyNote));
        let long = format!("2026-03-02T08-15-00-{}.md", "x".repeat(81));
        for bad in [
            "",
            "note.md",
            "2026-03-02T08-15-00-.md",
            "2026-03-02T08-15-00--a.md",
            "2026-03-02T08:15:00-a.md",
            "2026-03-02T08-15-00-A.md",
            "2026-03-02T08-15-00-a.txt",
            "../2026-03-02T08-15-00-a.md",
            &long,
        ] {
            assert_eq!(
                note_path(bad, "text"),
                Err(FolderToolError::InvalidFilename),
                "{bad}"
            );
        }
    }
}

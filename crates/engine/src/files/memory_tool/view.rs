//! What `view` shows: the lines of a file with their numbers, or what is in a folder.

use std::collections::BTreeMap;

use super::path::ToolPath;
use super::wording::{Flavour, Refusal};
use super::{Planned, ToolCall};
use crate::files::changes::FileChanges;
use crate::files::error::FilesError;
use crate::files::own_secrets::masked;

/// Most lines of a file that is shown.
const MAX_LINES: usize = 999_999;
/// Width of a line's number.
const WIDTH: usize = 6;
/// How deep a folder is listed.
const LEVELS: usize = 2;
/// A folder that the documentation leaves out of lists.
const LEFT_OUT: &str = "node_modules";

/// What is in a folder, by name.
#[derive(Default)]
struct ListedFolder<'a> {
    /// The size of all files in it.
    bytes: usize,
    folders: BTreeMap<&'a str, ListedFolder<'a>>,
    files: BTreeMap<&'a str, usize>,
}

impl ToolCall<'_> {
    pub(super) fn view(&self, given: &str, range: Option<&[i64]>) -> Result<Planned, FilesError> {
        let path = match ToolPath::parse(given) {
            Ok(path) => path,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let shown = match self.text_of(&path)? {
            Ok(Some(text)) => view_file(given, &masked(self.redactor, &text), range),
            Ok(None) if self.exists(&path) => Ok(self.view_folder(&path)?),
            Ok(None) => Err(Refusal::NothingToView(given.to_owned())),
            Err(refusal) => Err(refusal),
        };
        Ok(shown.map(|content| (content, FileChanges::none())))
    }

    fn view_folder(&self, path: &ToolPath) -> Result<String, FilesError> {
        let mut folder = ListedFolder::default();
        let sizes = self.sizes()?;
        for (file, bytes) in sizes.iter().filter(|(file, _)| path.holds(file)) {
            folder.add(path.rest_of(file), *bytes);
        }
        let flavour = self.flavour;
        let (given, but) = match flavour {
            Flavour::Documented => {
                let given = path.given().trim_end_matches('/');
                (given, "hidden items and node_modules")
            }
            Flavour::PythonSdk => (path.given(), "hidden items"),
        };
        let mut lines = vec![
            format!(
                "Here're the files and directories up to {LEVELS} levels deep in {given}, excluding {but}:"
            ),
            format!("{}\t{given}", size(folder.bytes, flavour)),
        ];
        folder.list(given, LEVELS, flavour, &mut lines);
        Ok(lines.join("\n"))
    }
}

impl<'a> ListedFolder<'a> {
    fn add(&mut self, path: &'a str, bytes: usize) {
        self.bytes += bytes;
        match path.split_once('/') {
            Some((name, rest)) => self.folders.entry(name).or_default().add(rest, bytes),
            None => {
                self.files.insert(path, bytes);
            }
        }
    }

    /// Adds a line for each file and folder, by name, to `levels` levels.
    fn list(&self, at: &str, levels: usize, flavour: Flavour, lines: &mut Vec<String>) {
        let names = self.folders.keys().chain(self.files.keys()).copied();
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        for name in names {
            if let Some(bytes) = self.files.get(name) {
                lines.push(format!("{}\t{at}/{name}", size(*bytes, flavour)));
            }
            let Some(folder) = self.folders.get(name) else {
                continue;
            };
            if flavour == Flavour::Documented && name == LEFT_OUT {
                continue;
            }
            let end = match flavour {
                Flavour::Documented => "",
                Flavour::PythonSdk => "/",
            };
            lines.push(format!("{}\t{at}/{name}{end}", size(folder.bytes, flavour)));
            if levels > 1 {
                folder.list(&format!("{at}/{name}"), levels - 1, flavour, lines);
            }
        }
    }
}

fn view_file(given: &str, text: &str, range: Option<&[i64]>) -> Result<String, Refusal> {
    let lines: Vec<&str> = text.split('\n').collect();
    if lines.len() > MAX_LINES {
        return Err(Refusal::TooManyLines(given.to_owned()));
    }
    let (first, end) = match range {
        Some(&[first, last]) => {
            let first = usize::try_from(first).unwrap_or_default().max(1) - 1;
            (first, end_of_range(last, lines.len()))
        }
        Some(_) | None => (0, lines.len()),
    };
    let shown = lines.get(first..end).unwrap_or_default();
    let numbered = numbered(shown, first + 1);
    Ok(format!(
        "Here's the content of {given} with line numbers:\n{numbered}"
    ))
}

/// The end of a range of lines. A number below zero counts from the end of the file, and -1 is the end itself.
fn end_of_range(last: i64, lines: usize) -> usize {
    let from_end = |back: u64| lines.saturating_sub(usize::try_from(back).unwrap_or(usize::MAX));
    match last {
        -1 => lines,
        last if last < 0 => from_end(last.unsigned_abs()),
        last => usize::try_from(last).unwrap_or(usize::MAX).min(lines),
    }
}

/// Lines with their numbers, counted from `first`.
pub(super) fn numbered(lines: &[&str], first: usize) -> String {
    let lines = lines.iter().zip(first..);
    let lines = lines.map(|(line, number)| format!("{number:>WIDTH$}\t{line}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A size for people: `5.5K`. The documentation writes `2.0K` where the package writes `2K`.
fn size(bytes: usize, flavour: Flavour) -> String {
    const UNITS: [&str; 4] = ["B", "K", "M", "G"];
    let mut unit = 0;
    let mut scale = 1_usize;
    while unit + 1 < UNITS.len() && bytes / scale >= 1024 {
        scale *= 1024;
        unit += 1;
    }
    let is_whole = bytes.is_multiple_of(scale);
    match unit == 0 || (is_whole && flavour == Flavour::PythonSdk) {
        true => format!("{}{}", bytes / scale, UNITS[unit]),
        false => format!("{:.1}{}", bytes as f64 / scale as f64, UNITS[unit]),
    }
}

//! Edits of one file: a text is replaced, lines are inserted.

use super::path::ToolPath;
use super::view::numbered;
use super::wording::{Flavour, Refusal};
use super::{Planned, ToolCall};
use crate::files::changes::FileChanges;
use crate::files::error::FilesError;

/// Lines before and after a replaced text that its result shows.
const AROUND: usize = 2;

impl ToolCall<'_> {
    pub(super) fn str_replace(
        &self,
        given: &str,
        old: &str,
        new: &str,
    ) -> Result<Planned, FilesError> {
        let (path, text) = match self.editable(given)? {
            Ok(found) => found,
            Err(refusal) => return Ok(Err(refusal)),
        };
        match text.matches(old).count() {
            0 => {
                return Ok(Err(Refusal::NoMatch {
                    old_str: old.to_owned(),
                    path: given.to_owned(),
                }));
            }
            1 => {}
            _ => {
                return Ok(Err(Refusal::SeveralMatches {
                    old_str: old.to_owned(),
                    lines: lines_of_matches(&text, old),
                }));
            }
        }
        let at = text.find(old).unwrap_or_default();
        let edited = text.replacen(old, &self.clean(new), 1);
        let changed = text[..at].matches('\n').count();
        let lines: Vec<&str> = edited.split('\n').collect();
        let from = changed.saturating_sub(AROUND);
        let to = lines.len().min(changed + AROUND + 1);
        let snippet = numbered(lines.get(from..to).unwrap_or_default(), from + 1);
        let lead = match self.flavour {
            Flavour::Documented => "The memory file has been edited.",
            Flavour::PythonSdk => {
                "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
            }
        };
        Ok(written(&path, edited, format!("{lead}\n{snippet}")))
    }

    pub(super) fn insert(
        &self,
        given: &str,
        line: i64,
        inserted: &str,
    ) -> Result<Planned, FilesError> {
        let (path, text) = match self.editable(given)? {
            // The documentation words this failure of `insert` like that of `delete`.
            Err(Refusal::NoFile(path) | Refusal::Folder(path))
                if self.flavour == Flavour::Documented =>
            {
                return Ok(Err(Refusal::NoPath(path)));
            }
            Err(refusal) => return Ok(Err(refusal)),
            Ok(found) => found,
        };
        let mut lines: Vec<&str> = text.split('\n').collect();
        lines.pop_if(|last| last.is_empty());
        let place = usize::try_from(line).ok().filter(|it| *it <= lines.len());
        let Some(place) = place else {
            return Ok(Err(Refusal::NoLine {
                given: line,
                lines: lines.len(),
            }));
        };
        let inserted = self.clean(inserted.trim_end_matches('\n'));
        lines.insert(place, &inserted);
        let mut edited = lines.join("\n");
        if !edited.ends_with('\n') {
            edited.push('\n');
        }
        let content = format!("The file {given} has been edited.");
        Ok(written(&path, edited, content))
    }

    /// The path and the text of a file that is to be edited.
    fn editable(&self, given: &str) -> Result<Result<(ToolPath, String), Refusal>, FilesError> {
        let path = match ToolPath::parse(given) {
            Ok(path) => path,
            Err(refusal) => return Ok(Err(refusal)),
        };
        Ok(match self.text_of(&path)? {
            Ok(Some(text)) => Ok((path, text)),
            Ok(None) if self.exists(&path) => Err(Refusal::Folder(given.to_owned())),
            Ok(None) => Err(Refusal::NoFile(given.to_owned())),
            Err(refusal) => Err(refusal),
        })
    }
}

fn written(path: &ToolPath, text: String, content: String) -> Planned {
    let mut changes = FileChanges::none();
    changes.write(path.file()?, text);
    Ok((content, changes))
}

/// The lines in which a text begins, also where it overlaps itself.
fn lines_of_matches(text: &str, old: &str) -> String {
    let begins = text.char_indices().map(|(at, _)| at);
    // The empty text occurs behind the last letter, too.
    let begins = begins.chain(old.is_empty().then_some(text.len()));
    let mut lines: Vec<String> = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for at in begins.filter(|at| text[*at..].starts_with(old)) {
        line += text[counted..at].matches('\n').count();
        counted = at;
        lines.push(line.to_string());
    }
    lines.join(", ")
}

//! Anthropic's memory tool (`memory_20250818`) over the files of a memory folder.
//!
//! A command reads a [`FolderSnapshot`] and requests changes; the caller commits them. `/memories` is the memory folder: a
//! path stays inside it, no link is followed, and hidden files are out of reach. A folder exists while it holds a file. A
//! secret is hidden in what is shown and in what is written.
//!
//! Not here: the commit and its author (`jobs::memory_tool`).

mod edit;
mod path;
mod view;
mod wording;

use std::collections::BTreeMap;

use daybook_text::redact::Redactor;
use serde::Deserialize;

use super::changes::FileChanges;
use super::error::FilesError;
use super::own_secrets::masked;
use super::path::FilePath;
use super::write::FolderSnapshot;
use path::ToolPath;
pub use wording::Flavour;
use wording::Refusal;

/// A command, in the form in which a model writes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum MemoryToolCommand {
    /// Shows a file with line numbers, or what is in a folder.
    View {
        /// The file or folder.
        path: String,
        /// The first and the last line, counted from 1; -1 is the end of the file.
        #[serde(default)]
        view_range: Option<Vec<i64>>,
    },
    /// Creates a file.
    Create {
        /// The file.
        path: String,
        /// Its text.
        file_text: String,
    },
    /// Replaces a text that occurs once.
    StrReplace {
        /// The file.
        path: String,
        /// The text.
        old_str: String,
        /// What it becomes.
        #[serde(default)]
        new_str: String,
    },
    /// Inserts lines.
    Insert {
        /// The file.
        path: String,
        /// The line behind which they come; 0 is the beginning.
        insert_line: i64,
        /// The lines.
        insert_text: String,
    },
    /// Deletes a file, or a folder with all that is in it.
    Delete {
        /// The file or folder.
        path: String,
    },
    /// Renames or moves a file or a folder.
    Rename {
        /// Its present path.
        old_path: String,
        /// Its new path.
        new_path: String,
    },
}

/// The result of a command, for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolAnswer {
    /// The text of the result.
    pub content: String,
    /// Whether the command failed and changed nothing.
    pub is_error: bool,
}

impl MemoryToolCommand {
    /// The subject of the commit that the command makes.
    #[must_use]
    pub fn subject(&self) -> String {
        let (verb, path) = match self {
            Self::View { path, .. } => ("view", path),
            Self::Create { path, .. } => ("create", path),
            Self::StrReplace { path, .. } => ("edit", path),
            Self::Insert { path, .. } => ("add to", path),
            Self::Delete { path } => ("delete", path),
            Self::Rename { old_path, .. } => ("rename", old_path),
        };
        let path: String = path.chars().filter(|c| !c.is_control()).take(80).collect();
        format!("Memory tool: {verb} {path}")
    }

    /// Whether the command can do something where there is no folder yet.
    #[must_use]
    pub fn creates(&self) -> bool {
        matches!(self, Self::Create { .. })
    }

    /// Runs the command on a snapshot; `None` is that of a folder which does not exist. Returns its result, and the changes
    /// that it requests; none if it failed.
    ///
    /// # Errors
    /// If the history is damaged.
    pub fn run(
        &self,
        flavour: Flavour,
        redactor: &Redactor,
        snapshot: Option<&FolderSnapshot<'_>>,
    ) -> Result<(ToolAnswer, FileChanges), FilesError> {
        let call = ToolCall {
            flavour,
            redactor,
            snapshot,
        };
        let refused = match call.carry_out(self)? {
            Ok((content, changes)) => match call.obstacle(&changes) {
                None => {
                    let content = masked(redactor, &content).into_owned();
                    let is_error = false;
                    return Ok((ToolAnswer { content, is_error }, changes));
                }
                Some(refusal) => refusal,
            },
            Err(refusal) => refusal,
        };
        let content = masked(redactor, &refused.text(flavour)).into_owned();
        let is_error = true;
        Ok((ToolAnswer { content, is_error }, FileChanges::none()))
    }
}

/// What a command comes to: the result and the changes, or the reason for its failure.
type Planned = Result<(String, FileChanges), Refusal>;

/// One call of the tool.
struct ToolCall<'a> {
    flavour: Flavour,
    redactor: &'a Redactor,
    snapshot: Option<&'a FolderSnapshot<'a>>,
}

impl ToolCall<'_> {
    fn carry_out(&self, command: &MemoryToolCommand) -> Result<Planned, FilesError> {
        match command {
            MemoryToolCommand::View { path, view_range } => self.view(path, view_range.as_deref()),
            MemoryToolCommand::Create { path, file_text } => Ok(self.create(path, file_text)),
            MemoryToolCommand::StrReplace {
                path,
                old_str,
                new_str,
            } => self.str_replace(path, old_str, new_str),
            MemoryToolCommand::Insert {
                path,
                insert_line,
                insert_text,
            } => self.insert(path, *insert_line, insert_text),
            MemoryToolCommand::Delete { path } => Ok(self.delete(path)),
            MemoryToolCommand::Rename { old_path, new_path } => self.rename(old_path, new_path),
        }
    }

    fn create(&self, given: &str, text: &str) -> Planned {
        let path = ToolPath::parse(given)?;
        if self.exists(&path) {
            return Err(Refusal::FileExists(given.to_owned()));
        }
        let mut changes = FileChanges::none();
        changes.write(path.file()?, self.clean(text));
        Ok((format!("File created successfully at: {given}"), changes))
    }

    fn delete(&self, given: &str) -> Planned {
        let path = ToolPath::parse(given)?;
        if path.is_root() {
            return Err(Refusal::Root("delete"));
        }
        let gone = self.files_at(&path);
        if gone.is_empty() {
            return Err(Refusal::NoPath(given.to_owned()));
        }
        let mut changes = FileChanges::none();
        for file in gone {
            changes.delete(file.clone());
        }
        Ok((format!("Successfully deleted {given}"), changes))
    }

    fn rename(&self, old: &str, new: &str) -> Result<Planned, FilesError> {
        let paths = ToolPath::parse(old).and_then(|from| Ok((from, ToolPath::parse(new)?)));
        let (from, to) = match paths {
            Ok(paths) => paths,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if from.is_root() {
            return Ok(Err(Refusal::Root("rename")));
        }
        if self.exists(&to) {
            return Ok(Err(Refusal::DestinationExists(new.to_owned())));
        }
        let moved = self.files_at(&from);
        if moved.is_empty() {
            return Ok(Err(Refusal::NoPath(old.to_owned())));
        }
        if to.is_inside(&from) {
            return Ok(Err(Refusal::IntoItself(new.to_owned())));
        }
        let mut changes = FileChanges::none();
        for file in moved {
            let target = match to.joined(from.rest_of(file)) {
                Ok(target) => target,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let bytes = self.read(file)?.unwrap_or_default();
            changes.delete(file.clone());
            changes.write(target, bytes);
        }
        let content = format!("Successfully renamed {old} to {new}");
        Ok(Ok((content, changes)))
    }

    /// A text as it is written: without secrets.
    fn clean(&self, text: &str) -> String {
        self.redactor.redact(text).text.into_owned()
    }

    fn files(&self) -> impl Iterator<Item = &FilePath> {
        let files = self.snapshot.into_iter().flat_map(FolderSnapshot::files);
        files.map(|(file, _)| file)
    }

    fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, FilesError> {
        self.snapshot
            .map_or(Ok(None), |snapshot| snapshot.read(file))
    }

    /// The file at a path, or all files in the folder there.
    fn files_at(&self, path: &ToolPath) -> Vec<&FilePath> {
        self.files().filter(|file| path.holds(file)).collect()
    }

    fn exists(&self, path: &ToolPath) -> bool {
        path.is_root() || self.files().any(|file| path.holds(file))
    }

    /// The text of the file at a path; `None` if there is no file there. A file that is no text cannot be edited.
    fn text_of(&self, path: &ToolPath) -> Result<Result<Option<String>, Refusal>, FilesError> {
        let Ok(file) = path.file() else {
            return Ok(Ok(None));
        };
        let Some(bytes) = self.read(&file)? else {
            return Ok(Ok(None));
        };
        Ok(match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(Refusal::NoText(path.given().to_owned())),
        })
    }

    /// What keeps a folder from holding the changes.
    fn obstacle(&self, changes: &FileChanges) -> Option<Refusal> {
        let snapshot = self.snapshot?;
        if let Some(skipped) = changes.paths().find_map(|it| snapshot.skipped_at(it)) {
            return Some(Refusal::Skipped(skipped.to_string()));
        }
        let impossible = snapshot.check(changes).err()?;
        Some(Refusal::Impossible(impossible.to_string()))
    }

    /// The sizes of all files.
    fn sizes(&self) -> Result<BTreeMap<&FilePath, usize>, FilesError> {
        self.files()
            .map(|file| Ok((file, self.read(file)?.map_or(0, |it| it.len()))))
            .collect()
    }
}

#[cfg(test)]
#[path = "memory_tool_tests.rs"]
mod tests;

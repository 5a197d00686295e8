//! Memory files as a whole: listed, read as they are or were, written, deleted and brought back.
//!
//! A change is a commit of the person's, or of theirs through an agent, which `daybook undo` takes back. Secrets are hidden in what is
//! shown and in what is written; a line that comes back as it was shown keeps what the person wrote.
//!
//! Not here: single memories in them (`memory_changes`), commands of Anthropic's memory tool (`memory_tool`).

use anyhow::{Result, bail};
use daybook_domain::Scope;
use daybook_engine::files::Folder;
use daybook_engine::files::changes::FileChanges;
use daybook_engine::files::error::FilesError;
use daybook_engine::files::layout::folder;
use daybook_engine::files::own_secrets::sent_back;
use daybook_engine::files::path::FilePath;
use daybook_engine::files::reader;
use daybook_engine::files::write::FolderSnapshot;
use daybook_engine::jobs::persons_files::change_files;
use daybook_engine::jobs::persons_word::ChangeOutcome;
use daybook_text::redact::Redactor;
use serde::Serialize;
use utoipa::ToSchema;

use super::RequestError;
use super::history::{HistoryCommit, file_at, find_state, hidden};
use super::memory_changes::{MemoryChange, RequestedBy, author};
use super::scope_choice::{busy, open_folder};
use crate::wiring::Daybook;

/// Some files of a memory, and where the list goes on.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FileList {
    /// Whose memory it is.
    #[schema(example = "project/tidepool")]
    pub(crate) scope: String,
    /// The files of this page, by name.
    pub(crate) files: Vec<ListedFile>,
    /// The value of `after` for the next page; `null` on the last.
    pub(crate) next: Option<String>,
}

/// One memory file.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListedFile {
    /// Its name in the memory folder.
    #[schema(example = "MEMORY.md")]
    pub(crate) file: String,
    /// Its size in bytes.
    pub(crate) bytes: usize,
}

/// A memory file with its text.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FileText {
    /// Whose memory it is in.
    #[schema(example = "project/tidepool")]
    pub(crate) scope: String,
    /// Its name in the memory folder.
    #[schema(example = "MEMORY.md")]
    pub(crate) file: String,
    /// The change whose state is shown; `null` for the present one.
    pub(crate) commit: Option<HistoryCommit>,
    /// Its text, in which secrets are hidden.
    pub(crate) text: String,
}

/// What a change of a file did.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FileChange {
    /// The change that was made.
    pub(crate) change: MemoryChange,
    /// Secrets that were hidden in what was written.
    pub(crate) secrets_hidden: usize,
}

/// Lists the files of a scope's last state, by name.
pub(crate) async fn list_files(
    daybook: &Daybook,
    scope: &Scope,
    after: Option<&str>,
    limit: usize,
) -> Result<FileList> {
    let folder = open_folder(daybook, scope).await?;
    let all = folder.head_files()?.into_keys();
    let mut page: Vec<FilePath> = all
        .filter(|file| after.is_none_or(|after| file.as_str() > after))
        .take(limit + 1)
        .collect();
    let has_more = page.len() > limit;
    page.truncate(limit);
    let head = folder.head()?;
    let files = page.iter().map(|file| {
        let bytes = match head {
            Some(head) => folder.read_at(head, file)?,
            None => None,
        };
        Ok(ListedFile {
            file: file.to_string(),
            bytes: bytes.unwrap_or_default().len(),
        })
    });
    Ok(FileList {
        scope: scope.to_string(),
        files: files.collect::<Result<_, FilesError>>()?,
        next: page
            .last()
            .filter(|_| has_more)
            .map(|file| file.to_string()),
    })
}

/// Reads a file as it is now, or as it was in a state.
pub(crate) async fn read_file(
    daybook: &Daybook,
    scope: &Scope,
    file: &FilePath,
    at: Option<&str>,
) -> Result<FileText> {
    let (commit, text) = match at {
        Some(state) => {
            let opened = open_folder(daybook, scope).await?;
            let (commit, text) = file_at(daybook, (scope, &opened), state, file)?;
            (Some(commit), text)
        }
        None => {
            match reader::text(&folder(&daybook.root, scope), file).map_err(FilesError::from)? {
                Some(text) => (None, hidden(&text)),
                None => bail!(no_file(scope, file)),
            }
        }
    };
    Ok(FileText {
        scope: scope.to_string(),
        file: file.to_string(),
        commit,
        text,
    })
}

fn no_file(scope: &Scope, file: &FilePath) -> RequestError {
    RequestError::NotFound(format!("{scope} has no file {file}"))
}

/// Writes a whole file. With the name of a state, refuses where the file has changed since.
pub(crate) async fn write_file(
    daybook: &Daybook,
    scope: &Scope,
    (file, text): (&FilePath, &str),
    since: Option<&str>,
    by: RequestedBy,
) -> Result<FileChange> {
    let expected = match since {
        None => None,
        Some(state) => {
            let folder = open_folder(daybook, scope).await?;
            let commit = find_state(daybook, (scope, &folder), state)?;
            Some(folder.read_at(commit.id, file)?)
        }
    };
    let mut hidden = 0;
    let message = format!("Write {file}");
    let change = plan_change(daybook, scope, (&message, by), |snapshot| {
        let current = snapshot.read(file)?;
        if expected.is_some_and(|expected| expected != current) {
            return Ok(Err(RequestError::Conflict(format!(
                "{file} has changed since; read it again, and send what you want to change"
            ))));
        }
        let current = String::from_utf8_lossy(current.as_deref().unwrap_or_default()).into_owned();
        let (text, secrets) = sent_back(&Redactor::current(), &current, text);
        hidden = secrets;
        let mut changes = FileChanges::none();
        changes.write(file.clone(), text);
        Ok(Ok(changes))
    });
    Ok(FileChange {
        change: change.await?,
        secrets_hidden: hidden,
    })
}

/// Deletes a file. Its past stays in the history.
pub(crate) async fn delete_file(
    daybook: &Daybook,
    scope: &Scope,
    file: &FilePath,
    by: RequestedBy,
) -> Result<MemoryChange> {
    open_folder(daybook, scope).await?;
    let message = format!("Delete {file}");
    plan_change(daybook, scope, (&message, by), |snapshot| {
        if snapshot.read(file)?.is_none() {
            return Ok(Err(no_file(scope, file)));
        }
        let mut changes = FileChanges::none();
        changes.delete(file.clone());
        Ok(Ok(changes))
    })
    .await
}

/// Brings a file to its state in a commit or at a time; one that did not exist then is deleted.
pub(crate) async fn restore_file(
    daybook: &Daybook,
    scope: &Scope,
    file: &FilePath,
    state: &str,
    by: RequestedBy,
) -> Result<MemoryChange> {
    let opened: Folder = open_folder(daybook, scope).await?;
    let commit = find_state(daybook, (scope, &opened), state)?;
    let was = opened.read_at(commit.id, file)?;
    let id = commit.id.to_string();
    let message = format!("Restore {file} as of {}", &id[..8]);
    plan_change(daybook, scope, (&message, by), |snapshot| {
        let mut changes = FileChanges::none();
        match (was, snapshot.read(file)?) {
            (Some(was), _) => changes.write(file.clone(), was),
            (None, Some(_)) => changes.delete(file.clone()),
            (None, None) => return Ok(Err(no_file(scope, file))),
        }
        Ok(Ok(changes))
    })
    .await
}

/// Makes the changes that `plan` requests. A plan may refuse, which changes nothing.
pub(crate) async fn plan_change(
    daybook: &Daybook,
    scope: &Scope,
    (message, by): (&str, RequestedBy),
    plan: impl FnOnce(&FolderSnapshot<'_>) -> Result<Result<FileChanges, RequestError>, FilesError>,
) -> Result<MemoryChange> {
    let (worker, _lock) = daybook.worker().await?;
    let by = author(daybook, by);
    let mut refusal = None;
    let planned = |snapshot: &FolderSnapshot<'_>| match plan(snapshot)? {
        Ok(changes) => {
            let skipped = changes.paths().find_map(|path| snapshot.skipped_at(path));
            refusal = skipped.map(|skipped| RequestError::Conflict(skipped.to_string()));
            Ok(match refusal {
                Some(_) => FileChanges::none(),
                None => changes,
            })
        }
        Err(refused) => {
            refusal = Some(refused);
            Ok(FileChanges::none())
        }
    };
    let outcome = change_files(&worker, scope, message, &by, planned).await?;
    if let Some(refused) = refusal {
        bail!(refused);
    }
    let commit = match outcome {
        ChangeOutcome::Made(commit) => Some(commit.to_string()),
        ChangeOutcome::Unchanged => None,
        ChangeOutcome::Busy => bail!(busy(scope)),
    };
    Ok(MemoryChange {
        scope: scope.to_string(),
        commit,
    })
}

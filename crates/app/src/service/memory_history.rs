//! The past of one memory: the line that shows it, in each state of its file.

use anyhow::Result;
use daybook_engine::files::Folder;
use daybook_engine::files::history::Commit;
use daybook_engine::jobs::memories::{Memory, ShownLine, lines_of};
use serde::Serialize;
use utoipa::ToSchema;

use super::history::{HistoryCommit, hidden};
use super::scope_choice::open_folder;
use crate::wiring::Daybook;

/// Most states of a file that are read.
const STATES: usize = 500;

/// The past of a memory.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MemoryHistory {
    /// The memory's id.
    #[schema(example = "9f31ac2e5d1b4a77")]
    pub(crate) id: String,
    /// Whose memory it is in.
    pub(crate) scope: String,
    /// The file that shows it; `null` while none does.
    #[schema(example = "MEMORY.md")]
    pub(crate) file: Option<String>,
    /// What happened to it there, newest first.
    pub(crate) changes: Vec<MemoryRevision>,
}

/// A change of the line that shows a memory.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MemoryRevision {
    /// `added`, `changed` or `removed`.
    #[schema(example = "changed")]
    pub(crate) change: &'static str,
    /// The line before; `null` when it was added.
    pub(crate) before: Option<String>,
    /// The line after; `null` when it was removed.
    pub(crate) after: Option<String>,
    /// The change of the files that did it.
    pub(crate) commit: HistoryCommit,
}

/// Reads the past of a memory from the history of the file that shows it.
pub(crate) async fn history_of(
    daybook: &Daybook,
    memory: &Memory,
    id: String,
) -> Result<MemoryHistory> {
    let line = memory.lines.first();
    let changes = match line {
        None => Vec::new(),
        Some(line) => {
            let folder = open_folder(daybook, &memory.scope).await?;
            let commits = folder.log_of(&line.file, STATES)?;
            revisions(&folder, line, &commits)?
        }
    };
    Ok(MemoryHistory {
        id,
        scope: memory.scope.to_string(),
        file: line.map(|line| line.file.to_string()),
        changes,
    })
}

fn revisions(folder: &Folder, line: &ShownLine, commits: &[Commit]) -> Result<Vec<MemoryRevision>> {
    let mut revisions = Vec::new();
    let mut before = None;
    for commit in commits.iter().rev() {
        let bytes = folder.read_at(commit.id, &line.file)?.unwrap_or_default();
        let lines = lines_of(&line.file, &String::from_utf8_lossy(&bytes));
        let is_it = |one: &ShownLine| match &line.entry {
            Some(_) => one.entry == line.entry,
            None => one.text == line.text,
        };
        let after = lines.into_iter().find(is_it).map(|one| hidden(&one.text));
        let change = match (&before, &after) {
            (None, Some(_)) => "added",
            (Some(_), None) => "removed",
            (Some(before), Some(after)) if before != after => "changed",
            (Some(_), Some(_)) | (None, None) => continue,
        };
        revisions.push(MemoryRevision {
            change,
            before: before.take(),
            after: after.clone(),
            commit: HistoryCommit::from(commit),
        });
        before = after;
    }
    revisions.reverse();
    Ok(revisions)
}

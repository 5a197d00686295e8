//! Runs Anthropic's memory tool on a scope's memory folder.
//!
//! Every command that changes something is a commit of the person's through an agent, which an undo takes back.
//!
//! Not here: what a command does (`files::memory_tool`).

use daybook_domain::Scope;

use super::persons_files::change_files;
use super::persons_word::ChangeOutcome;
use super::{WorkError, WorkerContext};
use crate::files::layout::folder;
use crate::files::memory_tool::{Flavour, MemoryToolCommand, ToolAnswer};
use crate::files::stamp::Person;

/// Runs a command. `None` if another process is writing the folder.
///
/// # Errors
/// When the store or the disk fails. A command that cannot be carried out has a [`ToolAnswer`] that says why.
pub async fn run_memory_tool(
    worker: &WorkerContext,
    scope: &Scope,
    (command, flavour): (&MemoryToolCommand, Flavour),
    by: &Person,
) -> Result<Option<ToolAnswer>, WorkError> {
    let redactor = &worker.redactor;
    if !command.creates() && !folder(&worker.root, scope).exists() {
        // Nothing is created for a question.
        let (answer, _) = command.run(flavour, redactor, None)?;
        return Ok(Some(answer));
    }
    let (mut answer, subject) = (None, command.subject());
    let outcome = change_files(worker, scope, &subject, by, |snapshot| {
        let (result, changes) = command.run(flavour, redactor, Some(snapshot))?;
        answer = Some(result);
        Ok(changes)
    });
    Ok(match outcome.await? {
        ChangeOutcome::Busy => None,
        ChangeOutcome::Made(_) | ChangeOutcome::Unchanged => answer,
    })
}

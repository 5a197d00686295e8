//! Anthropic's memory tool on the memory folder of a scope, for every interface.

use anyhow::{Result, bail};
use daybook_domain::Scope;
use daybook_engine::files::memory_tool::{Flavour, MemoryToolCommand, ToolAnswer};
use daybook_engine::jobs::memory_tool::run_memory_tool;

use super::memory_changes::through_agent;
use super::scope_choice::busy;
use crate::wiring::Daybook;

/// Runs a command of the tool.
pub(crate) async fn run_command(
    daybook: &Daybook,
    scope: &Scope,
    command: &MemoryToolCommand,
    flavour: Flavour,
) -> Result<ToolAnswer> {
    let (worker, _lock) = daybook.worker().await?;
    let by = through_agent(daybook);
    match run_memory_tool(&worker, scope, (command, flavour), &by).await? {
        Some(answer) => Ok(answer),
        None => bail!(busy(scope)),
    }
}

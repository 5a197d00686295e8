//! The tool `memory`: commands of Anthropic's memory tool on a memory folder.

use anyhow::{Result, anyhow, bail};
use daybook_engine::files::memory_tool::{Flavour, MemoryToolCommand};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::VerbatimFailure;
use super::call::McpCall;
use crate::process::block_on;
use crate::service::agent_answer::AgentAnswer;
use crate::service::caller::named_caller;
use crate::service::memory_tool::run_command;
use crate::service::scope_choice::ScopeChoice;

/// A command, whose memory it is for, and who asks.
#[derive(Deserialize)]
pub(super) struct ToolArguments {
    scope: Option<String>,
    agent: Option<String>,
    user: Option<String>,
    room_id: Option<String>,
    team: Option<String>,
    project: Option<String>,
    #[serde(flatten)]
    command: Map<String, Value>,
}

pub(super) fn run(call: &McpCall<'_>, given: ToolArguments) -> Result<AgentAnswer> {
    let command: MemoryToolCommand = serde_json::from_value(given.command.clone().into())
        .map_err(|_| {
            anyhow!(
                "this is no command: give command (view, create, str_replace, insert, delete, rename) with its fields, \
                 and no others"
            )
        })?;
    let _turn = call.memory.writing();
    call.check_cancelled()?;
    let daybook = call.memory.existing_or_new()?;
    let answer = block_on(async {
        let choice = ScopeChoice {
            scope: given.scope.clone(),
            project: None,
            caller: Some(named_caller!(given).held_in(&daybook.settings.venue)),
        };
        let scope = choice.for_writing(&daybook).await?;
        run_command(&daybook, &scope, &command, Flavour::Documented).await
    })?;
    if answer.is_error {
        bail!(VerbatimFailure(answer.content));
    }
    let data = json!({ "content": answer.content });
    Ok(AgentAnswer {
        text: answer.content,
        data,
    })
}

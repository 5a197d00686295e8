//! `daybook hook`: called by agents' hosts, not by people.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::CommonArgs;
use crate::folders::data_folder;
use crate::folders::hosts::AgentHost;
use crate::hooks::answer;

/// Called by an agent's host when something happens in a session; see `setup`.
#[derive(Args)]
pub(crate) struct HookCommand {
    /// Which host calls
    host: AgentHost,
    /// The payload; read from standard input when left out
    payload: Option<String>,
}

impl HookCommand {
    /// Never fails: a hook must not harm the session that it serves.
    pub(crate) fn run(self, common: &CommonArgs) -> Result<ExitCode> {
        answer(
            self.host,
            self.payload,
            data_folder::locate(common.root.as_deref()),
            &common.set,
        );
        Ok(ExitCode::SUCCESS)
    }
}

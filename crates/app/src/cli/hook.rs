//! `daybook hook`: called by agents' hosts, not by people.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::Common;
use crate::hooks::{Host, answer};
use crate::root;

/// Called by an agent's host when something happens in a session; see `setup`.
#[derive(Args)]
pub(crate) struct Hook {
    /// Which host calls
    host: Host,
    /// The payload; read from standard input when left out
    payload: Option<String>,
}

impl Hook {
    /// Never fails: a hook must not harm the session that it serves.
    pub(crate) fn run(self, common: &Common) -> Result<ExitCode> {
        answer(
            self.host,
            self.payload,
            root::locate(common.root.as_deref()),
            &common.set,
        );
        Ok(ExitCode::SUCCESS)
    }
}

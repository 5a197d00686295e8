//! The arguments that choose a scope.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::service::scope_choice::ScopeChoice;

/// Whose memory a command is about.
#[derive(Args, Clone, Debug)]
pub(crate) struct ScopeArgs {
    /// Whose memory, such as project/tidepool or user/ada [default: this folder's project, else yours]
    #[arg(long, value_name = "SCOPE", conflicts_with = "project")]
    scope: Option<String>,
    /// The memory of this project
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
}

impl ScopeArgs {
    pub(crate) fn choice(&self) -> ScopeChoice {
        ScopeChoice {
            scope: self.scope.clone(),
            project: self.project.clone(),
        }
    }

    /// Whether a scope was named.
    pub(crate) fn is_given(&self) -> bool {
        self.scope.is_some() || self.project.is_some()
    }
}

/// The folder that the command runs in.
pub(crate) fn current_folder() -> Result<PathBuf> {
    std::env::current_dir().context("this folder cannot be read")
}

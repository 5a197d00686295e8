//! The arguments that choose a scope.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::service::caller::NamedCaller;
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
            caller: None,
        }
    }

    /// The choice of a command that may be run as a caller.
    pub(crate) fn choice_of(&self, caller: &CallerArgs) -> ScopeChoice {
        ScopeChoice {
            caller: caller.named(),
            ..self.choice()
        }
    }

    /// Whether a scope was named.
    pub(crate) fn is_given(&self) -> bool {
        self.scope.is_some() || self.project.is_some()
    }
}

/// For whom a command asks: only what that caller is given. Without any, all of the data folder.
#[derive(Args, Clone, Debug)]
pub(crate) struct CallerArgs {
    /// As this agent
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// As an agent that talks with this person
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// As in this room
    #[arg(long, value_name = "ROOM")]
    room: Option<String>,
    /// As this team, by its name or its members, such as alpha+beta
    #[arg(long, value_name = "TEAM")]
    team: Option<String>,
}

impl CallerArgs {
    /// The caller, if one was named.
    pub(crate) fn named(&self) -> Option<NamedCaller> {
        let caller = NamedCaller {
            agent: self.agent.clone(),
            user: self.user.clone(),
            room_id: self.room.clone(),
            team: self.team.clone(),
            project: None,
        };
        let names = [&self.agent, &self.user, &self.room, &self.team];
        names.iter().any(|name| name.is_some()).then_some(caller)
    }
}

/// The folder that the command runs in.
pub(crate) fn current_folder() -> Result<PathBuf> {
    std::env::current_dir().context("this folder cannot be read")
}

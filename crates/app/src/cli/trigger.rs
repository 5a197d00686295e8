//! `daybook trigger`: reports an event of a session, for hosts without hooks or HTTP.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use daybook_domain::{Priority, Trigger};
use daybook_engine::triggers::TriggerOutcome;
use serde_json::json;

use super::CommonArgs;
use crate::process::block_on;
use crate::service::append_api::{self, SessionTrigger};
use crate::terminal::output::{count, json as print_json, print_line, rfc3339};
use crate::wiring::Daybook;

/// Report what happened to a session.
#[derive(Args)]
pub(crate) struct TriggerCommand {
    /// What happened
    #[arg(value_enum)]
    what: TriggerArg,
    /// The agent that holds the conversation
    #[arg(long)]
    agent: String,
    /// The agent's own id of the conversation
    #[arg(long)]
    session: String,
    /// The user whose messages it holds, where nothing was appended to it yet [default: the person of the data folder]
    #[arg(long)]
    user: Option<String>,
    /// After compaction or reset: the id of the conversation that replaces it, created once it is marked
    #[arg(long, value_name = "SESSION")]
    successor: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum TriggerArg {
    /// A turn completed: due once the session has rested, at once with the sixth that waits
    Turn,
    /// The agent has no pending messages: due now
    Sleep,
    /// The conversation is over: due now
    End,
    /// The agent is about to condense the conversation: due now, before others
    Compaction,
    /// The conversation is about to be replaced: due now, before others
    Reset,
    /// A person sent a prompt: other sessions of the agent that wait go before the rest
    Prompt,
    /// The session begins: waiting sessions that have rested become due
    Start,
}

impl From<TriggerArg> for Trigger {
    fn from(word: TriggerArg) -> Self {
        match word {
            TriggerArg::Turn => Self::Turn,
            TriggerArg::Sleep => Self::Sleep,
            TriggerArg::End => Self::End,
            TriggerArg::Compaction => Self::Compaction,
            TriggerArg::Reset => Self::Reset,
            TriggerArg::Prompt => Self::Prompt,
            TriggerArg::Start => Self::Start,
        }
    }
}

impl TriggerCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let successor = match &self.successor {
            Some(id) => Some(append_api::session_id(&daybook, &self.agent, id)?),
            None => None,
        };
        let reported = SessionTrigger {
            session: append_api::session_id(&daybook, &self.agent, &self.session)?,
            user: self.user.clone(),
            trigger: self.what.into(),
            successor,
        };
        let triggered = block_on(append_api::apply_trigger(&daybook, reported))?;
        if common.json {
            print_json(&as_json(&triggered))?;
        } else {
            print_line!("{}", sentence(&triggered));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn sentence(triggered: &TriggerOutcome) -> String {
    match triggered {
        TriggerOutcome::DueAt(at, priority) => format!(
            "Due at {}{}.",
            rfc3339(*at).unwrap_or_else(|| "any time".to_owned()),
            if *priority == Priority::High {
                ", before others"
            } else {
                ""
            },
        ),
        TriggerOutcome::NothingNew => "Nothing new: all events have been extracted.".to_owned(),
        TriggerOutcome::Never(why) => format!("No memory is made from it: {}.", why.reason()),
        TriggerOutcome::Raised(sessions) => format!(
            "{} of the agent that wait now go before the rest.",
            count(*sessions as u64, "other session")
        ),
        TriggerOutcome::Swept(swept) => format!(
            "{} checked, {} due now.",
            count(swept.examined as u64, "session"),
            swept.due.len()
        ),
    }
}

fn as_json(triggered: &TriggerOutcome) -> serde_json::Value {
    match triggered {
        TriggerOutcome::DueAt(at, priority) => {
            json!({ "outcome": "due", "due_at": rfc3339(*at), "priority": priority })
        }
        TriggerOutcome::NothingNew => json!({ "outcome": "nothing_new" }),
        TriggerOutcome::Never(why) => json!({ "outcome": "never", "why": why.reason() }),
        TriggerOutcome::Raised(sessions) => json!({ "outcome": "raised", "sessions": sessions }),
        TriggerOutcome::Swept(swept) => json!({
            "outcome": "swept",
            "looked": swept.examined,
            "due": swept.due.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }),
    }
}

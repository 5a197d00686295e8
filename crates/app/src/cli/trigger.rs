//! `daybook trigger`: tells what happened to a session, as hosts without hooks or HTTP do.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use daybook_domain::{Priority, Trigger as What};
use daybook_engine::triggers::Triggered;
use serde_json::json;

use super::Common;
use crate::output::{count, json as print_json, rfc3339};
use crate::telling::{self, Happened};
use crate::wiring::{Daybook, block_on};

/// Tell what happened to a session.
#[derive(Args)]
pub(crate) struct Trigger {
    /// What happened
    #[arg(value_enum)]
    what: Word,
    /// The agent that holds the conversation
    #[arg(long)]
    agent: String,
    /// The agent's own id of the conversation
    #[arg(long)]
    session: String,
    /// Whose words it holds, where nothing was appended to it yet [default: the person of the data folder]
    #[arg(long)]
    user: Option<String>,
    /// After compaction or reset: the id of the conversation that replaces it, created once it is marked
    #[arg(long, value_name = "SESSION")]
    successor: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Word {
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
    /// A person said something: other sessions of the agent that wait go before the rest
    Prompt,
    /// The session begins: what waits and has rested is looked over
    Start,
}

impl From<Word> for What {
    fn from(word: Word) -> Self {
        match word {
            Word::Turn => Self::Turn,
            Word::Sleep => Self::Sleep,
            Word::End => Self::End,
            Word::Compaction => Self::Compaction,
            Word::Reset => Self::Reset,
            Word::Prompt => Self::Prompt,
            Word::Start => Self::Start,
        }
    }
}

impl Trigger {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let successor = match &self.successor {
            Some(id) => Some(telling::session(&daybook, &self.agent, id)?),
            None => None,
        };
        let happened = Happened {
            session: telling::session(&daybook, &self.agent, &self.session)?,
            user: self.user.clone(),
            what: self.what.into(),
            successor,
        };
        let triggered = block_on(telling::happened(&daybook, happened))?;
        if common.json {
            print_json(&as_json(&triggered))?;
        } else {
            anstream::println!("{}", sentence(&triggered));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn sentence(triggered: &Triggered) -> String {
    match triggered {
        Triggered::DueAt(at, priority) => format!(
            "Due at {}{}.",
            rfc3339(*at).unwrap_or_else(|| "any time".to_owned()),
            if *priority == Priority::High {
                ", before others"
            } else {
                ""
            },
        ),
        Triggered::NothingNew => "All that was said has been extracted already.".to_owned(),
        Triggered::Never(why) => format!("Memory is never made from it: {}.", why.reason()),
        Triggered::Raised(sessions) => format!(
            "{} of the agent that wait now go before the rest.",
            count(*sessions as u64, "other session")
        ),
        Triggered::Swept(swept) => format!(
            "{} looked at, {} due now.",
            count(swept.looked as u64, "session"),
            swept.due.len()
        ),
    }
}

fn as_json(triggered: &Triggered) -> serde_json::Value {
    match triggered {
        Triggered::DueAt(at, priority) => {
            json!({ "outcome": "due", "due_at": rfc3339(*at), "priority": priority })
        }
        Triggered::NothingNew => json!({ "outcome": "nothing_new" }),
        Triggered::Never(why) => json!({ "outcome": "never", "why": why.reason() }),
        Triggered::Raised(sessions) => json!({ "outcome": "raised", "sessions": sessions }),
        Triggered::Swept(swept) => json!({
            "outcome": "swept",
            "looked": swept.looked,
            "due": swept.due.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }),
    }
}

//! `daybook quarantine`: observations that wait for a person's decision.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use daybook_domain::Evidence;
use daybook_domain::citation::Citation;
use daybook_domain::quarantine::{QuarantineReason, QuarantinedObservation};
use daybook_engine::jobs::{self, quarantine};
use daybook_engine::stop::Stop;
use serde_json::{Value, json};

use super::CommonArgs;
use super::recall::learned_from;
use crate::process::block_on;
use crate::terminal::output::{bold, count, dim, json as print_json, print_line};
use crate::terminal::silent::HiddenUpdate;
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// Rows that are shown to people; programs get all.
const ROWS: usize = 20;
/// Digits of an id that are shown.
const ID_DIGITS: usize = 8;

/// Show observations that wait for your decision; accept or reject them.
#[derive(Args)]
pub(crate) struct QuarantineCommand {
    #[command(subcommand)]
    what: Option<QuarantineSubcommand>,
}

#[derive(Subcommand)]
enum QuarantineSubcommand {
    /// List what waits, and why
    List,
    /// Remember these as your own statements
    Accept {
        /// Ids, or their first digits, as the list shows them
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    /// Keep these out for good
    Reject {
        /// Ids, or their first digits, as the list shows them
        #[arg(required_unless_present = "all", value_name = "ID")]
        ids: Vec<String>,
        /// Everything that waits
        #[arg(long, conflicts_with = "ids")]
        all: bool,
    },
}

impl QuarantineCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        block_on(async {
            let waiting = quarantine::waiting(&*daybook.store, &daybook.tenant).await?;
            match &self.what {
                None | Some(QuarantineSubcommand::List) => list(common, &waiting),
                Some(QuarantineSubcommand::Accept { ids }) => {
                    let chosen = choose(&waiting, ids)?;
                    accept(common, &daybook, &chosen).await
                }
                Some(QuarantineSubcommand::Reject { ids, all }) => {
                    let chosen = match all {
                        true => waiting.iter().collect(),
                        false => choose(&waiting, ids)?,
                    };
                    reject(common, &daybook, &chosen).await
                }
            }
        })
    }
}

/// The observations with these ids.
fn choose<'a>(
    waiting: &'a [QuarantinedObservation],
    ids: &[String],
) -> Result<Vec<&'a QuarantinedObservation>> {
    let mut chosen = Vec::new();
    for id in ids {
        let low = id.to_lowercase();
        let found: Vec<_> = waiting
            .iter()
            .filter(|one| one.observation.id.to_string().starts_with(&low))
            .collect();
        let [one] = found.as_slice() else {
            bail!(
                "{} {id}; `{}` lists what waits",
                match found.len() {
                    0 => "nothing in quarantine has the id".to_owned(),
                    n => format!(
                        "{} have ids that begin with",
                        count(n as u64, "observation")
                    ),
                },
                suggest::command("quarantine"),
            );
        };
        chosen.push(*one);
    }
    Ok(chosen)
}

async fn accept(
    common: &CommonArgs,
    daybook: &Daybook,
    chosen: &[&QuarantinedObservation],
) -> Result<ExitCode> {
    let (mut worker, _lock) = daybook.attended_worker().await?;
    worker.limits.proposals = false;
    let mut accepted = Vec::new();
    for one in chosen {
        let now = daybook.clock.now();
        accepted.push(quarantine::accept(&*daybook.store, &one.observation, now).await?);
    }
    jobs::write_due(&worker, &Stop::default(), &HiddenUpdate).await?;
    if common.json {
        let ids: Vec<String> = accepted.iter().map(|it| it.id.to_string()).collect();
        print_json(&json!({ "accepted": ids }))?;
    } else {
        for observation in accepted {
            print_line!("Remembered in {}: {}", observation.scope, observation.text);
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn reject(
    common: &CommonArgs,
    daybook: &Daybook,
    chosen: &[&QuarantinedObservation],
) -> Result<ExitCode> {
    for one in chosen {
        quarantine::reject(&*daybook.store, &one.observation).await?;
    }
    if common.json {
        let ids = chosen.iter().map(|one| one.observation.id.to_string());
        print_json(&json!({ "rejected": ids.collect::<Vec<String>>() }))?;
    } else {
        print_line!("{} stay out.", count(chosen.len() as u64, "observation"));
    }
    Ok(ExitCode::SUCCESS)
}

fn list(common: &CommonArgs, waiting: &[QuarantinedObservation]) -> Result<ExitCode> {
    if common.json {
        let rows: Vec<Value> = waiting.iter().map(as_json).collect();
        print_json(&json!({ "quarantined": rows }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if waiting.is_empty() {
        print_line!("Nothing waits for your decision.");
        return Ok(ExitCode::SUCCESS);
    }
    for one in waiting.iter().take(ROWS) {
        let observation = &one.observation;
        let id = observation.id.to_string();
        print_line!("{}  {}", bold(&id[..ID_DIGITS]), observation.text);
        let cited = observation.evidence.first().map(cite).unwrap_or_default();
        let why = format!(
            "{} · {} · {} · {} {cited}",
            observation.kind.as_str(),
            observation.scope,
            learned_from(observation.origin),
            reason(one.reason),
        );
        print_line!("          {}", dim(&why));
    }
    if let Some(more) = waiting.len().checked_sub(ROWS).filter(|more| *more > 0) {
        print_line!("… and {more} more; --json lists all");
    }
    let accept = suggest::command_of(&["quarantine", "accept", "ID"]);
    let reject = suggest::command_of(&["quarantine", "reject", "ID"]);
    print_line!("`{accept}` remembers one, `{reject}` keeps it out.");
    Ok(ExitCode::SUCCESS)
}

fn cite(evidence: &Evidence) -> String {
    let citation = Citation {
        session: evidence.label.clone(),
        lines: evidence.lines.iter().map(|line| (*line, *line)).collect(),
    };
    format!("[{citation}]")
}

fn reason(reason: QuarantineReason) -> &'static str {
    match reason {
        QuarantineReason::FromOutside => "repeats a tool, a page or pasted text",
        QuarantineReason::NotAPersons => "no person typed it",
    }
}

fn as_json(one: &QuarantinedObservation) -> Value {
    let observation = &one.observation;
    json!({
        "id": observation.id.to_string(),
        "kind": observation.kind.as_str(),
        "scope": observation.scope.to_string(),
        "text": observation.text,
        "context": observation.context,
        "subject": observation.subject,
        "learned_from": observation.origin.as_str(),
        "trust": observation.origin.trust().as_str(),
        "reason": one.reason.as_str(),
        "evidence": observation.evidence.iter().map(cite).collect::<Vec<_>>(),
    })
}

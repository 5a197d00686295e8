//! `daybook purge`: removes something for good.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use daybook_domain::page::read_all;
use daybook_domain::{Scope, ScopeKind, Timestamp};
use daybook_engine::jobs::purge::{PurgePlan, PurgeSelection};
use jiff::civil::Date;
use serde_json::json;

use super::scope_args::current_folder;
use super::{CommonArgs, can_ask, sessions};
use crate::process::{block_on, stop_on_interrupt};
use crate::purge::{self, FinishedPurge};
use crate::service::RequestError;
use crate::service::memories::{described, find_memories, none_found};
use crate::service::scope_choice::ScopeChoice;
use crate::terminal::output::{count, dim, eprint_line, json as print_json, print_line};
use crate::terminal::progress::PurgeBar;
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// Most scopes and files that are listed.
const LISTED: usize = 20;

/// Remove something for good: from events, memories, files, their history, the database and backups in the data folder.
///
/// Nothing brings it back: no import of the same transcripts, no undo, no restore of an older state or of a backup. What
/// rests on it goes; what has other sources, too, keeps these. Daybook keeps fingerprints of what was purged, without
/// content, in `purged/tombstones`, and a receipt. What it cannot reach is listed: remotes, transcripts, copies elsewhere.
#[derive(Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["id", "session", "project", "user", "before", "learned", "resume"])))]
pub(crate) struct PurgeCommand {
    /// A memory, by an id of `daybook list` or its exact text, with the events that it rests on
    #[arg(num_args = 1.., value_name = "ID")]
    id: Vec<String>,
    /// A whole session, by its label or the beginning of its id; nothing of it is stored again
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// A project: its memory, and what happened in its folders
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// A user: their memory, their sessions, and memories of others that name them
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// All events before this day, or this time
    #[arg(long, value_name = "DATE")]
    before: Option<String>,
    /// All memories, notes among them, and memory files with their history; sessions and their events stay, unread
    #[arg(long)]
    learned: bool,
    /// Finish a purge that was interrupted; every other command does, too
    #[arg(long = "continue")]
    resume: bool,
    /// Only show what would be removed
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Remove it without a question
    #[arg(short, long)]
    yes: bool,
}

impl PurgeCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        if self.resume {
            return Self::resume(common, &daybook);
        }
        if self.learned {
            return self.reset(common, &daybook);
        }
        let plan = block_on(async {
            let selection = self.selection(&daybook).await?;
            purge::plan_purge(&daybook, &selection).await
        })?;
        if self.dry_run || plan.is_empty() {
            print_plan(common, &plan)?;
            return Ok(ExitCode::SUCCESS);
        }
        if !self.yes && !confirmed(common, &plan_lines(&plan))? {
            print_line!("Nothing was removed.");
            return Ok(ExitCode::SUCCESS);
        }
        let (stop, bar) = (stop_on_interrupt()?, PurgeBar::start(common));
        let done = purge::purge(&daybook, plan, (&stop, &bar));
        bar.end();
        print_finished(common, &done?)?;
        Ok(ExitCode::SUCCESS)
    }

    fn reset(&self, common: &CommonArgs, daybook: &Daybook) -> Result<ExitCode> {
        let (sessions, memories) = block_on(learned(daybook))?;
        let what = format!(
            "{} of {}, notes among them, and all memory files with their history, a person's own included; sessions \
             and their events stay",
            count(memories, "memory"),
            count(sessions, "session")
        );
        if self.dry_run {
            return match common.json {
                true => {
                    let would = json!({ "sessions": sessions, "observations": memories });
                    print_json(&json!({ "would_reset": would })).map(|()| ExitCode::SUCCESS)
                }
                false => {
                    print_line!("This would be removed: {what}.");
                    Ok(ExitCode::SUCCESS)
                }
            };
        }
        if !self.yes && !confirmed(common, &[format!("  {what}")])? {
            print_line!("Nothing was removed.");
            return Ok(ExitCode::SUCCESS);
        }
        let report = purge::reset_memory(daybook)?;
        if common.json {
            print_json(&json!({ "reset": report }))?;
            return Ok(ExitCode::SUCCESS);
        }
        print_line!(
            "{} and {} were removed; sessions and their events stay.",
            count(report.observations, "memory"),
            count(report.folders, "memory folder")
        );
        print_line!(
            "Nothing is learned from these events again by itself. `{}` reads them again, which may be billed.",
            suggest::command("update --redo")
        );
        Ok(ExitCode::SUCCESS)
    }

    fn resume(common: &CommonArgs, daybook: &Daybook) -> Result<ExitCode> {
        let (stop, bar) = (stop_on_interrupt()?, PurgeBar::start(common));
        let done = purge::finish_interrupted(daybook, (&stop, &bar));
        bar.end();
        match done? {
            Some(done) => print_finished(common, &done)?,
            None if common.json => print_json(&json!({ "purged": null }))?,
            None => print_line!("No purge is unfinished."),
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn selection(&self, daybook: &Daybook) -> Result<PurgeSelection> {
        let scope = |kind, name: &String| Scope {
            tenant: daybook.tenant.clone(),
            kind,
            name: name.clone(),
        };
        if let Some(name) = &self.session {
            let session = sessions::find_one(daybook, name).await?;
            return Ok(PurgeSelection::Session(session.id));
        }
        if let Some(name) = &self.project {
            return Ok(PurgeSelection::Project(scope(ScopeKind::Project, name)));
        }
        if let Some(name) = &self.user {
            return Ok(PurgeSelection::User(scope(ScopeKind::User, name)));
        }
        if let Some(date) = &self.before {
            return Ok(PurgeSelection::Before(begin_of(daybook, date)?));
        }
        let name = self.id.join(" ");
        let here = current_folder()?;
        let found = find_memories(daybook, &ScopeChoice::default(), Some(&here), &name).await?;
        match (found.exact.is_empty(), found.near.is_empty()) {
            (true, true) => bail!(none_found(&name)),
            (true, false) => {
                let list: String = found.near.iter().take(LISTED).map(described).collect();
                bail!(RequestError::Conflict(format!(
                    "{} contain \"{name}\"; purge one by its id:\n{list}",
                    count(found.near.len() as u64, "memory")
                )))
            }
            (false, _) => Ok(PurgeSelection::Memories(found.exact)),
        }
    }
}

/// Asks the person whether to remove what these lines say.
fn confirmed(common: &CommonArgs, lines: &[String]) -> Result<bool> {
    if !can_ask(common) {
        bail!(RequestError::Conflict(
            "a purge cannot be taken back; look at it with --dry-run, then confirm it with --yes"
                .to_owned()
        ));
    }
    for line in lines {
        eprint_line!("{line}");
    }
    eprint_line!("Nothing brings this back. Remove it?  [y]es / [N]o");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// How many sessions taught something, and how many observations there are.
async fn learned(daybook: &Daybook) -> Result<(u64, u64)> {
    let extractors = daybook.store.extractors(&daybook.tenant).await?;
    let sessions: BTreeSet<_> = extractors.into_iter().map(|(session, _)| session).collect();
    let scopes = read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await?;
    let observations = scopes.iter().map(|state| state.observations).sum();
    Ok((sessions.len() as u64, observations))
}

/// The beginning of a day in the person's zone, or a time as RFC 3339.
fn begin_of(daybook: &Daybook, text: &str) -> Result<Timestamp> {
    let zone = daybook.settings.zone.clone();
    let day = text.parse::<Date>().ok().filter(|_| text.len() == 10);
    let begins = match day {
        Some(day) => day.to_zoned(zone).ok().map(|begins| begins.timestamp()),
        None => text.parse::<jiff::Timestamp>().ok(),
    };
    match begins {
        Some(at) => Ok(Timestamp(at.as_millisecond())),
        None => bail!(RequestError::Invalid(format!(
            "{text} is no date: write a day such as 2026-02-04, or 2026-02-04T15:00:00Z"
        ))),
    }
}

fn print_plan(common: &CommonArgs, plan: &PurgePlan) -> Result<()> {
    if common.json {
        return print_json(&json!({ "would_purge": plan_json(plan) }));
    }
    if plan.is_empty() {
        print_line!("Nothing to remove.");
        return Ok(());
    }
    print_line!("This would be removed:");
    for line in plan_lines(plan) {
        print_line!("{line}");
    }
    Ok(())
}

fn plan_json(plan: &PurgePlan) -> serde_json::Value {
    json!({
        "kind": plan.intent.kind,
        "sessions": plan.sessions,
        "shortened_sessions": plan.shortened,
        "events": plan.events,
        "digests": plan.digests,
        "observations": plan.observations,
        "observations_with_other_sources": plan.kept,
        "scopes": plan.intent.scopes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "rests_on_it": plan.scopes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "transcripts": plan.transcripts,
    })
}

fn plan_lines(plan: &PurgePlan) -> Vec<String> {
    let mut lines = vec![format!(
        "  {} and parts of {}: {}, {}",
        count(plan.sessions, "whole session"),
        count(plan.shortened, "other session"),
        count(plan.events, "event"),
        count(plan.digests, "digest"),
    )];
    for (kind, n) in &plan.observations {
        lines.push(format!("  {n} × {kind}"));
    }
    if plan.kept > 0 {
        lines.push(format!(
            "  {} with other sources, too: these stay",
            count(plan.kept, "observation")
        ));
    }
    for scope in &plan.intent.scopes {
        lines.push(format!("  all memory files of {scope}, with their history"));
    }
    let shown = plan
        .scopes
        .iter()
        .filter(|scope| !plan.intent.scopes.contains(scope));
    for scope in shown.take(LISTED) {
        lines.push(format!("  what rests on it in {scope}"));
    }
    if !plan.transcripts.is_empty() {
        let files = count(plan.transcripts.len() as u64, "transcript");
        let stay = match plan.transcripts.len() {
            1 => "stays where it is, and is not read again",
            _ => "stay where they are, and are not read again",
        };
        lines.push(format!("  {files} of your agents {stay}"));
    }
    lines
}

fn print_finished(common: &CommonArgs, done: &FinishedPurge) -> Result<()> {
    if common.json {
        return print_json(&json!({
            "purged": done.report,
            "receipt": done.receipt,
            "copies": done.copies,
            "unreachable": done.unreachable,
        }));
    }
    print_line!(
        "Purged: {}. Receipt {}.",
        purge::summary(done),
        done.receipt.no
    );
    if done.report.commits > 0 {
        print_line!(
            "{} of memory files made again, {} deleted.",
            count(done.report.commits as u64, "commit"),
            count(done.report.objects as u64, "object"),
        );
    }
    for copy in &done.copies {
        print_line!("{copy}");
    }
    for (scope, lines) in &done.report.left {
        for line in lines.iter().take(LISTED) {
            print_line!("Yours to take out: {scope} {}:{}", line.file, line.line);
        }
    }
    print_line!("{}", dim("Out of reach:"));
    let unreachable = &done.unreachable;
    for remote in &unreachable.remotes {
        print_line!("  the remote {remote}");
    }
    for path in unreachable.transcripts.iter().take(LISTED) {
        print_line!("  the transcript {path}");
    }
    for other in &unreachable.others {
        print_line!("  {other}");
    }
    Ok(())
}

//! `daybook consolidate`: writes memory files now, without the rest between two consolidations.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use daybook_domain::page::read_all;
use daybook_domain::seams::JobControl;
use daybook_domain::{JobKey, Priority, Scope, SelectionDiff};
use daybook_engine::jobs::{UpdateReport, WorkerContext, write_due};
use serde_json::{Value, json};

use super::{CommonArgs, update};
use crate::process::{block_on, stop_on_interrupt};
use crate::service::refusals;
use crate::settings;
use crate::terminal::output::{count, json as print_json, print_line};
use crate::terminal::silent::HiddenUpdate;
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// Write memory files now, however short ago they were written.
#[derive(Args)]
pub(crate) struct ConsolidateCommand {
    /// Only of this scope, such as project/tidepool; may be repeated
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
}

impl ConsolidateCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let stop = stop_on_interrupt()?;
        block_on(async {
            let (worker, _present) = daybook.attended_worker().await?;
            let scopes = self.chosen(&worker).await?;
            for scope in &scopes {
                request(&worker, scope).await?;
            }
            let report = write_due(&worker, &stop, &HiddenUpdate).await?;
            refusals::warn_of_refused_files(&daybook).await?;
            if common.json {
                print_json(&as_json(&scopes, &report))?;
            } else {
                print_report(&scopes, &report);
            }
            Ok(match report.broken().next() {
                None => ExitCode::SUCCESS,
                Some(_) => ExitCode::FAILURE,
            })
        })
    }

    /// The scopes that the arguments name; all that have memory without any.
    async fn chosen(&self, worker: &WorkerContext) -> Result<BTreeSet<Scope>> {
        let known = read_all(|page| worker.store.scopes(&worker.tenant, page)).await?;
        let known: BTreeSet<Scope> = known.into_iter().map(|state| state.scope).collect();
        if self.scopes.is_empty() {
            return Ok(known);
        }
        let mut chosen = BTreeSet::new();
        for name in &self.scopes {
            let Some((kind, named)) = settings::scope(name) else {
                bail!("\"{name}\" is no scope; write for example project/tidepool or user/ada");
            };
            let scope = known.iter().find(|it| it.kind == kind && it.name == named);
            let Some(scope) = scope else {
                bail!(
                    "{name} has no memory; `{}` consolidates every scope that has",
                    suggest::command("consolidate")
                );
            };
            chosen.insert(scope.clone());
        }
        Ok(chosen)
    }
}

/// Makes a scope due now. The priority is that of a person, for whom no rest applies.
async fn request(worker: &WorkerContext, scope: &Scope) -> Result<()> {
    let (store, now) = (&*worker.store, worker.clock.now());
    store.touch_scope(scope, now).await?;
    let job = JobKey::Consolidate(scope.clone());
    Ok(JobControl::hasten(store, &job, now, Priority::High).await?)
}

fn outcome(scope: &Scope, report: &UpdateReport) -> &'static str {
    let failed = |job: &JobKey| *job == JobKey::Consolidate(scope.clone());
    match () {
        () if report.failed.iter().any(|it| failed(&it.job)) => "failed",
        () if report.written.contains(scope) => "written",
        () if report.scopes.contains(scope) => "unchanged",
        () => "another process is writing it",
    }
}

fn print_report(scopes: &BTreeSet<Scope>, report: &UpdateReport) {
    if scopes.is_empty() {
        print_line!("Nothing is remembered yet.");
    }
    for scope in scopes {
        let selection = report.selections.get(scope).map(selection_text);
        print_line!(
            "{scope}: {}{}",
            outcome(scope, report),
            selection.unwrap_or_default()
        );
    }
    for line in update::proposal_lines(&report.proposals) {
        print_line!("  {line}");
    }
    for failed in report.broken() {
        print_line!("  failed: {}: {}", failed.job, failed.failure.message);
    }
}

/// `; 12 sessions selected: 3 added, 9 retained, 1 removed`
fn selection_text(diff: &SelectionDiff) -> String {
    let selected = diff.added.len() + diff.retained.len();
    format!(
        "; {} selected: {} added, {} retained, {} removed",
        count(selected as u64, "session"),
        diff.added.len(),
        diff.retained.len(),
        diff.removed.len(),
    )
}

fn as_json(scopes: &BTreeSet<Scope>, report: &UpdateReport) -> Value {
    let sessions = |ids: &BTreeSet<daybook_domain::SessionId>| -> Vec<String> {
        ids.iter().map(ToString::to_string).collect()
    };
    let scopes = scopes.iter().map(|scope| {
        let selection = report.selections.get(scope).map(|diff| {
            json!({
                "added": sessions(&diff.added),
                "retained": sessions(&diff.retained),
                "removed": sessions(&diff.removed),
            })
        });
        json!({
            "scope": scope.to_string(),
            "outcome": outcome(scope, report),
            "selection": selection,
        })
    });
    let failed = report.broken().map(|failed| {
        json!({
            "job": failed.job.to_string(),
            "why": failed.failure.message,
        })
    });
    json!({
        "scopes": scopes.collect::<Vec<_>>(),
        "proposals": update::proposals_json(&report.proposals),
        "failed": failed.collect::<Vec<_>>(),
    })
}

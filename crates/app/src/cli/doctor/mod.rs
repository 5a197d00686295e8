//! `daybook doctor`: checks the data folder, and repairs what can be repaired safely.
//!
//! A check is a function that looks at one kind of thing and gives findings. [`CHECKS`] lists those that
//! need an open memory; a new one is a file beside this one and a line there.
//!
//! Not here: the rules by which something is sound, which are in the module of the thing itself.

mod consolidation_agent;
mod database;
mod files;
pub(super) mod finding;
mod folder;
mod history;
mod jobs;
mod refused;
mod repair;
mod reread;
mod secrets;
mod transcripts;

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::CommonArgs;
use crate::folders::data_folder;
use crate::terminal::output::{bold, count, dim, json as print_json, print_line, warn};
use crate::terminal::suggest;
use crate::wiring::{Daybook, tenant_of};
use finding::CheckFinding;

/// Looks at one kind of thing in an open memory.
type DoctorCheck = fn(&Daybook) -> Vec<CheckFinding>;

/// All checks of an open memory, in the order of their findings.
const CHECKS: &[DoctorCheck] = &[
    database::check,
    database::check_ledger,
    transcripts::check,
    jobs::check,
    consolidation_agent::check,
    files::check,
    refused::check,
    secrets::check,
    history::check,
];

/// Check the data folder; --repair repairs it.
#[derive(Args)]
pub(crate) struct DoctorCommand {
    /// Repair what can be repaired safely, after copying what is damaged
    #[arg(long)]
    repair: bool,
    /// Repair without asking
    #[arg(long, short, requires = "repair")]
    yes: bool,
    /// Show what a repair would do, and change nothing
    #[arg(long, requires = "repair", conflicts_with = "yes")]
    dry_run: bool,
}

impl DoctorCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        if self.repair {
            return repair::run(common, self.yes, self.dry_run);
        }
        let findings = examine(common);
        print(&findings, common)?;
        Ok(exit_code(&findings))
    }
}

fn exit_code(findings: &[CheckFinding]) -> ExitCode {
    match findings.iter().all(|finding| finding.fine) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn print(findings: &[CheckFinding], common: &CommonArgs) -> Result<()> {
    if common.json {
        return print_json(&findings);
    }
    for finding in findings {
        let mark = if finding.fine {
            bold("fine ")
        } else {
            warn("wrong")
        };
        let place = match &finding.place {
            Some(place) => format!("{place}: "),
            None => String::new(),
        };
        let says = dim(&format!("{place}{}", finding.says));
        print_line!("{mark}  {:<22} {says}", finding.what);
    }
    let repairable = findings.iter().filter(|finding| finding.repairable).count() as u64;
    if repairable > 0 {
        print_line!(
            "`{}` repairs {} of these; add `--dry-run` to see the steps.",
            suggest::command("doctor --repair"),
            count(repairable, "finding")
        );
    }
    Ok(())
}

/// Runs every check that can be run.
pub(super) fn examine(common: &CommonArgs) -> Vec<CheckFinding> {
    let folder = match data_folder::locate(common.root.as_deref()) {
        Ok(folder) => folder,
        Err(error) => return vec![CheckFinding::wrong("data folder", format!("{error:#}"))],
    };
    let mut findings = vec![
        folder::check(&folder),
        folder::check_settings(&folder, common),
    ];
    match Daybook::open_existing(common) {
        Err(error) => {
            let tenant = tenant_of(&folder, &common.set);
            let finding = CheckFinding::wrong("database", format!("{error:#}"));
            findings.push(match repair::can_salvage(&error, &folder, &tenant) {
                true => finding.with_repair(),
                false => finding,
            });
            findings.extend(files::check_alone(&folder, &tenant));
        }
        Ok(daybook) => findings.extend(CHECKS.iter().flat_map(|check| check(&daybook))),
    }
    findings
}

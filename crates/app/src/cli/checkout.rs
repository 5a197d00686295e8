//! `daybook checkout` and `checkin`: memory files of a memory that several machines share, as folders
//! with a real git history.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use daybook_domain::Scope;
use daybook_domain::page::read_all;
use daybook_engine::files::FilesError;
use daybook_engine::files::layout::folder;
use daybook_engine::files::shared::SyncReport;
use daybook_engine::files::stamp::CommitStamp;
use daybook_engine::jobs::{FolderSync, WorkError, WorkLimits};
use serde_json::json;

use super::CommonArgs;
use crate::folders::data_folder;
use crate::process::block_on;
use crate::service::refusals;
use crate::terminal::messages::print_error;
use crate::terminal::output::{
    bold, count, dim, eprint_line, json as print_json, print_line, warn,
};
use crate::wiring::Daybook;

/// Bring the memory folders of this machine up to date with the edits of others.
#[derive(Args)]
pub(crate) struct CheckoutCommand {
    /// Check them out below this folder instead of the data folder
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
}

/// Store your edits of memory folders for all machines, merged with the edits of others.
#[derive(Args)]
pub(crate) struct CheckinCommand {
    /// The folder that they were checked out to, if it is not the data folder
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
    /// First read the whole histories, and copy missing objects between the folders and the store
    #[arg(long)]
    repair: bool,
}

/// The outcome for one scope's folder; `None` when another process was writing it.
type FolderOutcome = (Scope, Option<SyncReport>);

impl CheckoutCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        if let Some(to) = &self.to {
            data_folder::create(to)?;
        }
        let below = self.to.as_deref().unwrap_or(&daybook.root);
        let sharing = folder_sync(&daybook, below)?;
        let (stamp, wait) = (daybook.stamp(), WorkLimits::default().folder_wait);
        let outcomes =
            block_on(async { Ok(sharing.check_out(&daybook.tenant, &stamp, wait).await?) })?;
        print_outcomes(common, below, &outcomes, "Everything is up to date.")
    }
}

impl CheckinCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let below = self.from.as_deref().unwrap_or(&daybook.root);
        let sharing = folder_sync(&daybook, below)?;
        let (stamp, wait) = (daybook.stamp(), WorkLimits::default().folder_wait);
        let mut is_refused = false;
        let outcomes = block_on(async {
            let mut outcomes = Vec::new();
            for state in read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await? {
                if !folder(below, &state.scope).is_dir() {
                    continue;
                }
                if self.repair
                    && let Err(error) = repair(&sharing, &state.scope, &stamp).await
                {
                    // The others are repaired all the same.
                    print_error(&format!("{error:#}"));
                    is_refused = true;
                    continue;
                }
                match sharing.check_in(&state.scope, &stamp, wait).await {
                    Ok(report) => outcomes.push((state.scope, report)),
                    // A folder that is refused does not keep others from being checked in.
                    Err(WorkError::Files(error @ FilesError::Refused { .. })) => {
                        print_error(&error.to_string());
                        is_refused = true;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            refusals::warn_of_refused_files(&daybook).await?;
            Ok(outcomes)
        })?;
        let moved =
            |(_, report): &FolderOutcome| report.as_ref().is_none_or(|t| t.pushed + t.fetched > 0);
        let outcomes: Vec<FolderOutcome> = outcomes.into_iter().filter(moved).collect();
        let exit_code = print_outcomes(common, below, &outcomes, "Nothing was edited.")?;
        Ok(if is_refused {
            ExitCode::FAILURE
        } else {
            exit_code
        })
    }
}

/// Copies missing objects of a history between a folder and the store, in both directions, and prints the counts.
async fn repair(sharing: &FolderSync<'_>, scope: &Scope, stamp: &CommitStamp) -> Result<()> {
    let before = sharing.check_history(scope).await?;
    if before.is_none_or(|found| found.is_intact()) {
        return Ok(());
    }
    let wait = WorkLimits::default().folder_wait;
    let Some(repaired) = sharing.repair_history(scope, stamp, wait).await? else {
        bail!(
            "another process is writing the memory of {scope}; run this again when it has finished"
        );
    };
    let (fetched, restored) = (
        count(repaired.fetched, "object"),
        count(repaired.restored, "object"),
    );
    eprint_line!("{scope}: fetched {fetched}, put {restored} into the store");
    let left = sharing.check_history(scope).await?;
    if let Some(left) = left.filter(|found| !found.is_intact()) {
        bail!(
            "{scope}: {left}; run `daybook checkin --repair` on another machine that has this memory, \
             then here again"
        );
    }
    Ok(())
}

fn folder_sync<'a>(daybook: &'a Daybook, below: &'a Path) -> Result<FolderSync<'a>> {
    match daybook.sharing_below(below) {
        Some(sharing) => Ok(sharing),
        None => bail!(
            "memory is kept in {} alone, and its folders are git repositories already; several \
             machines share one when the setting `store` names a PostgreSQL database",
            data_folder::display_path(&daybook.root)
        ),
    }
}

fn print_outcomes(
    common: &CommonArgs,
    below: &Path,
    outcomes: &[FolderOutcome],
    nothing: &str,
) -> Result<ExitCode> {
    let is_busy = outcomes.iter().any(|(_, report)| report.is_none());
    if common.json {
        let folders: Vec<_> = outcomes
            .iter()
            .map(|outcome| as_json(below, outcome))
            .collect();
        print_json(&folders)?;
    } else if outcomes.is_empty() {
        print_line!("{nothing}");
    } else {
        for outcome in outcomes {
            print_line!("{}", line(below, outcome));
        }
    }
    Ok(match is_busy {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

fn as_json(below: &Path, (scope, report): &FolderOutcome) -> serde_json::Value {
    json!({
        "scope": scope.to_string(),
        "folder": folder(below, scope),
        "busy": report.is_none(),
        "commit": report.as_ref().and_then(|t| t.head).map(|head| head.to_string()),
        "taken": report.as_ref().map(|t| t.fetched),
        "given": report.as_ref().map(|t| t.pushed),
        "merged": report.as_ref().map(|t| t.merged),
        "kept": report.as_ref().map(|t| t.kept.iter().map(ToString::to_string).collect::<Vec<_>>()),
    })
}

fn line(below: &Path, (scope, report): &FolderOutcome) -> String {
    let Some(report) = report else {
        let busy = warn("another process is writing it: run this again");
        return format!("{scope}  {busy}");
    };
    let mut did = Vec::new();
    if report.fetched > 0 {
        did.push(format!("fetched {}", count(report.fetched, "object")));
    }
    if report.pushed > 0 {
        did.push(format!("stored {}", count(report.pushed, "object")));
    }
    if report.merged {
        did.push("merged".to_owned());
    }
    let path = data_folder::display_path(&folder(below, scope));
    format!(
        "{}  {}  {}",
        bold(&scope.to_string()),
        did.join(", "),
        dim(&path)
    )
}

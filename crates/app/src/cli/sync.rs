//! `daybook sync`: exchanges memory files with other machines, through a git repository.

use std::io::BufRead;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use daybook_domain::Scope;
use daybook_engine::files::remote::{Mirror, OutgoingSize};
use daybook_engine::jobs::FolderExchange;
use serde_json::{Value, json};

use super::{CommonArgs, can_ask};
use crate::process::{block_on, stop_on_interrupt};
use crate::remote::{ExchangeReport, Git, RemoteAddress, SyncFolder, exchange, outgoing};
use crate::service::RequestError;
use crate::terminal::output::{
    bold, count, eprint_line, json as print_json, print_line, size, warn,
};
use crate::wiring::Daybook;

/// Exchange memory files with your other machines, through a git repository.
///
/// Any repository that your own git can push to will do; use an empty private one. Name it the first time: what would
/// leave this machine is shown, and nothing leaves before you agree. After that `daybook sync` alone is enough, on every
/// machine that named the repository.
///
/// The present text of the memory folders is exchanged, with secrets hidden; transcripts and the database stay here. No
/// entry is lost: each machine keeps what it remembers, and shows what the others do. What you delete or reword on one
/// machine is deleted and reworded on all.
#[derive(Args)]
pub(crate) struct SyncCommand {
    /// The repository, as git names it: git@host:ada/memory.git, https://host/ada/memory, or a folder
    #[arg(value_name = "REPOSITORY")]
    repository: Option<String>,
    /// Show what would leave this machine, and exchange nothing
    #[arg(long)]
    dry_run: bool,
    /// Agree without being asked that memory leaves this machine
    #[arg(long)]
    yes: bool,
    /// Also bring back memory folders that were removed on this machine
    #[arg(long)]
    restore: bool,
}

impl SyncCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_or_create(common)?;
        if daybook.trees.is_some() {
            bail!(RequestError::Conflict(
                "this memory is in PostgreSQL, which its machines share already; `daybook checkout` and `daybook \
                 checkin` bring its folders up to date"
                    .to_owned()
            ));
        }
        let _stop = stop_on_interrupt()?;
        let folder = SyncFolder::of(&daybook.root, &daybook.tenant);
        let _lock = folder.lock()?;
        let known = folder.address()?;
        let named = self.repository.as_deref().map(RemoteAddress::of_argument);
        let Some(address) = named.transpose()?.or_else(|| known.clone()) else {
            bail!(RequestError::Invalid(
                "name the repository the first time, such as `daybook sync git@host:ada/memory.git`".to_owned()
            ));
        };
        let is_new = known.as_ref() != Some(&address);
        if (is_new || self.dry_run) && !self.may_leave(common, &daybook, &folder, &address)? {
            return Ok(ExitCode::SUCCESS);
        }
        if is_new {
            folder.set_address(&address)?;
        }
        let git = Git::new(folder.mirror(), address.clone());
        let report = block_on(exchange(&daybook, &folder, &git, self.restore))?;
        print_report(common, &address, &report)
    }

    /// Shows what would leave this machine, and returns whether the person agrees.
    fn may_leave(
        &self,
        common: &CommonArgs,
        daybook: &Daybook,
        folder: &SyncFolder,
        address: &RemoteAddress,
    ) -> Result<bool> {
        let mirror = Mirror::open(&folder.mirror())?;
        let outgoing = block_on(outgoing(daybook, &mirror))?;
        if self.dry_run {
            match common.json {
                true => print_json(&outgoing_json(address, &outgoing))?,
                false => outgoing_lines(address, &outgoing)
                    .iter()
                    .for_each(|line| print_line!("{line}")),
            }
            return Ok(false);
        }
        if self.yes {
            return Ok(true);
        }
        if !can_ask(common) {
            bail!(RequestError::Conflict(format!(
                "memory would leave this machine for {}; look at it with --dry-run, then agree with --yes",
                address.as_str()
            )));
        }
        for line in outgoing_lines(address, &outgoing) {
            eprint_line!("{line}");
        }
        eprint_line!("Exchange memory with this repository?  [y]es / [N]o");
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }
}

fn outgoing_lines(address: &RemoteAddress, outgoing: &[(Scope, OutgoingSize)]) -> Vec<String> {
    let mut lines = vec![format!(
        "To {}, now and at every `daybook sync`:",
        address.as_str()
    )];
    for (scope, outgoing) in outgoing {
        let files = count(outgoing.files as u64, "file");
        let bytes = size(outgoing.bytes as u64);
        lines.push(format!("  {}  {files}, {bytes}", bold(&scope.to_string())));
    }
    if outgoing.is_empty() {
        lines.push("  nothing yet: there are no memory files here".to_owned());
    }
    let hidden: usize = outgoing.iter().map(|(_, outgoing)| outgoing.hidden).sum();
    if hidden > 0 {
        lines.push(format!(
            "Secrets are hidden first in {}.",
            count(hidden as u64, "file")
        ));
    }
    lines.push(
        "Transcripts, the database and the history of the files stay here. Whoever can read the repository can read \
         the memory, whoever can push to it can change the memory, and what it was given stays in its history."
            .to_owned(),
    );
    lines
}

fn outgoing_json(address: &RemoteAddress, outgoing: &[(Scope, OutgoingSize)]) -> Value {
    let folders = outgoing.iter().map(|(scope, outgoing)| {
        json!({
            "scope": scope.to_string(),
            "files": outgoing.files,
            "bytes": outgoing.bytes,
            "hidden": outgoing.hidden,
        })
    });
    json!({ "repository": address.as_str(), "outgoing": folders.collect::<Vec<_>>() })
}

fn print_report(
    common: &CommonArgs,
    address: &RemoteAddress,
    report: &ExchangeReport,
) -> Result<ExitCode> {
    if common.json {
        let folders: Vec<Value> = report.folders.iter().map(folder_json).collect();
        print_json(&json!({
            "repository": address.as_str(),
            "commit": report.commit.map(|commit| commit.to_string()),
            "pushed": report.pushed,
            "folders": folders,
        }))?;
    } else {
        let lines: Vec<String> = report.folders.iter().filter_map(folder_line).collect();
        for line in &lines {
            print_line!("{line}");
        }
        if lines.is_empty() {
            print_line!("Everything is up to date.");
        }
    }
    let is_whole = |(_, exchange): &(Scope, FolderExchange)| match exchange {
        FolderExchange::Merged { .. } | FolderExchange::Gone => true,
        FolderExchange::Busy | FolderExchange::Failed(_) => false,
    };
    Ok(match report.folders.iter().all(is_whole) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn folder_json((scope, exchange): &(Scope, FolderExchange)) -> Value {
    let scope = scope.to_string();
    match exchange {
        FolderExchange::Merged {
            taken,
            given,
            hidden,
        } => json!({
            "scope": scope, "state": "merged", "taken": taken, "given": given, "hidden": hidden,
        }),
        FolderExchange::Busy => json!({ "scope": scope, "state": "busy" }),
        FolderExchange::Gone => json!({ "scope": scope, "state": "gone" }),
        FolderExchange::Failed(error) => {
            json!({ "scope": scope, "state": "failed", "error": error.to_string() })
        }
    }
}

/// What became of a folder; `None` where nothing did.
fn folder_line((scope, exchange): &(Scope, FolderExchange)) -> Option<String> {
    let what = match exchange {
        FolderExchange::Merged {
            taken: 0, given: 0, ..
        } => return None,
        FolderExchange::Merged {
            taken,
            given,
            hidden,
        } => {
            let mut did = Vec::new();
            if *taken > 0 {
                did.push(format!("{} changed here", count(*taken as u64, "file")));
            }
            if *given > 0 {
                did.push(format!("{} sent", count(*given as u64, "file")));
            }
            if *hidden > 0 {
                did.push(format!(
                    "secrets hidden in {}",
                    count(*hidden as u64, "file")
                ));
            }
            did.join(", ")
        }
        FolderExchange::Busy => warn("another process is writing it; run this again"),
        FolderExchange::Gone => {
            "removed on this machine and left out; bring it back with --restore".to_owned()
        }
        FolderExchange::Failed(error) => warn(&error.to_string()),
    };
    Some(format!("{}  {what}", bold(&scope.to_string())))
}

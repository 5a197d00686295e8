//! `daybook doctor`: check the data folder.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use daybook_engine::files::layout::folder;
use daybook_engine::files::{FilesConfig, Folder};
use daybook_engine::notices::spool::Spool;
use daybook_store::flush_state::Ledgered;
use daybook_store::sqlite::SqliteStore;
use serde::Serialize;

use super::Common;
use crate::output::{bold, dim, json as print_json, warn};
use crate::overview::failing;
use crate::root;
use crate::settings::Settings;
use crate::wiring::{Database, Daybook, block_on};

/// Check the data folder.
#[derive(Args)]
pub(crate) struct Doctor {}

/// One thing that was checked.
#[derive(Serialize)]
struct Finding {
    what: String,
    fine: bool,
    /// What was found, and what to do about it.
    says: String,
}

impl Doctor {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let findings = examine(common);
        let sound = findings.iter().all(|finding| finding.fine);
        if common.json {
            print_json(&findings)?;
        } else {
            for finding in &findings {
                let mark = if finding.fine {
                    bold("fine ")
                } else {
                    warn("wrong")
                };
                anstream::println!("{mark}  {:<22} {}", finding.what, dim(&finding.says));
            }
        }
        Ok(if sound {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

fn examine(common: &Common) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut note = |what: &str, result: Result<String, String>| {
        let fine = result.is_ok();
        let says = result.unwrap_or_else(|says| says);
        findings.push(Finding {
            what: what.to_owned(),
            fine,
            says,
        });
        fine
    };
    let folder = match root::locate(common.root.as_deref()) {
        Ok(folder) => folder,
        Err(error) => {
            note("data folder", Err(format!("{error:#}")));
            return findings;
        }
    };
    note("data folder", private(&folder));
    let settings =
        Settings::load(&folder, &common.set).map(|_| "all settings make sense".to_owned());
    note("settings", settings.map_err(|error| format!("{error:#}")));
    match Daybook::open_existing(common) {
        Err(error) => {
            note("database", Err(format!("{error:#}")));
        }
        Ok(daybook) => {
            note("database", database(&daybook));
            if let Some(ledger) = &daybook.ledger {
                note(
                    "ledger",
                    block_on(look_over(ledger)).map_err(|error| format!("{error:#}")),
                );
            }
            note("transcripts", transcripts(&daybook));
            note("jobs", jobs(&daybook));
            note("memory files", files(&daybook));
        }
    }
    findings
}

fn database(daybook: &Daybook) -> Result<String, String> {
    match &daybook.database {
        Database::File(file) => file.check().map_err(|error| {
            format!(
                "{error}; restore it from a backup, or move it away and import again: memory files \
                 are kept"
            )
        }),
        #[cfg(feature = "postgres")]
        Database::Server(server) => {
            block_on(async { Ok(server.check().await?) }).map_err(|error| format!("{error:#}"))
        }
    }
}

/// What stands in the file of jobs and belongs to no session here, and what could not be read of it.
async fn look_over(ledger: &Ledgered<SqliteStore>) -> anyhow::Result<String> {
    let strangers = ledger.strangers().await?;
    if let Some(aside) = ledger.set_asides()?.pop() {
        anyhow::bail!(
            "it could not be read once and was made anew; the old one is {}: delete it when nothing is missing",
            root::shown(&aside)
        );
    }
    Ok(match strangers.as_slice() {
        [] => "sound".to_owned(),
        some => format!(
            "sound; kept for sessions that have not come in: {}",
            some.join(", ")
        ),
    })
}

fn private(folder: &Path) -> Result<String, String> {
    let metadata = std::fs::metadata(folder).map_err(|error| {
        format!(
            "{}: {error}; `daybook import` makes it",
            root::shown(folder)
        )
    })?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let name = root::shown(folder);
            return Err(format!(
                "{name} can be read by others (mode {mode:o}); chmod 700 {name}"
            ));
        }
    }
    if !metadata.is_dir() {
        return Err(format!("{} is not a folder", root::shown(folder)));
    }
    Ok(format!("{}, for your eyes alone", root::shown(folder)))
}

/// Files and notices that could not be taken in, each with its reason.
fn transcripts(daybook: &Daybook) -> Result<String, String> {
    let sources = block_on(async { Ok(daybook.store.sources(&daybook.tenant).await?) });
    let sources = sources.map_err(|error| format!("{error:#}"))?;
    let failing = failing(&sources, &Spool::of(&daybook.root));
    if failing.is_empty() {
        return Ok(format!("{} known, each taken in to its end", sources.len()));
    }
    let named: Vec<String> = failing
        .iter()
        .map(|failing| format!("{}: {}", failing.path, failing.why))
        .collect();
    Err(format!(
        "{} not taken in to the end; mend or delete them, then run `daybook import <file>`: {}",
        failing.len(),
        named.join("; ")
    ))
}

fn jobs(daybook: &Daybook) -> Result<String, String> {
    let looked = block_on(async {
        let holders = daybook.store.holders().await?;
        let gaps = daybook.gaps().await?;
        Ok((holders.len(), gaps.len()))
    });
    match looked {
        Ok((held, 0)) => Ok(format!("{held} held by live or vanished workers, no gaps")),
        Ok((_, gaps)) => Err(format!("{gaps} gaps; `daybook status` says which and why")),
        Err(error) => Err(format!("{error:#}")),
    }
}

fn files(daybook: &Daybook) -> Result<String, String> {
    let scopes = block_on(async { Ok(daybook.store.scopes(&daybook.tenant).await?) });
    let scopes = scopes.map_err(|error| format!("{error:#}"))?;
    let mut folders = 0;
    for state in &scopes {
        let path = folder(&daybook.root, &state.scope);
        if !path.exists() {
            continue;
        }
        let opened = Folder::open(&path, FilesConfig::default()).and_then(|f| f.log(1));
        opened.map_err(|error| format!("{}: {error}", state.scope))?;
        folders += 1;
    }
    Ok(format!("{folders} folders, each with its history"))
}

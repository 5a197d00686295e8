//! `daybook doctor`: checks the data folder.
//!
//! A check is a function that looks at one kind of thing and gives findings. [`CHECKS`] lists those that
//! need an open memory; a new one is a file beside this one and a line there.
//!
//! Not here: the rules by which something is sound, which stand with the thing itself.

mod database;
mod files;
mod finding;
mod folder;
mod history;
mod jobs;
mod refused;
mod transcripts;

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::Common;
use crate::output::{bold, dim, json as print_json, warn};
use crate::root;
use crate::wiring::Daybook;
use finding::Finding;

/// Looks at one kind of thing in an open memory.
type Check = fn(&Daybook) -> Vec<Finding>;

/// All checks of an open memory, in the order of their findings.
const CHECKS: &[Check] = &[
    database::check,
    database::check_ledger,
    transcripts::check,
    jobs::check,
    files::check,
    refused::check,
    history::check,
];

/// Check the data folder.
#[derive(Args)]
pub(crate) struct Doctor {}

impl Doctor {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let findings = examine(common);
        print(&findings, common)?;
        Ok(if findings.iter().all(|finding| finding.fine) {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

fn print(findings: &[Finding], common: &Common) -> Result<()> {
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
        anstream::println!("{mark}  {:<22} {says}", finding.what);
    }
    Ok(())
}

/// Runs every check that can be run.
fn examine(common: &Common) -> Vec<Finding> {
    let folder = match root::locate(common.root.as_deref()) {
        Ok(folder) => folder,
        Err(error) => return vec![Finding::wrong("data folder", format!("{error:#}"))],
    };
    let mut findings = vec![
        folder::check(&folder),
        folder::check_settings(&folder, common),
    ];
    match Daybook::open_existing(common) {
        Err(error) => findings.push(Finding::wrong("database", format!("{error:#}"))),
        Ok(daybook) => findings.extend(CHECKS.iter().flat_map(|check| check(&daybook))),
    }
    findings
}

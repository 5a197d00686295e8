//! `daybook import --watch`: imports what agents write, until it is stopped.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use daybook_engine::import::ImportReport;
use daybook_engine::stop::Stop;
use serde_json::json;

use super::CommonArgs;
use super::update::as_json;
use crate::background::outage::Outage;
use crate::background::{
    FROM_HOSTS, FolderWatch, PendingReport, import_changed, is_due, process_pending_exclusively,
};
use crate::folders::data_folder;
use crate::models::embedding::embed_share;
use crate::process::block_on;
use crate::terminal::output::{count, dim, eprint_line, print_line, warn};
use crate::terminal::silent::HiddenUpdate;
use crate::wiring::Daybook;

/// How often the folders are scanned: changed transcripts wake no process.
const SCAN_INTERVAL: Duration = Duration::from_millis(500);

/// Imports changes in `folders` until `stop` is requested, also through outages of the store. The caller has imported
/// what they hold already.
pub(crate) fn watch(
    common: &CommonArgs,
    mut daybook: Daybook,
    folders: Vec<PathBuf>,
    stop: &Stop,
) -> Result<()> {
    if !common.json {
        let shown: Vec<String> = folders
            .iter()
            .map(|folder| data_folder::display_path(folder))
            .collect();
        eprint_line!(
            "{}",
            dim(&format!("Watching {}; Ctrl-C ends it.", shown.join(", ")))
        );
    }
    let (mut folders, mut outage) = (FolderWatch::new(folders), Outage::default());
    while let Err(error) = block_on(follow(common, &daybook, &mut folders, &mut outage, stop)) {
        folders.forget_last_scan();
        match outage.wait_and_reopen(common, stop, error)? {
            Some(opened) => daybook = opened,
            None => break,
        }
    }
    Ok(())
}

async fn follow(
    common: &CommonArgs,
    daybook: &Daybook,
    folders: &mut FolderWatch,
    outage: &mut Outage,
    stop: &Stop,
) -> Result<()> {
    while !stop.is_requested() {
        let changed = folders.changed_files();
        let report = match changed.is_empty() {
            true => ImportReport::default(),
            false => import_changed(daybook, FROM_HOSTS, changed, stop).await?,
        };
        let done = match is_due(daybook).await? {
            true => process_pending_exclusively(daybook, stop, &HiddenUpdate).await?,
            false => None,
        };
        embed_share(&daybook.models(), stop).await.map(drop)?;
        outage.end();
        print_changes(common, &report, &done.unwrap_or_default())?;
        tokio::select! {
            () = stop.wait_for_request() => {}
            () = tokio::time::sleep(SCAN_INTERVAL) => {}
        }
    }
    Ok(())
}

fn print_changes(common: &CommonArgs, report: &ImportReport, done: &PendingReport) -> Result<()> {
    let events = report.added() + done.hook_events.added;
    let failing = report.failed().filter_map(|file| {
        let why = file.status.failure()?.to_owned();
        Some((file.path.clone(), why))
    });
    let failing: Vec<(String, String)> = failing
        .chain(done.hook_events.failed_files.clone())
        .collect();
    if events == 0 && done.update.read.is_empty() && failing.is_empty() {
        return Ok(());
    }
    if common.json {
        // One JSON document in each line, so that a program can follow.
        let line = json!({
            "events": events,
            "sessions": report.sessions.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "learned": as_json(&done.update),
            "failed": failing.iter().map(|(path, why)| json!({"path": path, "why": why})).collect::<Vec<_>>(),
        });
        println!("{line}");
        return Ok(());
    }
    for (path, why) in &failing {
        eprint_line!("{}", warn(&format!("failed: {path}: {why}")));
    }
    if events == 0 && done.update.read.is_empty() {
        return Ok(());
    }
    let now = jiff::Zoned::now().strftime("%H:%M:%S").to_string();
    let learned = match done.update.read.len() as u64 {
        0 => String::new(),
        read => format!(
            " · {} read, {} taught something",
            count(read, "session"),
            done.update.taught.len()
        ),
    };
    print_line!("{} {} added{learned}", dim(&now), count(events, "event"));
    Ok(())
}

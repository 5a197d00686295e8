//! `daybook import --watch`: goes on taking in what agents write, until stopped.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use daybook_engine::ingest::import::ImportReport;
use daybook_engine::stop::Stop;
use serde_json::json;

use super::Common;
use super::update::as_json;
use crate::keeper::{Done, Followed, is_due, keep_up_if_elected, take_in};
use crate::outage::Outage;
use crate::output::{count, dim, warn};
use crate::progress::Learning;
use crate::root;
use crate::wiring::{Daybook, block_on};

/// How soon what an agent writes is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// Follows `folders` until `stop` is asked, also through outages of the store. What lies there has been
/// taken in just now.
pub(crate) fn watch(
    common: &Common,
    mut daybook: Daybook,
    folders: Vec<PathBuf>,
    stop: &Stop,
) -> Result<()> {
    if !common.json {
        let shown: Vec<String> = folders.iter().map(|folder| root::shown(folder)).collect();
        anstream::eprintln!(
            "{}",
            dim(&format!("Watching {}; Ctrl-C ends it.", shown.join(", ")))
        );
    }
    let (mut followed, mut outage) = (Followed::new(folders), Outage::default());
    while let Err(error) = block_on(follow(common, &daybook, &mut followed, &mut outage, stop)) {
        // The files remember what could not be taken in.
        followed.forget_last_look();
        match outage.outlast(common, stop, error)? {
            Some(opened) => daybook = opened,
            None => break,
        }
    }
    Ok(())
}

async fn follow(
    common: &Common,
    daybook: &Daybook,
    followed: &mut Followed,
    outage: &mut Outage,
    stop: &Stop,
) -> Result<()> {
    while !stop.asked() {
        let changed = followed.changed();
        let report = match changed.is_empty() {
            true => ImportReport::default(),
            false => take_in(daybook, changed, stop).await?,
        };
        let done = match is_due(daybook).await? {
            true => keep_up_if_elected(daybook, stop, &Learning::quiet()).await?,
            false => None,
        };
        outage.is_over();
        tell(common, &report, &done.unwrap_or_default())?;
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

fn tell(common: &Common, report: &ImportReport, done: &Done) -> Result<()> {
    let events = report.added() + done.taken.events;
    let failing = report.failed().filter_map(|file| {
        let why = file.status.failure()?.to_owned();
        Some((file.path.clone(), why))
    });
    let failing: Vec<(String, String)> = failing.chain(done.taken.failing.clone()).collect();
    if events == 0 && done.report.read.is_empty() && failing.is_empty() {
        return Ok(());
    }
    if common.json {
        // One line for each thing that happened, so that a program can follow, too.
        let line = json!({
            "events": events,
            "sessions": report.sessions.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "learned": as_json(&done.report),
            "failed": failing.iter().map(|(path, why)| json!({"path": path, "why": why})).collect::<Vec<_>>(),
        });
        println!("{line}");
        return Ok(());
    }
    for (path, why) in &failing {
        anstream::eprintln!("{}", warn(&format!("failed: {path}: {why}")));
    }
    if events == 0 && done.report.read.is_empty() {
        return Ok(());
    }
    let now = jiff::Zoned::now().strftime("%H:%M:%S").to_string();
    let learned = match done.report.read.len() as u64 {
        0 => String::new(),
        read => format!(
            " · {} read, {} taught something",
            count(read, "session"),
            done.report.taught.len()
        ),
    };
    anstream::println!("{} {} added{learned}", dim(&now), count(events, "event"));
    Ok(())
}

//! Whether pages of lists take longer the deeper a person goes, in a memory of a million lines.
//!
//! The memory is written directly, the sessions through the store and the lines into files of a memory folder: learning so
//! much would take an hour, and what is measured here is reading.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use daybook_domain::seams::SessionLog;
use daybook_domain::{SessionId, Tenant, Timestamp};
use daybook_store::sqlite::{Durability, SqliteOptions, SqliteStore};

use crate::append::append_of;
use crate::process::{median, ms, timed};
use crate::serving::ServeProcess;
use crate::transcripts::SeededNumbers;
use crate::window::Browser;

/// Sessions of the list.
const SESSIONS: u32 = 100_000;
/// Files of the memory folder, and lines of each.
const FILES: usize = 100;
const LINES: usize = 10_000;
/// Pages at each end of a list that are compared.
const ENDS: usize = 50;
/// How much longer the last pages may take than the first ones.
const MOST: f64 = 1.5;
const SCOPE: &str = "user/ada";
const MEMORY: &str = "users/ada/memory";

pub(crate) fn lists() -> Result<()> {
    let made = tempfile::tempdir()?;
    let root = made.path().join("root");
    let name = root.display().to_string();
    timed(&[
        "remember",
        "tides turn twice",
        "--set",
        "person=ada",
        "--root",
        &name,
    ])?;
    write_sessions(&root)?;
    write_files(&root.join(MEMORY))?;
    let mut serving = ServeProcess::start(&root, &["--set", "person=ada"])?;
    let browser = Browser::open(&serving)?;
    println!("  {SESSIONS} sessions, {} lines of memory", FILES * LINES);
    let folder = format!("/folder?scope={SCOPE}&file=topics/");
    let file = format!("/file?scope={SCOPE}&file=topics/{:04}.md", FILES - 1);
    for first in ["/sessions", folder.as_str(), file.as_str()] {
        browse(&browser, first)?;
    }
    serving.end()
}

/// Follows a list to its end, and compares its first and last pages.
fn browse(browser: &Browser, first: &str) -> Result<()> {
    let (mut times, mut next) = (Vec::new(), Some(first.to_owned()));
    while let Some(address) = next {
        let (took, page) = browser.timed(&address)?;
        times.push(took);
        next = next_page(&page);
    }
    let pages = times.len();
    // The first page of a list may hold a chart, which the others do not.
    let times = &times[1.min(pages - 1)..];
    let ends = ENDS.min(times.len().div_ceil(2));
    let middle = |part: &[Duration]| ms(median(part.to_vec()));
    let (begin, end) = (middle(&times[..ends]), middle(&times[times.len() - ends..]));
    println!(
        "  {first:<44} {pages:>6} pages, the first {ends}: {begin:>6.1} ms, the last {ends}: {end:>6.1} ms"
    );
    ensure!(end < begin * MOST + 2.0, "{first} gets slower with depth");
    Ok(())
}

/// The address behind "More".
fn next_page(page: &str) -> Option<String> {
    let (before, _) = page.split_once("\" rel=\"next\"")?;
    let (_, address) = before.rsplit_once("href=\"/window")?;
    Some(address.replace("&amp;", "&"))
}

fn write_sessions(root: &Path) -> Result<()> {
    let durability = Durability::Process;
    let store = SqliteStore::open(
        &root.join("daybook.db"),
        SqliteOptions {
            durability,
            ..SqliteOptions::default()
        },
    )?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let mut numbers = SeededNumbers(1);
    runtime.block_on(async {
        for n in 0..SESSIONS {
            let session = SessionId {
                tenant: Tenant::local(),
                agent: "claude-code".to_owned(),
                host_id: format!("{:08x}-{n}", n.wrapping_mul(0x9e37_79b9)),
            };
            let mut append = append_of(&mut numbers, &session, n, 1);
            for event in &mut append.events {
                event.at = Timestamp(1_700_000_000_000 + i64::from(n) * 60_000);
            }
            store.append(&append).await.context("an append")?;
        }
        Ok(())
    })
}

fn write_files(memory: &Path) -> Result<()> {
    let topics = memory.join("topics");
    fs::create_dir_all(&topics)?;
    for file in 0..FILES {
        let mut text = format!("# Topic {file}\n\n");
        for line in 0..LINES {
            writeln!(
                text,
                "- The limit of queue {file}-{line} is {} entries",
                line * 7 + file
            )?;
        }
        fs::write(topics.join(format!("{file:04}.md")), text)?;
    }
    Ok(())
}

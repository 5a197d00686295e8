//! Measures opening a long thread, and the memory of idle threads.

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_working::manager::MemoryManagerConfig;
use tokio::runtime::Builder;

use super::{event, manager, print_judged};

const EVENTS: u64 = 100_000;
const IDLE: u64 = 2_000;

/// A thread of 100,000 events, compacted as it grew.
pub(super) fn from_snapshot() -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("daybook.db");
    let open = || {
        anyhow::Ok(Arc::new(SqliteStore::open(
            &path,
            SqliteOptions::default(),
        )?))
    };
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let config = MemoryManagerConfig::default();
    let (thread, kept) = runtime.block_on(async {
        let manager = manager(open()?, config.clone());
        let thread = manager.create_thread().await?.0.id.clone();
        for start in (0..EVENTS).step_by(16) {
            let events: Vec<_> = (start..start + 16).map(event).collect();
            manager.dispatch_all(&thread, &events).await?;
        }
        manager.wait_until_unblocked(&thread).await?;
        let state = manager.current_state(&thread).await?;
        manager.unload_idle(0).await?;
        anyhow::Ok((thread, state))
    })?;
    let mut took = Vec::new();
    for _ in 0..5 {
        let manager = manager(open()?, config.clone());
        let began = Instant::now();
        let state = runtime.block_on(manager.current_state(&thread))?;
        took.push(began.elapsed());
        ensure!(state == kept, "the reopened thread has another state");
    }
    took.sort();
    let began = Instant::now();
    let manager = manager(open()?, config);
    let replayed = runtime.block_on(manager.replayed(&thread))?;
    ensure!(
        replayed == kept,
        "folding the whole log gives another state"
    );
    println!(
        "    folding all {EVENTS} events anew takes {:.1} s, and gives the same state of {} chunks",
        began.elapsed().as_secs_f64(),
        kept.len()
    );
    let half = took[took.len() / 2].as_secs_f64() * 1_000.0;
    Ok(print_judged(
        "opening a thread of 100,000 events",
        half,
        50.0,
        "ms",
        false,
    ))
}

/// Resident memory of idle threads of 20 chunks each.
pub(super) fn memory() -> Result<bool> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("daybook.db");
    let config = MemoryManagerConfig {
        auto_compact_enabled: false,
        max_loaded: 10_000,
        ..MemoryManagerConfig::default()
    };
    let each = runtime.block_on(async {
        let store = Arc::new(SqliteStore::open(&path, SqliteOptions::default())?);
        let manager = manager(store, config);
        let mut before = 0;
        for number in 0..IDLE + 100 {
            let thread = manager.create_thread().await?.0.id.clone();
            let events: Vec<_> = (0..20).map(event).collect();
            manager.dispatch_all(&thread, &events).await?;
            if number == 100 {
                before = resident()?;
            }
        }
        anyhow::Ok((resident()? - before) as f64 / IDLE as f64 / 1024.0)
    })?;
    Ok(print_judged(
        "memory of an idle loaded thread of 20 chunks",
        each,
        64.0,
        "KiB",
        false,
    ))
}

/// Resident memory of this process, in bytes.
fn resident() -> Result<u64> {
    let pages = fs::read_to_string("/proc/self/statm")?;
    let pages = pages
        .split_whitespace()
        .nth(1)
        .context("statm lists resident pages")?;
    Ok(pages.parse::<u64>()? * 4096)
}

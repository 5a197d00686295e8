//! Measures dispatches to many threads at once, on SQLite.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use async_trait::async_trait;
use daybook_domain::working::Chunk;
use daybook_domain::{BoxError, SessionId};
use daybook_store::sqlite::Durability;
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_working::compact::{CompactionContext, CompactionResult, Compactor};
use daybook_working::manager::{
    CompactionOutcome, MemoryManager, MemoryManagerConfig, ThreadObserver,
};
use tokio::runtime::{Builder, Runtime};

use crate::append::bare_inserts;
use crate::process::Timing;

use super::{TURN, event, manager, print_judged};

const THREADS: u64 = 64;
/// Events of each thread; thrice as many where it condenses itself, so that no state grows beyond these.
const EACH: u64 = 400;
/// Concurrent dispatches of one thread: a host stores events without waiting for earlier ones.
const UNDER_WAY: u64 = 8;

/// Counts finished compactions.
#[derive(Default)]
struct CompactionCounter(AtomicU64);

impl ThreadObserver for CompactionCounter {
    fn on_compaction_end(&self, _: &SessionId, _: &CompactionOutcome) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn runtime() -> Result<Runtime> {
    Ok(Builder::new_multi_thread().enable_all().build()?)
}

async fn threads(manager: &MemoryManager, many: u64) -> Result<Vec<SessionId>> {
    let mut threads = Vec::new();
    for _ in 0..many {
        threads.push(manager.create_thread().await?.0.id.clone());
    }
    Ok(threads)
}

/// Measures durable dispatch over 64 threads: redaction, indexing, marks and states included. Prints beside it the rate
/// with compaction, as hosts have it, one by one and in whole turns.
pub(super) fn dispatch() -> Result<bool> {
    let plain = MemoryManagerConfig {
        auto_compact_enabled: false,
        ..MemoryManagerConfig::default()
    };
    let (one_by_one, _) = rate(&plain, EACH, 1)?;
    for (what, at_once) in [("one by one", 1), ("in turns of 4", TURN)] {
        let (rate, compactions) = rate(&MemoryManagerConfig::default(), 3 * EACH, at_once)?;
        println!("    {what}, with {compactions} compactions meanwhile: {rate:.0} events/s");
    }
    Ok(print_judged(
        "durable dispatches a second, 64 threads, SQLite",
        one_by_one,
        20_000.0,
        "events/s",
        true,
    ))
}

/// A dispatch to one of a few threads, against a bare insert of a sentence.
pub(crate) fn small() -> Result<Timing> {
    const EACH: u64 = 16;
    let config = MemoryManagerConfig {
        auto_compact_enabled: false,
        ..MemoryManagerConfig::default()
    };
    let (rate, _) = rate(&config, EACH, 1)?;
    Ok(Timing {
        engine: Duration::from_secs_f64(1.0 / rate),
        baseline: bare_inserts(400, Durability::Process)?,
    })
}

/// Dispatches `each` events to every thread, `at_once` together. Returns events a second, and the compactions meanwhile.
fn rate(config: &MemoryManagerConfig, each: u64, at_once: u64) -> Result<(f64, u64)> {
    let folder = tempfile::tempdir()?;
    let store = SqliteStore::open(&folder.path().join("daybook.db"), SqliteOptions::default())?;
    let manager = manager(Arc::new(store), config.clone());
    let seen = Arc::new(CompactionCounter::default());
    let _watching = manager.add_observer(Arc::clone(&seen) as Arc<dyn ThreadObserver>);
    runtime()?.block_on(async {
        let threads = threads(&manager, THREADS).await?;
        let began = Instant::now();
        let mut tasks = Vec::new();
        for (thread, lane) in threads
            .iter()
            .flat_map(|it| (0..UNDER_WAY).map(move |lane| (it, lane)))
        {
            let (manager, thread) = (manager.clone(), thread.clone());
            tasks.push(tokio::spawn(async move {
                // Whole turns, so that a call is stored before its outcome.
                for turn in (lane..each / TURN).step_by(UNDER_WAY as usize) {
                    let events: Vec<_> = (turn * TURN..(turn + 1) * TURN).map(event).collect();
                    for some in events.chunks(at_once as usize) {
                        manager.dispatch_all(&thread, some).await?;
                    }
                }
                anyhow::Ok(())
            }));
        }
        for task in tasks {
            task.await??;
        }
        let rate = (THREADS * each) as f64 / began.elapsed().as_secs_f64();
        Ok((rate, seen.0.load(Ordering::Relaxed)))
    })
}

/// Compacts slowly, like a model.
struct SlowCompactor;

#[async_trait]
impl Compactor for SlowCompactor {
    fn name(&self) -> &str {
        "slow"
    }

    fn can_compact(&self, chunks: &[Arc<Chunk>]) -> bool {
        !chunks.is_empty()
    }

    async fn compact(
        &self,
        chunks: &[Arc<Chunk>],
        context: &CompactionContext<'_>,
    ) -> Result<CompactionResult, BoxError> {
        tokio::time::sleep(Duration::from_millis(50)).await;
        Ok(CompactionResult {
            compacted_chunk: context.compacted(chunks, "a summary"),
            original_chunk_ids: chunks.iter().map(|chunk| chunk.id.clone()).collect(),
            by: "slow".to_owned(),
            faults: Vec::new(),
        })
    }
}

/// Measures a dispatch while other threads compact continuously.
pub(super) fn beside_compaction() -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let store = SqliteStore::open(&folder.path().join("daybook.db"), SqliteOptions::default())?;
    let manager = manager(Arc::new(store), MemoryManagerConfig::default());
    manager.register_compactor(Arc::new(SlowCompactor));
    let (mut took, compacted) = runtime()?.block_on(async {
        let others = threads(&manager, 16).await?;
        let own = threads(&manager, 1).await?.remove(0);
        let done = Arc::new(AtomicBool::new(false));
        let busy: Vec<_> = others
            .iter()
            .map(|thread| {
                let (manager, thread, done) = (manager.clone(), thread.clone(), Arc::clone(&done));
                tokio::spawn(async move {
                    let mut number = 0;
                    while !done.load(Ordering::Relaxed) {
                        manager.dispatch(&thread, &event(number)).await?;
                        number += 1;
                        // Busier than any agent, but below what would saturate the machine.
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                    anyhow::Ok(number / 14)
                })
            })
            .collect();
        let mut took = Vec::new();
        for number in 0..4_000 {
            let event = event(number);
            // Waits for the thread's own compactions do not count.
            let blocked = manager.is_blocked(&own);
            let began = Instant::now();
            manager.dispatch(&own, &event).await?;
            if !blocked {
                took.push(began.elapsed());
            }
            tokio::time::sleep(Duration::from_micros(500)).await;
        }
        done.store(true, Ordering::Relaxed);
        let mut compacted = 0;
        for busy in busy {
            compacted += busy.await??;
        }
        anyhow::Ok((took, compacted))
    })?;
    took.sort();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize].as_secs_f64() * 1_000.0;
    println!(
        "    median {:.2} ms; about {compacted} compactions of 16 other threads meanwhile",
        at(0.5)
    );
    Ok(print_judged(
        "p99 of a dispatch while 16 threads compact",
        at(0.99),
        5.0,
        "ms",
        false,
    ))
}

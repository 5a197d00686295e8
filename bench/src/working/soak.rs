//! Runs 200 threads at once with compactions that fail, stall and return rubbish at random.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use async_trait::async_trait;
use daybook_domain::working::{Chunk, EventType, ThreadEvent};
use daybook_domain::{BoxError, SessionId};
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_working::compact::{CompactionContext, CompactionResult, Compactor};
use daybook_working::manager::{MemoryManager, MemoryManagerConfig};
use tokio::runtime::Builder;

use super::{NOW, manager};

const THREADS: usize = 200;
/// Fewer than there are, so that threads come and go.
const LOADED: usize = 150;

/// Fails, stalls or answers in a fixed pseudo-random sequence.
struct UnreliableCompactor(AtomicU64);

#[async_trait]
impl Compactor for UnreliableCompactor {
    fn name(&self) -> &str {
        "moody"
    }

    fn can_compact(&self, chunks: &[Arc<Chunk>]) -> bool {
        !chunks.is_empty()
    }

    async fn compact(
        &self,
        chunks: &[Arc<Chunk>],
        context: &CompactionContext<'_>,
    ) -> Result<CompactionResult, BoxError> {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        // A multiplicative hash: fixed, but without a visible pattern.
        let mood = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60;
        tokio::time::sleep(Duration::from_millis(mood * 3)).await;
        let text = match mood {
            0..4 => return Err("no luck".into()),
            4..6 => std::future::pending().await,
            6..8 => String::new(),
            8..10 => "far too long ".repeat(2_000),
            _ => "so far so good".to_owned(),
        };
        Ok(CompactionResult {
            compacted_chunk: context.compacted(chunks, text),
            original_chunk_ids: chunks.iter().map(|chunk| chunk.id.clone()).collect(),
            by: "moody".to_owned(),
            faults: Vec::new(),
        })
    }
}

fn wish(number: u64) -> ThreadEvent {
    let kind = EventType::UserMessage {
        content: format!(
            "Wish {number}: please see to it, and tell me when it is done, as always."
        ),
        attachments: Vec::new(),
    };
    ThreadEvent::new(kind, NOW)
}

/// Runs for `time`, then checks that every event is stored once and in order.
pub(super) fn minute(time: Duration) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let store = SqliteStore::open(&folder.path().join("daybook.db"), SqliteOptions::default())?;
    let config = MemoryManagerConfig {
        max_loaded: LOADED,
        compact_timeout: Duration::from_millis(200),
        ..MemoryManagerConfig::default()
    };
    let manager = manager(Arc::new(store), config);
    manager.register_compactor(Arc::new(UnreliableCompactor(AtomicU64::new(0))));
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let stop = Arc::new(AtomicBool::new(false));
        let mut tasks = Vec::new();
        for _ in 0..THREADS {
            let (manager, stop) = (manager.clone(), Arc::clone(&stop));
            tasks.push(tokio::spawn(async move { live(&manager, &stop).await }));
        }
        let began = Instant::now();
        let mut memory = Vec::new();
        while began.elapsed() < time {
            tokio::time::sleep(time / 12).await;
            memory.push(resident()?);
        }
        stop.store(true, Ordering::Relaxed);
        let mut said = Vec::new();
        for task in tasks {
            said.push(task.await??);
        }
        let all: u64 = said.iter().map(|(_, many)| many).sum();
        let mut summaries = 0;
        for (thread, many) in &said {
            summaries += check(&manager, thread, *many).await?;
        }
        println!("  {THREADS} threads, {all} events in {:.0} s; every one is there, once and in order", time.as_secs_f64());
        println!("  {summaries} of them stand in summaries; resident memory over time, in MiB: {memory:?}");
        let (early, late) = (memory[memory.len() / 3], memory[memory.len() - 1]);
        ensure!(late <= early * 3 / 2 + 32, "memory grows: {memory:?}");
        ensure!(manager.loaded() <= LOADED + 1, "{} threads are loaded", manager.loaded());
        Ok(())
    })
}

async fn live(manager: &MemoryManager, stop: &AtomicBool) -> Result<(SessionId, u64)> {
    let thread = manager.create_thread().await?.0.id.clone();
    let mut said = 0;
    while !stop.load(Ordering::Relaxed) {
        said += 1;
        manager.dispatch(&thread, &wish(said)).await?;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok((thread, said))
}

/// Checks that every wish is in the state or in a summary. Returns how many are in summaries.
async fn check(manager: &MemoryManager, thread: &SessionId, said: u64) -> Result<u64> {
    manager.wait_until_unblocked(thread).await?;
    let state = manager.current_state(thread).await?;
    ensure!(
        state == manager.replayed(thread).await?,
        "{thread} folds to another state"
    );
    let mut found = BTreeSet::new();
    let (mut last, mut summarised) = (0, 0);
    for chunk in state.chunks() {
        let mut all = manager.originals(thread, &chunk.id).await?;
        if all.is_empty() {
            all.push(Arc::clone(chunk));
        } else {
            summarised += all.len() as u64;
        }
        for original in all {
            let text = original.content.to_text();
            let number = text
                .strip_prefix("Wish ")
                .and_then(|rest| rest.split(':').next());
            let number: u64 = number.context("a wish")?.parse()?;
            ensure!(
                number > last || chunk.sub_type.is_some(),
                "{thread}: {number} after {last}"
            );
            last = number;
            ensure!(found.insert(number), "{thread}: {number} occurs twice");
        }
    }
    ensure!(
        found.len() as u64 == said,
        "{thread}: {} of {said} are stored",
        found.len()
    );
    Ok(summarised)
}

/// Resident memory of this process, in MiB.
fn resident() -> Result<u64> {
    let pages = fs::read_to_string("/proc/self/statm")?;
    let pages = pages.split_whitespace().nth(1).context("statm tells it")?;
    Ok(pages.parse::<u64>()? * 4096 / (1 << 20))
}

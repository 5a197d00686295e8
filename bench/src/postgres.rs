//! The throughput of one PostgreSQL server for 1 to 16 workers: cycles of jobs, and appends.
//!
//! The server is a throw-away one on this machine, shared with the workers; SQLite does the same work beside it, on threads
//! of one process. Both run with commits that wait for the disk (`fsync`) and without. Other programs slow everything
//! down, except the cycles per second of the server's own processor time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use daybook_domain::seams::Store;
use daybook_domain::{DueMark, FinishOutcome, JobKey, Priority};
use daybook_store::sqlite::{Durability, SqliteOptions, SqliteStore};
use daybook_store::{PostgresOptions, PostgresStore, Trust};
use daybook_testkit::postgres::PostgresServer;

use crate::append::append_of;
use crate::jobs::{NOW, claim, session};
use crate::transcripts::SeededNumbers;

const WORKERS: [usize; 5] = [1, 2, 4, 8, 16];
/// Jobs that are claimed and finished over and over.
const JOBS: u32 = 4_000;
/// Events of one append.
const EVENTS: u32 = 100;
/// How long each number is measured.
const MEASURED: Duration = Duration::from_secs(3);
/// Length in characters of the bar at the target, and the target in cycles a second.
const BAR: f64 = 30.0;
const FULL: f64 = 2_000.0;

/// The work that all workers repeat.
#[derive(Debug, Clone, Copy)]
enum Workload {
    /// Claims so many jobs and finishes each a little further, so that it is due again.
    Cycles(usize),
    Appends,
}

impl Workload {
    const ALL: [Self; 3] = [Self::Cycles(1), Self::Cycles(10), Self::Appends];
}

/// A store, and the process whose children's processor time is measured.
struct MeasuredStore<S> {
    store: Arc<S>,
    server: Option<u32>,
}

pub(crate) fn curve() -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    for durable in [false, true] {
        let server = if durable {
            PostgresServer::durable()
        } else {
            PostgresServer::start()
        };
        let Some(server) = server else {
            return Ok(());
        };
        let folder = tempfile::tempdir()?;
        let fsync = if durable { "with" } else { "without" };
        runtime.block_on(async {
            let options = PostgresOptions {
                connections: 16,
                ..PostgresOptions::DEFAULT
            };
            let store = PostgresStore::open(&server.address(), &Trust::System, options).await?;
            let postgres = MeasuredStore {
                store: Arc::new(store),
                server: Some(server.process()),
            };
            let sqlite = MeasuredStore {
                store: Arc::new(open_sqlite(folder.path(), durable)?),
                server: None,
            };
            fill(&postgres.store).await?;
            fill(&sqlite.store).await?;
            println!("\n  {fsync} fsync, a second: SQLite | PostgreSQL");
            println!(
                "  workers      cycles, single       cycles, by 10           appends   \
                server's time for a cycle by 10"
            );
            // One work after the other: appends make jobs, which the others would finish.
            let mut measured = Vec::new();
            for work in Workload::ALL {
                for workers in WORKERS {
                    let (base, _) = sqlite.rate(work, workers).await?;
                    let (rate, share) = postgres.rate(work, workers).await?;
                    measured.push((base, rate, share));
                }
            }
            for (row, workers) in WORKERS.iter().enumerate() {
                let of = |work: usize| measured[work * WORKERS.len() + row];
                let columns = (0..Workload::ALL.len()).map(|work| {
                    let (base, rate, _) = of(work);
                    format!("{base:>11.0} |{rate:>6.0}")
                });
                let (_, by_ten, share) = of(1);
                let bar = "█".repeat((by_ten / FULL * BAR).round() as usize);
                println!(
                    "  {workers:>7}{}   {:>5.2} ms  {bar}",
                    columns.collect::<String>(),
                    share / by_ten * 1_000.0
                );
            }
            anyhow::Ok(())
        })?;
    }
    println!(
        "\n  wanted: {FULL:.0} cycles/s with 8 workers that claim by 10 ({BAR:.0} blocks); an append is of {EVENTS} events"
    );
    Ok(())
}

fn open_sqlite(root: &Path, durable: bool) -> Result<SqliteStore> {
    let durability = if durable {
        Durability::Power
    } else {
        Durability::Process
    };
    let options = SqliteOptions {
        durability,
        ..SqliteOptions::default()
    };
    Ok(SqliteStore::open(&root.join("daybook.db"), options)?)
}

/// Makes jobs that stay due however often they are finished.
async fn fill<S: Store>(store: &Arc<S>) -> Result<()> {
    for n in 0..JOBS {
        let mark = DueMark::at_once(1_000_000, NOW, Priority::Normal);
        store.mark(&JobKey::Extract(session(n)), mark).await?;
    }
    Ok(())
}

impl<S: Store + 'static> MeasuredStore<S> {
    /// Measures how much work `workers` do a second, and the server's share of a processor meanwhile.
    async fn rate(&self, work: Workload, workers: usize) -> Result<(f64, f64)> {
        let next = Arc::new(AtomicU32::new(0));
        let before = self.server.map_or(0.0, processor_time);
        let began = Instant::now();
        let working = (0..workers).map(|n| {
            let (store, next) = (Arc::clone(&self.store), Arc::clone(&next));
            tokio::spawn(async move {
                let mut done = 0;
                let mut numbers = SeededNumbers(n as u64);
                while began.elapsed() < MEASURED {
                    done += match work {
                        Workload::Cycles(batch) => cycle(&*store, batch).await?,
                        Workload::Appends => {
                            let no = next.fetch_add(1, Ordering::Relaxed);
                            let mut id = session(no);
                            id.host_id = format!("{workers}-{}", id.host_id);
                            store
                                .append(&append_of(&mut numbers, &id, 1, EVENTS))
                                .await?;
                            1
                        }
                    };
                }
                anyhow::Ok(done)
            })
        });
        let mut done = 0;
        for worker in working.collect::<Vec<_>>() {
            done += worker.await??;
        }
        let took = began.elapsed().as_secs_f64();
        let after = self.server.map_or(0.0, processor_time);
        Ok((done as f64 / took, (after - before) / took))
    }
}

async fn cycle<S: Store>(store: &S, batch: usize) -> Result<usize> {
    let claimed = store.claim(claim("bench", batch)).await?;
    for one in &claimed {
        match store.finish(&one.token, one.after + 1, NOW).await? {
            FinishOutcome::StillDue => {}
            other => bail!("{}: {other:?}", one.token.job()),
        }
    }
    Ok(claimed.len())
}

/// The processor time of a process's children so far, in seconds; 0 on systems without `/proc`.
fn processor_time(parent: u32) -> f64 {
    /// Linux counts in hundredths of a second, whatever the machine.
    const TICKS: f64 = 100.0;
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return 0.0;
    };
    let ticks = processes.flatten().filter_map(|process| {
        let stat = std::fs::read_to_string(process.path().join("stat")).ok()?;
        // After the name, which may hold anything: state, parent, …, user and system time.
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let number = |nth: usize| fields.get(nth)?.parse::<u64>().ok();
        (number(1)? == u64::from(parent)).then_some(number(11)? + number(12)?)
    });
    ticks.sum::<u64>() as f64 / TICKS
}

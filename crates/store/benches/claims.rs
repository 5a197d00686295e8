//! How many jobs a second do workers on one PostgreSQL server claim and finish?
//!
//! 20,000 due jobs in 16 lanes (4 tenants with 4 agents each), or all in one; 1 worker and 8, claiming one by
//! one and ten at a time. Target: 2,000 a second with 8 workers that claim by ten, on two cores. The server is
//! a throw-away one without `fsync`; an empty database on another server can be named: `cargo bench --features
//! postgres --bench claims -- 'host=… dbname=…'`.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a bench measures time and prints its results"
)]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use daybook_domain::seams::{JobControl, JobQueue};
use daybook_domain::{
    Claim, ClaimLimits, DueMark, FinishOutcome, JobKey, JobKind, Priority, Scope, ScopeKind,
    SessionId, StoreError, Tenant,
};
use daybook_store::{PostgresOptions, PostgresStore, Trust};
use daybook_testkit::fixtures::at;
use daybook_testkit::postgres;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Due jobs at the beginning.
const JOBS: usize = 20_000;
/// How long each way of working is measured.
const MEASURED: Duration = Duration::from_secs(4);

fn main() -> Result<()> {
    let named = std::env::args().skip(1).find(|word| word.contains('='));
    let database = match named {
        Some(_) => None,
        None => postgres::empty(),
    };
    let Some(address) = named.or_else(|| Some(database.as_ref()?.address())) else {
        return Ok(());
    };
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let options = PostgresOptions {
            connections: 8,
            ..PostgresOptions::DEFAULT
        };
        let store = Arc::new(PostgresStore::open(&address, &Trust::System, options).await?);
        fill(&store).await?;
        for kind in [JobKind::Extract, JobKind::Consolidate] {
            for (workers, batch) in [(1, 1), (1, 10), (8, 1), (8, 10)] {
                let done = measure(&store, kind, workers, batch).await?;
                println!(
                    "{:>12}, {workers} workers by {batch:>2}: {done:>6}/s",
                    kind.as_str()
                );
            }
        }
        Ok(())
    })
}

/// Jobs of sessions go to 16 lanes, those of scopes to one.
fn keys(no: usize) -> [JobKey; 2] {
    let session = SessionId {
        tenant: Tenant(format!("tenant-{}", no % 4)),
        agent: format!("agent-{}", no % 16 / 4),
        host_id: format!("{no:05}"),
    };
    let scope = Scope {
        tenant: Tenant::local(),
        kind: ScopeKind::Room,
        name: format!("{no:05}"),
    };
    [JobKey::Extract(session), JobKey::Consolidate(scope)]
}

async fn fill(store: &Arc<PostgresStore>) -> Result<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let markers = (0..8).map(|_| {
        let (store, next) = (Arc::clone(store), Arc::clone(&next));
        tokio::spawn(async move {
            loop {
                let no = next.fetch_add(1, Ordering::Relaxed);
                if no >= JOBS {
                    return Ok::<_, StoreError>(());
                }
                for key in keys(no) {
                    let mark = DueMark::at_once(1_000_000, at(0), Priority::Normal);
                    store.mark(&key, mark).await?;
                }
            }
        })
    });
    let began = Instant::now();
    for marker in markers.collect::<Vec<_>>() {
        marker.await??;
    }
    let marks = 2.0 * JOBS as f64 / began.elapsed().as_secs_f64();
    println!("{marks:>6.0} marks/s by 8");
    Ok(())
}

/// Jobs finished a second.
async fn measure(
    store: &Arc<PostgresStore>,
    kind: JobKind,
    workers: usize,
    batch: usize,
) -> Result<usize> {
    let began = Instant::now();
    let workers = (0..workers).map(|_| {
        let store = Arc::clone(store);
        tokio::spawn(async move {
            let mut done = 0;
            while began.elapsed() < MEASURED {
                done += cycle(&store, kind, batch).await?;
            }
            Ok::<_, StoreError>(done)
        })
    });
    let mut done = 0;
    for worker in workers.collect::<Vec<_>>() {
        done += worker.await??;
    }
    Ok((done as f64 / began.elapsed().as_secs_f64()) as usize)
}

/// Claims some jobs and finishes each a little further, so that it is due again.
async fn cycle(
    store: &PostgresStore,
    kind: JobKind,
    batch: usize,
) -> std::result::Result<usize, StoreError> {
    let claim = Claim {
        kind,
        holder: "worker",
        now: at(1),
        lease: Duration::from_secs(60),
        limits: ClaimLimits::jobs(batch),
    };
    let claimed = store.claim(claim).await?;
    for one in &claimed {
        let ended = store.finish(&one.token, one.after + 1, at(1)).await?;
        assert_eq!(ended, FinishOutcome::StillDue);
    }
    Ok(claimed.len())
}

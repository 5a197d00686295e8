//! How fast jobs are claimed and finished, by one process and by many at once.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use daybook_domain::seams::{JobControl, JobQueue, JobWatch, SessionLog};
use daybook_domain::{
    Claim, ClaimLimits, DueMark, EventSeq, FinishOutcome, JobKey, JobKind, Priority, SessionId,
    TallyKind, Tenant, Timestamp,
};
use daybook_store::sqlite::{Durability, SqliteOptions, SqliteStore};

use crate::append::append_of;
use crate::process::{Timing, ms};
use crate::transcripts::SeededNumbers;

pub(crate) const NOW: Timestamp = Timestamp(1_780_000_000_000);
const LEASE: Duration = Duration::from_secs(600);
/// Agents that sessions are spread over, so that claims alternate between them.
const AGENTS: u32 = 7;
const CROWD: u32 = 16;
const CROWD_JOBS: u32 = 10_000;
const WORKERS: u32 = 8;

fn open(root: &Path) -> Result<SqliteStore> {
    let durability = Durability::Process;
    Ok(SqliteStore::open(
        &root.join("daybook.db"),
        SqliteOptions {
            durability,
            ..SqliteOptions::default()
        },
    )?)
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?)
}

pub(crate) fn session(n: u32) -> SessionId {
    SessionId {
        tenant: Tenant::local(),
        agent: format!("agent-{}", n % AGENTS),
        host_id: format!("{:08x}-{n}", n.wrapping_mul(0x9e37_79b9)),
    }
}

pub(crate) fn claim(holder: &str, jobs: usize) -> Claim<'_> {
    Claim {
        kind: JobKind::Extract,
        holder,
        now: NOW,
        lease: LEASE,
        limits: ClaimLimits::jobs(jobs),
    }
}

/// Claim and finish in one process, one by one and by ten, against two bare transactions of one row.
pub(crate) fn cycles() -> Result<()> {
    const JOBS: u32 = 20_000;
    let runtime = runtime()?;
    let floor = bare_cycles(JOBS)?;
    for batch in [1, 10] {
        let folder = tempfile::tempdir()?;
        let store = open(folder.path())?;
        let took = runtime.block_on(process(&store, JOBS, batch))?;
        let rate = f64::from(JOBS) / took.as_secs_f64();
        println!(
            "  claims by {batch:2}: {rate:7.0} cycles/s   {:.1} times a bare cycle's time; longest write {:.1} ms",
            floor / rate,
            ms(store.longest_write())
        );
    }
    println!("  floor: {floor:.0} cycles/s of two bare updates   wanted: over 5,000 cycles/s");
    Ok(())
}

/// Claims and finishes of a few jobs, one by one, against as many bare cycles.
pub(crate) fn small() -> Result<Timing> {
    const JOBS: u32 = 400;
    let folder = tempfile::tempdir()?;
    let store = open(folder.path())?;
    Ok(Timing {
        engine: runtime()?.block_on(process(&store, JOBS, 1))?,
        baseline: Duration::from_secs_f64(f64::from(JOBS) / bare_cycles(JOBS)?),
    })
}

/// Marks `jobs` jobs as due, then claims `batch` at a time and finishes them. Returns how long the claims and finishes
/// took.
async fn process(store: &SqliteStore, jobs: u32, batch: usize) -> Result<Duration> {
    for n in 0..jobs {
        let mark = DueMark::at_once(1, NOW, Priority::Normal);
        store.mark(&JobKey::Extract(session(n)), mark).await?;
    }
    let began = Instant::now();
    let mut done = 0;
    while done < jobs {
        for claimed in store.claim(claim("bench", batch)).await? {
            let ended = store.finish(&claimed.token, claimed.upto, NOW).await?;
            if ended != FinishOutcome::Complete {
                bail!("{}: {ended:?}", claimed.token.job());
            }
            done += 1;
        }
    }
    Ok(began.elapsed())
}

/// Cycles per second of two committed updates of one row each.
fn bare_cycles(cycles: u32) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let connection = rusqlite::Connection::open(folder.path().join("bare.db"))?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
         CREATE TABLE jobs (n INTEGER PRIMARY KEY, state INTEGER);",
    )?;
    for n in 0..cycles {
        connection
            .prepare_cached("INSERT INTO jobs VALUES (?, 0)")?
            .execute([n])?;
    }
    let began = Instant::now();
    for n in 0..cycles {
        for state in [1, 2] {
            connection
                .prepare_cached("UPDATE jobs SET state = ? WHERE n = ?")?
                .execute([state, n])?;
        }
    }
    Ok(f64::from(cycles) / began.elapsed().as_secs_f64())
}

/// Many processes that append, claim and finish on one data folder.
pub(crate) fn crowd() -> Result<()> {
    let folder = tempfile::tempdir()?;
    drop(open(folder.path())?);
    let began = Instant::now();
    let members: Vec<Child> = (0..CROWD)
        .map(|n| member(folder.path(), "both", n))
        .collect::<Result<_>>()?;
    let mut results = MemberResults::default();
    for member in members {
        results.read(member)?;
    }
    let took = began.elapsed();
    let store = open(folder.path())?;
    runtime()?.block_on(async {
        let tallies = store.tallies().await?;
        let count = |what| {
            let of_it = tallies.iter().find(|tally| tally.what == what);
            of_it.map_or(0, |tally| tally.count)
        };
        let jobs = store.jobs_of_all_tenants(JobKind::Extract).await?;
        let undone = jobs.iter().filter(|job| job.is_ahead() || job.claims != 1).count();
        println!(
            "  {CROWD} processes: {} jobs in {:.1} s ({:.0} cycles/s with their appends)",
            jobs.len(),
            took.as_secs_f64(),
            f64::from(CROWD_JOBS) / took.as_secs_f64()
        );
        println!(
            "  claimed {}, finished {}, lost leases {}, not done exactly once {undone}, errors 0",
            count(TallyKind::Claimed),
            count(TallyKind::Finished),
            count(TallyKind::Lost),
        );
        println!(
            "  longest write transaction {:.1} ms; append p99 {:.1} ms   wanted: under 20 ms, nothing lost or doubled",
            results.longest,
            results.append_p99
        );
        let whole = u64::from(CROWD_JOBS);
        if undone > 0 || count(TallyKind::Claimed) != whole || count(TallyKind::Finished) != whole {
            bail!("work was lost or doubled");
        }
        Ok(())
    })
}

/// How long an append takes while workers claim and finish.
pub(crate) fn beside_workers() -> Result<()> {
    const APPENDS: u32 = 4_000;
    let folder = tempfile::tempdir()?;
    let store = open(folder.path())?;
    let runtime = runtime()?;
    let alone = runtime.block_on(append_times(&store, 1_000_000, 1_000))?;
    let members: Vec<Child> = (0..WORKERS)
        .map(|n| member(folder.path(), "worker", n))
        .collect::<Result<_>>()?;
    let mut times = runtime.block_on(append_times(&store, 0, APPENDS))?;
    times.sort();
    let at = |share: f64| ms(times[((times.len() - 1) as f64 * share) as usize]);
    let alone = ms(alone[alone.len() / 2]);
    println!(
        "  append beside {WORKERS} workers: p50 {:.2} ms, p99 {:.2} ms, worst {:.1} ms; alone p50 {alone:.2} ms, ratio of p50 {:.1}",
        at(0.5),
        at(0.99),
        at(1.0),
        at(0.5) / alone
    );
    println!("  wanted: p99 under 15 ms");
    let mut results = MemberResults::default();
    for mut member in members {
        drop(member.stdin.take());
        results.read(member)?;
    }
    Ok(())
}

async fn append_times(store: &SqliteStore, from: u32, appends: u32) -> Result<Vec<Duration>> {
    let mut numbers = SeededNumbers(u64::from(from));
    let mut times = Vec::new();
    for n in from..from + appends {
        let append = append_of(&mut numbers, &session(n), n, 1);
        let began = Instant::now();
        store.append(&append).await?;
        times.push(began.elapsed());
    }
    Ok(times)
}

/// Starts this program again as one of many on a data folder.
fn member(root: &Path, role: &str, n: u32) -> Result<Child> {
    Command::new(std::env::current_exe()?)
        .args(["crowd-member", role, &n.to_string()])
        .arg(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start another process")
}

/// The figures that members print at their end.
#[derive(Default)]
struct MemberResults {
    longest: f64,
    append_p99: f64,
}

impl MemberResults {
    fn read(&mut self, mut member: Child) -> Result<()> {
        let said = member.stdout.take().context("a member has no output")?;
        let mut line = String::new();
        BufReader::new(said).read_line(&mut line)?;
        let status = member.wait()?;
        if !status.success() {
            bail!("a member of the crowd ended with {status}: {line}");
        }
        let mut numbers = line.split_whitespace().map(str::parse::<f64>);
        let mut next = || numbers.next().context("a member printed too few figures");
        self.longest = self.longest.max(next()??);
        self.append_p99 = self.append_p99.max(next()??);
        Ok(())
    }
}

/// Runs one member: appends its share and works on due jobs until all are done, or, as a worker, until its standard
/// input ends.
pub(crate) fn crowd_member(role: &str, n: u32, root: &Path) -> Result<()> {
    let store = open(root)?;
    let share = CROWD_JOBS / CROWD;
    let mine = if role == "both" {
        n * share..(n + 1) * share
    } else {
        0..0
    };
    let holder = format!("member-{n}");
    let ended = std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    });
    let mut numbers = SeededNumbers(u64::from(n));
    let mut times = Vec::new();
    let mut mine = mine;
    runtime()?.block_on(async {
        loop {
            let next = mine.next();
            if let Some(n) = next {
                let append = append_of(&mut numbers, &session(n), n, 1);
                let began = Instant::now();
                store.append(&append).await?;
                times.push(began.elapsed());
            }
            let claims = store.claim(claim(&holder, 4)).await?;
            let idle = claims.is_empty();
            for claimed in claims {
                work(&store, &claimed.token, claimed.upto).await?;
            }
            let over = if role == "both" {
                next.is_none() && idle && all_done(&store).await?
            } else {
                ended.is_finished()
            };
            if over {
                break anyhow::Ok(());
            }
            if idle && next.is_none() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    })?;
    times.sort();
    let p99 = times
        .get(times.len() * 99 / 100)
        .copied()
        .unwrap_or_default();
    println!("{} {}", ms(store.longest_write()), ms(p99));
    Ok(())
}

/// Reads the events that a claim grants, and finishes the job.
async fn work(store: &SqliteStore, token: &daybook_domain::LeaseToken, upto: u64) -> Result<()> {
    let JobKey::Extract(id) = token.job() else {
        bail!("{} is no extraction", token.job());
    };
    let events = store
        .events(id, EventSeq(0), EventSeq(upto), 100, 1 << 20)
        .await?;
    if events.len() as u64 != upto {
        bail!("{id}: {} of {upto} events are stored", events.len());
    }
    match store.finish(token, upto, NOW).await? {
        FinishOutcome::Complete => Ok(()),
        other => bail!("{id}: {other:?}"),
    }
}

async fn all_done(store: &SqliteStore) -> Result<bool> {
    let finished = store.tallies().await?;
    let finished = finished
        .iter()
        .find(|tally| tally.what == TallyKind::Finished);
    Ok(finished.is_some_and(|tally| tally.count >= u64::from(CROWD_JOBS)))
}

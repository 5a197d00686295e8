//! How long consolidation takes in a scope of 10,000 sessions: the first one of all, and after one more session.
//!
//! Sessions are imported from generated transcripts of Claude Code, in which people state rules, decisions, facts,
//! values and changes, and are extracted without a model. Each measurement is a process of its own, except for those of
//! a running worker.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail};
use daybook_domain::seams::Store;
use daybook_domain::{Scope, SessionId};
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::jobs::{WorkProgress, work};
use daybook_engine::stop::Stop;
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_testkit::{ManualClock, run};
use rustix::time::{ClockId, clock_gettime};

use crate::poisoning::{NOW, take_in, worker};
use crate::process::median;
use crate::scale_sessions::write_sessions;

/// Sessions without a number on the command line.
const SESSIONS: usize = 10_000;
/// Further sessions, one by one.
const FURTHER: usize = 5;
/// The word by which this program runs one measurement of itself.
pub(crate) const MEMBER: &str = "scale-member";

/// `daybook-bench scale`.
pub(crate) fn consolidated() -> Result<()> {
    measure(SESSIONS, None)
}

/// `daybook-bench scale [SESSIONS] [FOLDER]`. A folder is kept, and used again when it is there.
pub(crate) fn consolidated_with(arguments: &[String]) -> Result<()> {
    let sessions = arguments.first().map(|n| n.parse()).transpose()?;
    let folder = arguments.get(1).map(PathBuf::from);
    measure(sessions.unwrap_or(SESSIONS), folder)
}

fn measure(sessions: usize, kept: Option<PathBuf>) -> Result<()> {
    let temporary = tempfile::tempdir()?;
    let place = kept.unwrap_or_else(|| temporary.path().to_owned());
    let (root, transcripts) = (place.join("root"), place.join("transcripts"));
    if !root.exists() {
        fs::create_dir_all(&root)?;
        write_sessions(&transcripts, 0..sessions)?;
        let first = member(&root, std::slice::from_ref(&transcripts))?;
        println!(
            "  {sessions} sessions, first consolidation: {}",
            first[0].consolidation
        );
    }
    let began = usize::from(place.join("began").exists());
    let from = sessions + began * 4 * FURTHER;
    fs::write(place.join("began"), "")?;
    let further = |n: usize| -> Result<PathBuf> {
        let folder = place.join(format!("further-{n}"));
        write_sessions(&folder, n..n + 1)?;
        Ok(folder)
    };
    // What an engine of another version left behind is no part of the measurement.
    member(&root, &[further(from)?])?;
    let before = stamps(&root)?;
    let mut alone = Vec::new();
    for n in 1..=FURTHER {
        alone.extend(member(&root, &[further(from + n)?])?);
    }
    let changed = changed_files(&before, &stamps(&root)?);
    print("a new process", &alone);
    let folders: Vec<PathBuf> = (0..=FURTHER)
        .map(|n| further(from + FURTHER + 1 + n))
        .collect::<Result<_>>()?;
    print("a running worker", &member(&root, &folders)?[1..]);
    println!("  files written or changed by {FURTHER} processes: {changed}");
    println!("  wanted: first under 20 s, one more session under 0.5 s of CPU");
    Ok(())
}

/// Time that passed, and that the process computed.
#[derive(Debug, Clone, Copy, Default)]
struct Took {
    wall: Duration,
    cpu: Duration,
}

impl std::fmt::Display for Took {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (wall, cpu) = (self.wall.as_secs_f64(), self.cpu.as_secs_f64());
        write!(out, "{wall:.3} s, {cpu:.3} s of CPU")
    }
}

/// One import and all that follows from it.
#[derive(Debug, Clone, Copy)]
struct Round {
    whole: Took,
    /// From the last extraction to the end.
    consolidation: Took,
}

fn print(who: &str, rounds: &[Round]) {
    let of = |part: fn(&Round) -> Duration| median(rounds.iter().map(part).collect());
    let whole = Took {
        wall: of(|round| round.whole.wall),
        cpu: of(|round| round.whole.cpu),
    };
    let consolidation = Took {
        wall: of(|round| round.consolidation.wall),
        cpu: of(|round| round.consolidation.cpu),
    };
    println!("  one more session, {who}: {whole} (its consolidation: {consolidation})");
}

/// Runs this program again on a data folder: it imports the folders one by one, with all work after each.
fn member(root: &Path, folders: &[PathBuf]) -> Result<Vec<Round>> {
    let output = Command::new(std::env::current_exe()?)
        .arg(MEMBER)
        .arg(root)
        .args(folders)
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cannot start another process")?;
    if !output.status.success() {
        bail!("a measurement ended with {}", output.status);
    }
    let text = String::from_utf8(output.stdout)?;
    text.lines().map(parse_round).collect()
}

fn parse_round(line: &str) -> Result<Round> {
    let figures: Vec<Duration> = line
        .split_whitespace()
        .map(|figure| Ok(Duration::from_secs_f64(figure.parse()?)))
        .collect::<Result<_>>()?;
    let &[wall, cpu, of_wall, of_cpu] = figures.as_slice() else {
        bail!("a measurement printed too few figures");
    };
    Ok(Round {
        whole: Took { wall, cpu },
        consolidation: Took {
            wall: of_wall,
            cpu: of_cpu,
        },
    })
}

/// One measurement: prints a line of figures for each folder.
pub(crate) fn run_member(root: &Path, folders: &[String]) -> Result<()> {
    let mut began = Stopwatch::new();
    // The processor time of the process itself counts from its start.
    began.cpu = Duration::ZERO;
    let options = SqliteOptions::default();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&root.join("daybook.db"), options)?);
    let clock = Arc::new(ManualClock::at(NOW));
    let worker = worker(&store, root, Arc::clone(&clock) as _, Arc::new(Extractive));
    for folder in folders {
        let progress = LastExtraction(Mutex::new(Stopwatch::new()));
        run(async {
            take_in(&store, &clock, Path::new(folder), 1).await?;
            let report = work(&worker, &Stop::default(), &progress).await?;
            if let Some(failed) = report.failed.first() {
                bail!("{}: {}", failed.job, failed.failure.message);
            }
            Ok(())
        })?;
        let last = progress.0.into_inner();
        let last = last.map_err(|_| anyhow::anyhow!("a worker panicked"))?;
        let (whole, part) = (began.took(), last.took());
        let figures = [whole.wall, whole.cpu, part.wall, part.cpu];
        let figures = figures.map(|figure| figure.as_secs_f64().to_string());
        println!("{}", figures.join(" "));
        began = Stopwatch::new();
    }
    Ok(())
}

/// A moment, to measure from.
#[derive(Clone, Copy)]
struct Stopwatch {
    at: Instant,
    cpu: Duration,
}

impl Stopwatch {
    fn new() -> Self {
        Self {
            at: Instant::now(),
            cpu: processor_time(),
        }
    }

    fn took(&self) -> Took {
        Took {
            wall: self.at.elapsed(),
            cpu: processor_time().saturating_sub(self.cpu),
        }
    }
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}

/// When the last session was extracted.
struct LastExtraction(Mutex<Stopwatch>);

impl WorkProgress for LastExtraction {
    fn session_read(&self, _: &SessionId) {
        if let Ok(mut last) = self.0.lock() {
            *last = Stopwatch::new();
        }
    }
    fn scope_written(&self, _: &Scope) {}
}

type FileStamps = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

/// Sizes and times of all files below a folder.
fn stamps(folder: &Path) -> Result<FileStamps> {
    let mut found = FileStamps::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if metadata.is_dir() {
            found.extend(stamps(&entry.path())?);
        } else {
            found.insert(entry.path(), (metadata.len(), metadata.modified().ok()));
        }
    }
    Ok(found)
}

fn changed_files(before: &FileStamps, after: &FileStamps) -> usize {
    let is_changed = |(path, stamp): &(&PathBuf, _)| before.get(*path) != Some(*stamp);
    after.iter().filter(is_changed).count()
}

//! How fast transcripts are taken in, redacted, logged durably and indexed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use daybook_domain::eligibility::Switches;
use daybook_domain::trigger::DueLimits;
use daybook_domain::{Tenant, Timestamp};
use daybook_engine::append::IngestContext;
use daybook_engine::import::{import, scan};
use daybook_engine::stop::Stop;
use daybook_store::{SqliteOptions, SqliteStore};
use daybook_testkit::{ManualClock, run};
use daybook_text::redact::Redactor;

use crate::process::{Timing, median, ms, timed};
use crate::transcripts::{DiscardProgress, real, write_session};

const RUNS: usize = 5;

/// The first import, against reading and parsing the same lines and nothing more.
pub(crate) fn first() -> Result<()> {
    let made = tempfile::tempdir()?;
    let folder = inputs(made.path())?;
    let files = files(&folder);
    let bytes: u64 = files
        .iter()
        .filter_map(|file| fs::metadata(file).ok())
        .map(|m| m.len())
        .sum();
    let mut imports = Vec::new();
    let mut floors = Vec::new();
    for _ in 0..RUNS {
        let root = tempfile::tempdir()?;
        let root = root.path().join("root").display().to_string();
        imports.push(timed(&[
            "import",
            &folder.display().to_string(),
            "--no-process",
            "--root",
            &root,
        ])?);
        floors.push(parse_only(&files)?);
    }
    let (whole, floor) = (median(imports), median(floors));
    let rate = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    println!(
        "  {} files, {:.1} MB of JSONL from {}",
        files.len(),
        bytes as f64 / 1e6,
        folder.display()
    );
    println!(
        "  import, whole process    {:8.1} ms   {:6.1} MB/s   (wanted: 40)",
        ms(whole),
        rate(whole)
    );
    println!(
        "  floor: parse and discard {:8.1} ms   {:6.1} MB/s   ratio {:.2}",
        ms(floor),
        rate(floor),
        whole.as_secs_f64() / floor.as_secs_f64()
    );
    Ok(())
}

/// The second import of the same folder, against starting the program.
pub(crate) fn again() -> Result<()> {
    let made = tempfile::tempdir()?;
    for n in 0..40 {
        write_session(&made.path().join(format!("{n}.jsonl")), n, 500)?;
    }
    let folder = made.path().display().to_string();
    let root = tempfile::tempdir()?;
    let root = root.path().join("root").display().to_string();
    timed(&["import", &folder, "--root", &root])?;
    let mut seconds = Vec::new();
    let mut starts = Vec::new();
    for _ in 0..11 {
        seconds.push(timed(&["import", &folder, "--root", &root])?);
        starts.push(timed(&["--version"])?);
    }
    let (second, start) = (median(seconds), median(starts));
    println!(
        "  second import of 40 files {:6.1} ms   (wanted: under 100)",
        ms(second)
    );
    println!(
        "  --version                 {:6.1} ms   ratio {:.1}",
        ms(start),
        second.as_secs_f64() / start.as_secs_f64()
    );
    Ok(())
}

/// An import of a few generated transcripts in this process, by one reader, against parsing and indexing their lines.
pub(crate) fn small() -> Result<Timing> {
    let made = tempfile::tempdir()?;
    for n in 0..8 {
        write_session(&made.path().join(format!("{n}.jsonl")), n, 250)?;
    }
    let baseline = parse_and_insert(&files(made.path()))?;
    let root = tempfile::tempdir()?;
    let store = SqliteStore::open(&root.path().join("daybook.db"), SqliteOptions::default())?;
    let intake = IngestContext {
        store: Arc::new(store),
        clock: Arc::new(ManualClock::at(Timestamp(2_051_222_400_000))),
        tenant: Tenant::local(),
        patience: DueLimits::default(),
        switches: Switches::default(),
        teams: Default::default(),
        redactor: Arc::new(Redactor::standard()),
        readers: 1,
    };
    let candidates = scan(&[made.path().to_owned()]);
    let stop = Stop::default();
    let began = Instant::now();
    run(import(
        &intake,
        "small",
        candidates,
        &stop,
        &DiscardProgress,
    ))?;
    Ok(Timing {
        engine: began.elapsed(),
        baseline,
    })
}

fn inputs(made: &Path) -> Result<PathBuf> {
    if let Some(folder) = real() {
        return Ok(folder);
    }
    for n in 0..20 {
        write_session(&made.join(format!("{n}.jsonl")), n, 3_000)?;
    }
    Ok(made.to_owned())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

fn parse_only(files: &[PathBuf]) -> Result<Duration> {
    let began = Instant::now();
    let mut lines = 0_u64;
    for file in files {
        for line in fs::read(file)?.split(|byte| *byte == b'\n') {
            lines += u64::from(serde_json::from_slice::<serde_json::Value>(line).is_ok());
        }
    }
    std::hint::black_box(lines);
    Ok(began.elapsed())
}

/// What any import into this kind of database takes: its lines are parsed, and the text of each is inserted and indexed.
fn parse_and_insert(files: &[PathBuf]) -> Result<Duration> {
    let folder = tempfile::tempdir()?;
    let began = Instant::now();
    let mut connection = rusqlite::Connection::open(folder.path().join("bare.db"))?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
         CREATE VIRTUAL TABLE lines USING fts5 (text);",
    )?;
    for file in files {
        let tx = connection.transaction()?;
        for line in fs::read(file)?.split(|byte| *byte == b'\n') {
            if let Ok(line) = serde_json::from_slice::<serde_json::Value>(line) {
                tx.prepare_cached("INSERT INTO lines VALUES (?1)")?
                    .execute([line.to_string()])?;
            }
        }
        tx.commit()?;
    }
    Ok(began.elapsed())
}

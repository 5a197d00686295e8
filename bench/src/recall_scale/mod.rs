//! Measures recall in process among 100,000 or 1,000,000 memories, and the cost of storing them.
//!
//! `recall-scale [memories] [folder]` makes a SQLite store of generated notes, or reads again the one that an
//! earlier run left in the folder. It times appends, vectors and questions, with vectors and without, and
//! puts the same notes into a plain FTS5 table beside it.

pub(crate) mod corpus;
mod embedder;
mod plain;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use daybook_domain::Tenant;
use daybook_domain::seams::{Embedder, SessionLog};
use daybook_domain::{Timestamp, limits::APPEND_EVENTS};
use daybook_engine::recall::embedding::embed_all;
use daybook_engine::recall::search::{RecallQuestion, recall};
use daybook_store::sqlite::{Durability, SqliteOptions, SqliteStore};
use tokio::runtime::Runtime;

use crate::process::{Timing, high_water, median, ms, reset_high_water, resident};
use corpus::{NoteCorpus, WordList, append_of, questions};
use embedder::embedder;

/// Memories unless the command line says otherwise.
const MEMORIES: usize = 100_000;
/// Questions of each round.
const QUESTIONS: usize = 200;
/// Answers to each.
const ANSWERS: usize = 10;

/// Target latencies in milliseconds for a number of memories.
struct LatencyTarget {
    p50: f64,
    p95: f64,
}

impl LatencyTarget {
    fn of(memories: usize) -> Self {
        match memories {
            0..=100_000 => Self { p50: 2.0, p95: 6.0 },
            _ => Self {
                p50: 10.0,
                p95: 25.0,
            },
        }
    }
}

/// Measures with [`MEMORIES`].
pub(crate) fn ask() -> Result<()> {
    ask_with(&[])
}

/// Measures with a given number of memories, and a folder that keeps the store for the next run.
pub(crate) fn ask_with(arguments: &[String]) -> Result<()> {
    let memories = match arguments.first() {
        Some(memories) => memories.parse()?,
        None => MEMORIES,
    };
    ensure!(memories > 0, "there must be a memory to ask for");
    let own = tempfile::tempdir()?;
    let folder = match arguments.get(1) {
        Some(folder) => Path::new(folder),
        None => own.path(),
    };
    fs::create_dir_all(folder)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let words = WordList::new();
    if !folder.join("daybook.db").exists() {
        make(folder, &words, memories, &runtime)?;
        let rate = plain::make(folder, &words, memories)?;
        println!("  plain FTS5 {rate:.0} a second");
    }
    let bytes = size_of(folder, "daybook.db")?;
    println!(
        "  on disk    {:.0} bytes a memory   (wanted: under 2048); plain FTS5 {:.0}",
        bytes / memories as f64,
        size_of(folder, "plain.db")? / memories as f64
    );
    runtime.block_on(measure(folder, &words, memories))
}

/// A recall by words among a few memories, against a plain FTS5 table: the medians of a few questions.
pub(crate) fn small() -> Result<Timing> {
    const FEW: usize = 3_000;
    let folder = tempfile::tempdir()?;
    let words = WordList::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let store = open(folder.path())?;
    runtime.block_on(append_all(&store, NoteCorpus::new(&words, FEW)))?;
    plain::make(folder.path(), &words, FEW)?;
    let questions = questions(&words, 40);
    let recalls = questions
        .iter()
        .map(|question| runtime.block_on(timed_recall(&store, None, &question.text)));
    let (_, baseline) = plain::ask(folder.path(), &questions, ANSWERS)?;
    Ok(Timing {
        engine: median(recalls.collect::<Result<_>>()?),
        baseline: median(baseline),
    })
}

/// Fills the store, and prints the rate: without vectors in a store of its own, then with vectors, which another thread
/// computes meanwhile.
fn make(folder: &Path, words: &WordList, memories: usize, runtime: &Runtime) -> Result<()> {
    let alone = tempfile::tempdir()?;
    let few = memories.min(MEMORIES);
    let began = Instant::now();
    runtime.block_on(append_all(
        &open(alone.path())?,
        NoteCorpus::new(words, few),
    ))?;
    println!(
        "  appends    {:.0} a second, the index alone",
        rate(few, began)
    );
    let store = open(folder)?;
    let is_done = AtomicBool::new(false);
    let began = Instant::now();
    let embedded = thread::scope(|scope| {
        let embedding = scope.spawn(|| embed_until(&store, &is_done));
        let appended = runtime.block_on(append_all(&store, NoteCorpus::new(words, memories)));
        is_done.store(true, Ordering::Release);
        println!(
            "             {:.0} a second beside vectors",
            rate(memories, began)
        );
        let embedded = embedding
            .join()
            .expect("the thread that embeds does not panic");
        appended.and(embedded)
    })?;
    println!(
        "             {:.0} a second until the last of {embedded} has its vector   (wanted: 30,000)",
        rate(memories, began)
    );
    Ok(())
}

fn rate(memories: usize, began: Instant) -> f64 {
    memories as f64 / began.elapsed().as_secs_f64()
}

pub(crate) async fn append_all(store: &SqliteStore, mut corpus: NoteCorpus<'_>) -> Result<()> {
    while let Some((session, notes)) = corpus.next_session() {
        let mut from = 0;
        for notes in notes.chunks(APPEND_EVENTS) {
            store.append(&append_of(session, from, notes)).await?;
            from += notes.len();
        }
    }
    Ok(())
}

/// Embeds documents until all are appended and embedded. Returns how many it embedded.
fn embed_until(store: &SqliteStore, is_done: &AtomicBool) -> Result<usize> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let (tenant, model) = (Tenant::local(), embedder());
    let mut embedded = 0;
    loop {
        let is_last = is_done.load(Ordering::Acquire);
        let embedding = embed_all(store, &tenant, model.as_ref(), |_| ());
        embedded += runtime.block_on(embedding)?;
        if is_last {
            return Ok(embedded);
        }
        thread::yield_now();
    }
}

async fn measure(folder: &Path, words: &WordList, memories: usize) -> Result<()> {
    let questions = questions(words, QUESTIONS);
    let store = open(folder)?;
    let model = embedder();
    reset_high_water();
    for (name, model) in [("words", None), ("vectors", Some(model.as_ref()))] {
        let first = timed_recall(&store, model, &questions[0].text).await?;
        let mut times = Vec::with_capacity(questions.len());
        for question in &questions {
            times.push(timed_recall(&store, model, &question.text).await?);
        }
        println!("  {name:10} {}", summary(first, times, memories));
    }
    let own = std::process::id();
    println!(
        "  resident   {:.0} MiB now, {:.0} MiB at most   (wanted: under 400)",
        mib(resident(own)),
        mib(high_water(own))
    );
    drop(store);
    let (first, times) = plain::ask(folder, &questions, ANSWERS)?;
    println!("  plain FTS5 {}", summary(first, times, memories));
    Ok(())
}

fn open(folder: &Path) -> Result<SqliteStore> {
    let options = SqliteOptions {
        durability: Durability::Process,
        ..SqliteOptions::default()
    };
    Ok(SqliteStore::open(&folder.join("daybook.db"), options)?)
}

async fn timed_recall(
    store: &SqliteStore,
    embedder: Option<&dyn Embedder>,
    text: &str,
) -> Result<Duration> {
    let question = RecallQuestion {
        text,
        reach: daybook_domain::Reach::Everything,
        layers: Vec::new(),
        tools: false,
        limit: ANSWERS,
        rare: false,
        embedder,
        until: None,
        now: Timestamp::ZERO,
    };
    let began = Instant::now();
    let recalled = recall(store, &Tenant::local(), &question).await?;
    let took = began.elapsed();
    ensure!(!recalled.answers.is_empty(), "nothing answers {text:?}");
    Ok(took)
}

fn summary(first: Duration, mut times: Vec<Duration>, memories: usize) -> String {
    times.sort();
    let at = |share: f64| ms(times[((times.len() - 1) as f64 * share) as usize]);
    let wanted = LatencyTarget::of(memories);
    format!(
        "p50 {:7.2} ms, p95 {:7.2}, worst {:7.2}; the first {:7.1}   (wanted: {} and {})",
        at(0.5),
        at(0.95),
        at(1.0),
        ms(first),
        wanted.p50,
        wanted.p95
    )
}

fn mib(bytes: Option<u64>) -> f64 {
    bytes.unwrap_or_default() as f64 / f64::from(1 << 20)
}

/// Bytes of a database and its log.
fn size_of(folder: &Path, name: &str) -> Result<f64> {
    let mut bytes = fs::metadata(folder.join(name))?.len();
    if let Ok(log) = fs::metadata(folder.join(format!("{name}-wal"))) {
        bytes += log.len();
    }
    Ok(bytes as f64)
}

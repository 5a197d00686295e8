//! How fast a durable append is: events, index and mark in one transaction.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::Result;
use daybook_domain::eligibility::Switches;
use daybook_domain::seams::{Append, SessionLog};
use daybook_domain::trigger::DueLimits;
use daybook_domain::{
    EventId, NewEvent, Origin, SessionId, SessionKind, SessionMeta, Tenant, Timestamp,
};
use daybook_store::sqlite::{Durability, SqliteOptions, SqliteStore};
use daybook_text::redact::Redactor;

use crate::process::Timing;
use crate::transcripts::SeededNumbers;

/// The pages that a commit of one event writes.
const PAGES: u32 = 15;
/// So many bytes of a row leave no room for another on its page.
const BYTES_OF_PAGE: usize = 3_000;

/// Single and batched appends, against a bare insert of the same text into the same database
/// engine, committed as often.
pub(crate) fn durable() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    for (name, durability, singles, batches) in [
        ("process", Durability::Process, 5_000, 1_000),
        ("power", Durability::Power, 200, 50),
    ] {
        let folder = tempfile::tempdir()?;
        let store = SqliteStore::open(
            &folder.path().join("daybook.db"),
            SqliteOptions {
                durability,
                ..SqliteOptions::default()
            },
        )?;
        let single = runtime.block_on(append_all(&store, singles, 1))?;
        let batched = runtime.block_on(append_all(&store, batches, 100))?;
        let floor = bare_inserts(singles, durability)?;
        let mut sorted = single.clone();
        sorted.sort();
        let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
        let whole: Duration = batched.iter().sum();
        println!(
            "  {name:8} one event p50 {:7.3} ms, p99 {:7.3} ms; batched by 100: {:8.0} events/s",
            at(0.5).as_secs_f64() * 1e3,
            at(0.99).as_secs_f64() * 1e3,
            f64::from(batches) * 100.0 / whole.as_secs_f64()
        );
        println!(
            "           floor: bare insert p50 {:7.3} ms   ratio {:.1}",
            floor.as_secs_f64() * 1e3,
            at(0.5).as_secs_f64() / floor.as_secs_f64()
        );
    }
    println!(
        "  wanted, process: p50 under 0.1 ms, over 50,000 events/s; power: the disk's commit rate"
    );
    Ok(())
}

/// An append of one event, against a bare commit of as many pages: the medians of a few.
pub(crate) fn small() -> Result<Timing> {
    const APPENDS: u32 = 400;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let folder = tempfile::tempdir()?;
    let durability = Durability::Process;
    let file = folder.path().join("daybook.db");
    let store = SqliteStore::open(
        &file,
        SqliteOptions {
            durability,
            ..SqliteOptions::default()
        },
    )?;
    let mut singles = runtime.block_on(append_all(&store, APPENDS, 1))?;
    singles.sort();
    Ok(Timing {
        engine: singles[singles.len() / 2],
        baseline: bare_page_commits(APPENDS)?,
    })
}

async fn append_all(store: &SqliteStore, appends: u32, size: u32) -> Result<Vec<Duration>> {
    let mut numbers = SeededNumbers(u64::from(size));
    let mut times = Vec::new();
    for n in 0..appends {
        let append = append(&mut numbers, n, size);
        let began = Instant::now();
        store.append(&append).await?;
        times.push(began.elapsed());
    }
    Ok(times)
}

fn append(numbers: &mut SeededNumbers, n: u32, size: u32) -> Append {
    let session = SessionId {
        tenant: Tenant::local(),
        agent: "bench".to_owned(),
        host_id: format!("session-{}-{size}", n / 100),
    };
    append_of(numbers, &session, n, size)
}

/// An append of so many events to a session, number `n` of all.
pub(crate) fn append_of(
    numbers: &mut SeededNumbers,
    session: &SessionId,
    n: u32,
    size: u32,
) -> Append {
    let event = |k: u32| {
        let text = numbers.sentence(25);
        NewEvent {
            id: EventId::of(&[&n.to_le_bytes(), &k.to_le_bytes(), &size.to_le_bytes()]),
            line: n * size + k + 1,
            origin: Origin::Assistant,
            at: Timestamp(1_772_000_000_000 + i64::from(n)),
            tokens: text.clone(),
            text,
            tool: None,
            call: None,
            status: None,
            sidechain: false,
            place: None,
            retracts: Vec::new(),
            reports_external: false,
        }
    };
    Append {
        session: SessionMeta {
            venue: daybook_domain::Venue::default(),
            id: session.clone(),
            kind: SessionKind::Root,
            memory_off: false,
            forked_from: None,
            user: None,
            surface: None,
        },
        events: (0..size).map(event).collect(),
        remotes: Vec::new(),
        source: None,
        import: None,
        patience: DueLimits::default(),
        urgent: None,
        switches: Switches::default(),
        rules: Redactor::standard().revision(),
        now: Timestamp(1_772_000_000_000),
    }
}

/// The median time of an insert of one sentence into a table without an index, committed alone.
pub(crate) fn bare_inserts(inserts: u32, durability: Durability) -> Result<Duration> {
    let folder = tempfile::tempdir()?;
    let connection = rusqlite::Connection::open(folder.path().join("bare.db"))?;
    let synchronous = match durability {
        Durability::Process => "NORMAL",
        Durability::Power => "FULL",
    };
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}; CREATE TABLE events (text TEXT);"
    ))?;
    let mut numbers = SeededNumbers(3);
    let mut times = Vec::new();
    for _ in 0..inserts {
        let text = numbers.sentence(25);
        let began = Instant::now();
        connection
            .prepare_cached("INSERT INTO events (text) VALUES (?1)")?
            .execute([text])?;
        times.push(began.elapsed());
    }
    times.sort();
    Ok(times[times.len() / 2])
}

/// The median time of a commit of [`PAGES`] pages by a thread that is asked for each, as a store's is. An append's time is
/// mostly that of pages and of waking threads, both of which differ between machines by more than a check may allow.
fn bare_page_commits(commits: u32) -> Result<Duration> {
    let folder = tempfile::tempdir()?;
    let mut connection = rusqlite::Connection::open(folder.path().join("bare.db"))?;
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;
         CREATE TABLE pages (n INTEGER PRIMARY KEY, text BLOB);
         WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers LIMIT {PAGES})
         INSERT INTO pages SELECT n, zeroblob({BYTES_OF_PAGE}) FROM numbers;"
    ))?;
    let (ask, asked) = mpsc::channel::<u32>();
    let (reply, committed) = mpsc::channel();
    let thread = std::thread::spawn(move || -> Result<()> {
        for n in asked {
            let tx = connection.transaction()?;
            // A page stays as it is, and is not written, when its text is what it was.
            let text = [n as u8; BYTES_OF_PAGE];
            for page in 0..PAGES {
                tx.prepare_cached("UPDATE pages SET text = ?1 WHERE n = ?2")?
                    .execute((text, 1 + page))?;
            }
            tx.commit()?;
            reply.send(())?;
        }
        Ok(())
    });
    let mut times = Vec::new();
    for n in 0..commits {
        let began = Instant::now();
        ask.send(n)?;
        committed.recv()?;
        times.push(began.elapsed());
    }
    drop(ask);
    thread.join().expect("the thread does not panic")?;
    times.sort();
    Ok(times[times.len() / 2])
}

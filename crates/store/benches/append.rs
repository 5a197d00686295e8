//! How long does an append take, and how many events a second can one writer append?
//!
//! Events of about 200 bytes over a vocabulary of 20,000 words with a few very common ones, fixed
//! seed, no model. Prints p50, p99, p99.9 and the worst call for one event and for batches, for both
//! durabilities, with the index included; then the cost of opening and of querying what was written.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a bench measures time and prints its results"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use daybook_domain::eligibility::Switches;
use daybook_domain::index::{CandidateQuery, SearchFilter};
use daybook_domain::seams::{Append, IndexReader, SessionCatalog, SessionLog};
use daybook_domain::trigger::DueLimits;
use daybook_domain::{
    EventId, NewEvent, Origin, PageRequest, Place, SessionId, SessionKind, SessionMeta, Tenant,
    Timestamp,
};
use daybook_store::{Durability, SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::{RULES, candidates};

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (durability, batch, appends) in [
        (Durability::Process, 1, 20_000),
        (Durability::Process, 100, 2_000),
        (Durability::Process, 500, 400),
        (Durability::Power, 1, 1_000),
        (Durability::Power, 100, 200),
    ] {
        let path = folder.path().join(format!("{durability:?}-{batch}.db"));
        fill(&path, durability, batch, appends);
    }
    share(&folder.path().join("shared.db"));
    ask(&folder.path().join("Process-100.db"));
}

fn fill(path: &Path, durability: Durability, batch: u64, appends: u64) {
    let store = SqliteStore::open(
        path,
        SqliteOptions {
            durability,
            ..SqliteOptions::default()
        },
    )
    .expect("opens");
    let mut random = SeededRandom(42);
    let mut took = Vec::new();
    let mut worked = Vec::new();
    for n in 0..appends {
        let append = append(&mut random, n, batch);
        let (began, cpu_began) = (Instant::now(), cpu());
        run(store.append(&append)).expect("appends");
        took.push(began.elapsed());
        worked.push(cpu().saturating_sub(cpu_began));
    }
    let events = batch * appends;
    let size = std::fs::metadata(path).map_or(0, |file| file.len()) / 1024 / 1024;
    println!("{durability:?}, {events} events in batches of {batch}, {size} MiB");
    report("  waited", &mut took, events);
    report("  worked", &mut worked, events);
}

fn report(what: &str, took: &mut [Duration], events: u64) {
    let total: Duration = took.iter().sum();
    let per_second = events as f64 / total.as_secs_f64();
    took.sort();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    println!(
        "{what}: p50 {:.3?} p99 {:.3?} p99.9 {:.3?} worst {:.3?}; {per_second:.0} events/s",
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0)
    );
}

/// Processor time of this thread so far, where the system reports it. On a busy machine it is a better measure
/// than elapsed time.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = stat.split(' ').next().and_then(|n| n.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// Eight appenders that each wait for the disk.
fn share(path: &Path) {
    const APPENDERS: u64 = 8;
    const APPENDS: u64 = 200;
    let options = SqliteOptions {
        durability: Durability::Power,
        ..SqliteOptions::default()
    };
    let store = SqliteStore::open(path, options).expect("opens");
    let began = Instant::now();
    std::thread::scope(|scope| {
        for appender in 0..APPENDERS {
            let store = &store;
            scope.spawn(move || {
                let mut random = SeededRandom(appender + 1);
                for n in 0..APPENDS {
                    let append = append(&mut random, appender * 1_000_000 + n, 1);
                    run(store.append(&append)).expect("appends");
                }
            });
        }
    });
    let per_second = (APPENDERS * APPENDS) as f64 / began.elapsed().as_secs_f64();
    println!("Power, {APPENDERS} appenders of one event each: {per_second:.0} events/s");
}

/// Queries against the largest store.
fn ask(path: &Path) {
    let began = Instant::now();
    let store = SqliteStore::open(path, SqliteOptions::default()).expect("opens");
    println!("open: {:?}", began.elapsed());
    let tenant = Tenant::local();
    for words in [
        &[1_u64, 2] as &[u64],
        &[50, 900],
        &[15_000],
        &[1, 2, 3, 4, 5],
    ] {
        let tokens: Vec<String> = words.iter().map(|&n| word(n)).collect();
        let began = Instant::now();
        let stats = run(store.term_stats(&tenant, &tokens)).expect("counts");
        let counted = began.elapsed();
        let steps = [CandidateQuery {
            all_of: tokens,
            limit: 50,
        }];
        let began = Instant::now();
        let found = run(candidates(
            &store,
            &tenant,
            &steps,
            &SearchFilter::default(),
        ))
        .expect("finds");
        let candidates = began.elapsed();
        println!(
            "{words:?}: frequencies {:?} of {} in {counted:?}; {} candidates in {candidates:?}",
            stats.frequencies,
            stats.documents,
            found.len()
        );
    }
    let began = Instant::now();
    let sessions = run(store.sessions(&tenant, PageRequest::first(10)))
        .expect("lists")
        .items;
    println!("{} newest sessions: {:?}", sessions.len(), began.elapsed());
}

fn append(random: &mut SeededRandom, n: u64, batch: u64) -> Append {
    let events = (0..batch).map(|i| event(random, n * batch + i)).collect();
    Append {
        session: SessionMeta {
            id: SessionId {
                tenant: Tenant::local(),
                agent: "claude-code".to_owned(),
                host_id: format!(
                    "{:016x}",
                    (n * batch / 500).wrapping_mul(0x9e37_79b9_7f4a_7c15)
                ),
            },
            kind: SessionKind::Root,
            memory_off: false,
            forked_from: None,
            user: None,
            surface: None,
            venue: daybook_domain::Venue::default(),
        },
        events,
        remotes: Vec::new(),
        source: None,
        import: None,
        patience: DueLimits::default(),
        urgent: None,
        switches: Switches::default(),
        rules: RULES,
        now: Timestamp(1_793_491_200_000),
    }
}

fn event(random: &mut SeededRandom, n: u64) -> NewEvent {
    let words: Vec<String> = (0..30).map(|_| word(random.rank())).collect();
    let text = words.join(" ");
    NewEvent {
        id: EventId::of(&[&n.to_le_bytes(), text.as_bytes()]),
        line: 0,
        origin: Origin::Human,
        at: Timestamp(1_793_491_200_000 + i64::try_from(n).unwrap_or(0)),
        tokens: text.clone(),
        text,
        tool: None,
        call: None,
        status: None,
        sidechain: false,
        reports_external: false,
        place: Some(Place {
            root: "/home/ada/engine".to_owned(),
            branch: Some("main".to_owned()),
        }),
        retracts: Vec::new(),
    }
}

fn word(rank: u64) -> String {
    format!("w{:x}", rank.wrapping_mul(2_654_435_761) % 1_000_003)
}

/// A small generator: the same numbers each time.
struct SeededRandom(u64);

impl SeededRandom {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A word's rank: small ones are common, as in any language.
    fn rank(&mut self) -> u64 {
        let share = (self.next() % 1_000_000) as f64 / 1_000_000.0;
        20_000_f64.powf(share) as u64
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    daybook_testkit::run(future)
}

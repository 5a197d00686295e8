//! How many events a second can a SQLite store append for live threads?
//!
//! 64 tasks on a runtime of many threads, each with a thread of its own; a dispatch is one event of
//! about 200 bytes with an entry of about 300 beside it, and the dispatcher waits until it is stored and would
//! survive a killed process. The index, the marks and the search for known events are included. Fixed seed, no
//! model. `cargo bench --bench threads -- 30000` dispatches so many.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a bench measures time and prints its results"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use daybook_domain::eligibility::Switches;
use daybook_domain::seams::Append;
use daybook_domain::trigger::DueLimits;
use daybook_domain::working::{NewThread, ThreadAppend, ThreadAppendOutcome, ThreadStore};
use daybook_domain::{
    EventId, NewEvent, Origin, Place, SessionId, SessionKind, SessionMeta, Tenant, Timestamp,
};
use daybook_store::{Durability, SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::RULES;

/// Tasks, each with a thread of its own.
const TASKS: u64 = 64;
/// Dispatches unless the command line gives a number.
const DISPATCHES: u64 = 100_000;

fn main() {
    let asked = std::env::args().find_map(|word| word.parse().ok());
    let dispatches: u64 = asked.unwrap_or(DISPATCHES);
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (durability, dispatches) in [
        (Durability::Process, dispatches),
        (Durability::Power, dispatches / 5),
    ] {
        let path = folder.path().join(format!("{durability:?}.db"));
        dispatch(&path, durability, dispatches);
    }
}

fn dispatch(path: &Path, durability: Durability, dispatches: u64) {
    let store = SqliteStore::open(
        path,
        SqliteOptions {
            durability,
            ..SqliteOptions::default()
        },
    )
    .expect("opens");
    let store = Arc::new(store);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    for task in 0..TASKS {
        let new = NewThread {
            session: session(task),
            custom: serde_json::Map::new(),
            rules: RULES,
            now: Timestamp(1_793_491_200_000),
        };
        runtime
            .block_on(store.create_thread(&new))
            .expect("creates");
    }
    let appends: Vec<_> = (0..TASKS)
        .map(|task| appends(task, dispatches / TASKS))
        .collect();
    let (began, cpu_began) = (Instant::now(), cpu());
    let tasks: Vec<_> = appends
        .into_iter()
        .map(|appends| runtime.spawn(work(Arc::clone(&store), appends)))
        .collect();
    let mut took: Vec<Duration> = Vec::new();
    for task in tasks {
        took.extend(runtime.block_on(task).expect("ends"));
    }
    let elapsed = began.elapsed();
    let worked = cpu().saturating_sub(cpu_began);
    took.sort();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    let per_second = took.len() as f64 / elapsed.as_secs_f64();
    let each = worked / u32::try_from(took.len()).unwrap_or(u32::MAX);
    println!(
        "{durability:?}, {} dispatches by {TASKS} tasks: {per_second:.0}/s; \
         p50 {:.2?} p99 {:.2?} worst {:.2?}; {each:.1?} of a processor each; longest transaction {:.1?}",
        took.len(),
        at(0.5),
        at(0.99),
        at(1.0),
        store.longest_write()
    );
}

fn appends(task: u64, dispatches: u64) -> Vec<ThreadAppend> {
    let mut random = SeededRandom(task + 1);
    (0..dispatches)
        .map(|n| append(&mut random, task, n))
        .collect()
}

async fn work(store: Arc<SqliteStore>, appends: Vec<ThreadAppend>) -> Vec<Duration> {
    let mut took = Vec::with_capacity(appends.len());
    for append in &appends {
        let began = Instant::now();
        let stored = store.append_entries(append).await.expect("appends");
        took.push(began.elapsed());
        assert!(matches!(stored, ThreadAppendOutcome::Stored { .. }));
    }
    took
}

/// Processor time of this process so far, where the system reports it.
fn cpu() -> Duration {
    let mut nanoseconds = 0;
    for task in std::fs::read_dir("/proc/self/task").into_iter().flatten() {
        let path = task.map(|task| task.path().join("schedstat"));
        let stat = path.and_then(std::fs::read_to_string).unwrap_or_default();
        let spent: Option<u64> = stat.split(' ').next().and_then(|n| n.parse().ok());
        nanoseconds += spent.unwrap_or(0);
    }
    Duration::from_nanos(nanoseconds)
}

fn session(task: u64) -> SessionMeta {
    SessionMeta {
        id: SessionId {
            tenant: Tenant::local(),
            agent: "claude-code".to_owned(),
            host_id: format!("{:016x}", (task + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        },
        kind: SessionKind::Root,
        memory_off: false,
        forked_from: None,
        user: None,
        surface: None,
        venue: daybook_domain::Venue::default(),
    }
}

fn append(random: &mut SeededRandom, task: u64, n: u64) -> ThreadAppend {
    let event = event(random, n);
    let entry = format!(
        r#"{{"entry":"event","event":{{"type":"USER_MESSAGE","id":"{:016x}","content":"{}"}}}}"#,
        random.next(),
        event.text
    );
    ThreadAppend {
        append: Arc::new(Append {
            session: session(task),
            events: vec![event],
            remotes: Vec::new(),
            source: None,
            import: None,
            patience: DueLimits::default(),
            urgent: None,
            switches: Switches::default(),
            rules: RULES,
            now: Timestamp(1_793_491_200_000 + i64::try_from(n).unwrap_or(0)),
        }),
        entries: [entry].into(),
        ends: None,
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

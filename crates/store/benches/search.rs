//! How long does a search take over 100,000 events, on SQLite and on PostgreSQL, and do both find the same?
//!
//! Events of 10 to 70 words over a vocabulary of 20,000 with a few very common ones, two of five written by
//! people and agents, fixed seed. 200 questions of five words each run as recall runs them: how often the words
//! occur, then for rare words alone and common ones together. Prints p50, p90 and the worst for both stores,
//! for messages alone and for all events, and fails where the answers differ.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a bench measures time and prints its results"
)]

use std::time::{Duration, Instant};

use daybook_domain::eligibility::Switches;
use daybook_domain::index::{CandidateQuery, IndexedDocument, SearchFilter, TermStats};
use daybook_domain::seams::{Append, Store};
use daybook_domain::trigger::DueLimits;
use daybook_domain::{
    EventId, NewEvent, Origin, Place, SessionId, SessionKind, SessionMeta, Tenant, Timestamp,
};
use daybook_store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore, Trust};
use daybook_testkit::fixtures::{RULES, candidates};
use daybook_testkit::{postgres, run};

const SESSIONS: u64 = 100;
const APPENDS: u64 = 10;
const EVENTS: u64 = 100;
const QUESTIONS: usize = 200;

fn main() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("daybook.db");
    let sqlite = SqliteStore::open(&path, SqliteOptions::default()).expect("opens");
    run(async {
        let options = PostgresOptions::default();
        let postgres = PostgresStore::open(&database.address(), &Trust::System, options).await;
        let postgres = postgres.expect("opens");
        fill("SQLite", &sqlite).await;
        fill("PostgreSQL", &postgres).await;
        vacuum(&database);
        for (what, origins) in [
            ("what was said", vec![Origin::Human, Origin::Assistant]),
            ("everything", Vec::new()),
        ] {
            let filter = SearchFilter {
                origins,
                ..SearchFilter::default()
            };
            compare(what, &sqlite, &postgres, &filter).await;
        }
    });
}

async fn fill(name: &str, store: &dyn Store) {
    let mut random = SeededRandom(42);
    let began = Instant::now();
    for n in 0..SESSIONS * APPENDS {
        let append = append(&mut random, n);
        store.append(&append).await.expect("appends");
    }
    let events = SESSIONS * APPENDS * EVENTS;
    let per_second = events as f64 / began.elapsed().as_secs_f64();
    println!("{name}: {events} events in batches of {EVENTS}, {per_second:.0} a second");
}

/// Does what the server does in the background within a minute.
fn vacuum(database: &postgres::TestDatabase) {
    let vacuum = ["-c", "VACUUM ANALYZE"];
    let done = std::process::Command::new("psql")
        .arg(database.admin())
        .args(vacuum)
        .output();
    assert!(done.expect("there is psql").status.success());
}

async fn compare(what: &str, sqlite: &dyn Store, postgres: &dyn Store, filter: &SearchFilter) {
    let mut random = SeededRandom(7);
    let questions: Vec<Vec<String>> = (0..QUESTIONS)
        .map(|_| (0..5).map(|_| random.word()).collect())
        .collect();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for (n, question) in questions.iter().enumerate() {
        let (expected, took) = ask(sqlite, question, filter).await;
        ours.push(took);
        let (found, took) = ask(postgres, question, filter).await;
        theirs.push(took);
        assert!(found == expected, "question {n} differs: {question:?}");
    }
    println!("{what}:");
    let (ours, theirs) = (report("SQLite", ours), report("PostgreSQL", theirs));
    println!("  ratio of the medians {:.1}", theirs / ours);
}

async fn ask(
    store: &dyn Store,
    words: &[String],
    filter: &SearchFilter,
) -> ((TermStats, Vec<IndexedDocument>), Duration) {
    let tenant = Tenant::local();
    let began = Instant::now();
    let stats = store.term_stats(&tenant, words).await.expect("counts");
    let steps = steps(words, &stats);
    let found = candidates(store, &tenant, &steps, filter).await;
    let took = began.elapsed();
    ((stats, found.expect("finds")), took)
}

/// At most 400 documents: rare words alone, then pairs of common ones, then the rarest of those.
fn steps(words: &[String], stats: &TermStats) -> Vec<CandidateQuery> {
    let mut known: Vec<(u64, &String)> = stats.frequencies.iter().copied().zip(words).collect();
    known.retain(|(frequency, _)| *frequency > 0);
    known.sort();
    known.dedup();
    let (mut left, mut common, mut steps) = (400, Vec::new(), Vec::new());
    for (frequency, word) in known {
        if frequency + 100 <= left {
            left -= frequency;
            steps.push((vec![word.clone()], frequency));
        } else {
            common.push(word.clone());
        }
    }
    common.truncate(4);
    let mut requests = Vec::new();
    for (n, word) in common.iter().enumerate() {
        requests.extend(
            common[..n]
                .iter()
                .map(|rarer| vec![rarer.clone(), word.clone()]),
        );
    }
    requests.extend(common.first().map(|word| vec![word.clone()]));
    let share = left / (requests.len() as u64).max(1);
    steps.extend(requests.into_iter().map(|words| (words, share)));
    steps
        .into_iter()
        .map(|(all_of, limit)| CandidateQuery {
            all_of,
            limit: usize::try_from(limit).expect("a few hundred"),
        })
        .collect()
}

/// Prints how long calls took, and returns the median in milliseconds.
fn report(name: &str, mut took: Vec<Duration>) -> f64 {
    took.sort();
    let at = |share: f64| {
        let n = ((took.len() - 1) as f64 * share) as usize;
        took[n].as_secs_f64() * 1e3
    };
    let (half, most, worst) = (at(0.5), at(0.9), at(1.0));
    println!("  {name:10} p50 {half:6.2} ms, p90 {most:6.2} ms, worst {worst:6.2} ms");
    half
}

fn append(random: &mut SeededRandom, n: u64) -> Append {
    let no = n / APPENDS;
    let id = SessionId {
        tenant: Tenant::local(),
        agent: "main".to_owned(),
        host_id: format!("{no:08x}"),
    };
    Append {
        session: SessionMeta {
            user: None,
            surface: None,
            venue: daybook_domain::Venue::default(),
            id,
            kind: SessionKind::Root,
            memory_off: false,
            forked_from: None,
        },
        events: (0..EVENTS)
            .map(|at| random.event(n * EVENTS + at, no))
            .collect(),
        remotes: Vec::new(),
        source: None,
        import: None,
        patience: DueLimits::default(),
        urgent: None,
        switches: Switches::default(),
        rules: RULES,
        now: Timestamp(1),
    }
}

struct SeededRandom(u64);

impl SeededRandom {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A word; the n-th of the vocabulary is about n times rarer than the first.
    fn word(&mut self) -> String {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        format!("w{:05}", 20_000_f64.powf(share) as u64)
    }

    fn event(&mut self, n: u64, session: u64) -> NewEvent {
        let count = 10 + self.next() % 60;
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        let text = words.join(" ");
        let origin = match n % 5 {
            0 => Origin::Human,
            1 => Origin::Assistant,
            2 | 3 => Origin::ToolResult,
            _ => Origin::ToolCall,
        };
        NewEvent {
            id: EventId(u128::from(n) + 1),
            line: 0,
            at: Timestamp(i64::try_from(n).expect("a small number") + 1),
            origin,
            tokens: text.clone(),
            text,
            tool: None,
            call: None,
            status: None,
            sidechain: false,
            reports_external: false,
            place: Some(Place {
                root: format!("/home/ada/{}", session % 10),
                branch: None,
            }),
            retracts: Vec::new(),
        }
    }
}

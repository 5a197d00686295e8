//! How long does a search for the nearest of 100,000 vectors take, on SQLite and on PostgreSQL, and do both
//! find the same?
//!
//! Vectors of 256 dimensions with signs at random, fixed seed, of events in 1,000 sessions. 100 questions
//! ask for the 200 nearest, of all and of one project in ten. Prints p50, p90 and the worst for both stores,
//! and fails where the answers differ. The first question to SQLite reads all signs; it is not counted.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a bench measures time and prints its results"
)]

use std::time::{Duration, Instant};

use daybook_domain::Tenant;
use daybook_domain::index::{DocumentNo, DocumentVectors, SearchFilter};
use daybook_domain::seams::Store;
use daybook_store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore, Trust};
use daybook_testkit::fixtures::{
    EventFixture, append, at, events, project, project_scope, session,
};
use daybook_testkit::{postgres, run};

const MODEL: &str = "ada/small@1";
const SESSIONS: u64 = 1000;
const EVENTS: u64 = 100;
const PROJECTS: u64 = 10;
const DIMENSIONS: usize = 256;
const QUESTIONS: usize = 100;
const LIMIT: usize = 200;

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
        compare("all", &sqlite, &postgres, &SearchFilter::default()).await;
        let one = SearchFilter {
            scopes: Some(vec![project_scope("p3")]),
            ..SearchFilter::default()
        };
        compare("one project in ten", &sqlite, &postgres, &one).await;
    });
}

async fn fill(name: &str, store: &dyn Store) {
    let tenant = Tenant::local();
    for n in 0..SESSIONS {
        let root = format!("/home/ada/p{}", n % PROJECTS);
        let there = events("word", EVENTS).into_iter();
        let there = there.map(|event| event.with_place(&root)).collect();
        let append = append(&session(&format!("{n:08}")), there);
        store.append(&append).await.expect("appends");
    }
    for n in 0..PROJECTS {
        let (root, project) = (format!("/home/ada/p{n}"), project(&format!("p{n}")));
        let assigned = store.assign_root(&tenant, &root, &project, at(1));
        assigned.await.expect("assigns");
    }
    store.choose_model(&tenant, MODEL).await.expect("chooses");
    let mut random = SeededRandom(42);
    let (mut kept, mut spent) = (0, Duration::ZERO);
    loop {
        let waiting = store.unembedded(&tenant, 500).await.expect("lists");
        if waiting.is_empty() {
            break;
        }
        let embedded = waiting.into_iter().map(|one| DocumentVectors {
            doc: one.doc,
            digest: one.digest(),
            vectors: vec![1; DIMENSIONS],
            signs: random.signs(),
            tokens: String::new(),
        });
        let embedded: Vec<DocumentVectors> = embedded.collect();
        let began = Instant::now();
        let put = store.put_vectors(&tenant, MODEL, &embedded).await;
        put.expect("keeps");
        spent += began.elapsed();
        kept += embedded.len();
    }
    let per_second = kept as f64 / spent.as_secs_f64();
    println!("{name}: {kept} vectors in batches of 500, {per_second:.0} a second");
}

async fn compare(what: &str, sqlite: &dyn Store, postgres: &dyn Store, filter: &SearchFilter) {
    let mut random = SeededRandom(7);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for n in 0..=QUESTIONS {
        let signs = random.signs();
        let (expected, took) = ask(sqlite, &signs, filter).await;
        ours.extend((n > 0).then_some(took));
        let (found, took) = ask(postgres, &signs, filter).await;
        theirs.extend((n > 0).then_some(took));
        assert_eq!(found.len(), LIMIT);
        assert!(found == expected, "question {n} differs");
    }
    println!("{what}:");
    report("SQLite", ours);
    report("PostgreSQL", theirs);
}

async fn ask(
    store: &dyn Store,
    signs: &[u64],
    filter: &SearchFilter,
) -> (Vec<DocumentNo>, Duration) {
    let tenant = Tenant::local();
    let began = Instant::now();
    let nearest = store.nearest(&tenant, (MODEL, signs), filter, LIMIT).await;
    (nearest.expect("finds"), began.elapsed())
}

fn report(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)];
    println!(
        "  {name}: p50 {:?}, p90 {:?}, worst {:?}",
        at(50),
        at(90),
        at(100)
    );
}

/// Numbers that are the same in every run.
struct SeededRandom(u64);

impl SeededRandom {
    fn signs(&mut self) -> Vec<u64> {
        (0..DIMENSIONS / 64).map(|_| self.next()).collect()
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

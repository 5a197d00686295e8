//! How long does a search for the nearest of 100,000 vectors take, on SQLite and on PostgreSQL, and do both
//! find the same? And how many of the nearest ten does the approximate index of pgvector find, in what time?
//!
//! Vectors of 256 dimensions, fixed seed, of events in 1,000 sessions, once with signs at random and once near those of
//! 1,000 topics, each bit turned with a probability of 1 in 8. 100 questions of the same kind ask for the 200
//! nearest, of all and of one project in ten. Prints p50, p90 and the worst for each store, and fails where exact
//! answers differ. The first question to SQLite reads all signs; it is not counted. The index is measured where
//! the server comes with the extension `vector`.

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
use daybook_store::{
    PostgresOptions, PostgresStore, SqliteOptions, SqliteStore, Trust, VectorSearch,
};
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
/// The answers by which the index is judged.
const TOP: usize = 10;

fn main() {
    for topics in [0, 1000] {
        match topics {
            0 => println!("signs at random"),
            _ => println!("signs near those of {topics} topics"),
        }
        let mut random = SeededRandom(42);
        measure(&(0..topics).map(|_| random.signs()).collect::<Vec<_>>());
    }
}

fn measure(topics: &[Vec<u64>]) {
    let Some(database) = postgres::empty() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("daybook.db");
    let sqlite = SqliteStore::open(&path, SqliteOptions::default()).expect("opens");
    let open = |vectors| {
        let options = PostgresOptions {
            vectors,
            ..PostgresOptions::default()
        };
        let address = database.address();
        run(async move { PostgresStore::open(&address, &Trust::System, options).await })
    };
    let exact = open(VectorSearch::Exact).expect("opens");
    run(async {
        fill("SQLite", &sqlite, topics).await;
        fill("PostgreSQL", &exact, topics).await;
    });
    let approximate = postgres::has_extension("vector").then(|| {
        database.install("vector");
        let began = Instant::now();
        let store = open(VectorSearch::APPROXIMATE).expect("opens and builds the index");
        println!("pgvector: the index is built in {:?}", began.elapsed());
        store
    });
    let one = SearchFilter {
        scopes: Some(vec![project_scope("p3")]),
        ..SearchFilter::default()
    };
    for (what, filter) in [
        ("all", SearchFilter::default()),
        ("one project in ten", one),
    ] {
        println!("{what}:");
        let stores = (&sqlite, &exact, approximate.as_ref());
        run(compare(stores, topics, &filter));
    }
}

async fn fill(name: &str, store: &dyn Store, topics: &[Vec<u64>]) {
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
            signs: random.signs_near(topics),
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

async fn compare(
    (sqlite, postgres, approximate): (&SqliteStore, &PostgresStore, Option<&PostgresStore>),
    topics: &[Vec<u64>],
    filter: &SearchFilter,
) {
    let mut random = SeededRandom(7);
    let (mut ours, mut theirs, mut by_index) = (Vec::new(), Vec::new(), Vec::new());
    let mut recalled = 0;
    for n in 0..=QUESTIONS {
        let signs = random.signs_near(topics);
        let (expected, took) = ask(sqlite, &signs, filter).await;
        ours.extend((n > 0).then_some(took));
        let (found, took) = ask(postgres, &signs, filter).await;
        theirs.extend((n > 0).then_some(took));
        assert_eq!(found.len(), LIMIT);
        assert!(found == expected, "question {n} differs");
        if let Some(store) = approximate {
            let (found, took) = ask(store, &signs, filter).await;
            let nearest = expected[..TOP].iter();
            let among = nearest.filter(|doc| found[..TOP].contains(doc)).count();
            if n > 0 {
                by_index.push(took);
                recalled += among;
            }
        }
    }
    report("SQLite", ours);
    report("PostgreSQL", theirs);
    if approximate.is_some() {
        report("pgvector", by_index);
        let share = recalled as f64 / (TOP * QUESTIONS) as f64;
        println!(
            "  pgvector finds {:.1} % of the nearest {TOP}",
            share * 100.0
        );
    }
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

    /// Signs that differ from those of one of the topics in one bit of eight; at random where there are none.
    fn signs_near(&mut self, topics: &[Vec<u64>]) -> Vec<u64> {
        if topics.is_empty() {
            return self.signs();
        }
        let chosen = usize::try_from(self.next() % topics.len() as u64).expect("a place in a list");
        let topic = topics[chosen].iter();
        // A bit that is set in three numbers at random.
        let turned = topic.map(|word| word ^ (self.next() & self.next() & self.next()));
        turned.collect()
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

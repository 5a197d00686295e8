//! What does it cost to keep the jobs of sessions in a JSON file instead of the database?
//!
//! A thousand sessions of one event each, all dirty; then p50 and p99 of single operations on one of
//! them, with and without the file. No model, fixed order.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a bench measures time and prints its results"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use daybook_domain::JobKind;
use daybook_domain::seams::Store;
use daybook_store::flush_state::FILE;
use daybook_store::{Ledgered, SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::*;
use daybook_testkit::run;

const SESSIONS: u64 = 1000;
const TIMES: u64 = 200;
const DAY: Duration = Duration::from_secs(86_400);

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = sqlite(&folder.path().join("alone.db"));
    measure("in the database", &database);
    let inner = Arc::new(sqlite(&folder.path().join("beneath.db")));
    let path = folder.path().join(FILE);
    let ledger = run(Ledgered::open(&path, inner, DAY, DAWN)).expect("opens");
    measure("in the file", &ledger);
    let size = std::fs::metadata(&path).map_or(0, |file| file.len());
    println!("the file: {} KiB", size / 1024);
    let began = Instant::now();
    let inner = Arc::clone(ledger.inner());
    run(Ledgered::open(&path, inner, DAY, DAWN)).expect("opens");
    println!("opening it: {:?}", began.elapsed());
}

fn sqlite(path: &Path) -> SqliteStore {
    SqliteStore::open(path, SqliteOptions::default()).expect("opens")
}

fn measure(what: &str, store: &dyn Store) {
    println!("{what}, {SESSIONS} dirty sessions");
    let id = |n: u64| session(&format!("session-{n}"));
    for n in 0..SESSIONS {
        run(store.append(&append(&id(n), events(&format!("first {n}"), 1)))).expect("appends");
    }
    report("append", |n| {
        run(store.append(&append(&id(n), events(&format!("more {n}"), 1)))).expect("appends");
    });
    report("claim when nothing is due", |_| {
        run(store.claim(claim_of(JobKind::Extract, DAWN, 1))).expect("claims");
    });
    report("claim and finish one", |_| {
        let claims = run(store.claim(claim_of(JobKind::Extract, at(9_000), 1))).expect("claims");
        for claimed in claims {
            let _ = run(store.finish(&claimed.token, claimed.upto, at(9_000))).expect("finishes");
        }
    });
}

fn report(what: &str, deed: impl Fn(u64)) {
    let mut took: Vec<Duration> = (0..TIMES)
        .map(|n| {
            let began = Instant::now();
            deed(n);
            began.elapsed()
        })
        .collect();
    took.sort();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    println!("  {what}: p50 {:?}, p99 {:?}", at(0.5), at(0.99));
}

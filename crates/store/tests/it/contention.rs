//! Many writers on one root: threads with stores of their own, and processes that are killed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use daybook_domain::index::{CandidateQuery, SearchFilter};
use daybook_domain::seams::{
    Append, IndexReader, JobListing, JobQueue, SessionCatalog, SessionLog,
};
use daybook_domain::source::ImportNo;
use daybook_domain::{
    Claim, EventId, EventSeq, FinishOutcome, JobKey, JobKind, NewEvent, SessionId, StoreError,
    Tenant,
};
use daybook_store::{Durability, SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::*;
use daybook_testkit::run;

const THREADS: u64 = 8;
const ROUNDS: u64 = 24;
const SESSIONS: u64 = 4;

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, SqliteOptions::default())
        .expect("a root can be opened at any time")
        .with_waiting_documents(64)
}

fn shared_session(n: u64) -> SessionId {
    session(&format!("shared-{}", n % SESSIONS))
}

/// Three events of one thread's round; the first of them every thread has.
fn round(thread: u64, round: u64) -> Vec<NewEvent> {
    let own = |n| event(&format!("thread{thread} round{round} part{n} word"));
    vec![event(&format!("common {round}")), own(1), own(2)]
}

/// Every claim that was granted. A job granted twice would appear twice, and a lost one not at all.
type Granted = Mutex<BTreeSet<(JobKey, u64)>>;

async fn work(store: &SqliteStore, thread: u64, granted: &Granted) {
    for n in 0..ROUNDS {
        let append = append(&shared_session(thread + n), round(thread, n));
        store
            .append(&append)
            .await
            .expect("no lock error reaches a caller");
        let holder = format!("thread {thread}");
        let claims = store
            .claim(Claim {
                holder: &holder,
                ..claim_of(JobKind::Extract, at(90_000), 2)
            })
            .await;
        for claimed in claims.expect("no lock error reaches a caller") {
            let claim = (claimed.token.job().clone(), claimed.token.generation());
            assert!(
                granted.lock().unwrap().insert(claim),
                "a claim was granted twice"
            );
            let ended = store.finish(&claimed.token, claimed.upto, at(90_000)).await;
            assert_ne!(
                ended.expect("no lock error either"),
                FinishOutcome::LeaseLost
            );
        }
    }
}

/// Checks that every event is there once, numbered without holes.
async fn check_logs(store: &SqliteStore, expected: &BTreeMap<SessionId, BTreeSet<String>>) {
    for (id, expected) in expected {
        let all = store.events(id, EventSeq(0), EventSeq(u64::MAX), 10_000, usize::MAX);
        let events = all.await.unwrap();
        let numbers: Vec<u64> = events.iter().map(|event| event.seq.0).collect();
        assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
        let texts: BTreeSet<String> = events.iter().map(|event| event.text.clone()).collect();
        assert_eq!(texts.len(), events.len(), "an event is there twice");
        assert_eq!(&texts, expected);
        let job = store
            .job(&JobKey::Extract(id.clone()))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(job.input, events.len() as u64);
    }
}

#[test]
fn threads_with_stores_of_their_own_lose_and_double_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("daybook.db");
    let granted = Granted::default();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (path, granted) = (&path, &granted);
            scope.spawn(move || run(work(&open(path), thread, granted)));
        }
    });
    let mut expected: BTreeMap<SessionId, BTreeSet<String>> = BTreeMap::new();
    for (thread, n) in (0..THREADS).flat_map(|thread| (0..ROUNDS).map(move |n| (thread, n))) {
        let texts = round(thread, n).into_iter().map(|event| event.text);
        expected
            .entry(shared_session(thread + n))
            .or_default()
            .extend(texts);
    }
    let store = open(&path);
    run(async {
        check_logs(&store, &expected).await;
        let own = THREADS * ROUNDS * 2;
        let stats = store
            .term_stats(&Tenant::local(), &["word".to_owned()])
            .await
            .unwrap();
        assert_eq!(stats.frequencies, [own]);
        let steps = [CandidateQuery {
            all_of: vec!["word".to_owned()],
            limit: 10_000,
        }];
        let found = candidates(&store, &Tenant::local(), &steps, &SearchFilter::default()).await;
        assert_eq!(found.unwrap().len() as u64, own);
    });
}

#[test]
fn appenders_that_share_a_commit_keep_their_own_outcomes() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions {
        durability: Durability::Power,
        ..SqliteOptions::default()
    };
    let store = SqliteStore::open(&folder.path().join("daybook.db"), options).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = &store;
            scope.spawn(move || {
                let id = session(&format!("thread-{thread}"));
                for n in 0..10 {
                    let said = append(&id, events(&format!("round{n}"), 2));
                    let appended = run(store.append(&said)).expect("a sound append succeeds");
                    assert_eq!(appended.last, EventSeq((n + 1) * 2));
                    let unknown = Some(ImportNo(99));
                    let refused = Append {
                        import: unknown,
                        ..append(&id, events("never", 1))
                    };
                    let refused = run(store.append(&refused));
                    assert!(
                        matches!(refused, Err(StoreError::NotFound(_))),
                        "{refused:?}"
                    );
                }
            });
        }
    });
    let never = [EventId::of(&[b"never 1"])];
    for thread in 0..THREADS {
        let id = session(&format!("thread-{thread}"));
        assert_eq!(
            run(store.session(&id)).unwrap().unwrap().events,
            EventSeq(20)
        );
        let known = run(store.event_ids(&id)).unwrap();
        assert!(known.iter().all(|(_, known)| !never.contains(known)));
    }
}

/// The process that [`killed_processes_lose_nothing_that_was_acknowledged`] starts and kills.
#[test]
#[ignore = "a part of the test below, in a process of its own"]
#[allow(
    clippy::print_stdout,
    reason = "the acknowledgement is what it says to its parent"
)]
fn child() {
    let Some(path) = std::env::var_os("DAYBOOK_TEST_ROOT") else {
        return;
    };
    let name = std::env::var("DAYBOOK_TEST_CHILD").unwrap_or_default();
    let store = open(Path::new(&path));
    for n in 0..100_000 {
        let said = vec![
            event(&format!("{name} {n} first")),
            event(&format!("{name} {n} second")),
        ];
        run(store.append(&append(&session(&name), said))).expect("an append succeeds");
        println!("\nappended {n}");
    }
}

#[test]
fn killed_processes_lose_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("daybook.db");
    let names = ["one", "two", "three"];
    let mut children: Vec<_> = names
        .iter()
        .map(|name| {
            Command::new(std::env::current_exe().unwrap())
                .args(["contention::child", "--exact", "--ignored", "--nocapture"])
                .env("DAYBOOK_TEST_ROOT", &path)
                .env("DAYBOOK_TEST_CHILD", name)
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .expect("this test can start itself")
        })
        .collect();
    let mut outputs: Vec<_> = children
        .iter_mut()
        .map(|child| BufReader::new(child.stdout.take().unwrap()).lines())
        .collect();
    // All processes are at work; then all are killed in the middle of it.
    for (n, output) in outputs.iter_mut().enumerate() {
        let acknowledged = output
            .map_while(Result::ok)
            .filter(|line| line.starts_with("appended"));
        assert!(acknowledged.take(20 + 10 * n).count() > 0);
    }
    for child in &mut children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let store = open(&path);
    for (name, output) in names.iter().zip(outputs) {
        let later = output.map_while(Result::ok);
        let last = later
            .filter_map(|line| line.strip_prefix("appended ")?.parse::<u64>().ok())
            .last();
        let last = last.unwrap_or(0);
        run(check_survivor(&store, &session(name), last));
    }
}

async fn check_survivor(store: &SqliteStore, id: &SessionId, acknowledged: u64) {
    let session = store.session(id).await.unwrap().expect("it appended");
    let events = session.events.0;
    assert!(
        events >= (acknowledged + 1) * 2,
        "{events} events, {acknowledged} acknowledged"
    );
    assert!(events.is_multiple_of(2), "an append is whole or not there");
    let job = store
        .job(&JobKey::Extract(id.clone()))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(job.input, events);
    let words = [id.host_id.clone()];
    let stats = store.term_stats(&Tenant::local(), &words).await.unwrap();
    assert_eq!(stats.frequencies, [events]);
}

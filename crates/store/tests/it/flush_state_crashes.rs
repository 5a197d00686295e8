//! The ledger when processes end between the inner store's write and the file's, and with many workers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use daybook_domain::seams::{
    ExtractionStore, ImportStore, JobControl, JobListing, JobQueue, JobWatch, SessionCatalog,
    SessionLog, Store,
};
use daybook_domain::source::ImportNo;
use daybook_domain::{
    Claim, ClaimLimits, ClaimedJob, FailureClass, FinishOutcome, JobKey, JobKind, PageRequest,
    SessionId, Tenant, Timestamp,
};
use daybook_store::flush_state::FILE;
use daybook_store::{JobRows, Ledgered, MemoryStore, SqliteOptions, SqliteStore};
use daybook_testkit::fixtures::*;
use daybook_testkit::run;
use proptest::prelude::*;

const DAY: Duration = Duration::from_secs(86_400);

fn open(folder: &Path, now: Timestamp) -> Ledgered<SqliteStore> {
    let database = folder.join("daybook.db");
    let inner = SqliteStore::open(&database, SqliteOptions::default()).unwrap();
    run(Ledgered::open(
        &folder.join(FILE),
        Arc::new(inner),
        DAY,
        now,
    ))
    .expect("a ledger can be opened at any time")
}

fn session_of(claimed: &ClaimedJob) -> SessionId {
    match claimed.token.job() {
        JobKey::Extract(id) | JobKey::Redact(id) => id.clone(),
        JobKey::Consolidate(scope) => panic!("{scope} is no session"),
    }
}

/// Finishes a claim whole.
fn finish(store: &impl ExtractionStore, claimed: &ClaimedJob, now: Timestamp) -> FinishOutcome {
    let window = (claimed.after + 1, claimed.upto);
    let learned = nothing(&session_of(claimed), window);
    run(store.finish_extraction(&claimed.token, &learned, now)).unwrap()
}

/// Works until nothing is due; returns how many claims that took.
fn drain(store: &impl Store, from: Timestamp) -> usize {
    let mut taken = 0;
    for hours in 1..200 {
        let now = from.plus(Duration::from_secs(hours * 3600));
        for claimed in run(store.claim(claim_of(JobKind::Extract, now, 9))).unwrap() {
            taken += 1;
            assert_eq!(finish(store, &claimed, now), FinishOutcome::Complete);
        }
        if run(store.next_due(JobKind::Extract)).unwrap().is_none() {
            return taken;
        }
    }
    panic!("work is left for ever");
}

/// Every event was extracted by exactly one window, or is covered by a gap.
fn check_all_done_once(store: &impl Store) {
    let mut covered: BTreeMap<SessionId, Vec<(u64, u64)>> = BTreeMap::new();
    for record in run(extractions_of_all(store, &Tenant::local())).unwrap() {
        let window = (record.from.0, record.to.0);
        covered.entry(record.session).or_default().push(window);
    }
    for gap in run(store.gaps_of_all_tenants()).unwrap() {
        if let JobKey::Extract(id) = gap.job {
            covered.entry(id).or_default().push((gap.from, gap.to));
        }
    }
    for session in run(store.sessions(&Tenant::local(), PageRequest::first(1000)))
        .unwrap()
        .items
    {
        let mut windows = covered.remove(&session.id).unwrap_or_default();
        windows.sort_unstable();
        let mut next = 1;
        for (from, to) in &windows {
            assert_eq!(*from, next, "{}: {windows:?}", session.id);
            next = to + 1;
        }
        assert_eq!(next, session.events.0 + 1, "{}: {windows:?}", session.id);
    }
}

/// A ledger whose process can be made to end before the file is written.
struct CrashingLedger {
    folder: tempfile::TempDir,
    store: Ledgered<MemoryStore>,
}

impl CrashingLedger {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let inner = Arc::new(MemoryStore::new());
        let store = run(Ledgered::open(&folder.path().join(FILE), inner, DAY, DAWN));
        Self {
            folder,
            store: store.unwrap(),
        }
    }

    /// Runs an operation; the file stays as it was, as if the process had ended just before writing it.
    fn crash_in<T>(&self, step: impl FnOnce(&Ledgered<MemoryStore>) -> T) -> T {
        let before = self.file();
        let done = step(&self.store);
        self.restore(before);
        done
    }

    fn file(&self) -> Option<Vec<u8>> {
        fs::read(self.folder.path().join(FILE)).ok()
    }

    /// Restores an earlier version of the file.
    fn restore(&self, before: Option<Vec<u8>>) {
        let path = self.folder.path().join(FILE);
        match before {
            Some(before) => {
                let new = self.folder.path().join("restored");
                fs::write(&new, before).unwrap();
                fs::rename(new, path).unwrap();
            }
            None => drop(fs::remove_file(path)),
        }
    }

    fn claim(&self, now: Timestamp) -> Vec<ClaimedJob> {
        run(self.store.claim(claim_of(JobKind::Extract, now, 9))).unwrap()
    }

    fn append_events(&self, name: &str, word: &str, count: u64) {
        run(self
            .store
            .append(&append(&session(name), events(word, count))))
        .unwrap();
    }
}

#[test]
fn an_append_whose_process_ended_before_the_file_was_written_is_found() {
    let crashing = CrashingLedger::new();
    crashing.append_events("known", "known", 1);
    crashing.crash_in(|_| crashing.append_events("new", "new", 2));
    crashing.crash_in(|_| crashing.append_events("known", "more", 2));
    assert_eq!(
        run(crashing.store.next_due(JobKind::Extract)).unwrap(),
        Some(at(122))
    );
    assert_eq!(drain(&crashing.store, at(500)), 2);
    check_all_done_once(&crashing.store);
}

#[test]
fn what_was_extracted_before_the_file_was_written_is_not_extracted_again() {
    let crashing = CrashingLedger::new();
    crashing.append_events("a", "a", 3);
    let claimed = crashing.claim(at(500)).remove(0);
    let ended = crashing.crash_in(|store| finish(store, &claimed, at(501)));
    assert_eq!(ended, FinishOutcome::Complete);
    assert!(crashing.claim(at(9_000)).is_empty());
    let again = finish(&crashing.store, &claimed, at(502));
    assert_eq!(again, FinishOutcome::LeaseLost);
    check_all_done_once(&crashing.store);
}

#[test]
fn a_claim_that_was_never_returned_ends_with_its_lease_and_issues_no_generation_twice() {
    let crashing = CrashingLedger::new();
    crashing.append_events("a", "a", 3);
    let unreturned = crashing.crash_in(|_| crashing.claim(at(500)).remove(0));
    assert!(crashing.claim(at(501)).is_empty());
    let returned = crashing.claim(at(600)).remove(0);
    assert!(returned.token.generation() > unreturned.token.generation());
    assert_eq!(
        finish(&crashing.store, &unreturned, at(601)),
        FinishOutcome::LeaseLost
    );
    assert_eq!(
        finish(&crashing.store, &returned, at(601)),
        FinishOutcome::Complete
    );
    check_all_done_once(&crashing.store);
}

#[test]
fn a_lease_that_an_undo_took_stays_lost_though_the_file_was_not_written() {
    let crashing = CrashingLedger::new();
    let (store, id) = (&crashing.store, session("a"));
    let first = run(store.begin_import(&Tenant::local(), "first", DAWN)).unwrap();
    let imported = |word, path, import: ImportNo| {
        run(store.append(&imported(&id, events(word, 2), path, import))).unwrap()
    };
    imported("first", "/1", first);
    let second = run(store.begin_import(&Tenant::local(), "second", DAWN)).unwrap();
    imported("second", "/2", second);
    let claimed = crashing.claim(at(500)).remove(0);
    crashing.crash_in(|store| run(store.undo_import(&Tenant::local(), first, at(501))).unwrap());
    let ended = finish(store, &claimed, at(502));
    assert_eq!(ended, FinishOutcome::LeaseLost);
    assert_eq!(crashing.claim(at(503)).len(), 1);
}

#[test]
fn a_heartbeat_outlives_an_append_that_missed_the_file() {
    let crashing = CrashingLedger::new();
    crashing.append_events("a", "a", 3);
    let claimed = crashing.claim(at(500)).remove(0);
    crashing.crash_in(|_| crashing.append_events("a", "more", 2));
    assert!(run(crashing.store.heartbeat(&claimed.token, at(540), LEASE)).unwrap());
    assert!(crashing.claim(at(570)).is_empty());
    assert_eq!(
        finish(&crashing.store, &claimed, at(590)),
        FinishOutcome::StillDue
    );
    assert_eq!(drain(&crashing.store, at(600)), 1);
    check_all_done_once(&crashing.store);
}

#[derive(Debug, Clone)]
enum TrialStep {
    Say { session: u8, count: u8 },
    Claim { most: u8 },
    Finish { claim: u8, short_by: u8 },
    Fail { claim: u8, content: bool },
    Heartbeat { claim: u8 },
    Release { claim: u8 },
    Abandon,
    Hasten { session: u8 },
    Cancel { session: u8 },
    Wait { seconds: u16 },
    Reopen,
}

/// Operations, each with whether its process ends before the file is written.
fn trial_steps() -> impl Strategy<Value = Vec<(TrialStep, bool)>> {
    let claim = any::<u8>;
    let step = prop_oneof![
        6 => (0..3_u8, 1..4_u8).prop_map(|(session, count)| TrialStep::Say { session, count }),
        8 => (1..3_u8).prop_map(|most| TrialStep::Claim { most }),
        8 => (claim(), 0..2_u8).prop_map(|(claim, short_by)| TrialStep::Finish { claim, short_by }),
        2 => (claim(), any::<bool>()).prop_map(|(claim, content)| TrialStep::Fail { claim, content }),
        1 => claim().prop_map(|claim| TrialStep::Heartbeat { claim }),
        1 => claim().prop_map(|claim| TrialStep::Release { claim }),
        1 => Just(TrialStep::Abandon),
        1 => (0..3_u8).prop_map(|session| TrialStep::Hasten { session }),
        1 => (0..3_u8).prop_map(|session| TrialStep::Cancel { session }),
        4 => (0..900_u16).prop_map(|seconds| TrialStep::Wait { seconds }),
        1 => Just(TrialStep::Reopen),
    ];
    prop::collection::vec((step, prop::bool::weighted(0.3)), 1..60)
}

struct Trial {
    crashing: CrashingLedger,
    now: Timestamp,
    claims: Vec<ClaimedJob>,
    appends: u64,
}

impl Trial {
    fn chosen(&self, number: u8) -> Option<ClaimedJob> {
        let back = usize::from(number) % self.claims.len().clamp(1, 4);
        self.claims.iter().rev().nth(back).cloned()
    }

    fn apply(&mut self, step: &TrialStep) {
        let now = self.now;
        let key = |session: &u8| JobKey::Extract(id_of(*session));
        let store = &self.crashing.store;
        match step {
            TrialStep::Say { session, count } => {
                self.appends += 1;
                let word = format!("said {}", self.appends);
                let said = events(&word, u64::from(*count));
                run(store.append(&append(&id_of(*session), said))).unwrap();
            }
            TrialStep::Claim { most } => {
                let claim = claim_of(JobKind::Extract, now, usize::from(*most));
                self.claims.extend(run(store.claim(claim)).unwrap());
            }
            TrialStep::Finish { claim, short_by } => {
                let Some(mut claimed) = self.chosen(*claim) else {
                    return;
                };
                let least = claimed.after + 1;
                claimed.upto = claimed.upto.saturating_sub(u64::from(*short_by)).max(least);
                let _ = finish(store, &claimed, now);
            }
            TrialStep::Fail { claim, content } => {
                let class = match content {
                    true => FailureClass::Content,
                    false => FailureClass::Outage,
                };
                if let Some(claimed) = self.chosen(*claim) {
                    let _ = run(store.fail(&claimed.token, &failed(class), now)).unwrap();
                }
            }
            TrialStep::Heartbeat { claim } => {
                if let Some(claimed) = self.chosen(*claim) {
                    run(store.heartbeat(&claimed.token, now, LEASE)).unwrap();
                }
            }
            TrialStep::Release { claim } => {
                if let Some(claimed) = self.chosen(*claim) {
                    run(store.release(&claimed.token, now)).unwrap();
                }
            }
            TrialStep::Abandon => drop(run(store.abandon("worker")).unwrap()),
            TrialStep::Hasten { session } => {
                run(store.hasten(&key(session), now, Default::default())).unwrap();
            }
            TrialStep::Cancel { session } => {
                drop(run(store.cancel(&key(session), now, "1")).unwrap())
            }
            TrialStep::Wait { seconds } => {
                self.now = now.plus(Duration::from_secs(u64::from(*seconds)));
            }
            TrialStep::Reopen => {
                let path = self.crashing.folder.path().join(FILE);
                let inner = Arc::clone(store.inner());
                self.crashing.store = run(Ledgered::open(&path, inner, DAY, now)).unwrap();
            }
        }
    }
}

fn id_of(session: u8) -> SessionId {
    daybook_testkit::model::view::sessions()[usize::from(session)].clone()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn wherever_processes_end_everything_is_extracted_once(trial_steps in trial_steps()) {
        let mut trial = Trial {
            crashing: CrashingLedger::new(),
            now: DAWN,
            claims: Vec::new(),
            appends:0,
        };
        for (step, crashes) in &trial_steps {
            let before = trial.crashing.file();
            let known = trial.claims.len();
            trial.apply(step);
            if *crashes {
                trial.crashing.restore(before);
                // The claim was never returned to its caller.
                trial.claims.truncate(known);
            }
        }
        drain(&trial.crashing.store, trial.now);
        check_all_done_once(&trial.crashing.store);
    }
}

const WORKERS: u64 = 8;
const ROUNDS: u64 = 12;

/// Appends, claims and finishes; prints each grant.
fn work(
    store: &Ledgered<SqliteStore>,
    worker: u64,
    rounds: u64,
    mut granted: impl FnMut(&ClaimedJob),
) {
    let holder = format!("worker {worker}");
    for n in 0..rounds {
        let id = session(&format!("shared-{}", (worker + n) % 4));
        let said = events(&format!("worker{worker} round{n}"), 2);
        run(store.append(&append(&id, said))).expect("an append succeeds");
        let claim = Claim {
            holder: &holder,
            limits: ClaimLimits::jobs(2),
            ..claim_of(JobKind::Extract, at(90_000), 2)
        };
        for claimed in run(store.claim(claim)).expect("a claim succeeds") {
            granted(&claimed);
            assert_ne!(
                finish(store, &claimed, at(90_000)),
                FinishOutcome::LeaseLost
            );
        }
    }
}

#[test]
fn workers_with_ledgers_of_their_own_lose_and_double_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let granted: Mutex<BTreeSet<(JobKey, u64)>> = Mutex::default();
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (path, granted) = (folder.path(), &granted);
            scope.spawn(move || {
                work(&open(path, at(90_000)), worker, ROUNDS, |claimed| {
                    let grant = (claimed.token.job().clone(), claimed.token.generation());
                    assert!(granted.lock().unwrap().insert(grant), "granted twice");
                });
            });
        }
    });
    let store = open(folder.path(), at(90_000));
    drain(&store, at(90_000));
    check_all_done_once(&store);
    let sessions = run(store.sessions(&Tenant::local(), PageRequest::first(9)))
        .unwrap()
        .items;
    let said: u64 = sessions.iter().map(|session| session.events.0).sum();
    assert_eq!(said, WORKERS * ROUNDS * 2);
    let jobs = run(store.jobs_of_all_tenants(JobKind::Extract)).unwrap();
    let claims: u64 = jobs.iter().map(|job| job.claims).sum();
    let tallies = run(store.tallies()).unwrap();
    let counted: u64 = tallies
        .iter()
        .filter(|t| t.what.as_str() == "claimed")
        .map(|t| t.count)
        .sum();
    assert_eq!(claims, counted);
}

/// The process that [`killed_workers_lose_and_double_nothing`] starts and kills.
#[test]
#[ignore = "a part of the test below, in a process of its own"]
#[allow(
    clippy::print_stdout,
    reason = "what it says tells its parent that it is at work"
)]
fn child() {
    let Some(folder) = std::env::var_os("DAYBOOK_TEST_ROOT") else {
        return;
    };
    let name = std::env::var("DAYBOOK_TEST_CHILD").unwrap_or_default();
    let worker = name.parse().unwrap();
    let store = open(Path::new(&folder), at(90_000));
    work(&store, worker, 100_000, |claimed| {
        println!("\ngranted {}", claimed.token.job());
    });
}

#[test]
fn killed_workers_lose_and_double_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut children: Vec<_> = (0..4)
        .map(|worker| {
            Command::new(std::env::current_exe().unwrap())
                .args([
                    "flush_state_crashes::child",
                    "--exact",
                    "--ignored",
                    "--nocapture",
                ])
                .env("DAYBOOK_TEST_ROOT", folder.path())
                .env("DAYBOOK_TEST_CHILD", worker.to_string())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .expect("this test can start itself")
        })
        .collect();
    // All processes are at work; then all are killed in the middle of it. Any sooner, and the leases of the
    // killed ones would keep the others from their work.
    let outputs = children
        .iter_mut()
        .map(|child| child.stdout.take().unwrap());
    let mut outputs: Vec<_> = outputs.map(|out| BufReader::new(out).lines()).collect();
    for (n, output) in outputs.iter_mut().enumerate() {
        let said = output.map_while(Result::ok);
        let granted = said.filter(|line| line.starts_with("granted"));
        assert!(granted.take(5 + 3 * n).count() > 0, "it is at work");
    }
    for child in &mut children {
        child.kill().unwrap();
    }
    for child in &mut children {
        child.wait().unwrap();
    }
    let store = open(folder.path(), at(90_000));
    assert!(
        store.corrupt_files().unwrap().is_empty(),
        "a kill corrupts nothing"
    );
    assert!(
        drain(&store, at(90_000)) <= 4,
        "each session was left with one stretch"
    );
    check_all_done_once(&store);
}

#[test]
fn rows_are_written_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), DAWN);
    run(store.append(&append(&session("a"), events("a", 3)))).unwrap();
    let mut job = run(store.job(&JobKey::Extract(session("a"))))
        .unwrap()
        .unwrap();
    assert!(job.claim("worker", at(900), LEASE).is_some());
    run(store.inner().put_jobs(std::slice::from_ref(&job))).unwrap();
    let row = run(store.inner().job(&job.key)).unwrap();
    assert_eq!(row, Some(job));
}

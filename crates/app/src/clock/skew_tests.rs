//! Machines on one server whose dates are hours apart, or go backwards.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use daybook_domain::{
    Claim, ClaimLimits, DueMark, FinishOutcome, JobKey, JobKind, LeaseToken, Priority,
};
use daybook_engine::import::scan;
use daybook_engine::jobs;
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::session;
use daybook_testkit::postgres::{self, TestDatabase};

use super::*;
use crate::background::{FROM_HOSTS, import_changed};
use crate::folders::sample;
use crate::terminal::silent::HiddenUpdate;
use crate::wiring::Daybook;

const HOUR: i64 = 3_600_000;
const MINUTES: Duration = Duration::from_secs(300);
/// How well machines agree: far more than asking a server on this machine takes.
const APART: Duration = Duration::from_secs(2);

/// Clocks that are off.
struct Off {
    began: Instant,
    /// How long the machine has been up.
    up: Duration,
    /// How far its date is off, and what is added to that at each reading.
    by: AtomicI64,
    more: i64,
}

impl MachineClocks for Off {
    fn monotonic(&self) -> Duration {
        self.up + self.began.elapsed()
    }

    fn date(&self) -> Timestamp {
        let by = self.by.fetch_add(self.more, Ordering::Relaxed);
        Timestamp(SystemClock.now().0 + by)
    }
}

/// One machine is hours ahead, one hours behind, and one goes back by minutes whenever it is looked at.
const MACHINES: [(i64, i64); 3] = [(3 * HOUR, 0), (-2 * HOUR, 0), (0, -300_000)];

fn off((by, more): (i64, i64)) -> Off {
    Off {
        began: Instant::now(),
        up: Duration::from_secs(by.unsigned_abs() / 7),
        by: by.into(),
        more,
    }
}

struct Machine {
    /// Its data folder, which goes with it.
    _folder: tempfile::TempDir,
    daybook: Daybook,
    /// Its date.
    date: Off,
}

/// Machines that keep one memory in `database`.
fn machines(database: &TestDatabase) -> Vec<Machine> {
    let machine = |clocks| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let set = [format!("store={}", database.url())];
        let opened = Daybook::open(folder.path().to_owned(), &set);
        let mut daybook = opened.expect("the server is there");
        let crate::wiring::MemoryDatabase::Server(store) = &daybook.database else {
            panic!("that is a server's address");
        };
        let clock = ServerClock::with_clocks(off(clocks), Arc::clone(store));
        daybook.clock = Arc::new(clock.expect("the server answers"));
        Machine {
            _folder: folder,
            daybook,
            date: off(clocks),
        }
    };
    MACHINES.map(machine).into()
}

impl Machine {
    fn now(&self) -> Timestamp {
        self.daybook.clock.now()
    }

    /// Claims what is due at `now`.
    fn claim(&self, now: Timestamp) -> Vec<LeaseToken> {
        let claim = Claim {
            kind: JobKind::Extract,
            holder: "somebody",
            now,
            lease: MINUTES,
            limits: ClaimLimits::jobs(10),
        };
        let claims = wait(self.daybook.store.claim(claim));
        claims.into_iter().map(|claimed| claimed.token).collect()
    }

    /// A job that is due at `due`.
    fn mark(&self, name: &str, due: Timestamp) -> JobKey {
        let key = JobKey::Extract(session(name));
        let mark = DueMark {
            input: 1,
            idle_due: due,
            deadline: due,
            priority: Priority::Normal,
            turns: 0,
            turn_limit: u32::MAX,
            active: due,
        };
        wait(self.daybook.store.mark(&key, mark));
        key
    }
}

fn wait<T>(work: impl Future<Output = Result<T, daybook_domain::StoreError>>) -> T {
    block_on(async { Ok(work.await?) }).expect("the server answers")
}

#[test]
fn machines_whose_dates_are_hours_apart_agree_on_what_is_due_and_on_leases() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let machines = machines(&database);
    for one in &machines {
        for other in &machines {
            let (one, other) = (one.now(), other.now());
            assert!(one.since(other).max(other.since(one)) < APART);
        }
    }
    for (n, marks) in machines.iter().enumerate() {
        // Due now for one is due now for all; and no machine takes what is due in minutes any sooner.
        let due = marks.mark(&format!("due-{n}"), marks.now());
        marks.mark(&format!("later-{n}"), marks.now().plus(MINUTES));
        let claims = &machines[(n + 1) % machines.len()];
        let held = claims.claim(claims.now().plus(APART));
        assert_eq!(held.iter().map(LeaseToken::job).collect::<Vec<_>>(), [&due]);
        // The worker is alive: no other takes its lease, and its own clock does not let it lapse.
        for others in &machines {
            assert_eq!(others.claim(others.now()), []);
            let beat = claims
                .daybook
                .store
                .heartbeat(&held[0], claims.now(), MINUTES);
            assert!(wait(beat), "a heartbeat came too late");
        }
        let ended = wait(claims.daybook.store.finish(&held[0], 1, claims.now()));
        assert_eq!(ended, FinishOutcome::Complete);
    }
    // So it would be if each believed its own date.
    let (ahead, behind) = (&machines[0], &machines[1]);
    let key = behind.mark("held", behind.now());
    assert_eq!(behind.claim(behind.date.date()), []);
    assert_eq!(behind.claim(behind.now().plus(APART)).len(), 1);
    let taken = ahead.claim(ahead.date.date());
    assert!(taken.iter().any(|token| token.job() == &key), "{taken:?}");
}

#[test]
fn machines_whose_dates_are_hours_apart_do_each_job_once() {
    let Some(database) = postgres::empty() else {
        return;
    };
    let machines = machines(&database);
    let first = &machines[0].daybook;
    let unpacked = sample::unpack(&first.root).expect("there is room");
    block_on(async {
        import_changed(first, FROM_HOSTS, scan(&[unpacked]), &Stop::default()).await?;
        for job in first.jobs(JobKind::Extract).await? {
            let now = first.clock.now();
            first.store.hasten(&job.key, now, Priority::Normal).await?;
        }
        Ok(())
    })
    .expect("the sample can be taken in");
    let read: Vec<_> = std::thread::scope(|scope| {
        let working = machines.iter().enumerate().map(|(n, machine)| {
            scope.spawn(move || {
                let mut shop = machine
                    .daybook
                    .worker_context(&format!("machine-{n}"))
                    .expect("a workshop");
                shop.limits.lease = APART;
                shop.limits.claim = ClaimLimits::jobs(1);
                let stop = Stop::default();
                let quiet = HiddenUpdate;
                block_on(async { Ok(jobs::work(&shop, &stop, &quiet).await?) })
            })
        });
        let working: Vec<_> = working.collect();
        let ended = working.into_iter().map(|thread| thread.join());
        ended.collect()
    });
    let mut all = BTreeSet::new();
    for report in read {
        let report = report.expect("no panic").expect("the server answers");
        assert_eq!(report.failed, []);
        for session in report.read {
            assert!(all.insert(session.clone()), "{session} was read twice");
        }
    }
    let twice = "SELECT events.event_no FROM events WHERE 1 <> (SELECT count(*) FROM extractions
        WHERE live AND extractions.session_no = events.session_no
            AND events.event_no & 4294967295 BETWEEN from_seq AND to_seq)";
    assert_eq!(database.ask(twice), "");
    assert_eq!(
        database.ask("SELECT count(*) FROM sessions"),
        all.len().to_string()
    );
    let waiting = "SELECT kind, name FROM jobs WHERE done <> input OR lease_holder IS NOT NULL
        OR failures > 0";
    assert_eq!(database.ask(waiting), "");
}

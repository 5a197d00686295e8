//! Concurrent claims, and the order of claims over more lanes than the model of all stores has.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use daybook_domain::seams::{JobQueue, JobWatch, Store};
use daybook_domain::{
    Claim, ClaimLimits, ClaimedJob, DueMark, FailureClass, JobKey, JobKind, LeaseToken, Priority,
    Scope, ScopeKind, SessionId, Tenant, Timestamp,
};
use daybook_store::{MemoryStore, PostgresOptions, PostgresStore, Trust};
use daybook_testkit::fixtures::{LEASE, at, claim_of, failed};
use daybook_testkit::run;
use strum::VariantArray;

use super::on_server;

/// Numbers that look random and are the same each time.
struct SeededRandom(u64);

impl SeededRandom {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % bound
    }

    fn one_of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        let count = choices.len() as u64;
        choices[usize::try_from(self.below(count)).expect("a few choices")]
    }

    fn bound(&mut self) -> usize {
        match self.below(4) {
            0 => usize::try_from(self.below(4)).expect("at most 3"),
            _ => usize::MAX,
        }
    }
}

fn extract(tenant: &str, agent: &str, name: &str) -> JobKey {
    JobKey::Extract(SessionId {
        tenant: Tenant(tenant.to_owned()),
        agent: agent.to_owned(),
        host_id: name.to_owned(),
    })
}

/// A job of one of three tenants, in one of several lanes each.
fn some_job(dice: &mut SeededRandom) -> JobKey {
    let tenant = dice.one_of(&["local", "left", "right"]);
    let name = dice.one_of(&["a", "b", "c", "d", "e"]);
    if dice.below(2) == 0 {
        return extract(tenant, dice.one_of(&["codex", "claude-code"]), name);
    }
    JobKey::Consolidate(Scope {
        tenant: Tenant(tenant.to_owned()),
        kind: *dice.one_of(&[&ScopeKind::User, &ScopeKind::Agent, &ScopeKind::Room]),
        name: name.to_owned(),
    })
}

fn some_mark(dice: &mut SeededRandom, now: Timestamp) -> DueMark {
    let priorities = [
        &Priority::Low,
        &Priority::Normal,
        &Priority::Raised,
        &Priority::High,
    ];
    let due = now.plus(Duration::from_secs(dice.below(40)));
    DueMark::at_once(1 + dice.below(30), due, *dice.one_of(&priorities))
}

fn some_claim(dice: &mut SeededRandom, now: Timestamp) -> Claim<'static> {
    let limits = ClaimLimits {
        jobs: usize::try_from(dice.below(12)).expect("at most 11"),
        per_agent: dice.bound(),
        running: dice.bound(),
        running_per_agent: dice.bound(),
    };
    Claim {
        limits,
        holder: dice.one_of(&["one", "two"]),
        ..claim_of(
            *dice.one_of(&[&JobKind::Extract, &JobKind::Consolidate]),
            now,
            0,
        )
    }
}

fn same<T: PartialEq + Debug>(ours: T, theirs: T) -> T {
    assert_eq!(ours, theirs);
    ours
}

/// Runs the same calls on two stores, and checks that both give the same answers.
async fn drive(ours: &dyn Store, theirs: &dyn Store, seed: u64) {
    let dice = &mut SeededRandom(seed);
    let mut now = at(0);
    let mut held: Vec<LeaseToken> = Vec::new();
    for _ in 0..200 {
        now = now.plus(Duration::from_secs(dice.below(20)));
        let token = match held.is_empty() {
            true => LeaseToken::issue(some_job(dice), 1),
            false => held.remove(usize::try_from(dice.below(held.len() as u64)).expect("few")),
        };
        let (key, mark, claim) = (some_job(dice), some_mark(dice, now), some_claim(dice, now));
        let upto = dice.below(30);
        match dice.below(12) {
            0..4 => {
                ours.mark(&key, mark).await.unwrap();
                theirs.mark(&key, mark).await.unwrap();
            }
            4..7 => {
                let claimed = ours.claim(claim).await.unwrap();
                let claimed = same(claimed, theirs.claim(claim).await.unwrap());
                held.extend(claimed.into_iter().map(|claimed| claimed.token));
            }
            7 | 8 => {
                let ended = ours.finish(&token, upto, now).await.unwrap();
                let _ = same(ended, theirs.finish(&token, upto, now).await.unwrap());
            }
            9 => {
                let class = dice.one_of(&[&FailureClass::Outage, &FailureClass::Content]);
                let failed = failed(*class);
                let ended = ours.fail(&token, &failed, now).await.unwrap();
                let _ = same(ended, theirs.fail(&token, &failed, now).await.unwrap());
            }
            10 => {
                let beat = ours.heartbeat(&token, now, LEASE).await.unwrap();
                same(beat, theirs.heartbeat(&token, now, LEASE).await.unwrap());
            }
            _ => {
                let released = ours.release(&token, now).await.unwrap();
                same(released, theirs.release(&token, now).await.unwrap());
            }
        }
        for &kind in JobKind::VARIANTS {
            same(
                ours.jobs_of_all_tenants(kind).await.unwrap(),
                theirs.jobs_of_all_tenants(kind).await.unwrap(),
            );
            same(
                ours.next_due(kind).await.unwrap(),
                theirs.next_due(kind).await.unwrap(),
            );
        }
    }
    same(
        ours.tallies().await.unwrap(),
        theirs.tallies().await.unwrap(),
    );
    same(
        ours.gaps_of_all_tenants().await.unwrap(),
        theirs.gaps_of_all_tenants().await.unwrap(),
    );
}

#[test]
fn the_order_over_many_lanes_is_that_of_the_domain() {
    for seed in 0..6 {
        let Some(store) = on_server() else { return };
        run(drive(&*store, &MemoryStore::new(), seed));
    }
}

/// So many jobs of one lane, due.
async fn due_jobs(store: &dyn Store, count: usize) {
    for no in 0..count {
        let mark = DueMark::at_once(1, at(0), Priority::Normal);
        let key = extract("local", "codex", &format!("{no:05}"));
        store.mark(&key, mark).await.unwrap();
    }
}

fn names(claimed: &[ClaimedJob]) -> Vec<&str> {
    claimed
        .iter()
        .map(|one| one.token.job().parts().2)
        .collect()
}

#[test]
fn claims_beside_each_other_grant_each_job_once() {
    let Some(store) = on_server() else { return };
    let store = Arc::new(store);
    run(async {
        due_jobs(&**store, 120).await;
        let claimers = (0..4).map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let mut granted = Vec::new();
                loop {
                    let claim = claim_of(JobKind::Extract, at(1), 3);
                    let claimed = store.claim(claim).await.unwrap();
                    if claimed.is_empty() {
                        return granted;
                    }
                    granted.extend(claimed);
                }
            })
        });
        let mut granted = Vec::new();
        for claimer in claimers.collect::<Vec<_>>() {
            granted.extend(claimer.await.unwrap());
        }
        let distinct: BTreeSet<&str> = names(&granted).into_iter().collect();
        assert_eq!((granted.len(), distinct.len()), (120, 120));
        let tallies = store.tallies().await.unwrap();
        assert_eq!(
            tallies.iter().map(|tally| tally.count).collect::<Vec<_>>(),
            [120]
        );
    });
}

/// Holds locks of a lane's first job, of the lane and of its tally, as a slow claim would.
#[test]
fn a_claim_waits_for_no_other() {
    let Some(store) = on_server() else { return };
    run(async {
        due_jobs(&*store, 3).await;
        let first = store
            .claim(claim_of(JobKind::Extract, at(1), 1))
            .await
            .unwrap();
        assert!(store.release(&first[0].token, at(1)).await.unwrap());
        let admin = store.database.admin();
        let other = tokio_postgres::connect(&admin, tokio_postgres::NoTls).await;
        let (other, connection) = other.unwrap();
        tokio::spawn(connection);
        let hold = "BEGIN; SELECT FROM jobs WHERE name = '00000' FOR UPDATE;
            SELECT FROM lanes FOR UPDATE; SELECT FROM tallies FOR UPDATE";
        other.batch_execute(hold).await.unwrap();
        let granted = store
            .claim(claim_of(JobKind::Extract, at(1), 2))
            .await
            .unwrap();
        assert_eq!(names(&granted), ["00001", "00002"]);
        other.batch_execute("COMMIT").await.unwrap();
        let tallies = store.tallies().await.unwrap();
        assert_eq!(
            tallies.iter().map(|tally| tally.count).collect::<Vec<_>>(),
            [3]
        );
    });
}

/// Another process is woken by the server, without polling.
#[test]
fn a_change_is_notified() {
    let Some(store) = on_server() else { return };
    run(async {
        let admin = store.database.admin();
        let other = tokio_postgres::connect(&admin, tokio_postgres::NoTls).await;
        let (other, mut connection) = other.unwrap();
        let (say, mut woken) = tokio::sync::mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut next = async || std::future::poll_fn(|cx| connection.poll_message(cx)).await;
            while let Some(Ok(message)) = next().await {
                say.send(message).unwrap();
            }
        });
        other.batch_execute("LISTEN daybook").await.unwrap();
        due_jobs(&*store, 1).await;
        assert!(woken.recv().await.is_some());
    });
}

/// By the other store's notification or by polling.
#[test]
fn a_waiting_caller_is_woken_by_another_stores_change() {
    let Some(store) = on_server() else { return };
    let address = store.database.address();
    run(async {
        let options = PostgresOptions {
            connections: 2,
            ..PostgresOptions::DEFAULT
        };
        let other = PostgresStore::open(&address, &Trust::System, options)
            .await
            .unwrap();
        let seen = store.version().await.unwrap();
        let hour = Duration::from_secs(3600);
        let (waited, ()) = tokio::join!(store.until_changed(seen, hour), due_jobs(&other, 1));
        waited.unwrap();
        assert!(store.version().await.unwrap() > seen);
    });
}

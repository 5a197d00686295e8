use super::*;
use crate::ids::{SessionId, Tenant};
use crate::trigger::{DueMark, Priority};

const NOW: Timestamp = Timestamp(1_000);

/// A due job: `tenant user agent session`, then its due time and priority.
fn job(words: &str) -> Job {
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut job = Job::new(JobKey::Extract(SessionId {
        tenant: Tenant(words[0].to_owned()),
        agent: words[2].to_owned(),
        host_id: words[3].to_owned(),
    }));
    job.user = Some(words[1].to_owned());
    let due = words.get(4).map_or(0, |due| due.parse().expect("a time"));
    let urgent = words.get(5) == Some(&"high");
    let priority = if urgent {
        Priority::High
    } else {
        Priority::Normal
    };
    job.mark(DueMark::at_once(1, Timestamp(due), priority));
    job
}

/// Who is granted, by host id, when these are claimed again and again.
fn granted(limits: ClaimLimits, times: usize, jobs: &[&str]) -> String {
    let mut jobs: Vec<Job> = jobs.iter().map(|words| job(words)).collect();
    let mut rounds = Rounds::default();
    let claim = Claim {
        kind: JobKind::Extract,
        holder: "worker",
        now: NOW,
        lease: Duration::from_secs(9),
        limits,
    };
    let mut said = Vec::new();
    for _ in 0..times {
        let keys = rounds.grant(&claim, jobs.iter());
        for job in jobs.iter_mut().filter(|job| keys.contains(&job.key)) {
            assert!(job.claim("worker", NOW, claim.lease).is_some());
        }
        said.push(
            keys.iter()
                .map(|key| key.parts().2)
                .collect::<Vec<_>>()
                .join(" "),
        );
    }
    said.join(" | ")
}

#[test]
fn within_a_lane_the_most_urgent_then_the_longest_due_come_first() {
    let jobs = [
        "t u a old 1",
        "t u a new 9",
        "t u a urgent 9 high",
        "t u a b 1",
    ];
    assert_eq!(granted(ClaimLimits::jobs(9), 1, &jobs), "urgent b old new");
}

#[test]
fn a_backlog_delays_its_own_lane_alone() {
    let jobs = [
        "t u a a1",
        "t u a a2",
        "t u a a3",
        "t u b b1 900",
        "t v a v1 900",
        "x u a x1 900",
    ];
    assert_eq!(granted(ClaimLimits::jobs(9), 1, &jobs), "a1 x1 v1 b1 a2 a3");
    assert_eq!(granted(ClaimLimits::jobs(1), 3, &jobs), "a1 | x1 | v1");
}

#[test]
fn a_tenant_with_many_agents_has_one_turn() {
    let jobs = [
        "t u a a1",
        "t u b b1",
        "t u c c1",
        "x u a x1 900",
        "x u a x2 900",
    ];
    assert_eq!(granted(ClaimLimits::jobs(9), 1, &jobs), "a1 x1 b1 x2 c1");
}

#[test]
fn what_is_not_due_is_not_granted() {
    assert_eq!(granted(ClaimLimits::jobs(9), 1, &["t u a later 1001"]), "");
}

#[test]
fn a_claim_is_bounded_in_all_and_by_lane() {
    let jobs = ["t u a a1", "t u a a2", "t u a a3", "t u b b1"];
    let bounded = |limits| granted(limits, 2, &jobs);
    let none = ClaimLimits::jobs(9);
    assert_eq!(
        bounded(ClaimLimits {
            per_agent: 2,
            ..none
        }),
        "a1 b1 a2 | a3"
    );
    assert_eq!(bounded(ClaimLimits { running: 3, ..none }), "a1 b1 a2 | ");
    assert_eq!(
        bounded(ClaimLimits {
            running_per_agent: 1,
            ..none
        }),
        "a1 b1 | "
    );
}

#[test]
fn a_scope_s_work_takes_the_turn_of_whom_it_is_for() {
    let scope = |kind, name: &str| {
        Job::new(JobKey::Consolidate(crate::ids::Scope {
            tenant: Tenant::local(),
            kind,
            name: name.to_owned(),
        }))
    };
    let lane = |kind| Lane::of(&scope(kind, "ada")).path().join("/");
    assert_eq!(lane(ScopeKind::User), "local/ada/");
    assert_eq!(lane(ScopeKind::Agent), "local//ada");
    assert_eq!(lane(ScopeKind::Project), "local//");
}

#[test]
fn rounds_are_the_same_once_they_were_written_down() {
    let mut rounds = Rounds::default();
    for words in ["t u a 1", "t v a 2", "w u b 3", "t u a 4"] {
        rounds.serve(&Lane::of(&job(words)));
    }
    assert_eq!(Rounds::from_lanes(rounds.lanes()), rounds);
}

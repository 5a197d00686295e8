//! M1 to M20 and M84 to M87: dirty sessions and their flush, as far as they concern triggers and workers. An
//! agent's own scope, its files and its prompt (M6 to M9, M15, M16, M19) are tested with memory files and models;
//! the ledger's file has its own tests beside it.

use std::time::Duration;

use daybook_domain::eligibility::Switches;
use daybook_domain::{
    Claim, ClaimLimits, FailureClass, JobKey, JobKind, Priority, ScopeKind, Trigger,
};
use daybook_engine::profile::Profile;
use daybook_engine::triggers::TriggerOutcome;

use crate::profile_test_support::{ProfileFixture, on_each_store, s, session};

fn mindroom(test: impl AsyncFn(&ProfileFixture)) {
    on_each_store(Profile::mindroom(), test);
}

async fn say_as(fixture: &ProfileFixture, user: &str, id: &daybook_domain::SessionId) {
    let mut append = fixture.new_append(id, &["hello there"]);
    append.session.user = Some(user.to_owned());
    fixture.store.append(&append).await.expect("it is kept");
}

#[test]
fn m1_a_prompt_raises_what_waits_in_other_sessions_of_the_agent() {
    mindroom(async |fixture| {
        fixture.append_texts(&s("s1"), &["hello there"]).await;
        fixture.append_texts(&s("s2"), &["hello there"]).await;
        assert_eq!(
            fixture.trigger(&s("s1"), Trigger::Prompt).await,
            TriggerOutcome::Raised(1)
        );
        assert_eq!(fixture.job(&s("s1")).await.priority, Priority::Normal);
        assert_eq!(fixture.job(&s("s2")).await.priority, Priority::Raised);
        assert!(
            fixture.claim_names().await.is_empty(),
            "raised, and no sooner due"
        );
        fixture.wait(120);
        assert_eq!(
            fixture.claim_names().await.len(),
            1,
            "one of an agent at once"
        );
    });
}

#[test]
fn a_prompt_raises_five_at_most_those_waiting_longest() {
    mindroom(async |fixture| {
        for n in 0..8 {
            fixture
                .append_texts(&s(&format!("s{n}")), &["hello there"])
                .await;
            fixture.wait(1);
        }
        assert_eq!(
            fixture.trigger(&s("new"), Trigger::Prompt).await,
            TriggerOutcome::Raised(5)
        );
        let jobs = fixture
            .store
            .jobs_of_all_tenants(JobKind::Extract)
            .await
            .unwrap();
        let raised = jobs.iter().filter(|job| job.priority == Priority::Raised);
        let names: Vec<&str> = raised.map(|job| job.key.parts().2).collect();
        assert_eq!(names, ["s0", "s1", "s2", "s3", "s4"]);
    });
}

/// In MindRoom backends are per agent; here memory is switched on or off for an agent.
#[test]
fn m2_and_m3_memory_is_made_where_it_is_switched_on() {
    mindroom(async |fixture| {
        let off = Switches {
            off: [(ScopeKind::Agent, "private".to_owned())].into(),
            ..Switches::default()
        };
        let id = session("private", "s1");
        let mut append = fixture.new_append(&id, &["hello there"]);
        append.switches = off;
        fixture.store.append(&append).await.unwrap();
        fixture
            .append_texts(&session("general", "s1"), &["hello there"])
            .await;
        fixture.wait(120);
        assert_eq!(fixture.claim_names().await, ["s1"]);
        assert_eq!(fixture.marks(&id).await, (None, 1));
    });
}

#[test]
fn m4_a_cycle_is_bounded() {
    let mut one = Profile::mindroom();
    one.work.claims.jobs = 1;
    one.work.claims.per_agent = 1;
    one.triggers.patience.idle = Duration::ZERO;
    on_each_store(one, async |fixture: &ProfileFixture| {
        fixture.append_texts(&s("s1"), &["hello there"]).await;
        fixture.append_texts(&s("s2"), &["hello there"]).await;
        assert_eq!(fixture.claim().await.len(), 1);
    });
}

#[test]
fn m5_an_append_waits_for_no_flush() {
    mindroom(async |fixture| {
        fixture.append_texts(&s("a"), &["hello there"]).await;
        fixture.wait(120);
        let later = fixture.new_append(&s("b"), &["and meanwhile"]);
        let store = std::sync::Arc::clone(&fixture.store);
        let arrives = async move {
            store.append(&later).await.unwrap();
        };
        *fixture.extractor.on_next_pass.lock().unwrap() = Some(Box::pin(arrives));
        fixture.run_worker().await;
        assert_eq!(fixture.marks(&s("b")).await, (Some(1), 0));
    });
}

#[test]
fn m10_a_mark_during_the_flush_leaves_the_session_dirty_and_not_in_flight() {
    mindroom(async |fixture| {
        fixture.append_texts(&s("a"), &["hello there"]).await;
        fixture.wait(120);
        let claimed = fixture.claim().await.remove(0);
        fixture.append_texts(&s("a"), &["and one more"]).await;
        let _ = fixture.finish(&claimed).await;
        let job = fixture.job(&s("a")).await;
        assert!(job.is_ahead() && job.lease.is_none());
        assert_eq!(job.done, 1);
    });
}

/// In MindRoom a session that continued without a mark is clean. Here every append is a mark: no session can
/// continue unnoticed, and NO_REPLY for one window has no effect on the next.
#[test]
fn m11_nothing_worth_keeping_leaves_what_came_meanwhile_dirty() {
    mindroom(async |fixture| {
        fixture.append_texts(&s("a"), &["hm"]).await;
        fixture.wait(120);
        let later = fixture.new_append(&s("a"), &["and one more"]);
        let store = std::sync::Arc::clone(&fixture.store);
        let arrives = async move {
            store.append(&later).await.unwrap();
        };
        *fixture.extractor.on_next_pass.lock().unwrap() = Some(Box::pin(arrives));
        fixture.run_worker().await;
        let job = fixture.job(&s("a")).await;
        assert_eq!((job.done, job.input, job.lease.is_none()), (1, 2, true));
    });
}

#[test]
fn m12_two_people_in_one_session_of_a_shared_agent_are_one_entry() {
    mindroom(async |fixture| {
        let shared = session("general", "shared");
        say_as(fixture, "ada", &shared).await;
        fixture.wait(1);
        say_as(fixture, "bob", &shared).await;
        assert_eq!(
            fixture
                .store
                .jobs_of_all_tenants(JobKind::Extract)
                .await
                .unwrap()
                .len(),
            1
        );
    });
}

/// A private agent is one agent for each person, and its name holds that person's.
#[test]
fn m13_and_m14_private_agents_are_apart_and_take_their_turns() {
    mindroom(async |fixture| {
        for agent in ["mind@ada", "mind@bob", "general"] {
            say_as(fixture, "ada", &session(agent, "same")).await;
            say_as(fixture, "ada", &session(agent, "more")).await;
        }
        fixture.wait(120);
        let claim = Claim {
            kind: JobKind::Extract,
            holder: "worker",
            now: fixture.now(),
            lease: fixture.profile.work.lease,
            limits: ClaimLimits {
                per_agent: 1,
                ..ClaimLimits::jobs(3)
            },
        };
        let claimed = fixture.store.claim(claim).await.unwrap();
        let agents: std::collections::BTreeSet<&str> = claimed
            .iter()
            .map(|claimed| claimed.token.job().parts().1)
            .collect();
        assert_eq!(claimed.len(), 3);
        assert_eq!(agents.len(), 3);
    });
}

#[test]
fn m17_a_prompt_raises_only_what_the_same_person_said() {
    mindroom(async |fixture| {
        say_as(fixture, "ada", &s("hers")).await;
        say_as(fixture, "ada", &s("her other")).await;
        say_as(fixture, "bob", &s("his")).await;
        let raised = fixture
            .triggers()
            .handle(&s("hers"), None, Trigger::Prompt)
            .await;
        assert_eq!(raised.unwrap(), TriggerOutcome::Raised(1));
        assert_eq!(
            fixture.job(&s("her other")).await.priority,
            Priority::Raised
        );
        assert_eq!(fixture.job(&s("his")).await.priority, Priority::Normal);
    });
}

/// MindRoom deletes the entries of an agent whose scope is gone, dirty or not. Here its events stay due.
#[test]
fn m18_what_waits_is_never_dropped() {
    mindroom(async |fixture| {
        say_as(fixture, "ada", &session("mind@ada", "a")).await;
        fixture.wait(90 * 86_400);
        fixture.run_worker().await;
        assert_eq!(fixture.marks(&session("mind@ada", "a")).await, (None, 1));
    });
}

/// The numbers of the plan. docs/profiles.md also has those that shipped later.
#[test]
fn m20_the_plans_numbers_are_the_profiles() {
    let profile = Profile::mindroom();
    let patience = profile.triggers.patience;
    assert_eq!(profile.work.poll, Duration::from_secs(180));
    assert_eq!(patience.idle, Duration::from_secs(120));
    assert_eq!(patience.dirty, Duration::from_secs(600));
    assert_eq!(profile.work.stale_after, Duration::from_secs(86_400));
    let claims = profile.work.claims;
    assert_eq!(
        (claims.jobs, claims.per_agent, claims.running_per_agent),
        (10, 3, 1)
    );
    assert_eq!(
        (profile.work.retry.tries, profile.triggers.reprioritize),
        (3, 5)
    );
    let window = profile.work.window;
    assert_eq!((window.messages, window.chars), (20, 12_000));
}

/// MindRoom shows the newest twenty and moves its cursor past the rest.
#[test]
fn no_message_is_passed_over_however_many_wait() {
    mindroom(async |fixture| {
        let texts: Vec<String> = (0..50).map(|n| format!("said {n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        fixture.append_texts(&s("a"), &texts).await;
        fixture.wait(120);
        fixture.run_worker().await;
        let shown = fixture.extractor.shown_windows.lock().unwrap();
        let windows: Vec<usize> = shown.iter().map(|(_, texts)| texts.len()).collect();
        assert_eq!(windows, [20, 20, 10]);
        let all: Vec<&String> = shown.iter().flat_map(|(_, texts)| texts).collect();
        assert_eq!(all, texts);
    });
}

/// M84: 30, 60, 120, 240, then 300 seconds for ever.
#[test]
fn failures_cool_down() {
    let retry = Profile::mindroom().work.retry;
    let waits = [1, 2, 3, 4, 5, 9].map(|failures| retry.wait(failures, 1.0).as_secs());
    assert_eq!(waits, [30, 60, 120, 240, 300, 300]);
}

/// M85: newer input ends the wait after one class of failure and not after the other.
#[test]
fn an_outage_is_waited_for_whatever_is_said_meanwhile() {
    for (class, retried) in [(FailureClass::Outage, false), (FailureClass::Content, true)] {
        mindroom(async |fixture| {
            fixture.append_texts(&s("a"), &["hello there"]).await;
            fixture.wait(120);
            *fixture.extractor.failure_class.lock().unwrap() = Some(class);
            fixture.run_worker().await;
            fixture.append_texts(&s("a"), &["and one more"]).await;
            let _ = fixture.trigger(&s("a"), Trigger::Sleep).await;
            assert_eq!(!fixture.claim().await.is_empty(), retried, "{class:?}");
        });
    }
}

/// M86: a busy session is flushed once its first turn has waited for ten minutes.
#[test]
fn a_session_that_never_rests_is_flushed_by_its_deadline() {
    mindroom(async |fixture| {
        let began = fixture.now();
        for _ in 0..9 {
            fixture.append_texts(&s("a"), &["still here, always"]).await;
            fixture.wait(60);
        }
        fixture.append_texts(&s("a"), &["still here, always"]).await;
        let due = fixture.job(&s("a")).await.due_at();
        assert_eq!(due, Some(began.plus(Duration::from_secs(600))));
        let key = JobKey::Extract(s("a"));
        assert!(fixture.store.job(&key).await.unwrap().is_some());
    });
}

//! MR1 to MR20: dirty sessions and their flush (seed 004, spec M.12), as far as they concern triggers and
//! workers. An agent's own scope, its files and its prompt (MR6 to MR9, MR15, MR16, MR19) belong to
//! layouts and models; the ledger's file has its own tests beside it.

use std::time::Duration;

use daybook_domain::eligibility::Switches;
use daybook_domain::{
    Claim, ClaimLimits, FailureClass, JobKey, JobKind, Priority, ScopeKind, Trigger,
};
use daybook_engine::profile::Profile;
use daybook_engine::triggers::Triggered;

use crate::bed::{Bed, on_each_store, s, session};

fn mindroom(scene: impl AsyncFn(&Bed)) {
    on_each_store(Profile::mindroom(), scene);
}

async fn say_as(bed: &Bed, user: &str, id: &daybook_domain::SessionId) {
    let mut said = bed.said(id, &["hello there"]);
    said.session.user = Some(user.to_owned());
    bed.store.append(&said).await.expect("it is kept");
}

#[test]
fn mr1_a_prompt_raises_what_waits_in_other_sessions_of_the_agent() {
    mindroom(async |bed| {
        bed.say(&s("s1"), &["hello there"]).await;
        bed.say(&s("s2"), &["hello there"]).await;
        assert_eq!(
            bed.happens(&s("s1"), Trigger::Prompt).await,
            Triggered::Raised(1)
        );
        assert_eq!(bed.job(&s("s1")).await.priority, Priority::Normal);
        assert_eq!(bed.job(&s("s2")).await.priority, Priority::Raised);
        assert!(bed.granted().await.is_empty(), "raised, and no sooner due");
        bed.wait(120);
        assert_eq!(bed.granted().await.len(), 1, "one of an agent at once");
    });
}

#[test]
fn a_prompt_raises_five_at_most_those_waiting_longest() {
    mindroom(async |bed| {
        for n in 0..8 {
            bed.say(&s(&format!("s{n}")), &["hello there"]).await;
            bed.wait(1);
        }
        assert_eq!(
            bed.happens(&s("new"), Trigger::Prompt).await,
            Triggered::Raised(5)
        );
        let jobs = bed.store.jobs(JobKind::Extract).await.unwrap();
        let raised = jobs.iter().filter(|job| job.priority == Priority::Raised);
        let names: Vec<&str> = raised.map(|job| job.key.parts().2).collect();
        assert_eq!(names, ["s0", "s1", "s2", "s3", "s4"]);
    });
}

/// Backends are per agent there; here memory is on or off for an agent.
#[test]
fn mr2_and_mr3_memory_is_made_where_it_is_switched_on() {
    mindroom(async |bed| {
        let off = Switches {
            off: [(ScopeKind::Agent, "private".to_owned())].into(),
            ..Switches::default()
        };
        let id = session("private", "s1");
        let mut said = bed.said(&id, &["hello there"]);
        said.switches = off;
        bed.store.append(&said).await.unwrap();
        bed.say(&session("general", "s1"), &["hello there"]).await;
        bed.wait(120);
        assert_eq!(bed.granted().await, ["s1"]);
        assert_eq!(bed.marks(&id).await, (None, 1));
    });
}

#[test]
fn mr4_a_cycle_is_bounded() {
    let mut one = Profile::mindroom();
    one.work.claims.jobs = 1;
    one.work.claims.per_agent = 1;
    one.triggers.patience.idle = Duration::ZERO;
    on_each_store(one, async |bed: &Bed| {
        bed.say(&s("s1"), &["hello there"]).await;
        bed.say(&s("s2"), &["hello there"]).await;
        assert_eq!(bed.claim().await.len(), 1);
    });
}

#[test]
fn mr5_an_append_waits_for_no_flush() {
    mindroom(async |bed| {
        bed.say(&s("a"), &["hello there"]).await;
        bed.wait(120);
        let later = bed.said(&s("b"), &["and meanwhile"]);
        let store = std::sync::Arc::clone(&bed.store);
        let meanwhile = async move {
            store.append(&later).await.unwrap();
        };
        *bed.extractor.meanwhile.lock().unwrap() = Some(Box::pin(meanwhile));
        bed.tick().await;
        assert_eq!(bed.marks(&s("b")).await, (Some(1), 0));
    });
}

#[test]
fn mr10_a_mark_during_the_flush_leaves_the_session_dirty_and_not_in_flight() {
    mindroom(async |bed| {
        bed.say(&s("a"), &["hello there"]).await;
        bed.wait(120);
        let claimed = bed.claim().await.remove(0);
        bed.say(&s("a"), &["and one more"]).await;
        let _ = bed.finish(&claimed).await;
        let job = bed.job(&s("a")).await;
        assert!(job.is_ahead() && job.lease.is_none());
        assert_eq!(job.done, 1);
    });
}

/// There a session that went on without a mark is clean. Here whatever is said is a mark: a session
/// cannot go on unseen, and NO_REPLY for one window says nothing of the next.
#[test]
fn mr11_nothing_worth_keeping_leaves_what_came_meanwhile_dirty() {
    mindroom(async |bed| {
        bed.say(&s("a"), &["hm"]).await;
        bed.wait(120);
        let later = bed.said(&s("a"), &["and one more"]);
        let store = std::sync::Arc::clone(&bed.store);
        let meanwhile = async move {
            store.append(&later).await.unwrap();
        };
        *bed.extractor.meanwhile.lock().unwrap() = Some(Box::pin(meanwhile));
        bed.tick().await;
        let job = bed.job(&s("a")).await;
        assert_eq!((job.done, job.input, job.lease.is_none()), (1, 2, true));
    });
}

#[test]
fn mr12_two_people_in_one_session_of_a_shared_agent_are_one_entry() {
    mindroom(async |bed| {
        let shared = session("general", "shared");
        say_as(bed, "ada", &shared).await;
        bed.wait(1);
        say_as(bed, "bob", &shared).await;
        assert_eq!(bed.store.jobs(JobKind::Extract).await.unwrap().len(), 1);
    });
}

/// A private agent is one agent for each person, and is named so.
#[test]
fn mr13_and_mr14_private_agents_are_apart_and_take_their_turns() {
    mindroom(async |bed| {
        for agent in ["mind@ada", "mind@bob", "general"] {
            say_as(bed, "ada", &session(agent, "same")).await;
            say_as(bed, "ada", &session(agent, "more")).await;
        }
        bed.wait(120);
        let claim = Claim {
            kind: JobKind::Extract,
            holder: "worker",
            now: bed.now(),
            lease: bed.profile.work.lease,
            limits: ClaimLimits {
                per_agent: 1,
                ..ClaimLimits::jobs(3)
            },
        };
        let granted = bed.store.claim(claim).await.unwrap();
        let agents: std::collections::BTreeSet<&str> = granted
            .iter()
            .map(|claimed| claimed.token.job().parts().1)
            .collect();
        assert_eq!(granted.len(), 3);
        assert_eq!(agents.len(), 3);
    });
}

#[test]
fn mr17_a_prompt_raises_only_what_the_same_person_said() {
    mindroom(async |bed| {
        say_as(bed, "ada", &s("hers")).await;
        say_as(bed, "ada", &s("her other")).await;
        say_as(bed, "bob", &s("his")).await;
        let raised = bed
            .triggers()
            .happened(&s("hers"), None, Trigger::Prompt)
            .await;
        assert_eq!(raised.unwrap(), Triggered::Raised(1));
        assert_eq!(bed.job(&s("her other")).await.priority, Priority::Raised);
        assert_eq!(bed.job(&s("his")).await.priority, Priority::Normal);
    });
}

/// There the entries of an agent whose scope is gone are deleted, dirty or not. Here what was said
/// stays due.
#[test]
fn mr18_what_waits_is_never_dropped() {
    mindroom(async |bed| {
        say_as(bed, "ada", &session("mind@ada", "a")).await;
        bed.wait(90 * 86_400);
        bed.tick().await;
        assert_eq!(bed.marks(&session("mind@ada", "a")).await, (None, 1));
    });
}

/// The numbers of the seed; what shipped later is in docs/profiles.md.
#[test]
fn mr20_the_seeds_numbers_are_the_profiles() {
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

/// There the newest twenty are shown, and the cursor moves past the rest.
#[test]
fn m4_no_message_is_passed_over_however_many_wait() {
    mindroom(async |bed| {
        let texts: Vec<String> = (0..50).map(|n| format!("said {n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        bed.say(&s("a"), &texts).await;
        bed.wait(120);
        bed.tick().await;
        let shown = bed.extractor.shown.lock().unwrap();
        let windows: Vec<usize> = shown.iter().map(|(_, said)| said.len()).collect();
        assert_eq!(windows, [20, 20, 10]);
        let all: Vec<&String> = shown.iter().flat_map(|(_, said)| said).collect();
        assert_eq!(all, texts);
    });
}

/// Not tested by them: 30, 60, 120, 240, then 300 seconds for ever.
#[test]
fn failures_cool_down() {
    let retry = Profile::mindroom().work.retry;
    let waits = [1, 2, 3, 4, 5, 9].map(|failures| retry.wait(failures, 1.0).as_secs());
    assert_eq!(waits, [30, 60, 120, 240, 300, 300]);
}

/// Not tested by them: a failure that newer input does not shorten, one that it does.
#[test]
fn an_outage_is_waited_for_whatever_is_said_meanwhile() {
    for (class, retried) in [(FailureClass::Outage, false), (FailureClass::Content, true)] {
        mindroom(async |bed| {
            bed.say(&s("a"), &["hello there"]).await;
            bed.wait(120);
            *bed.extractor.failing.lock().unwrap() = Some(class);
            bed.tick().await;
            bed.say(&s("a"), &["and one more"]).await;
            let _ = bed.happens(&s("a"), Trigger::Sleep).await;
            assert_eq!(!bed.claim().await.is_empty(), retried, "{class:?}");
        });
    }
}

/// Not tested by them: a busy session is flushed once its first turn has waited for ten minutes.
#[test]
fn a_session_that_never_rests_is_flushed_by_its_deadline() {
    mindroom(async |bed| {
        let began = bed.now();
        for _ in 0..9 {
            bed.say(&s("a"), &["still here, always"]).await;
            bed.wait(60);
        }
        bed.say(&s("a"), &["still here, always"]).await;
        let due = bed.job(&s("a")).await.due_at();
        assert_eq!(due, Some(began.plus(Duration::from_secs(600))));
        let key = JobKey::Extract(s("a"));
        assert!(bed.store.job(&key).await.unwrap().is_some());
    });
}

//! C15 to C21: which sessions a starting session sweeps over and claims.

use std::time::Duration;

use daybook_domain::eligibility::Switches;
use daybook_domain::{ClaimLimits, SessionKind, Timestamp, Trigger};
use daybook_engine::profile::Profile;
use daybook_engine::triggers::{SweepReport, TriggerOutcome};

use daybook_testkit::fixtures::polluting;

use crate::profile_test_support::{ProfileFixture, on_each_store, s};

const HOUR: u64 = 3_600;

/// The Codex profile with these bounds of a sweep.
fn codex(scan: usize, claims: usize) -> Profile {
    let mut profile = Profile::codex();
    let sweep = profile.sweep.as_mut().expect("it sweeps");
    (sweep.scan, sweep.claims) = (scan, claims);
    // Idle sessions must not become due by themselves here: only starts make sessions due.
    profile.triggers.patience.idle = Duration::from_secs(300 * 86_400);
    profile.triggers.patience.dirty = profile.triggers.patience.idle;
    profile.work.claims = ClaimLimits::of_sweep(sweep);
    profile
}

/// Appends a command-line session whose only event is `seconds` old.
async fn rested(fixture: &ProfileFixture, name: &str, seconds: u64) {
    let mut append = fixture.new_append(&s(name), &["hello there"]);
    let at = Timestamp(fixture.now().0 - i64::try_from(seconds * 1_000).unwrap());
    append.events[0].at = at;
    append.session.surface = Some("cli".to_owned());
    fixture.store.append(&append).await.unwrap();
}

async fn start(fixture: &ProfileFixture) -> SweepReport {
    match fixture.trigger(&s("current"), Trigger::Start).await {
        TriggerOutcome::Swept(swept) => swept,
        other => panic!("{other:?}"),
    }
}

fn due(swept: &SweepReport) -> Vec<&str> {
    swept.due.iter().map(|id| id.host_id.as_str()).collect()
}

#[test]
fn c15_age_and_rest_are_part_of_the_search() {
    on_each_store(codex(1, 16), async |fixture: &ProfileFixture| {
        rested(fixture, "current", 13 * HOUR).await;
        rested(fixture, "fresh", HOUR).await;
        rested(fixture, "almost", 12 * HOUR - 60).await;
        rested(fixture, "rested", 12 * HOUR + 60).await;
        rested(fixture, "old", 31 * 24 * HOUR).await;
        assert_eq!(due(&start(fixture).await), ["rested"]);
        assert_eq!(fixture.claim_names().await, ["rested"]);
    });
}

#[test]
fn c16_what_is_up_to_date_takes_a_place_in_the_scan() {
    for (scan, found) in [(1, 0), (2, 1)] {
        on_each_store(codex(scan, 16), async |fixture: &ProfileFixture| {
            rested(fixture, "newest", 13 * HOUR).await;
            rested(fixture, "older", 14 * HOUR).await;
            let _ = fixture.trigger(&s("newest"), Trigger::End).await;
            fixture.run_worker().await;
            assert_eq!(start(fixture).await.due.len(), found);
        });
    }
}

#[test]
fn c17_sessions_with_memory_off_are_never_claimed() {
    on_each_store(codex(99, 16), async |fixture: &ProfileFixture| {
        let mut off = fixture.new_append(&s("disabled"), &["hello there"]);
        off.session.memory_off = true;
        fixture.store.append(&off).await.unwrap();
        rested(fixture, "switched off", 13 * HOUR).await;
        fixture
            .store
            .switch_memory(
                &s("switched off"),
                false,
                &Switches::default(),
                fixture.now(),
            )
            .await
            .unwrap();
        let mut polluted = fixture.new_append(&s("polluted"), &["hello there"]);
        polluted.session.surface = Some("cli".to_owned());
        fixture.store.append(&polluting(polluted)).await.unwrap();
        fixture.wait(13 * HOUR);
        assert!(start(fixture).await.due.is_empty());
        assert!(fixture.claim_names().await.is_empty());
    });
}

/// Codex also leaves out archived threads. Session logs have no archive, so there is nothing to test.
#[test]
fn c18_other_surfaces_and_sessions_in_which_nobody_spoke_are_left_out() {
    on_each_store(codex(99, 16), async |fixture: &ProfileFixture| {
        for (name, surface) in [
            ("batch", Some("exec")),
            ("served", Some("mcp")),
            ("unknown", None),
        ] {
            let mut append = fixture.new_append(&s(name), &["hello there"]);
            append.session.surface = surface.map(str::to_owned);
            fixture.store.append(&append).await.unwrap();
        }
        let mut silent = fixture.new_append(&s("silent"), &["the agent alone"]);
        silent.events[0].origin = daybook_domain::Origin::Assistant;
        silent.session.surface = Some("cli".to_owned());
        fixture.store.append(&silent).await.unwrap();
        let mut part = fixture.new_append(&s("part"), &["hello there"]);
        part.session.kind = SessionKind::SubAgent;
        fixture.store.append(&part).await.unwrap();
        fixture.wait(13 * HOUR);
        assert!(start(fixture).await.due.is_empty());
    });
}

#[test]
fn c19_those_that_run_count() {
    on_each_store(codex(5_000, 64), async |fixture: &ProfileFixture| {
        for n in 0..90 {
            rested(fixture, &format!("s{n}"), 13 * HOUR + n).await;
        }
        for n in 80..90 {
            let _ = fixture.trigger(&s(&format!("s{n}")), Trigger::End).await;
        }
        assert_eq!(fixture.claim_names().await.len(), 10);
        assert_eq!(start(fixture).await.due.len(), 54);
        assert_eq!(fixture.claim_names().await.len(), 54);
        assert!(start(fixture).await.due.is_empty());
        assert!(fixture.claim_names().await.is_empty());
    });
}

#[test]
fn c20_each_start_takes_the_next_ones() {
    on_each_store(codex(5_000, 64), async |fixture: &ProfileFixture| {
        for n in 0..200 {
            rested(fixture, &format!("s{n}"), 13 * HOUR + n).await;
        }
        let first = start(fixture).await;
        assert_eq!(first.due.len(), 64);
        for claimed in fixture.claim().await {
            let _ = fixture.finish(&claimed).await;
        }
        let second = start(fixture).await;
        assert_eq!(second.due.len(), 64);
        assert!(second.due.iter().all(|id| !first.due.contains(id)));
    });
}

#[test]
fn c21_a_scan_or_a_claim_of_none_takes_none() {
    for (scan, claims) in [(0, 16), (99, 0)] {
        on_each_store(codex(scan, claims), async |fixture: &ProfileFixture| {
            rested(fixture, "a", 13 * HOUR).await;
            assert_eq!(start(fixture).await, SweepReport::default());
        });
    }
}

/// C75: sessions that never become memory start no sweep.
#[test]
fn only_a_root_session_looks_others_over() {
    on_each_store(codex(99, 16), async |fixture: &ProfileFixture| {
        rested(fixture, "a", 13 * HOUR).await;
        for kind in [
            SessionKind::SubAgent,
            SessionKind::Ephemeral,
            SessionKind::MemoryAgent,
        ] {
            let id = s(kind.as_str());
            let mut append = fixture.new_append(&id, &["hello there"]);
            append.session.kind = kind;
            fixture.store.append(&append).await.unwrap();
            let triggered = fixture.trigger(&id, Trigger::Start).await;
            assert!(matches!(triggered, TriggerOutcome::Never(_)), "{kind:?}");
        }
        assert!(fixture.claim_names().await.is_empty());
    });
}

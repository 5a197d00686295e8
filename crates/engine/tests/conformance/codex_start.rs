//! Codex 15 to 21: what a starting session looks over and claims (seed 002, spec 5.2).

use std::time::Duration;

use daybook_domain::{SessionKind, Timestamp, Trigger};
use daybook_engine::profile::Profile;
use daybook_engine::triggers::{Swept, Triggered};

use crate::bed::{Bed, on_each_store, s};

const HOUR: u64 = 3_600;

/// The profile with other bounds of a sweep.
fn codex(scan: usize, claims: usize) -> Profile {
    let mut profile = Profile::codex();
    let sweep = profile.sweep.as_mut().expect("it sweeps");
    (sweep.scan, sweep.claims) = (scan, claims);
    // What is due by itself is another matter: here only starts make sessions due.
    profile.triggers.patience.idle = Duration::from_secs(300 * 86_400);
    profile.triggers.patience.dirty = profile.triggers.patience.idle;
    profile.work.claims = sweep.claim_limits();
    profile
}

/// A session on the command line in which something was said so many seconds ago.
async fn rested(bed: &Bed, name: &str, seconds: u64) {
    let mut said = bed.said(&s(name), &["hello there"]);
    let at = Timestamp(bed.now().0 - i64::try_from(seconds * 1_000).unwrap());
    said.events[0].at = at;
    said.session.surface = Some("cli".to_owned());
    bed.store.append(&said).await.unwrap();
}

async fn start(bed: &Bed) -> Swept {
    match bed.happens(&s("current"), Trigger::Start).await {
        Triggered::Swept(swept) => swept,
        other => panic!("{other:?}"),
    }
}

fn due(swept: &Swept) -> Vec<&str> {
    swept.due.iter().map(|id| id.host_id.as_str()).collect()
}

#[test]
fn codex_15_age_and_rest_are_part_of_the_search() {
    on_each_store(codex(1, 16), async |bed: &Bed| {
        rested(bed, "current", 13 * HOUR).await;
        rested(bed, "fresh", HOUR).await;
        rested(bed, "almost", 12 * HOUR - 60).await;
        rested(bed, "rested", 12 * HOUR + 60).await;
        rested(bed, "old", 31 * 24 * HOUR).await;
        assert_eq!(due(&start(bed).await), ["rested"]);
        assert_eq!(bed.granted().await, ["rested"]);
    });
}

#[test]
fn codex_16_what_is_up_to_date_takes_a_place_in_the_scan() {
    for (scan, found) in [(1, 0), (2, 1)] {
        on_each_store(codex(scan, 16), async |bed: &Bed| {
            rested(bed, "newest", 13 * HOUR).await;
            rested(bed, "older", 14 * HOUR).await;
            let _ = bed.happens(&s("newest"), Trigger::End).await;
            bed.tick().await;
            assert_eq!(start(bed).await.due.len(), found);
        });
    }
}

#[test]
fn codex_17_sessions_with_memory_off_are_never_claimed() {
    on_each_store(codex(99, 16), async |bed: &Bed| {
        let mut off = bed.said(&s("disabled"), &["hello there"]);
        off.session.memory_off = true;
        bed.store.append(&off).await.unwrap();
        rested(bed, "polluted", 13 * HOUR).await;
        bed.store
            .switch_memory(&s("polluted"), false)
            .await
            .unwrap();
        bed.wait(13 * HOUR);
        assert!(start(bed).await.due.is_empty());
        assert!(bed.granted().await.is_empty());
    });
}

/// Codex also leaves out archived threads; a session log archives nothing.
#[test]
fn codex_18_other_surfaces_and_sessions_in_which_nobody_spoke_are_left_out() {
    on_each_store(codex(99, 16), async |bed: &Bed| {
        for (name, surface) in [
            ("batch", Some("exec")),
            ("served", Some("mcp")),
            ("unknown", None),
        ] {
            let mut said = bed.said(&s(name), &["hello there"]);
            said.session.surface = surface.map(str::to_owned);
            bed.store.append(&said).await.unwrap();
        }
        let mut silent = bed.said(&s("silent"), &["the agent alone"]);
        silent.events[0].origin = daybook_domain::Origin::Assistant;
        silent.session.surface = Some("cli".to_owned());
        bed.store.append(&silent).await.unwrap();
        let mut part = bed.said(&s("part"), &["hello there"]);
        part.session.kind = SessionKind::SubAgent;
        bed.store.append(&part).await.unwrap();
        bed.wait(13 * HOUR);
        assert!(start(bed).await.due.is_empty());
    });
}

#[test]
fn codex_19_those_that_run_count() {
    on_each_store(codex(5_000, 64), async |bed: &Bed| {
        for n in 0..90 {
            rested(bed, &format!("s{n}"), 13 * HOUR + n).await;
        }
        for n in 80..90 {
            let _ = bed.happens(&s(&format!("s{n}")), Trigger::End).await;
        }
        assert_eq!(bed.granted().await.len(), 10);
        assert_eq!(start(bed).await.due.len(), 54);
        assert_eq!(bed.granted().await.len(), 54);
        assert!(start(bed).await.due.is_empty());
        assert!(bed.granted().await.is_empty());
    });
}

#[test]
fn codex_20_each_start_takes_the_next_ones() {
    on_each_store(codex(5_000, 64), async |bed: &Bed| {
        for n in 0..200 {
            rested(bed, &format!("s{n}"), 13 * HOUR + n).await;
        }
        let first = start(bed).await;
        assert_eq!(first.due.len(), 64);
        for claimed in bed.claim().await {
            let _ = bed.finish(&claimed).await;
        }
        let second = start(bed).await;
        assert_eq!(second.due.len(), 64);
        assert!(second.due.iter().all(|id| !first.due.contains(id)));
    });
}

#[test]
fn codex_21_a_scan_or_a_claim_of_none_takes_none() {
    for (scan, claims) in [(0, 16), (99, 0)] {
        on_each_store(codex(scan, claims), async |bed: &Bed| {
            rested(bed, "a", 13 * HOUR).await;
            assert_eq!(start(bed).await, Swept::default());
        });
    }
}

/// Seed 002, "When it runs": not for sessions from which memory is never made.
#[test]
fn only_a_root_session_looks_others_over() {
    on_each_store(codex(99, 16), async |bed: &Bed| {
        rested(bed, "a", 13 * HOUR).await;
        for kind in [
            SessionKind::SubAgent,
            SessionKind::Ephemeral,
            SessionKind::MemoryAgent,
        ] {
            let id = s(kind.word());
            let mut said = bed.said(&id, &["hello there"]);
            said.session.kind = kind;
            bed.store.append(&said).await.unwrap();
            let triggered = bed.happens(&id, Trigger::Start).await;
            assert!(matches!(triggered, Triggered::Never(_)), "{kind:?}");
        }
        assert!(bed.granted().await.is_empty());
    });
}

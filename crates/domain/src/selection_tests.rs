use proptest::prelude::*;

use super::*;
use crate::ids::Tenant;

const DAY: Duration = Duration::from_secs(86_400);
const NOW: Timestamp = Timestamp(1_793_491_200_000);

fn session(id: &str) -> SessionId {
    SessionId {
        tenant: Tenant::local(),
        agent: "codex".to_owned(),
        host_id: id.to_owned(),
    }
}

fn ago(by: Duration) -> Timestamp {
    Timestamp(NOW.0 - by.as_millis() as i64)
}

/// A session that was extracted so long ago, and never used.
fn unused(id: &str, generated: Duration) -> SessionCandidate {
    SessionCandidate {
        session: session(id),
        snapshot: ExtractionSnapshot {
            upto: EventSeq(9),
            generated_at: ago(generated),
        },
        cited: 0,
        cited_at: None,
        shown_at: None,
        has_content: true,
        is_eligible: true,
    }
}

/// A session that was extracted 60 days ago and cited so often since, the last time so long ago.
fn cited(id: &str, times: usize, last: Duration) -> SessionCandidate {
    SessionCandidate {
        cited: times,
        cited_at: Some(ago(last)),
        ..unused(id, 60 * DAY)
    }
}

#[track_caller]
fn check(candidates: &[SessionCandidate], most: usize, expected: &[&str]) {
    let limits = SelectionLimits {
        most,
        ..SelectionLimits::default()
    };
    let selected = select(candidates, &limits, NOW);
    let ids: Vec<&str> = selected
        .iter()
        .map(|selected| selected.session.host_id.as_str())
        .collect();
    assert_eq!(ids, expected);
}

#[test]
fn c33_a_session_that_taught_nothing_is_not_selected() {
    let blank = SessionCandidate {
        has_content: false,
        ..unused("a", DAY)
    };
    check(&[blank, unused("b", DAY)], 9, &["b"]);
}

#[test]
fn c34_a_session_that_memory_may_not_be_made_from_is_not_selected() {
    let polluted = SessionCandidate {
        is_eligible: false,
        ..cited("a", 9, DAY)
    };
    check(&[polluted, unused("b", DAY)], 9, &["b"]);
}

#[test]
fn c35_the_newest_are_selected_in_a_stable_order() {
    let c = unused("c", DAY);
    let (a, b) = (unused("a", 3 * DAY), unused("b", 2 * DAY));
    check(&[c.clone(), a.clone(), b.clone()], 2, &["b", "c"]);
    check(&[a, b, c], 2, &["b", "c"]);
}

#[test]
fn c41_the_more_often_cited_come_first_and_of_equals_the_last_cited() {
    let all = [
        cited("a", 5, 10 * DAY),
        cited("b", 5, DAY),
        cited("c", 1, Duration::from_secs(3_600)),
    ];
    check(&all, 1, &["b"]);
    check(&all, 2, &["a", "b"]);
}

#[test]
fn being_shown_does_not_raise_a_session() {
    let shown = SessionCandidate {
        shown_at: Some(NOW),
        ..unused("a", 2 * DAY)
    };
    check(&[shown, unused("b", DAY)], 1, &["b"]);
}

#[test]
fn c42_a_session_lapses_when_it_was_not_used_for_the_window() {
    let shown = SessionCandidate {
        shown_at: Some(ago(DAY)),
        ..unused("shown", 50 * DAY)
    };
    let all = [
        cited("often", 9, 31 * DAY),
        unused("fresh", 2 * DAY),
        cited("used", 1, DAY),
        unused("old", 31 * DAY),
        unused("edge", 30 * DAY),
        shown,
    ];
    check(&all, 9, &["edge", "fresh", "shown", "used"]);
}

/// Codex decides by the age of the session. Here an old session that was imported or extracted anew today has its
/// window before it: it could not be used until now.
#[test]
fn c43_without_any_use_the_age_of_the_extraction_decides() {
    check(
        &[unused("old-but-extracted-today", Duration::ZERO)],
        1,
        &["old-but-extracted-today"],
    );
}

fn selected(id: &str, upto: u64) -> SelectedSession {
    SelectedSession {
        session: session(id),
        snapshot: ExtractionSnapshot {
            upto: EventSeq(upto),
            generated_at: NOW,
        },
    }
}

fn ids(sessions: &BTreeSet<SessionId>) -> Vec<&str> {
    sessions.iter().map(|id| id.host_id.as_str()).collect()
}

#[test]
fn a_session_is_retained_only_if_it_is_exactly_as_it_was() {
    let last = [selected("a", 1), selected("b", 1), selected("c", 1)];
    let mut redone = selected("c", 1);
    redone.snapshot.generated_at = Timestamp(NOW.0 + 1);
    let now = [selected("b", 1), redone, selected("d", 1)];
    let diff = SelectionDiff::between(&last, &now);
    assert_eq!(ids(&diff.added), ["c", "d"]);
    assert_eq!(ids(&diff.retained), ["b"]);
    assert_eq!(ids(&diff.removed), ["a"]);
    assert!(!diff.is_empty());
    assert!(SelectionDiff::between(&now, &now).is_empty());
}

fn candidates() -> impl Strategy<Value = Vec<SessionCandidate>> {
    let days = 0..80u32;
    let last = prop::option::of(days.clone());
    let one = (
        0..30u8,
        days,
        0..3usize,
        last.clone(),
        last,
        any::<(bool, bool)>(),
    );
    let candidate = one.prop_map(|(id, generated, cited, at, shown, flags)| {
        let day = |days: u32| ago(days * DAY);
        SessionCandidate {
            cited,
            cited_at: at.filter(|_| cited > 0).map(day),
            shown_at: shown.map(day),
            has_content: flags.0,
            is_eligible: flags.1,
            ..unused(&format!("{id:02}"), generated * DAY)
        }
    });
    prop::collection::vec(candidate, 0..40).prop_map(|mut all| {
        all.sort_by(|a, b| a.session.cmp(&b.session));
        all.dedup_by(|a, b| a.session == b.session);
        all
    })
}

proptest! {
    #[test]
    fn a_selection_does_not_depend_on_the_order_of_its_candidates(
        (all, shuffled) in candidates().prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        most in 1..20usize,
    ) {
        let limits = SelectionLimits { most, ..SelectionLimits::default() };
        prop_assert_eq!(select(&all, &limits, NOW), select(&shuffled, &limits, NOW));
    }

    #[test]
    fn a_selection_is_bounded_ordered_and_part_of_any_larger_one(all in candidates(), most in 1..20usize) {
        let with = |most| SelectionLimits { most, ..SelectionLimits::default() };
        let selected = select(&all, &with(most), NOW);
        prop_assert!(selected.len() <= most);
        prop_assert!(selected.is_sorted_by(|a, b| a.session < b.session));
        let larger = select(&all, &with(most + 1), NOW);
        prop_assert!(selected.iter().all(|one| larger.contains(one)));
    }

    #[test]
    fn a_citation_never_costs_a_session_its_place(all in candidates(), most in 1..20usize, at in 0..40usize) {
        let limits = SelectionLimits { most, ..SelectionLimits::default() };
        let before = select(&all, &limits, NOW);
        let mut used = all;
        if let Some(one) = used.get_mut(at) {
            one.cited += 1;
            one.cited_at = Some(NOW);
            let is_in = |selected: &[SelectedSession]| selected.iter().any(|it| it.session == one.session);
            let was_in = is_in(&before);
            let session = one.session.clone();
            let after = select(&used, &limits, NOW);
            prop_assert!(!was_in || after.iter().any(|it| it.session == session));
        }
    }

    #[test]
    fn a_difference_has_each_session_in_one_place(last in candidates(), now in candidates()) {
        let limits = SelectionLimits::default();
        let (last, now) = (select(&last, &limits, NOW), select(&now, &limits, NOW));
        let diff = SelectionDiff::between(&last, &now);
        let of = |sessions: &[SelectedSession]| -> BTreeSet<SessionId> {
            sessions.iter().map(|one| one.session.clone()).collect()
        };
        let present: BTreeSet<SessionId> = diff.added.union(&diff.retained).cloned().collect();
        prop_assert_eq!(&present, &of(&now));
        prop_assert!(diff.added.is_disjoint(&diff.retained));
        prop_assert!(diff.removed.is_disjoint(&present));
        let before: BTreeSet<SessionId> = diff.removed.union(&of(&now)).cloned().collect();
        prop_assert!(of(&last).is_subset(&before));
    }
}

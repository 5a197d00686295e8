use daybook_domain::{EventSeq, Timestamp};

use super::*;
use crate::dataset::{EventRef, session_id};

fn event(seq: u64) -> EventRef {
    EventRef {
        session: session_id("s".to_owned()),
        seq: EventSeq(seq),
    }
}

fn hit(events: &[u64]) -> RetrievedText {
    RetrievedText {
        session: None,
        events: events.iter().copied().map(event).collect(),
        text: String::new(),
        excerpt: String::new(),
        at: Timestamp::ZERO,
    }
}

fn piece(events: &[u64]) -> EvidencePiece {
    EvidencePiece {
        label: String::new(),
        is_session: false,
        events: events.iter().copied().map(event).collect(),
    }
}

fn outcome(ranks: &[Option<usize>], tokens: u64, milliseconds: f64) -> RetrievalOutcome {
    RetrievalOutcome {
        ranks: ranks.to_vec(),
        results: ranks.iter().flatten().count(),
        shown: None,
        tokens,
        milliseconds,
    }
}

#[test]
fn a_result_counts_for_every_event_that_it_shows() {
    let evidence = [piece(&[1]), piece(&[2]), piece(&[7, 8, 9]), piece(&[5])];
    let results = [hit(&[3]), hit(&[1, 2]), hit(&[8]), hit(&[1]), hit(&[9])];
    let ranks = ranks(&evidence, &results);
    assert_eq!(ranks, [Some(2), Some(2), Some(3), None]);
}

#[test]
fn figures_are_those_that_are_computed_by_hand() {
    let outcomes = [
        outcome(&[Some(1), Some(6)], 100, 4.0),
        outcome(&[Some(12), None], 300, 1.0),
        outcome(&[None], 0, 2.0),
        outcome(&[Some(3)], 200, 3.0),
    ];
    let figures = RetrievalMetrics::of(&outcomes.iter().collect::<Vec<_>>());
    // Gain at rank r is 1 / log2(r + 1): 1 at 1, 1/2 at 3, 1/log2(7) at 6. Best for two: 1 + 1/log2(3).
    let two = 1.0 + 1.0 / 3.0_f64.log2();
    let first = (1.0 + 1.0 / 7.0_f64.log2()) / two;
    let expected = RetrievalMetrics {
        questions: 4,
        recall_5: (0.5 + 0.0 + 0.0 + 1.0) / 4.0,
        recall_10: (1.0 + 0.0 + 0.0 + 1.0) / 4.0,
        recall_20: (1.0 + 0.5 + 0.0 + 1.0) / 4.0,
        hit_1: 0.25,
        hit_3: 0.5,
        hit_10: 0.5,
        all_10: 0.5,
        mrr: (1.0 + 1.0 / 12.0 + 0.0 + 1.0 / 3.0) / 4.0,
        ndcg_10: (first + 0.0 + 0.0 + 0.5) / 4.0,
        shown: 0.0,
        tokens: 100,
        p50_ms: 2.0,
        p95_ms: 4.0,
        empty: 1,
    };
    assert!((figures.mrr - expected.mrr).abs() < 1e-12);
    assert!((figures.ndcg_10 - expected.ndcg_10).abs() < 1e-12);
    let exact = RetrievalMetrics {
        mrr: expected.mrr,
        ndcg_10: expected.ndcg_10,
        ..figures
    };
    assert_eq!(exact, expected);
}

#[test]
fn no_questions_make_figures_of_zero() {
    assert_eq!(RetrievalMetrics::of(&[]), RetrievalMetrics::default());
}

#[test]
fn a_result_without_events_shows_its_whole_session() {
    let whole = EvidencePiece {
        is_session: true,
        ..piece(&[1, 2])
    };
    let of = |name: &str| RetrievedText {
        session: Some(session_id(name.to_owned())),
        ..hit(&[])
    };
    let results = [of("other"), of("s")];
    assert_eq!(ranks(&[whole, piece(&[1])], &results), [Some(2), None]);
}

#[test]
fn what_is_shown_has_a_share_of_the_answers_words() {
    let shows = |text: &str| RetrievedText {
        excerpt: text.to_owned(),
        ..hit(&[1])
    };
    let results = [shows("the harbour"), shows("Oban and its harbours")];
    let share = |ranks: &[Option<usize>]| shown_share("The harbour of Oban", ranks, &results);
    assert_eq!(share(&[Some(2)]), Some(1.0));
    assert_eq!(share(&[None, Some(1)]), Some(0.5));
    assert_eq!(share(&[None]), None);
    assert_eq!(share(&[Some(4)]), None);
}

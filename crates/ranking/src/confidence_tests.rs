use proptest::prelude::*;

use super::*;

fn signals(share: f64, score: f64, angle: Option<f64>, concepts: usize) -> ConfidenceSignals {
    ConfidenceSignals {
        share,
        score,
        angle,
        concepts,
    }
}

#[test]
fn nothing_found_is_unlikely_and_everything_found_likely() {
    for angle in [None, Some(0.0)] {
        let none = RecallConfidence::of(signals(0.0, 0.0, angle, 2));
        assert_eq!(none.label, Likelihood::Unlikely);
        assert!(none.score < 0.5);
    }
    let all = signals(1.0, 1.3, None, 2);
    assert_eq!(RecallConfidence::of(all).label, Likelihood::Likely);
    let all = signals(1.0, 1.3, Some(0.8), 2);
    assert_eq!(RecallConfidence::of(all).label, Likelihood::Likely);
    assert_eq!(RecallConfidence::default().label, Likelihood::Unlikely);
}

#[test]
fn each_label_is_reached_as_more_of_the_question_is_found() {
    let steps =
        (0..=40).map(|step| signals(f64::from(step) / 40.0, f64::from(step) / 30.0, None, 3));
    let mut labels: Vec<&str> = steps
        .map(|s| RecallConfidence::of(s).label.as_str())
        .collect();
    labels.dedup();
    assert_eq!(labels, ["unlikely", "weak", "likely"]);
}

#[test]
fn likely_begins_at_one_half() {
    for step in 0..=100 {
        let share = f64::from(step) / 100.0;
        for angle in [None, Some(0.3)] {
            let confidence = RecallConfidence::of(signals(share, 1.0, angle, 2));
            assert_eq!(
                confidence.score >= 0.5,
                confidence.label == Likelihood::Likely
            );
        }
    }
}

#[test]
fn what_was_judged_by_comes_along() {
    let confidence = RecallConfidence::of(signals(0.25, 0.5, Some(0.75), 4));
    assert_eq!(confidence.signals, signals(0.25, 0.5, Some(0.75), 4));
    assert_eq!(
        serde_json::to_value(confidence.label).expect("a word"),
        confidence.label.as_str()
    );
}

proptest! {
    #[test]
    fn more_of_any_sign_never_makes_it_less_sure(
        (share, more_share) in (0.0..=1.0, 0.0..=1.0),
        (score, more_score) in (0.0..=2.0, 0.0..=2.0),
        (angle, more_angle) in (-1.0..=1.0, 0.0..=1.0),
        (concepts, more_concepts) in (0_usize..24, 0_usize..24),
        has_vector: bool,
    ) {
        let angle_of = |angle| has_vector.then_some(angle);
        let one = RecallConfidence::of(signals(share, score, angle_of(angle), concepts));
        let more = [
            signals(share + more_share, score, angle_of(angle), concepts),
            signals(share, score + more_score, angle_of(angle), concepts),
            signals(share, score, angle_of(angle + more_angle), concepts),
            signals(share, score, angle_of(angle), concepts + more_concepts),
        ];
        prop_assert!((0.0..=1.0).contains(&one.score));
        for more in more.map(RecallConfidence::of) {
            prop_assert!(more.label >= one.label);
            prop_assert!(more.score >= one.score);
        }
    }
}

//! Cuts events into batches that one append may carry each: by count, by bytes of text, and by what they retract.
//!
//! Everything that appends uses this rule, so no store has to refuse an append for its size. An event
//! stays whole: no event's text is longer than [`EVENT_TEXT`], which fits into an append, and none retracts more
//! than one append may.
//!
//! Not here: when a batch is appended, and what else is stored with it.
//!
//! [`EVENT_TEXT`]: daybook_domain::limits::EVENT_TEXT

use daybook_domain::NewEvent;
use daybook_domain::limits::{APPEND_BYTES, APPEND_EVENTS, EVENT_TEXT, RETRACTED_AT_ONCE};

const _: () = assert!(EVENT_TEXT <= APPEND_BYTES);

/// Splits events into batches of at most [`APPEND_EVENTS`] events and [`APPEND_BYTES`] bytes of text, which retract
/// at most [`RETRACTED_AT_ONCE`] events, in order.
pub(crate) fn split_batches(events: Vec<NewEvent>) -> Vec<Vec<NewEvent>> {
    let mut batches: Vec<Vec<NewEvent>> = Vec::new();
    let (mut bytes, mut retracted) = (0, 0);
    for event in events {
        let (length, retracts) = (event.text.len(), event.retracts.len());
        let has_room = |batch: &Vec<NewEvent>| {
            batch.len() < APPEND_EVENTS
                && bytes + length <= APPEND_BYTES
                && retracted + retracts <= RETRACTED_AT_ONCE
        };
        match batches.last_mut().filter(|batch| has_room(batch)) {
            Some(batch) => {
                (bytes, retracted) = (bytes + length, retracted + retracts);
                batch.push(event);
            }
            None => {
                (bytes, retracted) = (length, retracts);
                batches.push(vec![event]);
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use daybook_domain::{EventId, EventSeq, Origin, Timestamp};
    use proptest::prelude::*;

    use super::*;

    fn event(bytes: usize) -> NewEvent {
        NewEvent {
            id: EventId(0),
            line: 0,
            origin: Origin::ToolResult,
            at: Timestamp(0),
            text: "x".repeat(bytes),
            tool: None,
            call: None,
            status: None,
            sidechain: false,
            reports_external: false,
            place: None,
            tokens: String::new(),
            retracts: Vec::new(),
        }
    }

    fn check(lengths: &[usize]) -> Vec<usize> {
        let events: Vec<NewEvent> = lengths.iter().map(|bytes| event(*bytes)).collect();
        let batches = split_batches(events.clone());
        for batch in &batches {
            let bytes: usize = batch.iter().map(|event| event.text.len()).sum();
            assert!(batch.len() <= APPEND_EVENTS && bytes <= APPEND_BYTES);
        }
        assert_eq!(batches.concat(), events);
        batches.iter().map(Vec::len).collect()
    }

    #[test]
    fn a_batch_holds_no_more_than_an_append_may_carry() {
        assert!(check(&[]).is_empty());
        assert_eq!(check(&[EVENT_TEXT; 5]), [2, 2, 1]);
        assert_eq!(check(&[1, EVENT_TEXT, EVENT_TEXT]), [2, 1]);
        assert_eq!(check(&vec![1; APPEND_EVENTS + 1]), [APPEND_EVENTS, 1]);
        // What one stretch of a real transcript averages.
        assert_eq!(check(&vec![2_063; 256]), [254, 2]);
    }

    #[test]
    fn a_batch_retracts_no_more_than_an_append_may() {
        let retraction = NewEvent {
            retracts: vec![EventSeq(1); RETRACTED_AT_ONCE - 1],
            ..event(1)
        };
        let small = NewEvent {
            retracts: vec![EventSeq(1)],
            ..event(1)
        };
        let batches = split_batches(vec![retraction, small.clone(), event(1), small]);
        assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [3, 1]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_batch_is_too_large_and_no_event_is_lost(
            lengths in proptest::collection::vec(
                prop_oneof![0..100_usize, 0..8_192_usize, 0..=EVENT_TEXT], 0..40,
            )
        ) {
            check(&lengths);
        }
    }
}

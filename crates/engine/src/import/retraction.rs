//! Retractions as the log keeps them: events with the positions of the events that they retract.
//!
//! A reader names events by id; the log names them by position. A retraction of more events than one append may
//! retract is several events.
//!
//! Not here: what a retraction does to observations.

use std::collections::HashSet;

use daybook_domain::limits::RETRACTED_AT_ONCE;
use daybook_domain::{EventId, EventSeq, NewEvent, Origin, Timestamp};

/// The retraction with the positions of the events that it retracts, of those in `known`.
pub(super) fn resolve(
    retraction: &NewEvent,
    retracts: &[EventId],
    known: &[(EventSeq, EventId)],
) -> Vec<NewEvent> {
    let named: HashSet<&EventId> = retracts.iter().collect();
    let is_named = |(_, id): &&(EventSeq, EventId)| named.contains(id);
    let seqs: Vec<EventSeq> = known.iter().filter(is_named).map(|(seq, _)| *seq).collect();
    split(retraction, &seqs)
}

/// Retracts the events at `seqs`, which a rewritten file no longer holds.
pub(super) fn of_missing(seqs: &[EventSeq], at: Timestamp) -> Vec<NewEvent> {
    let retraction = NewEvent {
        id: EventId(0),
        line: 0,
        origin: Origin::Retraction,
        at,
        text: String::new(),
        tool: None,
        call: None,
        status: None,
        sidechain: false,
        reports_external: false,
        place: None,
        tokens: String::new(),
        retracts: Vec::new(),
    };
    let mut retractions = split(&retraction, seqs);
    for retraction in &mut retractions {
        let seqs = retraction.retracts.iter();
        let numbers: Vec<String> = seqs.map(|seq| seq.0.to_string()).collect();
        retraction.id = EventId::of(&[b"rewritten", numbers.join(" ").as_bytes()]);
    }
    retractions
}

/// One event for as many positions as one append may retract. The first keeps the retraction's id.
fn split(retraction: &NewEvent, seqs: &[EventSeq]) -> Vec<NewEvent> {
    let parts = seqs.chunks(RETRACTED_AT_ONCE).zip(0_u64..);
    parts
        .map(|(seqs, nth)| NewEvent {
            id: match nth {
                0 => retraction.id,
                nth => EventId::of(&[
                    b"further",
                    &retraction.id.0.to_le_bytes(),
                    &nth.to_le_bytes(),
                ]),
            },
            text: description(seqs),
            retracts: seqs.to_vec(),
            ..retraction.clone()
        })
        .collect()
}

/// The ascending positions for people, in ranges.
fn description(seqs: &[EventSeq]) -> String {
    let runs = seqs.chunk_by(|one, next| one.0 + 1 == next.0);
    let runs: Vec<String> = runs
        .map(|run| match run {
            [] => String::new(),
            [only] => only.0.to_string(),
            [first, .., last] => format!("{}-{}", first.0, last.0),
        })
        .collect();
    let noun = if seqs.len() == 1 { "event" } else { "events" };
    format!("retracts {noun} {}", runs.join(", "))
}

#[cfg(test)]
mod tests {
    use daybook_domain::limits::EVENT_TEXT;

    use super::*;

    #[test]
    fn a_retraction_of_more_than_one_event_holds_is_several() {
        let seqs: Vec<EventSeq> = (1..=30_000).map(|n| EventSeq(2 * n)).collect();
        let events = of_missing(&seqs, Timestamp(7));
        assert_eq!(events.len(), 3);
        let ids: HashSet<EventId> = events.iter().map(|event| event.id).collect();
        assert_eq!(ids.len(), 3);
        assert!(events.iter().all(|event| event.text.len() <= EVENT_TEXT));
        let retracted: Vec<EventSeq> = events.into_iter().flat_map(|e| e.retracts).collect();
        assert_eq!(retracted, seqs);
    }

    #[test]
    fn what_a_rewritten_file_lacks_is_retracted_under_the_id_of_former_versions() {
        let seqs = [3, 4, 5, 9].map(EventSeq);
        let [event] = &of_missing(&seqs, Timestamp(7))[..] else {
            panic!("one event has room for four positions");
        };
        assert_eq!(event.id, EventId::of(&[b"rewritten", b"3 4 5 9"]));
        assert_eq!(event.retracts, seqs);
        assert_eq!(event.text, "retracts events 3-5, 9");
    }

    #[test]
    fn events_named_by_id_are_named_by_position() {
        let known = [(EventSeq(3), EventId(0xaa)), (EventSeq(4), EventId(0xbb))];
        let retraction = NewEvent {
            id: EventId(9),
            ..of_missing(&[EventSeq(1)], Timestamp(0)).remove(0)
        };
        let resolved = resolve(&retraction, &[EventId(0xbb), EventId(0xcc)], &known);
        let expected = NewEvent {
            text: "retracts event 4".to_owned(),
            retracts: vec![EventSeq(4)],
            ..retraction.clone()
        };
        assert_eq!(resolved, [expected]);
        assert_eq!(resolve(&retraction, &[EventId(0xcc)], &known), []);
    }
}

//! Retractions as the log keeps them: events that name the places of the events they take back.
//!
//! A reader names events by id; the log names them by place. No retraction's text is longer than an
//! event's may be: one that takes back more is several events.
//!
//! Not here: what a retraction does to observations.

use std::collections::HashSet;

use daybook_domain::limits::EVENT_TEXT;
use daybook_domain::{EventId, EventSeq, NewEvent, Origin, Timestamp};

/// Most digits of a place, and a blank.
const PLACE_TEXT: usize = 21;

/// The retraction with the places of the events that its text names, of those in `known`.
pub(super) fn resolve(retraction: &NewEvent, known: &[(EventSeq, EventId)]) -> Vec<NewEvent> {
    let named: HashSet<EventId> = retraction
        .text
        .split_whitespace()
        .filter_map(|id| u128::from_str_radix(id, 16).ok().map(EventId))
        .collect();
    let is_named = |(_, id): &&(EventSeq, EventId)| named.contains(id);
    let places: Vec<EventSeq> = known.iter().filter(is_named).map(|(seq, _)| *seq).collect();
    split(retraction, &places, EVENT_TEXT)
}

/// Takes back the events at `places`, which a rewritten file no longer holds.
pub(super) fn of_missing(places: &[EventSeq], at: Timestamp) -> Vec<NewEvent> {
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
        place: None,
        tokens: String::new(),
    };
    let mut retractions = split(&retraction, places, EVENT_TEXT);
    for retraction in &mut retractions {
        retraction.id = EventId::of(&[b"rewritten", retraction.text.as_bytes()]);
    }
    retractions
}

/// One event for as many places as `most` bytes of text hold. The first keeps the retraction's id.
fn split(retraction: &NewEvent, places: &[EventSeq], most: usize) -> Vec<NewEvent> {
    let texts = places.chunks((most / PLACE_TEXT).max(1)).map(|places| {
        let places: Vec<String> = places.iter().map(|seq| seq.0.to_string()).collect();
        places.join(" ")
    });
    texts
        .zip(0_u64..)
        .map(|(text, nth)| NewEvent {
            id: match nth {
                0 => retraction.id,
                nth => EventId::of(&[
                    b"further",
                    &retraction.id.0.to_le_bytes(),
                    &nth.to_le_bytes(),
                ]),
            },
            text,
            ..retraction.clone()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retraction_of_more_than_one_event_holds_is_several() {
        let places: Vec<EventSeq> = (1..=30_000).map(EventSeq).collect();
        let events = of_missing(&places, Timestamp(7));
        assert_eq!(events.len(), 3);
        let ids: HashSet<EventId> = events.iter().map(|event| event.id).collect();
        assert_eq!(ids.len(), 3);
        assert!(events.iter().all(|event| event.text.len() <= EVENT_TEXT));
        let texts: Vec<&str> = events.iter().flat_map(|e| e.text.split(' ')).collect();
        let expected: Vec<String> = places.iter().map(|seq| seq.0.to_string()).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn events_named_by_id_are_named_by_place() {
        let known = [(EventSeq(3), EventId(0xaa)), (EventSeq(4), EventId(0xbb))];
        let named = NewEvent {
            id: EventId(9),
            text: "bb cc".to_owned(),
            ..of_missing(&[EventSeq(1)], Timestamp(0)).remove(0)
        };
        let resolved = resolve(&named, &known);
        assert_eq!(resolved.len(), 1);
        assert_eq!(
            (resolved[0].id, resolved[0].text.as_str()),
            (EventId(9), "4")
        );
        let unknown = NewEvent {
            text: "cc".to_owned(),
            ..named
        };
        assert_eq!(resolve(&unknown, &known), []);
    }
}

//! How much of a session one pass reads.
//!
//! A window holds whole turns, so that nothing is judged without its answer. A single turn that
//! is longer than a window is cut: better read in parts than never.
//!
//! Not here: whether a session is due.

use daybook_domain::{Event, Origin};

/// Most events of a window.
pub const WINDOW_EVENTS: usize = 2_000;
/// Most bytes of text of a window; a single event may exceed it on its own.
pub const WINDOW_BYTES: usize = 2 * 1024 * 1024;

/// How many of `events`, the next to be read, make a window. At least one when there is any; never
/// more than the bounds allow.
#[must_use]
pub fn window_len(events: &[Event]) -> usize {
    let room = within_bounds(events);
    if room == events.len() {
        return room;
    }
    // A turn begins with a person's message; the window ends before the last that has room.
    let begins = |i: &usize| events[*i].origin == Origin::Human && !events[*i].sidechain;
    match (1..=room).rev().find(begins) {
        Some(turn) => behind_refusal(events, turn),
        None => room,
    }
}

fn within_bounds(events: &[Event]) -> usize {
    let mut bytes = 0_usize;
    for (i, event) in events.iter().enumerate() {
        bytes = bytes.saturating_add(event.text.len());
        if i >= WINDOW_EVENTS || (i > 0 && bytes > WINDOW_BYTES) {
            return i;
        }
    }
    events.len()
}

/// Words that refuse a call stay with the call: both stand on one line.
fn behind_refusal(events: &[Event], turn: usize) -> usize {
    let line = events[turn].line;
    let mut cut = turn;
    while cut > 1 && line > 0 && events[cut - 1].line == line {
        cut -= 1;
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use daybook_domain::{EventSeq, Timestamp};

    fn event(seq: u64, origin: Origin, bytes: usize) -> Event {
        Event {
            seq: EventSeq(seq),
            line: u32::try_from(seq).unwrap_or(0),
            origin,
            at: Timestamp::ZERO,
            text: "x".repeat(bytes),
            tool: None,
            call: None,
            status: None,
            sidechain: false,
            place: None,
        }
    }

    /// `turns`: how many events each turn has, every one of `bytes` bytes.
    fn check(turns: &[usize], bytes: usize, expected: usize) {
        let mut events = Vec::new();
        for turn in turns {
            for n in 0..*turn {
                let origin = if n == 0 {
                    Origin::Human
                } else {
                    Origin::Assistant
                };
                events.push(event(events.len() as u64 + 1, origin, bytes));
            }
        }
        assert_eq!(window_len(&events), expected);
    }

    #[test]
    fn what_fits_is_one_window() {
        check(&[], 1, 0);
        check(&[3, 4], 1, 7);
        check(&[WINDOW_EVENTS], 1, WINDOW_EVENTS);
    }

    #[test]
    fn a_window_ends_before_a_turn_that_has_no_room() {
        check(&[1_500, 400, 400], 1, 1_900);
        check(&[10, 10, 10], 100 * 1024, 20);
    }

    #[test]
    fn a_turn_longer_than_a_window_is_cut() {
        check(&[WINDOW_EVENTS + 1], 1, WINDOW_EVENTS);
        check(&[2, 2], WINDOW_BYTES + 1, 1);
    }
}

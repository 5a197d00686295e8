//! Windows: how much of a session one pass reads.
//!
//! A window holds whole turns, so that each message is read together with its answer. A single turn that
//! is longer than a window is cut, since otherwise it would never be read.
//!
//! Not here: whether a session is due.

use daybook_domain::{Event, Origin, ToolStatus};

use super::model::message_chars;

/// Most of a session that one pass reads. A single event may exceed all but `events` on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowLimits {
    /// Most events; at least 1.
    pub events: usize,
    /// Most bytes of their text.
    pub bytes: usize,
    /// Most messages of the main conversation (MindRoom's `max_messages_per_flush`), or `usize::MAX` for any
    /// number. Fewer means more passes over a session.
    pub messages: usize,
    /// Most characters of these messages, each counted as a silent turn renders it
    /// (MindRoom's `max_chars_per_flush`), or `usize::MAX`.
    pub chars: usize,
}

impl Default for WindowLimits {
    fn default() -> Self {
        Self {
            events: 2_000,
            bytes: 2 * 1024 * 1024,
            messages: usize::MAX,
            chars: usize::MAX,
        }
    }
}

/// The number of leading `events` that form the next window. At least one unless `events` is empty; within
/// the limits, except for a single event that exceeds them alone.
#[must_use]
pub fn window_len(events: &[Event], limits: WindowLimits) -> usize {
    let room = within_limits(events, limits);
    if room == events.len() {
        return room;
    }
    // A turn begins with a person's message; the window ends where the last turn begins that does not fit.
    let begins = |i: &usize| events[*i].origin == Origin::Human && !events[*i].sidechain;
    match (1..=room).rev().find(begins) {
        Some(turn) => keep_refusal_with_call(events, turn),
        None => room,
    }
}

fn within_limits(events: &[Event], limits: WindowLimits) -> usize {
    let (mut bytes, mut messages, mut chars) = (0_usize, 0_usize, 0_usize);
    for (i, event) in events.iter().enumerate() {
        bytes = bytes.saturating_add(event.text.len());
        let mut is_over = bytes > limits.bytes;
        if let Some(shown) = message_chars(event) {
            messages += 1;
            chars = chars.saturating_add(shown);
            is_over |= messages > limits.messages || chars > limits.chars;
        }
        if i >= limits.events || (i > 0 && is_over) {
            return i;
        }
    }
    events.len()
}

/// Moves a cut before the refused call whose refusal begins at `turn`: both have the same line number.
pub(crate) fn keep_refusal_with_call(events: &[Event], turn: usize) -> usize {
    let line = events[turn].line;
    let mut cut = turn;
    let refused = |event: &Event| event.status == Some(ToolStatus::Refused);
    while cut > 1 && line > 0 && events[cut - 1].line == line && refused(&events[cut - 1]) {
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
        assert_eq!(window_len(&events, LIMITS), expected);
    }

    const LIMITS: WindowLimits = WindowLimits {
        events: 2_000,
        bytes: 2 * 1024 * 1024,
        messages: usize::MAX,
        chars: usize::MAX,
    };

    #[test]
    fn what_fits_is_one_window() {
        check(&[], 1, 0);
        check(&[3, 4], 1, 7);
        check(&[2_000], 1, 2_000);
    }

    #[test]
    fn a_window_ends_before_a_turn_that_has_no_room() {
        check(&[1_500, 400, 400], 1, 1_900);
        check(&[10, 10, 10], 100 * 1024, 20);
    }

    #[test]
    fn a_turn_longer_than_a_window_is_cut() {
        check(&[2_001], 1, 2_000);
        check(&[2, 2], LIMITS.bytes + 1, 1);
    }

    /// A person's message, the agent's on the way, and its calls.
    fn turn(messages: usize, calls: usize, bytes: usize) -> Vec<Event> {
        let mut turn = vec![event(1, Origin::Human, bytes)];
        turn.extend((1..messages).map(|_| event(2, Origin::Assistant, bytes)));
        turn.extend((0..calls).map(|_| event(3, Origin::ToolCall, bytes)));
        turn
    }

    fn check_turns(turns: &[(usize, usize)], bytes: usize, limits: WindowLimits, expected: usize) {
        let turns = turns
            .iter()
            .map(|(messages, calls)| turn(*messages, *calls, bytes));
        let events: Vec<Event> = turns.flatten().collect();
        assert_eq!(window_len(&events, limits), expected);
    }

    #[test]
    fn a_window_holds_no_more_messages_than_a_silent_turn_shows() {
        let twenty = WindowLimits {
            messages: 20,
            ..LIMITS
        };
        check_turns(&[(10, 90), (10, 90), (1, 0)], 1, twenty, 200);
        check_turns(&[(15, 5), (6, 5)], 1, twenty, 20);
        check_turns(&[(21, 0)], 1, twenty, 20);
    }

    #[test]
    fn a_window_holds_no_more_characters_than_a_silent_turn_shows() {
        let chars = 12_000;
        let some = WindowLimits { chars, ..LIMITS };
        // `user: ` or `assistant: `, at most 500 characters, and a line feed.
        check_turns(&[(1, 1), (1, 1), (1, 1)], 9_000, some, 6);
        check_turns(&[(1, 9); 24], 600, some, 230);
        check_turns(
            &[(1, 9), (1, 0)],
            600,
            WindowLimits { chars: 1, ..LIMITS },
            10,
        );
    }
}

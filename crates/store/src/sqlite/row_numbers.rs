//! Numbers of rows: those of events within their session, and bounds as SQL counts them.

use daybook_domain::EventSeq;

/// Number of an event's row: one tree holds all sessions, each in one range.
pub(super) fn event_no(session: i64, seq: EventSeq) -> i64 {
    let seq = i64::try_from(seq.0)
        .unwrap_or(i64::MAX)
        .min(i64::from(u32::MAX));
    (session << 32) | seq
}

/// The numbers between which all events of a session lie.
pub(super) fn event_nos(session: i64) -> (i64, i64) {
    (session << 32, (session << 32) | i64::from(u32::MAX))
}

/// The position in its session of the event with this row number.
pub(super) fn seq_of(event_no: i64) -> EventSeq {
    EventSeq(event_no.cast_unsigned() & u64::from(u32::MAX))
}

/// The number of the session of the event with this row number.
pub(super) fn session_of(event_no: i64) -> i64 {
    event_no >> 32
}

/// A bound on rows as SQL counts them.
pub(super) fn at_most(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

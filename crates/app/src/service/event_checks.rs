//! The bounds of events that programs report, whatever the interface.

use anyhow::{Result, bail};
use daybook_domain::Timestamp;
use daybook_domain::limits::APPEND_EVENTS;
use daybook_engine::append::batch::{ReportedEvent, SpeakerRole};

use super::RequestError;

/// Longest id of an event, in bytes.
const EVENT_ID: usize = 256;
/// Longest name of a tool, in bytes.
const TOOL: usize = 128;
/// How far the sender's clock may be ahead of ours, in milliseconds.
const AHEAD: i64 = 24 * 60 * 60 * 1000;

/// Checks the events of one append. The error names the field that does not fit.
pub(crate) fn check_events(events: &[ReportedEvent], now: Timestamp) -> Result<()> {
    check_number(events.len())?;
    for (n, event) in events.iter().enumerate() {
        check_event(n, event, now)?;
    }
    Ok(())
}

/// Checks how many events one append has.
pub(crate) fn check_number(events: usize) -> Result<()> {
    if events == 0 || events > APPEND_EVENTS {
        bail!(RequestError::Invalid(format!(
            "{events} events; send 1 to {APPEND_EVENTS} in one request"
        )));
    }
    Ok(())
}

fn check_event(n: usize, event: &ReportedEvent, now: Timestamp) -> Result<()> {
    for (field, text, most) in [("id", &event.id, EVENT_ID), ("tool", &event.tool, TOOL)] {
        if text
            .as_ref()
            .is_some_and(|text| text.is_empty() || text.len() > most)
        {
            bail!(RequestError::Invalid(format!(
                "events[{n}].{field} is 1 to {most} bytes, or left out"
            )));
        }
    }
    if event.text.trim().is_empty() && event.role != SpeakerRole::Tool {
        bail!(RequestError::Invalid(format!(
            "events[{n}].text is blank; leave the event out"
        )));
    }
    // A session rests by the times of its events: one from the future would wait until then.
    let is_wrong = |at: Timestamp| at <= Timestamp::ZERO || at.0 > now.0.saturating_add(AHEAD);
    if event.at.is_some_and(is_wrong) {
        bail!(RequestError::Invalid(format!(
            "events[{n}].at lies before 1970 or more than a day ahead; check the sender's clock"
        )));
    }
    Ok(())
}

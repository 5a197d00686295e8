//! Checks the events of an append request and converts them.

use anyhow::Result;
use daybook_domain::Timestamp;
use daybook_domain::limits::APPEND_EVENTS;
use daybook_engine::append::batch::{ReportedEvent, SpeakerRole};

use super::bounds::invalid_request;
use super::shapes::AppendEvent;

/// Longest id of an event, in bytes.
const EVENT_ID: usize = 256;
/// Longest name of a tool, in bytes.
const TOOL: usize = 128;
/// How far the sender's clock may be ahead of ours, in milliseconds.
const AHEAD: i64 = 24 * 60 * 60 * 1000;

pub(super) fn reported_events(
    events: Vec<AppendEvent>,
    now: Timestamp,
) -> Result<Vec<ReportedEvent>> {
    if events.is_empty() || events.len() > APPEND_EVENTS {
        let many = events.len();
        return Err(invalid_request(format!(
            "{many} events; send 1 to {APPEND_EVENTS} in one request"
        )));
    }
    let events = events.into_iter().enumerate();
    events
        .map(|(n, event)| reported_event(n, event, now))
        .collect()
}

fn reported_event(n: usize, event: AppendEvent, now: Timestamp) -> Result<ReportedEvent> {
    for (field, text, most) in [("id", &event.id, EVENT_ID), ("tool", &event.tool, TOOL)] {
        if text
            .as_ref()
            .is_some_and(|text| text.is_empty() || text.len() > most)
        {
            return Err(invalid_request(format!(
                "events[{n}].{field} is 1 to {most} bytes, or left out"
            )));
        }
    }
    let role = event.role.into();
    if event.text.trim().is_empty() && role != SpeakerRole::Tool {
        return Err(invalid_request(format!(
            "events[{n}].text is blank; leave the event out"
        )));
    }
    let at = match event.at {
        Some(at) => Some(parse_time(n, &at, now)?),
        None => None,
    };
    Ok(ReportedEvent {
        id: event.id,
        role,
        text: event.text,
        at,
        tool: event.tool,
        external: event.external,
    })
}

fn parse_time(n: usize, text: &str, now: Timestamp) -> Result<Timestamp> {
    let Ok(at) = text.parse::<jiff::Timestamp>() else {
        return Err(invalid_request(format!(
            "events[{n}].at is no time; write for example 2026-03-02T08:15:00Z"
        )));
    };
    let at = Timestamp(at.as_millisecond());
    // A session rests by the times of its events: one from the future would wait until then.
    if at <= Timestamp::ZERO || at.0 > now.0.saturating_add(AHEAD) {
        return Err(invalid_request(format!(
            "events[{n}].at lies before 1970 or more than a day ahead; check the sender's clock"
        )));
    }
    Ok(at)
}

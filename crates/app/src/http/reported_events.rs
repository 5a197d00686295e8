//! Converts the events of an append request.
//!
//! Not here: the bounds of an event (`service::event_checks`).

use anyhow::Result;
use daybook_domain::Timestamp;
use daybook_engine::append::batch::ReportedEvent;

use super::bounds::invalid_request;
use super::shapes::AppendEvent;
use crate::service::event_checks::{check_events, check_number};

pub(super) fn reported_events(
    events: Vec<AppendEvent>,
    now: Timestamp,
) -> Result<Vec<ReportedEvent>> {
    check_number(events.len())?;
    let events = events.into_iter().enumerate();
    let events: Vec<ReportedEvent> = events
        .map(|(n, event)| reported_event(n, event))
        .collect::<Result<_>>()?;
    check_events(&events, now)?;
    Ok(events)
}

fn reported_event(n: usize, event: AppendEvent) -> Result<ReportedEvent> {
    let at = match event.at {
        Some(at) => Some(parse_time(n, &at)?),
        None => None,
    };
    Ok(ReportedEvent {
        id: event.id,
        role: event.role.into(),
        text: event.text,
        at,
        tool: event.tool,
        external: event.external,
    })
}

fn parse_time(n: usize, text: &str) -> Result<Timestamp> {
    match text.parse::<jiff::Timestamp>() {
        Ok(at) => Ok(Timestamp(at.as_millisecond())),
        Err(_) => Err(invalid_request(format!(
            "events[{n}].at is no time; write for example 2026-03-02T08:15:00Z"
        ))),
    }
}

//! Events that a program tells, checked.

use anyhow::Result;
use daybook_domain::Timestamp;
use daybook_domain::limits::APPEND_EVENTS;
use daybook_engine::ingest::told::{Role, Told};

use super::bounds::unfit;
use super::shapes::ToldEvent;

/// Longest id of an event, in bytes.
const EVENT_ID: usize = 256;
/// Longest name of a tool, in bytes.
const TOOL: usize = 128;
/// How far ahead of our clock a teller's may be, in milliseconds.
const AHEAD: i64 = 24 * 60 * 60 * 1000;

pub(super) fn told(events: Vec<ToldEvent>, now: Timestamp) -> Result<Vec<Told>> {
    if events.is_empty() || events.len() > APPEND_EVENTS {
        let many = events.len();
        return Err(unfit(format!(
            "{many} events; send 1 to {APPEND_EVENTS} in one request"
        )));
    }
    let events = events.into_iter().enumerate();
    events.map(|(n, event)| one_told(n, event, now)).collect()
}

fn one_told(n: usize, event: ToldEvent, now: Timestamp) -> Result<Told> {
    for (field, text, most) in [("id", &event.id, EVENT_ID), ("tool", &event.tool, TOOL)] {
        if text
            .as_ref()
            .is_some_and(|text| text.is_empty() || text.len() > most)
        {
            return Err(unfit(format!(
                "events[{n}].{field} is 1 to {most} bytes, or left out"
            )));
        }
    }
    let role = event.role.into();
    if event.text.trim().is_empty() && role != Role::Tool {
        return Err(unfit(format!(
            "events[{n}].text is blank; leave the event out"
        )));
    }
    let at = match event.at {
        Some(at) => Some(time(n, &at, now)?),
        None => None,
    };
    Ok(Told {
        id: event.id,
        role,
        text: event.text,
        at,
        tool: event.tool,
    })
}

fn time(n: usize, text: &str, now: Timestamp) -> Result<Timestamp> {
    let Ok(at) = text.parse::<jiff::Timestamp>() else {
        return Err(unfit(format!(
            "events[{n}].at is no time; write for example 2026-03-02T08:15:00Z"
        )));
    };
    let at = Timestamp(at.as_millisecond());
    // A session rests by the times that its events name: one from the future would wait until then.
    if at <= Timestamp::ZERO || at.0 > now.0.saturating_add(AHEAD) {
        return Err(unfit(format!(
            "events[{n}].at lies before 1970 or more than a day ahead; check the sender's clock"
        )));
    }
    Ok(at)
}

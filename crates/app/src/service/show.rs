//! Shows the original text behind a citation.

use anyhow::{Context as _, Result, bail};
use daybook_domain::{Citation, EXPIRED_EVENT, Event, EventSeq, Reach, Session};
use daybook_text::citation_block;

use super::caller::keep_reached_events;
use super::{RequestError, format_time};
use crate::wiring::Daybook;

/// Most events that one citation shows.
pub(crate) const MAX_EVENTS: usize = 500;

/// Loads the session that a citation names, and its cited events with `around` lines before and after each range, as
/// far as they are in reach.
pub(crate) async fn load_cited(
    daybook: &Daybook,
    citation: &str,
    around: u32,
    reach: &Reach,
) -> Result<(Session, Vec<Event>)> {
    let citation = Citation::parse(citation).with_context(|| {
        RequestError::Invalid(format!(
            "\"{citation}\" is not a citation; write for example 7f78:L636"
        ))
    })?;
    let session = find_session(daybook, &citation, reach).await?;
    let mut events = load_events(daybook, &session, &citation, around).await?;
    let loaded = events.len();
    keep_reached_events(daybook, reach, &session, &mut events).await?;
    if events.is_empty() && loaded > 0 {
        bail!(out_of_reach(&citation));
    }
    // Their words were lost with a database, and no transcript has brought them back.
    events.retain(|event| event.text != EXPIRED_EVENT);
    events.iter_mut().for_each(citation_block::hide_in);
    if events.is_empty() {
        bail!(RequestError::NotFound(format!(
            "source expired: session {} has no such lines any more",
            session.id
        )));
    }
    Ok((session, events))
}

/// The error for a citation of what a caller may not read. It says no more of it than that.
fn out_of_reach(citation: &Citation) -> RequestError {
    RequestError::NotFound(format!(
        "this caller reads none of {}; name the agent, the user, the room or the team that does",
        citation.session
    ))
}

async fn find_session(daybook: &Daybook, citation: &Citation, reach: &Reach) -> Result<Session> {
    let mut sessions = daybook
        .store
        .find_sessions(&daybook.tenant, &citation.session)
        .await?;
    match sessions.len() {
        1 => Ok(sessions.remove(0)),
        0 => bail!(RequestError::NotFound(format!(
            "source expired: no session is called {}",
            citation.session
        ))),
        _ if *reach != Reach::Everything => bail!(RequestError::Invalid(format!(
            "{} may be any of several sessions; write more of its name",
            citation.session
        ))),
        _ => {
            let names: Vec<String> = sessions.iter().map(|s| s.id.host_id.clone()).collect();
            bail!(RequestError::Invalid(format!(
                "{} may be any of: {}",
                citation.session,
                names.join(", ")
            )))
        }
    }
}

async fn load_events(
    daybook: &Daybook,
    session: &Session,
    citation: &Citation,
    around: u32,
) -> Result<Vec<Event>> {
    if citation.lines.is_empty() {
        let (from, upto) = (EventSeq(0), session.events);
        return Ok(daybook
            .store
            .events(&session.id, from, upto, MAX_EVENTS, usize::MAX)
            .await?);
    }
    let mut events: Vec<Event> = Vec::new();
    for (from, to) in &citation.lines {
        let lines = (from.saturating_sub(around), to.saturating_add(around));
        let in_range = daybook
            .store
            .events_at(&session.id, lines, MAX_EVENTS)
            .await?;
        let after = events.last().map_or(EventSeq(0), |event| event.seq);
        events.extend(in_range.into_iter().filter(|event| event.seq > after));
    }
    events.truncate(MAX_EVENTS);
    Ok(events)
}

/// The speaker, place and time of an event, in one line.
pub(crate) fn byline(daybook: &Daybook, event: &Event) -> String {
    let parts = [
        Some(format!("L{}", event.line)),
        Some(event.origin.as_str().replace('_', " ")),
        event.tool.clone(),
        event.status.map(|status| status.as_str().to_owned()),
        format_time(daybook, event.at, "%-d %b %Y %H:%M"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

//! `daybook show`: the original words behind a citation.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use daybook_domain::seams::SessionStore;
use daybook_domain::{Citation, Event, EventSeq, Session};
use serde_json::json;

use super::Common;
use super::recall::rfc3339;
use crate::output::{bold, dim, json as print_json};
use crate::wiring::{Daybook, block_on};

/// Most events that are shown at once.
const EVENTS: usize = 500;

/// The original words behind a citation.
#[derive(Args)]
pub(crate) struct Show {
    /// A citation such as 7f78:L636, or a session's name for all of it
    citation: String,
    /// Lines before and after, too
    #[arg(short = 'C', long, default_value_t = 0)]
    around: u32,
}

impl Show {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let cited = Citation::parse(&self.citation).with_context(|| {
            format!(
                "\"{}\" is not a citation; write for example 7f78:L636",
                self.citation
            )
        })?;
        let daybook = Daybook::open_existing(common)?;
        let (session, events) = block_on(async {
            let session = find(&daybook, &cited).await?;
            let events = self.events(&daybook, &session, &cited).await?;
            Ok((session, events))
        })?;
        if events.is_empty() {
            bail!(
                "source expired: session {} has no such lines any more",
                session.id
            );
        }
        if common.json {
            print_json(&json!({ "session": session, "events": events }))?;
            return Ok(ExitCode::SUCCESS);
        }
        anstream::println!("{}", bold(&session.id.to_string()));
        for event in &events {
            print_event(&daybook, event);
        }
        if events.len() == EVENTS {
            anstream::println!(
                "{}",
                dim("… cut here; ask for a range of lines to see more")
            );
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn events(
        &self,
        daybook: &Daybook,
        session: &Session,
        cited: &Citation,
    ) -> Result<Vec<Event>> {
        if cited.lines.is_empty() {
            let (from, upto) = (EventSeq(0), session.events);
            return Ok(daybook
                .store
                .events(&session.id, from, upto, EVENTS, usize::MAX)
                .await?);
        }
        let mut events: Vec<Event> = Vec::new();
        for (from, to) in &cited.lines {
            let lines = (
                from.saturating_sub(self.around),
                to.saturating_add(self.around),
            );
            let found = daybook.store.events_at(&session.id, lines, EVENTS).await?;
            let after = events.last().map_or(EventSeq(0), |event| event.seq);
            events.extend(found.into_iter().filter(|event| event.seq > after));
        }
        events.truncate(EVENTS);
        Ok(events)
    }
}

async fn find(daybook: &Daybook, cited: &Citation) -> Result<Session> {
    let mut found = daybook
        .store
        .find_sessions(&daybook.tenant, &cited.session)
        .await?;
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => bail!("source expired: no session is called {}", cited.session),
        _ => {
            let names: Vec<String> = found.iter().map(|s| s.id.host_id.clone()).collect();
            bail!("{} may be any of: {}", cited.session, names.join(", "))
        }
    }
}

fn print_event(daybook: &Daybook, event: &Event) {
    let at = rfc3339(event.at).and_then(|at| at.parse::<jiff::Timestamp>().ok());
    let at = at.map(|at| {
        at.to_zoned(daybook.settings.zone.clone())
            .strftime("%-d %b %Y %H:%M")
            .to_string()
    });
    let tool = event.tool.clone();
    let status = event.status.map(|status| status.word().to_owned());
    let line = Some(format!("L{}", event.line));
    let who = Some(event.origin.word().replace('_', " "));
    let parts: Vec<String> = [line, who, tool, status, at]
        .into_iter()
        .flatten()
        .collect();
    anstream::println!("\n{}", dim(&parts.join(" · ")));
    anstream::println!("{}", event.text.trim_end());
}

//! `daybook show`: prints the original text behind a citation.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use daybook_domain::{Event, EventSeq, Session, UseKind, UsedBy};
use daybook_engine::recall::interface_use::InterfaceUse;
use serde_json::json;

use super::CommonArgs;
use super::scope_args::CallerArgs;
use crate::process::block_on;
use crate::service::caller::reach_of;
use crate::service::sessions::polluted_by;
use crate::service::show::{MAX_EVENTS, byline, load_cited};
use crate::service::shown_uses::{Interface, ShownUse};
use crate::terminal::output::{bold, count, dim, json as print_json, print_line};
use crate::wiring::Daybook;

/// Show the original text behind a citation.
#[derive(Args)]
pub(crate) struct ShowCommand {
    /// A citation such as 7f78:L636, or a session's name for all of it
    citation: String,
    /// Lines before and after, too
    #[arg(short = 'C', long, default_value_t = 0)]
    around: u32,
    #[command(flatten)]
    caller: CallerArgs,
}

impl ShowCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let (session, events, cited_in) = block_on(async {
            let reach = reach_of(&daybook, self.caller.named().as_ref()).await?;
            let cited = load_cited(&daybook, &self.citation, self.around, &reach);
            let (session, events) = cited.await?;
            let cited_in = sessions_citing(&daybook, &session, &events).await?;
            Ok((session, events, cited_in))
        })?;
        if common.json {
            let shown = json!({ "session": session, "events": events, "cited_in": cited_in });
            print_json(&shown)?;
        } else {
            print(&daybook, &session, &events);
            if cited_in > 0 {
                let sessions = count(cited_in, "other session");
                print_line!("\n{}", dim(&format!("cited in {sessions}")));
            }
        }
        let used = InterfaceUse::of_words(&self.citation, &session.id, &events);
        ShownUse::new(&daybook, Interface::Cli, used).record_before_exit();
        Ok(ExitCode::SUCCESS)
    }
}

/// How many sessions have cited one of these events.
async fn sessions_citing(daybook: &Daybook, session: &Session, events: &[Event]) -> Result<u64> {
    let of = std::slice::from_ref(&session.id);
    let uses = daybook.store.uses(&daybook.tenant, of).await?;
    let shown: BTreeSet<EventSeq> = events.iter().map(|event| event.seq).collect();
    let cited = uses
        .into_iter()
        .filter(|one| one.kind == UseKind::Cited && shown.contains(&one.event));
    let citing = cited.filter_map(|one| match one.by {
        UsedBy::Session { session, .. } => Some(session),
        UsedBy::Interface(_) => None,
    });
    Ok(citing.collect::<BTreeSet<_>>().len() as u64)
}

fn print(daybook: &Daybook, session: &Session, events: &[Event]) {
    print_line!("{}", bold(&session.id.to_string()));
    if let Some(call) = polluted_by(session) {
        print_line!("{}", dim(&format!("left out of memory: {call}")));
    }
    for event in events {
        print_event(daybook, event);
    }
    if events.len() == MAX_EVENTS {
        print_line!(
            "{}",
            dim("… cut here; ask for a range of lines to see more")
        );
    }
}

fn print_event(daybook: &Daybook, event: &Event) {
    print_line!("\n{}", dim(&byline(daybook, event)));
    print_line!("{}", event.text.trim_end());
}

//! `daybook show`: the original words behind a citation.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use daybook_domain::Event;
use serde_json::json;

use super::Common;
use crate::desk::{EVENTS, byline, words};
use crate::output::{bold, dim, json as print_json};
use crate::wiring::{Daybook, block_on};

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
        let daybook = Daybook::open_existing(common)?;
        let (session, events) = block_on(words(&daybook, &self.citation, self.around))?;
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
}

fn print_event(daybook: &Daybook, event: &Event) {
    anstream::println!("\n{}", dim(&byline(daybook, event)));
    anstream::println!("{}", event.text.trim_end());
}

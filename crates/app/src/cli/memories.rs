//! `daybook list` and `daybook why`: what is remembered, and where it comes from.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use daybook_domain::ObservationKind;

use super::CommonArgs;
use super::history::described;
use super::scope_args::{CallerArgs, ScopeArgs, current_folder};
use crate::process::block_on;
use crate::service::caller::reach_of;
use crate::service::line_origin::{LineOrigin, why};
use crate::service::memories::{ListQuery, ListedMemory, MemoryList, find_one, list, parse_kind};
use crate::terminal::common_args::at_least_one;
use crate::terminal::output::{bold, count, dim, json as print_json, print_line, warn};
use crate::terminal::suggest;
use crate::terminal::wrap::wrapped;
use crate::wiring::Daybook;

/// Digits of an id that are shown to people.
const ID_DIGITS: usize = 8;
/// Most citations of a listed memory.
const CITATIONS: usize = 3;

/// List what is remembered: what memory files show first, then the rest.
#[derive(Args)]
pub(crate) struct ListCommand {
    /// Only this kind: correction, preference, fact, decision, value, fix, open_end or note; may be repeated
    #[arg(long, value_name = "KIND", value_parser = parse_kind)]
    kind: Vec<ObservationKind>,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    caller: CallerArgs,
    /// Only memories that contain these words
    #[arg(long, value_name = "WORDS")]
    query: Option<String>,
    /// Most memories
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N", value_parser = at_least_one)]
    limit: usize,
    /// Go on after the memory with this id
    #[arg(long, value_name = "ID")]
    after: Option<String>,
}

impl ListCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let query = ListQuery {
            kinds: self.kind.clone(),
            words: self.query.clone(),
            limit: self.limit,
            after: self.after.clone(),
        };
        let listed = block_on(async {
            let here = current_folder()?;
            let choice = self.scope.choice_of(&self.caller);
            let scope = choice.one(&daybook, Some(&here)).await?;
            list(&daybook, &scope, &query).await
        })?;
        match common.json {
            true => print_json(&listed)?,
            false => self.print(&listed),
        }
        Ok(ExitCode::SUCCESS)
    }

    fn print(&self, listed: &MemoryList) {
        let total = count(listed.total as u64, "memory");
        print_line!("{} · {total}", bold(&listed.scope));
        for memory in &listed.memories {
            print_listed(memory);
        }
        if let Some(next) = &listed.next {
            let more = suggest::command_of(&["list", "--after", next]);
            print_line!("{}", dim(&format!("`{more}` lists more.")));
        }
    }
}

fn print_listed(memory: &ListedMemory) {
    let subject = memory.subject.as_ref();
    let subject = subject.map_or(String::new(), |subject| format!("{subject}: "));
    print_line!(
        "{}  {}",
        bold(&memory.id[..ID_DIGITS]),
        wrapped(&format!("{subject}{}", memory.text), INDENT)
    );
    let mut parts = vec![memory.kind.replace('_', " ")];
    let cited = memory.citations.iter().take(CITATIONS);
    parts.push(
        cited
            .map(|citation| format!("[{citation}]"))
            .collect::<Vec<_>>()
            .join(" "),
    );
    parts.push(match memory.shown_in.is_empty() {
        true => "in no file".to_owned(),
        false => memory.shown_in.join(", "),
    });
    if memory.pinned {
        parts.push("pinned".to_owned());
    }
    let parts = wrapped(&parts.join(" · "), INDENT);
    print_line!("{:INDENT$}{}", "", dim(&parts));
}

/// Columns before the text of a memory.
const INDENT: usize = ID_DIGITS + 2;

/// Show where a line of memory comes from: the original words, since when it stands, what stood there before.
#[derive(Args)]
pub(crate) struct WhyCommand {
    /// The line: its words or a part of them, the id behind its `^`, an id of `daybook list`, or MEMORY.md:12
    #[arg(required = true, num_args = 1.., value_name = "LINE")]
    words: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    caller: CallerArgs,
}

impl WhyCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let origin = block_on(async {
            let (choice, here) = (self.scope.choice_of(&self.caller), current_folder()?);
            let memory = find_one(&daybook, &choice, Some(&here), &self.words.join(" ")).await?;
            let reach = reach_of(&daybook, choice.caller.as_ref()).await?;
            why(&daybook, &memory, &reach).await
        })?;
        match common.json {
            true => print_json(&origin)?,
            false => print_origin(&daybook, &origin),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print_origin(daybook: &Daybook, origin: &LineOrigin) {
    print_line!("{}", bold(origin.line.trim_start_matches("- ")));
    let mut parts = vec![origin.scope.clone()];
    parts.extend(origin.shown_in.iter().cloned());
    print_line!("{}", dim(&parts.join(" · ")));
    if origin.changed_by_person {
        print_line!("{}", warn("You changed this line: your words win."));
    }
    if origin.pinned {
        print_line!("{}", dim("pinned"));
    }
    if let Some(since) = &origin.since {
        print_line!("since   {}", described(daybook, since));
    }
    if let Some(before) = &origin.before {
        print_line!("before  {}", before.trim_start_matches("- "));
    }
    for observation in &origin.observations {
        print_observation(observation);
    }
    for source in &origin.sources {
        print_line!("\n{}", dim(&format!("[{}] {}", source.citation, source.by)));
        if let Some(text) = &source.text {
            print_line!("{text}");
        }
    }
    if origin.more_sources > 0 {
        let more = count(origin.more_sources as u64, "source");
        print_line!("{}", dim(&format!("… and {more} more")));
    }
}

fn print_observation(observation: &ListedMemory) {
    let stated = if observation.stated {
        "stated"
    } else {
        "concluded"
    };
    let learned = match observation.learned_from {
        "unknown" => String::new(),
        from => format!(", learned from what was {from}"),
    };
    let kind = observation.kind.replace('_', " ");
    let id = &observation.id[..ID_DIGITS];
    let trust = observation.trust;
    print_line!("\n{}  {}", bold(id), observation.text);
    print_line!(
        "          {}",
        dim(&format!("{kind}, {stated}{learned}; trust {trust}"))
    );
}

//! `daybook projects`: which checkouts belong together, and what their memory is called.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use daybook_engine::ingest::projects::slug;
use daybook_engine::jobs::projects::{Joined, join};
use serde::Serialize;
use serde_json::json;

use super::Common;
use super::update::waiting;
use crate::keeper::keep_up;
use crate::output::{bold, count, dim, json as print_json};
use crate::progress::Learning;
use crate::root;
use crate::suggest;
use crate::wiring::{Daybook, block_on, stop_on_interrupt};

/// The projects that memory knows, and which checkouts belong to each.
#[derive(Args)]
pub(crate) struct Projects {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Subcommand)]
enum What {
    /// The projects, with their checkouts and branches
    List,
    /// Make one project part of another: what was learned there moves, and so do your own words
    Merge {
        /// The project that goes
        from: String,
        /// The project that stays
        into: String,
    },
    /// Give a project another name
    Rename {
        /// Its name now
        from: String,
        /// Its new name: letters, digits, `-`, `_` and `.`
        to: String,
    },
}

impl Projects {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        match self.what.as_ref().unwrap_or(&What::List) {
            What::List => list(common, &daybook),
            What::Merge { from, into } => {
                let known = block_on(known(&daybook))?;
                if !known.contains_key(into) {
                    bail!("there is no project {into}; {}", named(&known));
                }
                change(common, &daybook, from, into)
            }
            What::Rename { from, to } => {
                let known = block_on(known(&daybook))?;
                if slug(to) != *to || to.is_empty() {
                    bail!(
                        "\"{to}\" is not a name for a project; write for example {}",
                        example(to)
                    );
                }
                if known.contains_key(to) {
                    bail!(
                        "there is a project {to} already; `{}` joins them",
                        suggest::command_of(&["projects", "merge", from, to]),
                    );
                }
                change(common, &daybook, from, to)
            }
        }
    }
}

fn example(name: &str) -> String {
    let slug = slug(name);
    if slug.is_empty() {
        "tidepool".to_owned()
    } else {
        slug
    }
}

fn named(known: &BTreeMap<String, Facts>) -> String {
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    format!("there are: {}", names.join(", "))
}

fn change(common: &Common, daybook: &Daybook, from: &str, into: &str) -> Result<ExitCode> {
    let stop = stop_on_interrupt()?;
    let joined = block_on(async {
        let (shop, _present) = daybook.worker().await?;
        let joined = join(&shop, from, into).await?;
        let learning = Learning::start(common, waiting(&shop).await?);
        keep_up(daybook, &shop, &stop, &learning).await?;
        learning.end();
        Ok(joined)
    })?;
    tell(common, from, into, &joined)?;
    Ok(ExitCode::SUCCESS)
}

fn tell(common: &Common, from: &str, into: &str, joined: &Joined) -> Result<()> {
    if common.json {
        return print_json(&json!({
            "from": from,
            "into": into,
            "checkouts": joined.checkouts,
            "own_words_moved": joined.words,
            "set_aside": joined.set_aside,
        }));
    }
    anstream::println!(
        "{from} is {into} now: {} moved.",
        count(joined.checkouts as u64, "checkout")
    );
    if joined.words > 0 {
        anstream::println!(
            "{} of your own moved, too.",
            count(joined.words as u64, "line")
        );
    }
    if let Some(aside) = &joined.set_aside {
        let aside = root::shown(aside);
        anstream::println!(
            "{}",
            dim(&format!("The old files and their history are in {aside}."))
        );
    }
    Ok(())
}

/// What is known of one project.
#[derive(Default, Serialize)]
struct Facts {
    identities: BTreeSet<String>,
    guessed: bool,
    checkouts: BTreeSet<String>,
    gone: BTreeSet<String>,
    branches: BTreeSet<String>,
}

async fn known(daybook: &Daybook) -> Result<BTreeMap<String, Facts>> {
    let mut known: BTreeMap<String, Facts> = BTreeMap::new();
    for (place, key) in daybook.store.places(&daybook.tenant).await? {
        let Some(key) = key else {
            continue;
        };
        let facts = known.entry(key).or_default();
        facts.branches.extend(place.branch);
        if !Path::new(&place.root).exists() {
            facts.gone.insert(place.root.clone());
        }
        facts.checkouts.insert(place.root);
    }
    for project in daybook.store.projects(&daybook.tenant).await? {
        // One without a checkout is what a guess was before more was known.
        if let Some(facts) = known.get_mut(&project.key) {
            facts.guessed |= project.guessed;
            facts.identities.insert(project.identity);
        }
    }
    Ok(known)
}

fn list(common: &Common, daybook: &Daybook) -> Result<ExitCode> {
    let known = block_on(known(daybook))?;
    if common.json {
        print_json(&json!({ "projects": known }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if known.is_empty() {
        anstream::println!("No project is known yet: no session said where it was.");
    }
    for (key, facts) in &known {
        let gone = match facts.gone.len() {
            0 => String::new(),
            n => format!(", {n} of them gone"),
        };
        let guessed = if facts.guessed {
            " · a guess by its folder's name"
        } else {
            ""
        };
        anstream::println!(
            "{}  {}{gone} · {}{guessed}",
            bold(key),
            count(facts.checkouts.len() as u64, "checkout"),
            branches(facts.branches.len()),
        );
        for identity in &facts.identities {
            anstream::println!("   {identity}");
        }
        for checkout in facts.checkouts.difference(&facts.identities) {
            let shown = root::shown(Path::new(checkout));
            let gone = if facts.gone.contains(checkout) {
                "  (gone)"
            } else {
                ""
            };
            anstream::println!("   {}", dim(&format!("{shown}{gone}")));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn branches(n: usize) -> String {
    match n {
        1 => "1 branch".to_owned(),
        n => format!("{n} branches"),
    }
}

//! `daybook projects`: lists projects and their checkouts, merges and renames them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use daybook_domain::page::read_all;
use daybook_engine::jobs::projects::{JoinReport, join};
use daybook_engine::projects::assign::slug;
use serde::Serialize;
use serde_json::json;

use super::CommonArgs;
use super::update::count_due_sessions;
use crate::background::process_pending;
use crate::folders::data_folder;
use crate::models::embedding::embed_waiting;
use crate::process::{block_on, stop_on_interrupt};
use crate::terminal::output::{bold, count, dim, json as print_json, print_line};
use crate::terminal::progress::UpdateBar;
use crate::terminal::suggest;
use crate::wiring::Daybook;

/// List projects and their checkouts; merge and rename projects.
#[derive(Args)]
pub(crate) struct ProjectsCommand {
    #[command(subcommand)]
    what: Option<ProjectsSubcommand>,
}

#[derive(Subcommand)]
enum ProjectsSubcommand {
    /// List the projects, with their checkouts and branches
    List,
    /// Merge one project into another: its memories and your own lines move there
    Merge {
        /// The project that is merged, and removed
        from: String,
        /// The project to merge it into
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

impl ProjectsCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        match self.what.as_ref().unwrap_or(&ProjectsSubcommand::List) {
            ProjectsSubcommand::List => list(common, &daybook),
            ProjectsSubcommand::Merge { from, into } => {
                let projects = block_on(load_projects(&daybook))?;
                if !projects.contains_key(into) {
                    bail!("there is no project {into}; {}", name_list(&projects));
                }
                merge(common, &daybook, from, into)
            }
            ProjectsSubcommand::Rename { from, to } => {
                let projects = block_on(load_projects(&daybook))?;
                if slug(to) != *to || to.is_empty() {
                    bail!(
                        "\"{to}\" is not a name for a project; write for example {}",
                        example(to)
                    );
                }
                if projects.contains_key(to) {
                    bail!(
                        "there is a project {to} already; `{}` joins them",
                        suggest::command_of(&["projects", "merge", from, to]),
                    );
                }
                merge(common, &daybook, from, to)
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

fn name_list(projects: &BTreeMap<String, ProjectFacts>) -> String {
    let names: Vec<&str> = projects.keys().map(String::as_str).collect();
    format!("there are: {}", names.join(", "))
}

fn merge(common: &CommonArgs, daybook: &Daybook, from: &str, into: &str) -> Result<ExitCode> {
    let stop = stop_on_interrupt()?;
    let report = block_on(async {
        let (worker, _lock) = daybook.attended_worker().await?;
        let report = join(&worker, from, into).await?;
        let learning = UpdateBar::start(common, count_due_sessions(&worker).await?);
        process_pending(daybook, &worker, &stop, &learning).await?;
        embed_waiting(&daybook.models(), &stop).await?;
        learning.end();
        Ok(report)
    })?;
    print_join(common, from, into, &report)?;
    Ok(ExitCode::SUCCESS)
}

fn print_join(common: &CommonArgs, from: &str, into: &str, report: &JoinReport) -> Result<()> {
    if common.json {
        return print_json(&json!({
            "from": from,
            "into": into,
            "checkouts": report.checkouts,
            "own_words_moved": report.words,
            "set_aside": report.set_aside,
        }));
    }
    print_line!(
        "{from} is {into} now: {} moved.",
        count(report.checkouts as u64, "checkout")
    );
    if report.words > 0 {
        print_line!(
            "{} of your own moved, too.",
            count(report.words as u64, "line")
        );
    }
    if let Some(aside) = &report.set_aside {
        let aside = data_folder::display_path(aside);
        print_line!(
            "{}",
            dim(&format!("The old files and their history are in {aside}."))
        );
    }
    Ok(())
}

/// The stored facts of one project.
#[derive(Default, Serialize)]
struct ProjectFacts {
    identities: BTreeSet<String>,
    guessed: bool,
    checkouts: BTreeSet<String>,
    gone: BTreeSet<String>,
    branches: BTreeSet<String>,
}

async fn load_projects(daybook: &Daybook) -> Result<BTreeMap<String, ProjectFacts>> {
    let mut projects: BTreeMap<String, ProjectFacts> = BTreeMap::new();
    for (place, key) in daybook.store.places(&daybook.tenant).await? {
        let Some(key) = key else {
            continue;
        };
        let facts = projects.entry(key).or_default();
        facts.branches.extend(place.branch);
        if !Path::new(&place.root).exists() {
            facts.gone.insert(place.root.clone());
        }
        facts.checkouts.insert(place.root);
    }
    for project in read_all(|page| daybook.store.projects(&daybook.tenant, page)).await? {
        // A project without a checkout is an outdated guess.
        if let Some(facts) = projects.get_mut(&project.key) {
            facts.guessed |= project.guessed;
            facts.identities.insert(project.identity);
        }
    }
    Ok(projects)
}

fn list(common: &CommonArgs, daybook: &Daybook) -> Result<ExitCode> {
    let projects = block_on(load_projects(daybook))?;
    if common.json {
        print_json(&json!({ "projects": projects }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if projects.is_empty() {
        print_line!("No project is known yet: no imported session names its folder.");
    }
    for (key, facts) in &projects {
        let gone = match facts.gone.len() {
            0 => String::new(),
            n => format!(", {n} of them gone"),
        };
        let guessed = if facts.guessed {
            " · a guess by its folder's name"
        } else {
            ""
        };
        print_line!(
            "{}  {}{gone} · {}{guessed}",
            bold(key),
            count(facts.checkouts.len() as u64, "checkout"),
            branches(facts.branches.len()),
        );
        for identity in &facts.identities {
            print_line!("   {identity}");
        }
        for checkout in facts.checkouts.difference(&facts.identities) {
            let shown = data_folder::display_path(Path::new(checkout));
            let gone = if facts.gone.contains(checkout) {
                "  (gone)"
            } else {
                ""
            };
            print_line!("   {}", dim(&format!("{shown}{gone}")));
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

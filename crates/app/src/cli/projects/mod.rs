//! `daybook projects`: lists projects and their checkouts, merges, splits and renames them.

mod list;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use daybook_engine::jobs::WorkerContext;
use daybook_engine::jobs::project_repairs::split;
use daybook_engine::jobs::projects::{JoinReport, join};
use daybook_engine::places::stored_path::stored_path;
use daybook_engine::projects::assign::slug;
use serde_json::json;

use super::CommonArgs;
use super::update::count_due_sessions;
use crate::background::process_pending;
use crate::folders::data_folder;
use crate::models::embedding::embed_waiting;
use crate::process::{block_on, stop_on_interrupt};
use crate::service::projects::{ProjectFacts, load_projects};
use crate::terminal::output::{count, dim, json as print_json, print_line};
use crate::terminal::progress::UpdateBar;
use crate::terminal::suggest;
use crate::wiring::Daybook;
use list::list;

/// List projects and their checkouts; merge, split and rename projects.
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
    /// Give checkouts of a project a project of their own; what was learned there moves with them
    Split {
        /// The project that they belong to now
        project: String,
        /// The checkouts, as `daybook projects` lists them
        #[arg(required = true, value_name = "ROOT")]
        roots: Vec<String>,
        /// Name of the new project; the folder's name if left out
        #[arg(long = "as", value_name = "NAME")]
        name: Option<String>,
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
            ProjectsSubcommand::Split {
                project,
                roots,
                name,
            } => split_off(common, &daybook, project, roots, name.as_deref()),
            ProjectsSubcommand::Rename { from, to } => {
                let projects = block_on(load_projects(&daybook))?;
                check_name(to)?;
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

/// Refuses a project that does not exist.
pub(super) async fn check_exists(daybook: &Daybook, project: &str) -> Result<()> {
    let projects = load_projects(daybook).await?;
    if !projects.contains_key(project) {
        bail!("there is no project {project}; {}", name_list(&projects));
    }
    Ok(())
}

/// Refuses what cannot be a project's name.
pub(super) fn check_name(name: &str) -> Result<()> {
    if slug(name) != name || name.is_empty() {
        bail!(
            "\"{name}\" is not a name for a project; write for example {}",
            example(name)
        );
    }
    Ok(())
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
    let report = change(common, daybook, async |worker| {
        Ok(join(worker, from, into).await?)
    })?;
    print_join(common, from, into, &report)?;
    Ok(ExitCode::SUCCESS)
}

/// Carries out a decision, and brings the files of all projects concerned up to date.
pub(super) fn change<T>(
    common: &CommonArgs,
    daybook: &Daybook,
    decide: impl AsyncFnOnce(&WorkerContext) -> Result<T>,
) -> Result<T> {
    let stop = stop_on_interrupt()?;
    block_on(async {
        let (worker, _lock) = daybook.attended_worker().await?;
        let decided = decide(&worker).await?;
        let learning = UpdateBar::start(common, count_due_sessions(&worker).await?);
        process_pending(daybook, &worker, &stop, &learning).await?;
        embed_waiting(&daybook.models(), &stop).await?;
        learning.end();
        Ok(decided)
    })
}

fn split_off(
    common: &CommonArgs,
    daybook: &Daybook,
    project: &str,
    roots: &[String],
    name: Option<&str>,
) -> Result<ExitCode> {
    let projects = block_on(load_projects(daybook))?;
    let Some(facts) = projects.get(project) else {
        bail!("there is no project {project}; {}", name_list(&projects));
    };
    let roots: BTreeSet<String> = roots.iter().map(|root| stored_root(facts, root)).collect();
    let into = match (name, roots.first()) {
        (Some(name), _) => name.to_owned(),
        (None, Some(root)) => slug(root.rsplit('/').next().unwrap_or(root)),
        (None, None) => String::new(),
    };
    check_name(&into)?;
    if projects.contains_key(&into) {
        bail!("there is a project {into} already; choose another name with --as NAME");
    }
    change(common, daybook, async |worker| {
        Ok(split(worker, project, &roots, &into).await?)
    })?;
    if common.json {
        print_json(&json!({ "from": project, "into": into, "checkouts": roots }))?;
    } else {
        print_line!(
            "{} of {project} belongs to {into} now. `{}` takes that back.",
            count(roots.len() as u64, "checkout"),
            suggest::command_of(&["projects", "merge", &into, project]),
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// The checkout that a person names: by its path as it is stored or shown, or as a path from here.
fn stored_root(facts: &ProjectFacts, named: &str) -> String {
    let trimmed = named.trim_end_matches('/');
    let shown = |root: &&String| {
        root.as_str() == trimmed || data_folder::display_path(Path::new(root.as_str())) == trimmed
    };
    if let Some(root) = facts.checkouts.iter().find(shown) {
        return root.clone();
    }
    let absolute = std::path::absolute(trimmed).unwrap_or_else(|_| Path::new(trimmed).to_owned());
    stored_path(&absolute)
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

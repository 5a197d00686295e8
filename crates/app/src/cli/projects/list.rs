//! The list of projects, with what each checkout's project rests on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use daybook_domain::page::read_all;
use daybook_engine::projects::assign::AssignmentBasis;
use daybook_engine::projects::moved_sessions::{decision_of_root, folder_of_root, is_decision};
use daybook_engine::projects::settle::assignment_bases;
use serde::Serialize;
use serde_json::json;

use super::super::CommonArgs;
use crate::folders::data_folder;
use crate::process::block_on;
use crate::terminal::output::{bold, count, dim, json as print_json, print_line};
use crate::wiring::Daybook;

/// The stored facts of one project.
#[derive(Default, Serialize)]
pub(super) struct ProjectFacts {
    pub(super) identities: BTreeSet<String>,
    pub(super) guessed: bool,
    pub(super) checkouts: BTreeSet<String>,
    pub(super) gone: BTreeSet<String>,
    pub(super) branches: BTreeSet<String>,
    /// Checkouts whose project is a guess, and what it rests on.
    pub(super) guesses: BTreeMap<String, &'static str>,
    /// Sessions that a person moved here, each with its folder.
    pub(super) moved_sessions: BTreeMap<String, String>,
}

pub(super) async fn load_projects(daybook: &Daybook) -> Result<BTreeMap<String, ProjectFacts>> {
    let (store, tenant) = (&daybook.store, &daybook.tenant);
    let bases = assignment_bases(&**store, tenant).await?;
    let mut projects: BTreeMap<String, ProjectFacts> = BTreeMap::new();
    for (place, key) in store.places(tenant).await? {
        let Some(key) = key else {
            continue;
        };
        let facts = projects.entry(key).or_default();
        facts.branches.extend(place.branch);
        if let Some(session) = decision_of_root(&place.root) {
            let folder = folder_of_root(&place.root).to_owned();
            facts.moved_sessions.insert(session.to_owned(), folder);
            continue;
        }
        let guess = bases.get(&place.root).and_then(|basis| guess(*basis));
        let guess = guess.map(|guess| (place.root.clone(), guess));
        facts.guesses.extend(guess);
        if !Path::new(&place.root).exists() {
            facts.gone.insert(place.root.clone());
        }
        facts.checkouts.insert(place.root);
    }
    for project in read_all(|page| store.projects(tenant, page)).await? {
        // A project without a checkout is an outdated guess.
        if let Some(facts) = projects.get_mut(&project.key)
            && !is_decision(&project.identity)
        {
            facts.guessed |= project.guessed;
            facts.identities.insert(project.identity);
        }
    }
    Ok(projects)
}

/// What a guess rests on, in words; `None` for what is no guess about a checkout.
fn guess(basis: AssignmentBasis) -> Option<&'static str> {
    match basis {
        AssignmentBasis::SameName => Some("a guess by its name"),
        AssignmentBasis::Worktree => Some("a guess: a worktree by its path and branch"),
        AssignmentBasis::Evidence | AssignmentBasis::FolderAlone => None,
    }
}

pub(super) fn list(common: &CommonArgs, daybook: &Daybook) -> Result<ExitCode> {
    let projects = block_on(load_projects(daybook))?;
    if common.json {
        print_json(&json!({ "projects": projects }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if projects.is_empty() {
        print_line!("No project is known yet: no imported session names its folder.");
    }
    for (key, facts) in &projects {
        print_project(key, facts);
    }
    Ok(ExitCode::SUCCESS)
}

fn print_project(key: &str, facts: &ProjectFacts) {
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
        let gone = facts.gone.contains(checkout).then_some("gone");
        let marks: Vec<&str> = gone
            .into_iter()
            .chain(facts.guesses.get(checkout).copied())
            .collect();
        let marks = match marks.is_empty() {
            true => String::new(),
            false => format!("  ({})", marks.join(", ")),
        };
        print_line!("   {}", dim(&format!("{shown}{marks}")));
    }
    for (session, folder) in &facts.moved_sessions {
        let folder = data_folder::display_path(Path::new(folder));
        print_line!(
            "   {}",
            dim(&format!("{session}  (moved here from {folder})"))
        );
    }
}

fn branches(n: usize) -> String {
    match n {
        1 => "1 branch".to_owned(),
        n => format!("{n} branches"),
    }
}

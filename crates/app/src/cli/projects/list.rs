//! The list of projects, with what each checkout's project rests on.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use super::super::CommonArgs;
use crate::folders::data_folder;
use crate::process::block_on;
use crate::service::projects::{ProjectFacts, load_projects};
use crate::terminal::output::{bold, count, dim, json as print_json, print_line};
use crate::wiring::Daybook;

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

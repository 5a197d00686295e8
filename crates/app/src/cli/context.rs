//! `daybook context`: what an agent is told in this folder, now.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;
use daybook_domain::{Scope, ScopeKind};
use daybook_engine::files::layout::{CURATED, folder};
use daybook_engine::recall::context::{Applies, Context as Told, assemble};
use serde_json::json;

use super::Common;
use crate::here::{Here, here};
use crate::output::{dim, json as print_json};
use crate::wiring::{Daybook, block_on};

/// What an agent is told in this folder, now.
#[derive(Args)]
pub(crate) struct Context {
    /// As if run in this folder
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// The memory of this project, wherever it is run
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// As if on this branch
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// Most tokens [default: the setting `context_tokens`]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
}

impl Context {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let at = match &self.folder {
            Some(folder) => std::path::absolute(folder)?,
            None => std::env::current_dir().context("this folder cannot be read")?,
        };
        let mut here = block_on(here(&daybook, &at))?;
        if let Some(name) = &self.project {
            let tenant = daybook.tenant.clone();
            here.project = Some(Scope {
                tenant,
                kind: ScopeKind::Project,
                name: name.clone(),
            });
        }
        let branch = self.branch.clone().or_else(|| here.place.branch.clone());
        let budget = self.budget.unwrap_or(daybook.settings.context_tokens);
        let told = assemble(&applies(&daybook, &here), branch.as_deref(), budget);
        if common.json {
            print_json(&json!({
                "text": told.text,
                "tokens": told.tokens,
                "entries": told.told,
                "left_out": told.left_out,
                "project": here.project.as_ref().map(|scope| &scope.name),
                "branch": branch,
            }))?;
        } else {
            say(&told, &here);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn say(told: &Told, here: &Here) {
    if told.text.is_empty() {
        let place = &here.place.root;
        anstream::println!(
            "{}",
            dim(&format!("Nothing is remembered that applies in {place}."))
        );
        return;
    }
    anstream::print!("{}", told.text);
}

/// The memory of the project at hand and of the person; no other.
fn applies(daybook: &Daybook, here: &Here) -> Vec<Applies> {
    let person = Scope {
        tenant: daybook.tenant.clone(),
        kind: ScopeKind::User,
        name: daybook.settings.person.clone(),
    };
    let scopes = here.project.iter().cloned().chain([person]);
    scopes
        .filter_map(|scope| {
            let path = folder(&daybook.root, &scope).join(CURATED);
            let text = std::fs::read(path).ok()?;
            let text = String::from_utf8_lossy(&text).into_owned();
            Some(Applies {
                whose: format!("Memory of {scope}"),
                text,
            })
        })
        .collect()
}

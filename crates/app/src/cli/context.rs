//! `daybook context`: what an agent is told in this folder, now.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;
use daybook_engine::recall::context::Context as Told;

use super::Common;
use crate::desk::{self, Standing};
use crate::here::Here;
use crate::keeper::catch_up;
use crate::logging::complain;
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
        let standing = Standing {
            project: self.project.clone(),
            branch: self.branch.clone(),
            budget: self.budget,
        };
        let briefing = block_on(async {
            catch_up(&daybook).await?;
            desk::brief(&daybook, &at, &standing).await
        })?;
        for refused in &briefing.refused {
            complain(&refused.to_string());
        }
        if common.json {
            print_json(&desk::briefing_json(&briefing))?;
        } else {
            say(&briefing.told, &briefing.here);
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

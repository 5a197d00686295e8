//! `daybook context`: prints the context that an agent in this folder is given.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;
use daybook_engine::recall::interface_use::InterfaceUse;

use super::CommonArgs;
use super::scope_args::CallerArgs;
use crate::background::catch_up;
use crate::process::block_on;
use crate::service::context::{AgentContext, ContextQuery, context_in, context_json};
use crate::service::shown_uses::{Interface, ShownUse};
use crate::terminal::messages::print_error;
use crate::terminal::output::{dim, json as print_json, print_line};
use crate::wiring::Daybook;

/// Print the context that an agent in this folder is given.
#[derive(Args)]
pub(crate) struct ContextCommand {
    /// As if run in this folder
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// The memory of this project, wherever it is run
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// As if on this branch
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// A file that is worked on: adds lines that name it or its folder; may be repeated
    #[arg(long, value_name = "PATH")]
    file: Vec<PathBuf>,
    /// The agent's prompt: adds lines that are likely about it
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Most tokens [default: the setting `context_tokens`]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
    #[command(flatten)]
    caller: CallerArgs,
}

impl ContextCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let at = match &self.folder {
            Some(folder) => std::path::absolute(folder)?,
            None => std::env::current_dir().context("this folder cannot be read")?,
        };
        let query = ContextQuery {
            project: self.project.clone(),
            branch: self.branch.clone(),
            files: self.file.clone(),
            prompt: self.prompt.clone(),
            budget: self.budget,
            caller: self.caller.named().unwrap_or_default(),
        };
        let context = block_on(async {
            catch_up(&daybook).await?;
            context_in(&daybook, &at, &query).await
        })?;
        for refused in &context.refused {
            print_error(&refused.to_string());
        }
        if common.json {
            print_json(&context_json(&context))?;
        } else if !daybook.settings.inject {
            print_line!(
                "{}",
                dim("Memory is not put before agents: inject = \"off\".")
            );
        } else {
            print_context(&context);
        }
        let used = InterfaceUse::Text(context.assembled.text);
        ShownUse::new(&daybook, Interface::Cli, used).record_before_exit();
        Ok(ExitCode::SUCCESS)
    }
}

fn print_context(context: &AgentContext) {
    if context.assembled.text.is_empty() {
        let place = &context.at.place.root;
        print_line!(
            "{}",
            dim(&format!("Nothing is remembered that applies in {place}."))
        );
        return;
    }
    print_line!("{}", context.assembled.text.trim_end());
}

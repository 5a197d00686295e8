//! `daybook config`: settings, their meaning, and where each value comes from.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::Common;
use crate::output::{bold, dim, json};
use crate::root;
use crate::settings::{FILE, Settings, Source};

/// Settings, their meaning, and where each value comes from.
#[derive(Args)]
pub(crate) struct Config {}

impl Config {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let folder = root::locate(common.root.as_deref())?;
        let settings = Settings::load(&folder)?;
        if common.json {
            json(&settings.explained)?;
            return Ok(ExitCode::SUCCESS);
        }
        for setting in &settings.explained {
            let from = match setting.source {
                Source::Environment => "from the environment",
                Source::File => "from daybook.toml",
                Source::Default => "default",
            };
            let line = format!("{} = \"{}\"", setting.name, setting.value);
            anstream::println!("{}  {}", bold(&line), dim(from));
            anstream::println!("    {}", setting.about);
        }
        let file = root::shown(&folder.join(FILE));
        anstream::println!("\nChange them in {file}, or for one command with DAYBOOK_<NAME>.");
        Ok(ExitCode::SUCCESS)
    }
}

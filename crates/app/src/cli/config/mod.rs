//! `daybook config`: settings, their meaning, and where each value comes from.

mod import;
mod profiles;

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use serde_json::json;

use super::Common;
use crate::output::{bold, dim, json as print_json};
use crate::root;
use crate::settings::names::{self, Meaning};
use crate::settings::sources::Source;
use crate::settings::table::{ALL, Group};
use crate::settings::{Explained, FILE, Settings, Unused, schema};
use crate::suggest;

/// Settings, their meaning, and where each value comes from.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Config {
    #[command(subcommand)]
    what: Option<What>,
    /// Only these, by their own names or those of the systems that Daybook takes after
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

#[derive(Subcommand)]
enum What {
    /// Compare the profiles
    Profiles(profiles::Profiles),
    /// Print the JSON Schema of daybook.toml
    Schema,
    /// Take over the settings of Codex or MindRoom, in TOML or YAML
    Import(import::Import),
}

impl Config {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        match &self.what {
            None => self.explain(common)?,
            Some(What::Profiles(profiles)) => profiles.run(common)?,
            Some(What::Schema) => anstream::print!("{}", schema::text()),
            Some(What::Import(import)) => import.run(common)?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn explain(&self, common: &Common) -> Result<()> {
        let wanted = self.wanted()?;
        let folder = root::locate(common.root.as_deref())?;
        let settings = Settings::load(&folder, &common.set)?;
        let is_wanted = |name: &str| wanted.is_empty() || wanted.contains(&name);
        let shown = settings.explained.iter();
        let shown: Vec<&Explained> = shown.filter(|setting| is_wanted(setting.name)).collect();
        if common.json {
            return print_json(&json!({"settings": shown, "unused": settings.unused}));
        }
        for group in Group::ALL {
            say_group(group, &shown);
        }
        if wanted.is_empty() {
            say_unused(&settings.unused);
            let file = root::shown(&folder.join(FILE));
            anstream::println!(
                "Change them in {file}, for one command with DAYBOOK_<NAME> or --set name=value."
            );
        }
        Ok(())
    }

    /// The settings' own names for what was asked.
    fn wanted(&self) -> Result<Vec<&'static str>> {
        let own = |name: &String| match names::meaning(name) {
            Meaning::Setting(setting, _) => Ok(setting.name),
            Meaning::Unused(why) => {
                bail!("{name} is understood, but nothing here uses it yet: {why}")
            }
            Meaning::Unknown => {
                let config = suggest::command("config");
                bail!("{name}: there is no such setting; `{config}` lists them")
            }
        };
        self.names.iter().map(own).collect()
    }
}

fn say_group(group: Group, shown: &[&Explained]) {
    let of_group = ALL.iter().filter(|setting| setting.group == group);
    let settings: Vec<&&Explained> = of_group
        .filter_map(|known| shown.iter().find(|setting| setting.name == known.name))
        .collect();
    if settings.is_empty() {
        return;
    }
    anstream::println!("{}", bold(group.title()));
    for setting in settings {
        say(setting);
    }
    anstream::println!();
}

fn say(setting: &Explained) {
    let from = match setting.source {
        Source::Flag => format!("from --set {}", setting.from),
        Source::Environment => format!("from {}", setting.from),
        Source::File if setting.from == setting.name => format!("from {FILE}"),
        Source::File => format!("from {} in {FILE}", setting.from),
        Source::Profile => format!("from the profile {}", setting.from),
        Source::Default => "default".to_owned(),
    };
    anstream::println!("  {} = {}  {}", setting.name, setting.value, dim(&from));
    anstream::println!("      {}", setting.about);
    anstream::println!("      {}", dim(&format!("allowed: {}", setting.allowed)));
    if !setting.seeds.is_empty() {
        let also = format!("also: {}", setting.seeds.join(", "));
        anstream::println!("      {}", dim(&also));
    }
}

fn say_unused(unused: &[Unused]) {
    if unused.is_empty() {
        return;
    }
    anstream::println!("{}", bold("Understood, but nothing here uses it yet"));
    for Unused {
        name, value, why, ..
    } in unused
    {
        anstream::println!("  {name} = {value}  {}", dim(why));
    }
    anstream::println!();
}

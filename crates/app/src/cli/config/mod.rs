//! `daybook config`: shows settings, their meaning, and where each value comes from.

mod import;
mod profiles;
mod set;

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use serde_json::json;
use strum::VariantArray;

use super::CommonArgs;
use crate::folders::data_folder;
use crate::settings::names::{self, NameMeaning};
use crate::settings::sources::SettingSource;
use crate::settings::table::{ALL, SettingGroup};
use crate::settings::{ExplainedSetting, FILE, Settings, schema};
use crate::terminal::output::{bold, dim, json as print_json, print_line};
use crate::terminal::suggest;

/// Show settings, their meaning, and where each value comes from.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ConfigCommand {
    #[command(subcommand)]
    what: Option<ConfigSubcommand>,
    /// Only these, by their own names or those of the systems that Daybook takes after
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

#[derive(Subcommand)]
enum ConfigSubcommand {
    /// Compare the profiles
    Profiles(profiles::ProfilesCommand),
    /// Set a value in daybook.toml
    Set(set::ConfigSetCommand),
    /// Remove a value from daybook.toml, so that its default applies again
    Unset(set::ConfigUnsetCommand),
    /// Print the JSON Schema of daybook.toml
    Schema,
    /// Take over the settings of Codex or MindRoom, in TOML or YAML
    Import(import::ConfigImportCommand),
}

impl ConfigCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        match &self.what {
            None => self.explain(common)?,
            Some(ConfigSubcommand::Profiles(profiles)) => profiles.run(common)?,
            Some(ConfigSubcommand::Set(set)) => set.run(common)?,
            Some(ConfigSubcommand::Unset(unset)) => unset.run(common)?,
            Some(ConfigSubcommand::Schema) => anstream::print!("{}", schema::text()),
            Some(ConfigSubcommand::Import(import)) => import.run(common)?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn explain(&self, common: &CommonArgs) -> Result<()> {
        let requested_names = self.requested_names()?;
        let folder = data_folder::locate(common.root.as_deref())?;
        let settings = Settings::load(&folder, &common.set)?;
        let is_wanted = |name: &str| requested_names.is_empty() || requested_names.contains(&name);
        let shown = settings.explained.iter();
        let shown: Vec<&ExplainedSetting> =
            shown.filter(|setting| is_wanted(setting.name)).collect();
        if common.json {
            return print_json(&json!({"settings": shown}));
        }
        for &group in SettingGroup::VARIANTS {
            print_group(group, &shown);
        }
        if requested_names.is_empty() {
            let file = data_folder::display_path(&folder.join(FILE));
            print_line!(
                "Change one with `{}`, or in {file}; for one command with DAYBOOK_<NAME> or --set name=value.",
                suggest::command("config set NAME VALUE"),
            );
        }
        Ok(())
    }

    /// The settings' own names of the requested settings.
    fn requested_names(&self) -> Result<Vec<&'static str>> {
        let own = |name: &String| match names::meaning(name) {
            NameMeaning::Setting(setting, _) => Ok(setting.name),
            NameMeaning::Refused(why) => bail!("{name}: {why}"),
            NameMeaning::Unknown => {
                bail!("{name}: there is no such setting; {}", names::advice(name))
            }
        };
        self.names.iter().map(own).collect()
    }
}

fn print_group(group: SettingGroup, shown: &[&ExplainedSetting]) {
    let of_group = ALL.iter().filter(|setting| setting.group == group);
    let settings: Vec<&&ExplainedSetting> = of_group
        .filter_map(|known| shown.iter().find(|setting| setting.name == known.name))
        .collect();
    if settings.is_empty() {
        return;
    }
    print_line!("{}", bold(group.title()));
    for setting in settings {
        print_setting(setting);
    }
    print_line!();
}

fn print_setting(setting: &ExplainedSetting) {
    let from = match setting.source {
        SettingSource::Flag => format!("from --set {}", setting.from),
        SettingSource::Environment => format!("from {}", setting.from),
        SettingSource::File if setting.from == setting.name => format!("from {FILE}"),
        SettingSource::File => format!("from {} in {FILE}", setting.from),
        SettingSource::Profile => format!("from the profile {}", setting.from),
        SettingSource::Default => "default".to_owned(),
    };
    print_line!("  {} = {}  {}", setting.name, setting.value, dim(&from));
    print_line!("      {}", setting.about);
    print_line!("      {}", dim(&format!("allowed: {}", setting.allowed)));
    if !setting.other_names.is_empty() {
        let also = format!("also: {}", setting.other_names.join(", "));
        print_line!("      {}", dim(&also));
    }
}

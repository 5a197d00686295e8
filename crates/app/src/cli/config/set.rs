//! `daybook config set` and `unset`: change one line of daybook.toml.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::CommonArgs;
use crate::folders::data_folder;
use crate::settings::names::{self, NameMeaning};
use crate::settings::sources::{GivenValue, SettingSource, parse_value};
use crate::settings::{ExplainedSetting, FILE, Settings, with_value, without_name};
use crate::setup::SettingsFile;
use crate::terminal::output::{json as print_json, print_line};

/// Set a value in daybook.toml, whose other lines and comments stay as they are.
#[derive(Args)]
pub(super) struct ConfigSetCommand {
    /// The setting
    name: String,
    /// Its value, such as 5m, on or project/tidepool
    #[arg(required = true, num_args = 1.., allow_hyphen_values = true)]
    value: Vec<String>,
}

/// Remove a value from daybook.toml, so that its default applies again.
#[derive(Args)]
pub(super) struct ConfigUnsetCommand {
    /// The setting
    name: String,
}

impl ConfigSetCommand {
    pub(super) fn run(&self, common: &CommonArgs) -> Result<()> {
        let given = GivenValue {
            source: SettingSource::File,
            name: self.name.clone(),
            value: self.value.join(" ").into(),
        };
        let (own, value) = match names::meaning(&self.name) {
            NameMeaning::Setting(setting, unit) => {
                (setting.name, parse_value(setting, unit, given)?.value)
            }
            NameMeaning::Refused(why) => bail!("{}: {why}", self.name),
            NameMeaning::Unknown => bail!(
                "{}: there is no such setting; {}",
                self.name,
                names::advice(&self.name)
            ),
        };
        if value.is_object() {
            bail!("{own} is a table of its own; write it into {FILE}");
        }
        let file = SettingsTextFile::read(common)?;
        let text = with_value(file.text(), own, &value)?;
        file.write(common, &text, own)
    }
}

impl ConfigUnsetCommand {
    pub(super) fn run(&self, common: &CommonArgs) -> Result<()> {
        let own = match names::meaning(&self.name) {
            NameMeaning::Setting(setting, _) => setting.name,
            NameMeaning::Refused(_) | NameMeaning::Unknown => self.name.as_str(),
        };
        let file = SettingsTextFile::read(common)?;
        let mut text = without_name(file.text(), own)?;
        if own != self.name {
            text = without_name(&text, &self.name)?;
        }
        if text == file.text() {
            let shown = data_folder::display_path(&file.file.path);
            bail!("{shown} does not set {}", self.name);
        }
        file.write(common, &text, own)
    }
}

/// daybook.toml of the data folder.
struct SettingsTextFile {
    folder: PathBuf,
    file: SettingsFile,
}

impl SettingsTextFile {
    fn read(common: &CommonArgs) -> Result<Self> {
        let folder = data_folder::locate(common.root.as_deref())?;
        let file = SettingsFile::read(folder.join(FILE))?;
        Ok(Self { folder, file })
    }

    fn text(&self) -> &str {
        self.file.text.as_deref().unwrap_or_default()
    }

    /// Writes the text if settings can be read from it, and prints the value that `name` has then.
    fn write(&self, common: &CommonArgs, text: &str, name: &str) -> Result<()> {
        let settings = Settings::of_text(&self.folder, &common.set, text)
            .with_context(|| format!("{FILE} was not changed"))?;
        if text != self.text() {
            data_folder::create(&self.folder)?;
            let today = jiff::Zoned::now().strftime("%Y-%m-%d").to_string();
            self.file.write(Some(text), &today)?;
            self.file.prune_backups(Some(text), |_| false);
        }
        let explained = settings.explained.iter();
        let mut explained = explained.filter(|setting| setting.name == name);
        let value = explained.next();
        if common.json {
            return print_json(&json!({ "name": name, "setting": value, "file": self.file.path }));
        }
        let shown = data_folder::display_path(&self.file.path);
        match value {
            Some(setting) => print_line!("{}", applied(setting, &shown)),
            None => print_line!("{shown} has no {name} any more."),
        }
        Ok(())
    }
}

/// What applies from now on, and what overrides the file.
fn applied(setting: &ExplainedSetting, file: &str) -> String {
    let ExplainedSetting { name, value, .. } = setting;
    let value = match value {
        Value::String(text) => format!("{text:?}"),
        other => other.to_string(),
    };
    match setting.source {
        SettingSource::File => format!("{name} = {value} in {file}."),
        SettingSource::Default => format!("{name} = {value}, its default."),
        SettingSource::Profile => format!("{name} = {value}, from the profile {}.", setting.from),
        SettingSource::Flag | SettingSource::Environment => format!(
            "{name} = {value} here, from {}, which comes before {file}.",
            setting.from
        ),
    }
}

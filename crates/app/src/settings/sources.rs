//! Reads settings from flags, the environment and daybook.toml. Each source becomes one list
//! of names and values; a source that contradicts itself is refused.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::Value;

use super::choices::SettingChoices;
use super::kind::{NameUnit, ValueKind};
use super::masked;
use super::names::{self, NameMeaning};
use super::table::Setting;
use crate::folders::data_folder::display_path;
use crate::toml_text::parse_table;

/// The source of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SettingSource {
    Flag,
    Environment,
    File,
    Profile,
    Default,
}

/// A name with its value, as a source has it.
#[derive(Debug, Clone)]
pub(crate) struct GivenValue {
    pub(crate) source: SettingSource,
    /// The setting's name, or another system's name of it; for the environment, the variable.
    pub(crate) name: String,
    pub(crate) value: Value,
}

/// `idle = "2m"`, `--set idle=2m`, `DAYBOOK_IDLE=2m`: as its source writes it. Tables are left out: the message
/// behind them names the fault, and a person may have written a key into one.
impl fmt::Display for GivenValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: String| match text.trim_start().starts_with('{') {
            true => "{…}".to_owned(),
            false => masked(&text),
        };
        match self.source {
            SettingSource::Flag => write!(f, "--set {}={}", self.name, shown(plain(&self.value))),
            SettingSource::Environment => write!(f, "{}={}", self.name, shown(plain(&self.value))),
            SettingSource::File | SettingSource::Profile | SettingSource::Default => {
                write!(f, "{} = {}", self.name, shown(self.value.to_string()))
            }
        }
    }
}

/// A value of a source that sets `setting`.
#[derive(Clone)]
pub(crate) struct SettingValue {
    pub(crate) setting: &'static Setting,
    pub(crate) unit: NameUnit,
    pub(crate) source_value: GivenValue,
    /// The value in the setting's own form.
    pub(crate) value: Value,
}

/// The settings of one source.
#[derive(Default)]
pub(crate) struct SettingsLayer {
    values: BTreeMap<&'static str, SettingValue>,
}

impl SettingsLayer {
    /// Reads the values of one source; fails at the first name that is unknown or refused.
    pub(crate) fn read(all: Vec<GivenValue>) -> Result<Self> {
        let mut layer = Self::default();
        for given in all {
            match names::meaning(&given.name) {
                NameMeaning::Setting(setting, unit) => {
                    layer.add(parse_value(setting, unit, given)?)?
                }
                NameMeaning::Refused(why) => bail!("{}", refusal(&given, why)),
                NameMeaning::Unknown => {
                    let advice = names::advice(&given.name);
                    bail!("{given}: there is no such setting; {advice}")
                }
            }
        }
        Ok(layer)
    }

    /// Reads flags of the form `name=value`.
    pub(crate) fn of_flags(flags: &[String]) -> Result<Self> {
        let pair = |flag: &String| {
            let (name, value) = flag
                .split_once('=')
                .with_context(|| format!("--set {flag}: write --set name=value"))?;
            Ok(GivenValue {
                source: SettingSource::Flag,
                name: name.trim().to_owned(),
                value: value.trim().into(),
            })
        };
        Self::read(flags.iter().map(pair).collect::<Result<_>>()?)
    }

    /// Reads variables of known names; others belong to other programs. An empty variable is not set.
    pub(crate) fn of_environment(variables: &[(String, String)]) -> Result<Self> {
        let mut layer = Self::default();
        for (name, meaning) in names::all() {
            let spelled = names::variable(name);
            let set = variables
                .iter()
                .find(|(variable, value)| *variable == spelled && !value.is_empty());
            let Some((_, value)) = set else { continue };
            let given = GivenValue {
                source: SettingSource::Environment,
                name: spelled,
                value: value.as_str().into(),
            };
            match meaning {
                NameMeaning::Setting(setting, unit) => {
                    layer.add(parse_value(setting, unit, given)?)?
                }
                NameMeaning::Refused(why) => bail!("{}", refusal(&given, why)),
                NameMeaning::Unknown => {}
            }
        }
        Ok(layer)
    }

    /// Reads the text of daybook.toml.
    pub(crate) fn of_file(text: &str, path: &Path) -> Result<Self> {
        let table = parse_table(text)
            .with_context(|| format!("{} is not valid TOML", display_path(path)))?;
        let table = serde_json::to_value(table).context("settings are text and numbers")?;
        let given = |(name, value)| GivenValue {
            source: SettingSource::File,
            name,
            value,
        };
        let all = names::leaves(&table).into_iter().map(given).collect();
        Self::read(all).with_context(|| display_path(path))
    }

    /// The source's value of a setting.
    pub(crate) fn of(&self, setting: &Setting) -> Option<&SettingValue> {
        self.values.get(setting.name)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &SettingValue> {
        self.values.values()
    }

    /// Adds a value. Two names of one setting must agree.
    pub(crate) fn add(&mut self, value: SettingValue) -> Result<()> {
        let name = value.setting.name;
        let Some(before) = self.values.get(name) else {
            self.values.insert(name, value);
            return Ok(());
        };
        if before.value == value.value {
            return Ok(());
        }
        if !both_must_allow(before, &value) {
            bail!(
                "{name} is set twice: {}, and {}; keep one",
                before.source_value,
                value.source_value
            );
        }
        if value.value == "off" {
            self.values.insert(name, value);
        }
        Ok(())
    }
}

/// The message about a name that is refused. Its value is left out: it may hold a key.
fn refusal(given: &GivenValue, why: &str) -> String {
    format!("{}: {why}", given.name)
}

/// Whether both values are switches of another system, which must all be on, as in MindRoom.
fn both_must_allow(one: &SettingValue, other: &SettingValue) -> bool {
    let has_foreign_name = |value: &SettingValue| {
        let own = value.setting.name;
        value.source_value.name != own && value.source_value.name != names::variable(own)
    };
    let is_switch = matches!(one.setting.kind, ValueKind::Switch { .. });
    is_switch && has_foreign_name(one) && has_foreign_name(other)
}

/// Parses a value as `setting` requires.
pub(crate) fn parse_value(
    setting: &'static Setting,
    unit: NameUnit,
    given: GivenValue,
) -> Result<SettingValue> {
    let mut scratch = SettingChoices::of(daybook_engine::profile::Profile::default(), "");
    if let Err(reason) = setting.kind.put(&given.value, unit, &mut scratch) {
        let own_name = if unit != NameUnit::Own {
            format!(" (it sets {})", setting.name)
        } else {
            String::new()
        };
        bail!("{given}{own_name}: {reason}");
    }
    Ok(SettingValue {
        setting,
        unit,
        source_value: given,
        value: setting.kind.value(&scratch),
    })
}

/// A value in the form of a command line.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            let list: Vec<String> = list.iter().map(plain).collect();
            list.join(",")
        }
        other => other.to_string(),
    }
}

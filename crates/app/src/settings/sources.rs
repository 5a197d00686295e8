//! Where values come from: flags, the environment, daybook.toml. Each source is read into the same list
//! of names and values, and a source that contradicts itself is refused.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::Value;

use super::choices::Choices;
use super::kind::{Kind, Unit};
use super::masked;
use super::names::{self, Meaning};
use super::table::Setting;
use crate::root::shown;

/// Where a value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    Flag,
    Environment,
    File,
    Profile,
    Default,
}

/// A name with a value, as a source gives it.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) source: Source,
    /// The setting's name, or what a seed calls it; for the environment, the variable.
    pub(crate) name: String,
    pub(crate) value: Value,
}

/// `idle = "2m"`, `--set idle=2m`, `DAYBOOK_IDLE=2m`: as its source writes it. Tables are left out: what is
/// wrong is named behind them, and somebody may have written a key into one.
impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: String| match text.trim_start().starts_with('{') {
            true => "{…}".to_owned(),
            false => masked(&text),
        };
        match self.source {
            Source::Flag => write!(f, "--set {}={}", self.name, shown(plain(&self.value))),
            Source::Environment => write!(f, "{}={}", self.name, shown(plain(&self.value))),
            Source::File | Source::Profile | Source::Default => {
                write!(f, "{} = {}", self.name, shown(self.value.to_string()))
            }
        }
    }
}

/// A value of a source that sets `setting`.
#[derive(Clone)]
pub(crate) struct Taken {
    pub(crate) setting: &'static Setting,
    pub(crate) unit: Unit,
    pub(crate) given: Given,
    /// The value in the setting's own form.
    pub(crate) value: Value,
}

/// What one source sets.
#[derive(Default)]
pub(crate) struct Layer {
    taken: BTreeMap<&'static str, Taken>,
    /// Names of seeds that nothing here uses yet, and why.
    pub(crate) unused: Vec<(Given, &'static str)>,
}

impl Layer {
    /// Reads what one source gives; of unknown names, the first is the error.
    pub(crate) fn read(all: Vec<Given>) -> Result<Self> {
        let mut layer = Self::default();
        for given in all {
            match names::meaning(&given.name) {
                Meaning::Setting(setting, unit) => layer.add(take(setting, unit, given)?)?,
                Meaning::Unused(why) => layer.unused.push((given, why)),
                Meaning::Unknown => {
                    bail!("{given}: there is no such setting; `daybook config` lists them")
                }
            }
        }
        Ok(layer)
    }

    /// `--set name=value`, each.
    pub(crate) fn of_flags(flags: &[String]) -> Result<Self> {
        let pair = |flag: &String| {
            let (name, value) = flag
                .split_once('=')
                .with_context(|| format!("--set {flag}: write --set name=value"))?;
            Ok(Given {
                source: Source::Flag,
                name: name.trim().to_owned(),
                value: value.trim().into(),
            })
        };
        Self::read(flags.iter().map(pair).collect::<Result<_>>()?)
    }

    /// Variables that spell a known name; others are not ours to judge, and an empty one is not set.
    pub(crate) fn of_environment(variables: &[(String, String)]) -> Result<Self> {
        let mut layer = Self::default();
        for (name, meaning) in names::all() {
            let spelled = names::variable(name);
            let set = variables
                .iter()
                .find(|(variable, value)| *variable == spelled && !value.is_empty());
            let Some((_, value)) = set else { continue };
            let given = Given {
                source: Source::Environment,
                name: spelled,
                value: value.as_str().into(),
            };
            match meaning {
                Meaning::Setting(setting, unit) => layer.add(take(setting, unit, given)?)?,
                Meaning::Unused(why) => layer.unused.push((given, why)),
                Meaning::Unknown => {}
            }
        }
        Ok(layer)
    }

    /// The text of daybook.toml.
    pub(crate) fn of_file(text: &str, path: &Path) -> Result<Self> {
        let table: toml::Table = text
            .parse()
            .with_context(|| format!("{} is not valid TOML", shown(path)))?;
        let table = serde_json::to_value(table).context("settings are text and numbers")?;
        let given = |(name, value)| Given {
            source: Source::File,
            name,
            value,
        };
        let all = names::leaves(&table).into_iter().map(given).collect();
        Self::read(all).with_context(|| shown(path))
    }

    /// What it sets a setting to.
    pub(crate) fn of(&self, setting: &Setting) -> Option<&Taken> {
        self.taken.get(setting.name)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Taken> {
        self.taken.values()
    }

    /// Two names of one setting must agree.
    pub(crate) fn add(&mut self, taken: Taken) -> Result<()> {
        let name = taken.setting.name;
        let Some(before) = self.taken.get(name) else {
            self.taken.insert(name, taken);
            return Ok(());
        };
        if before.value == taken.value {
            return Ok(());
        }
        if !both_must_allow(before, &taken) {
            bail!(
                "{name} is set twice: {}, and {}; keep one",
                before.given,
                taken.given
            );
        }
        if taken.value == "off" {
            self.taken.insert(name, taken);
        }
        Ok(())
    }
}

/// A seed that has several switches for one thing does it when all of them are on (M.1).
fn both_must_allow(one: &Taken, other: &Taken) -> bool {
    let by_seed = |taken: &Taken| {
        let own = taken.setting.name;
        taken.given.name != own && taken.given.name != names::variable(own)
    };
    matches!(one.setting.kind, Kind::Switch { .. }) && by_seed(one) && by_seed(other)
}

/// Reads a value as `setting` wants it.
pub(crate) fn take(setting: &'static Setting, unit: Unit, given: Given) -> Result<Taken> {
    let mut scratch = Choices::of(daybook_engine::profile::Profile::default(), "");
    if let Err(reason) = setting.kind.put(&given.value, unit, &mut scratch) {
        let seed = if unit != Unit::Own {
            format!(" (it sets {})", setting.name)
        } else {
            String::new()
        };
        bail!("{given}{seed}: {reason}");
    }
    Ok(Taken {
        setting,
        unit,
        given,
        value: setting.kind.value(&scratch),
    })
}

/// A value as it stands on a command line.
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

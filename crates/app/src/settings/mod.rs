//! Settings: where each value comes from, what it means, and whether it makes sense.
//!
//! A value comes from `--set name=value`, else the environment (`DAYBOOK_…`), else `daybook.toml` in the
//! data folder, else the profile, which itself is a setting. Seeds' own names are understood everywhere,
//! in their own units. Nothing below the binary reads the environment.
//!
//! Not here: what the numbers do (that is `engine::profile`).

mod choices;
pub(crate) mod compare;
mod duration;
pub(crate) mod import;
mod kind;
mod lineage;
pub(crate) mod models;
pub(crate) mod names;
pub(crate) mod providers;
pub(crate) mod schema;
pub(crate) mod sources;
mod spend;
pub(crate) mod table;

#[cfg(test)]
mod models_tests;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use daybook_domain::eligibility::Switches;
use daybook_domain::spend::Cap;
use daybook_domain::{PriceTable, ScopeKind, Tenant};
use daybook_engine::bounded;
use daybook_engine::profile::Profile;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;

use choices::Choices;
use models::Models;
use sources::Layer;
use table::{ALL, Setting};

pub(crate) use duration::{parse_duration, spelled};
pub(crate) use import::with_setting;
pub(crate) use sources::Source;

/// Name of the settings file in the data folder.
pub(crate) const FILE: &str = "daybook.toml";
/// Longest settings file that is read, in bytes.
const FILE_BYTES: u64 = 4 * 1024 * 1024;

/// The word for a database in the data folder.
const SQLITE: &str = "sqlite";
/// The word for the certificates that the machine trusts.
const SYSTEM: &str = "system";

/// Longest name of a tenant.
const TENANT: usize = 64;

/// Where everything but memory files is kept.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a database in the data folder.
    Folder,
    /// In a PostgreSQL database.
    Server {
        /// May hold a password: not for showing.
        address: String,
        /// The certificates that are trusted; `None` for the machine's own.
        ca: Option<PathBuf>,
    },
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Folder => f.write_str(SQLITE),
            Self::Server { address, .. } => f.write_str(&masked(address)),
        }
    }
}

/// What turns texts into vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vectors {
    /// Nothing: recall goes by words alone.
    Off,
    /// The model in the binary.
    BuiltIn,
}

/// How durable an acknowledged event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    Process,
    Power,
}

/// All settings, checked.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) person: String,
    pub(crate) zone: TimeZone,
    pub(crate) durability: Durability,
    /// What turns texts into vectors.
    pub(crate) vectors: Vectors,
    pub(crate) store: Place,
    /// Whose memory every door of this process opens on.
    pub(crate) tenant: Tenant,
    pub(crate) context_tokens: usize,
    /// Which models are asked, and how.
    pub(crate) models: Models,
    /// What models cost.
    pub(crate) prices: PriceTable,
    /// The most that may be spent on them.
    pub(crate) caps: Vec<Cap>,
    /// What both are in.
    pub(crate) currency: String,
    /// Where memory is switched off.
    pub(crate) switches: Switches,
    /// The chosen profile, with everything laid over it that is set otherwise.
    pub(crate) profile: Profile,
    pub(crate) explained: Vec<Explained>,
    /// What seeds can set and nothing here uses yet.
    pub(crate) unused: Vec<Unused>,
}

/// A setting with its value, for people and programs.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Explained {
    pub(crate) name: &'static str,
    pub(crate) value: Value,
    pub(crate) source: Source,
    /// The variable, the name in the file, or the profile, that it comes from.
    pub(crate) from: String,
    pub(crate) about: &'static str,
    pub(crate) allowed: String,
    /// What seeds call it.
    pub(crate) seeds: Vec<&'static str>,
}

/// Something that was set, is understood, and has no effect yet.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Unused {
    pub(crate) name: String,
    pub(crate) value: Value,
    pub(crate) source: Source,
    pub(crate) why: &'static str,
}

/// All that settings are read from.
pub(crate) struct Inputs<'a> {
    pub(crate) flags: &'a [String],
    pub(crate) environment: &'a [(String, String)],
    pub(crate) file: &'a str,
    pub(crate) path: &'a Path,
    /// What the machine calls the person.
    pub(crate) login: &'a str,
}

impl Settings {
    /// Reads the settings of the data folder at `root`, with `flags` of the form `name=value` over them.
    pub(crate) fn load(root: &Path, flags: &[String]) -> Result<Self> {
        let path = root.join(FILE);
        let text = match bounded::read_text(&path, FILE_BYTES) {
            Ok(text) => text,
            Err(refusal) if refusal.is_absence() => String::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        Self::read(&Inputs {
            flags,
            environment: &environment(),
            file: &text,
            path: &path,
            login: &login_name(),
        })
    }

    /// The settings that `inputs` come to.
    pub(crate) fn read(inputs: &Inputs<'_>) -> Result<Self> {
        let layers = [
            Layer::of_flags(inputs.flags)?,
            Layer::of_environment(inputs.environment)?,
            Layer::of_file(inputs.file, inputs.path)?,
        ];
        let set = |setting| layers.iter().find_map(|layer| layer.of(setting));
        let named = ALL.iter().find(|setting| setting.name == "profile");
        let chosen = named
            .and_then(set)
            .and_then(|taken| Profile::named(taken.value.as_str()?));
        let own = chosen.clone();
        let mut choices = Choices::of(chosen.unwrap_or_default(), inputs.login);
        let mut explained = Vec::new();
        for setting in &ALL {
            let taken = set(setting);
            if let Some(taken) = taken {
                let put = setting
                    .kind
                    .put(&taken.given.value, taken.unit, &mut choices);
                put.map_err(anyhow::Error::msg)?;
            }
            let profile = own.as_ref().filter(|profile| setting.is_chosen_by(profile));
            explained.push(explain(setting, taken, profile, &choices));
        }
        let unused = layers.iter().flat_map(|layer| &layer.unused);
        let unused = unused.map(|(given, why)| Unused {
            name: given.name.clone(),
            value: given.value.clone(),
            source: given.source,
            why,
        });
        Self::of(&choices, explained, unused.collect())
    }

    fn of(choices: &Choices, explained: Vec<Explained>, unused: Vec<Unused>) -> Result<Self> {
        let off_for = choices.memory_off.iter().filter_map(|text| scope(text));
        Ok(Self {
            person: choices.person.clone(),
            zone: zone(&choices.timezone).unwrap_or(TimeZone::UTC),
            durability: match choices.durability {
                "power" => Durability::Power,
                _ => Durability::Process,
            },
            vectors: match choices.vectors {
                "off" => Vectors::Off,
                _ => Vectors::BuiltIn,
            },
            store: match choices.store.as_str() {
                SQLITE => Place::Folder,
                address => Place::Server {
                    address: address.to_owned(),
                    ca: (choices.store_ca != SYSTEM).then(|| PathBuf::from(&choices.store_ca)),
                },
            },
            tenant: Tenant(choices.tenant.clone()),
            context_tokens: choices.context_tokens,
            models: Models::of(choices)?,
            prices: spend::prices(&choices.prices).map_err(anyhow::Error::msg)?,
            caps: spend::caps(&choices.caps).map_err(anyhow::Error::msg)?,
            currency: choices.currency.trim().to_owned(),
            switches: Switches {
                all_off: !choices.memory,
                off: off_for.collect(),
                person: choices.person.clone(),
            },
            profile: choices.profile()?,
            explained,
            unused,
        })
    }
}

fn explain(
    setting: &'static Setting,
    taken: Option<&sources::Taken>,
    profile: Option<&Profile>,
    choices: &Choices,
) -> Explained {
    let (source, from) = match (taken, profile) {
        (Some(taken), _) => (taken.given.source, taken.given.name.clone()),
        (None, Some(profile)) => (Source::Profile, profile.name.to_owned()),
        (None, None) => (Source::Default, String::new()),
    };
    Explained {
        name: setting.name,
        value: setting.kind.value(choices),
        source,
        from,
        about: setting.about,
        allowed: setting.kind.allowed(),
        seeds: setting.also.iter().map(|(name, _)| *name).collect(),
    }
}

/// Whether a text may name a tenant: it stands in folder names, listings and files of tokens.
pub(crate) fn is_tenant(text: &str) -> bool {
    let is_plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'-' | b'_');
    (1..=TENANT).contains(&text.len()) && text.bytes().all(is_plain)
}

fn is_postgres(text: &str) -> bool {
    ["postgres://", "postgresql://"]
        .iter()
        .any(|scheme| text.starts_with(scheme))
}

/// A text with the password of an address hidden.
pub(crate) fn masked(text: &str) -> String {
    let hidden = (|| {
        let user = text.find("://")? + 3;
        // The host begins after the last @ that comes before the path: passwords may hold one.
        let path = text[user..]
            .find('/')
            .map_or(text.len(), |path| user + path);
        let host = user + text[user..path].rfind('@')?;
        let password = user + text[user..host].find(':')? + 1;
        Some(format!("{}…{}", &text[..password], &text[host..]))
    })();
    hidden.unwrap_or_else(|| text.to_owned())
}

/// Our variables. What is not text cannot be a setting's value.
fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let ours = name.starts_with("DAYBOOK_");
            ours.then(|| (name, value.to_string_lossy().into_owned()))
        })
        .collect()
}

fn login_name() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok());
    named
        .filter(|name| !name.trim().is_empty())
        .unwrap_or_else(|| "you".to_owned())
}

fn zone(name: &str) -> Option<TimeZone> {
    match name {
        "local" => Some(TimeZone::try_system().unwrap_or(TimeZone::UTC)),
        name => TimeZone::get(name).ok(),
    }
}

/// `project/tidepool`: a kind of scope and a name.
fn scope(text: &str) -> Option<(ScopeKind, String)> {
    let (kind, name) = text.split_once('/')?;
    let kind = ScopeKind::from_word(kind.trim())?;
    let name = name.trim();
    (!name.is_empty()).then(|| (kind, name.to_owned()))
}

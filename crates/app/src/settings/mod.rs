//! Reads settings from their sources, checks them, and explains each value.
//!
//! A value comes from `--set name=value`, else the environment (`DAYBOOK_…`), else `daybook.toml` in the
//! data folder, else the profile, which itself is a setting. Other systems' own names are understood everywhere,
//! in their own units. Nothing below the binary reads the environment.
//!
//! Not here: the effects of the numbers (`engine::profile`).

mod agents;
mod choices;
pub(crate) mod chosen_model;
pub(crate) mod compare;
mod duration;
pub(crate) mod import;
mod kind;
mod lineage;
pub(crate) mod mem0;
pub(crate) mod models;
pub(crate) mod names;
pub(crate) mod providers;
pub(crate) mod rules_file;
pub(crate) mod schema;
pub(crate) mod sources;
mod spend;
pub(crate) mod table;
pub(crate) mod vectors;
pub(crate) mod zone;

#[cfg(test)]
mod models_tests;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use daybook_domain::PollutionRule;
use daybook_domain::eligibility::Switches;
use daybook_domain::spend::Cap;
use daybook_domain::{PriceTable, Scope, ScopeKind, ScopePolicy, Teams, Tenant, Venue};
use daybook_engine::bounded;
use daybook_engine::files::curation::CurationLimits;
use daybook_engine::profile::Profile;
use daybook_text::redact::PersonalData;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;

use agents::{AgentMemory, AgentSettings};
use choices::SettingChoices;
use mem0::Mem0Settings;
use models::ModelChoices;
use sources::SettingsLayer;
use table::{ALL, Setting};
use zone::zone;

pub(crate) use duration::{parse_duration, spelled};
pub(crate) use import::{with_setting, with_value, without_name};
pub(crate) use sources::SettingSource;

/// Name of the settings file in the data folder.
pub(crate) const FILE: &str = "daybook.toml";
/// Longest settings file that is read, in bytes.
const FILE_BYTES: u64 = 4 * 1024 * 1024;

/// The value of `store` for a database in the data folder.
const SQLITE: &str = "sqlite";
/// The value of `store_ca` for the certificates that the machine trusts.
const SYSTEM: &str = "system";

/// Longest name of a tenant.
const TENANT: usize = 64;

/// The database that holds everything but memory files.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum MemoryPlace {
    /// In a database in the data folder.
    Folder,
    /// In a PostgreSQL database.
    Server {
        /// May hold a password, so it is never shown.
        address: String,
        /// The certificates that are trusted; `None` for the machine's own.
        ca: Option<PathBuf>,
        vector_search: VectorSearchChoice,
    },
}

/// How a server finds the nearest vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VectorSearchChoice {
    Exact,
    Approximate,
}

impl std::fmt::Debug for MemoryPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Folder => f.write_str(SQLITE),
            Self::Server { address, .. } => f.write_str(&masked(address)),
        }
    }
}

/// How durable an acknowledged event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DurabilityChoice {
    Process,
    Power,
}

/// All settings, checked.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) person: String,
    pub(crate) zone: TimeZone,
    pub(crate) durability: DurabilityChoice,
    pub(crate) store: MemoryPlace,
    /// The tenant whose memory all interfaces of this process open.
    pub(crate) tenant: Tenant,
    pub(crate) context_tokens: usize,
    /// Longest time from its start that the hook of a prompt may search.
    pub(crate) prompt_recall: Duration,
    /// The kinds of personal data that are hidden.
    pub(crate) personal_data: Vec<PersonalData>,
    /// The models that are used, and how.
    pub(crate) models: ModelChoices,
    /// Prices of models.
    pub(crate) prices: PriceTable,
    /// Caps on spending.
    pub(crate) caps: Vec<Cap>,
    /// The currency of both.
    pub(crate) currency: String,
    /// The scopes for which memory is switched off.
    pub(crate) switches: Switches,
    /// Teams of agents.
    pub(crate) teams: Teams,
    /// Where the sessions are held that hooks report without a room and a team of their own.
    pub(crate) venue: Venue,
    /// Whether a team reads its members' memories.
    pub(crate) team_reads_member_memory: bool,
    /// How `MEMORY.md` is curated in passes, if it is.
    pub(crate) curation: Option<CurationLimits>,
    /// Whether the consolidation model also works as an agent.
    pub(crate) consolidation_agent: bool,
    /// The chosen profile, with the values that other sources override.
    pub(crate) profile: Profile,
    /// Whether memory is put before agents that do not ask for it.
    pub(crate) inject: bool,
    /// What is different for single agents.
    pub(crate) agents: BTreeMap<String, AgentSettings>,
    /// The mem0 server, where an agent's memory is there.
    pub(crate) mem0: Option<Mem0Settings>,
    pub(crate) explained: Vec<ExplainedSetting>,
}

/// A setting with its value, for people and programs.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ExplainedSetting {
    pub(crate) name: &'static str,
    pub(crate) value: Value,
    pub(crate) source: SettingSource,
    /// The variable, the name in the file, or the profile, that it comes from.
    pub(crate) from: String,
    pub(crate) about: &'static str,
    pub(crate) allowed: String,
    /// Other systems' names of it.
    #[serde(rename = "seeds")]
    pub(crate) other_names: Vec<&'static str>,
}

/// The sources that settings are read from.
pub(crate) struct SettingsInputs<'a> {
    pub(crate) flags: &'a [String],
    pub(crate) environment: &'a [(String, String)],
    pub(crate) file: &'a str,
    pub(crate) path: &'a Path,
    /// The login name of the person.
    pub(crate) login: &'a str,
}

impl Settings {
    /// What decides which scopes apply to a caller.
    pub(crate) fn scope_policy(&self) -> ScopePolicy<'_> {
        ScopePolicy {
            tenant: &self.tenant,
            person: &self.person,
            teams: &self.teams,
            team_reads_member_memory: self.team_reads_member_memory,
        }
    }

    /// Whether a person has one memory over all of their projects.
    pub(crate) fn has_one_memory(&self) -> bool {
        self.profile.consolidation.layout.is_one_for_person()
    }

    /// The person's own scope.
    pub(crate) fn person_scope(&self) -> Scope {
        Scope {
            tenant: self.tenant.clone(),
            kind: ScopeKind::User,
            name: self.person.clone(),
        }
    }

    /// Whether memory is there for `agent`: an agent for which it is switched off is given nothing, asked or not.
    pub(crate) fn has_memory_for(&self, agent: &str) -> bool {
        self.agents
            .get(agent)
            .is_none_or(|own| own.memory != Some(AgentMemory::Off))
    }

    /// Whether a mem0 server keeps the memory of a scope: an agent's, or that of a team with such a member.
    pub(crate) fn is_in_mem0(&self, scope: &Scope) -> bool {
        let is_there = |agent: &String| {
            let own = self.agents.get(agent);
            own.is_some_and(|own| own.memory == Some(AgentMemory::Mem0))
        };
        match scope.kind {
            ScopeKind::Agent => is_there(&scope.name),
            ScopeKind::Team => {
                let team = self.teams.find(&scope.name);
                team.is_some_and(|team| team.members.iter().any(is_there))
            }
            ScopeKind::Project | ScopeKind::User | ScopeKind::Room => false,
        }
    }

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
        Self::of_text(root, flags, &text)
    }

    /// The settings that `text` as the file of the data folder gives.
    pub(crate) fn of_text(root: &Path, flags: &[String], text: &str) -> Result<Self> {
        Self::read(&SettingsInputs {
            flags,
            environment: &environment(),
            file: text,
            path: &root.join(FILE),
            login: &login_name(),
        })
    }

    /// Reads the settings from `inputs`.
    pub(crate) fn read(inputs: &SettingsInputs<'_>) -> Result<Self> {
        let layers = [
            SettingsLayer::of_flags(inputs.flags)?,
            SettingsLayer::of_environment(inputs.environment)?,
            SettingsLayer::of_file(inputs.file, inputs.path)?,
        ];
        let set = |setting| layers.iter().find_map(|layer| layer.of(setting));
        let named = ALL.iter().find(|setting| setting.name == "profile");
        let chosen = named
            .and_then(set)
            .and_then(|taken| Profile::from_name(taken.value.as_str()?));
        let own = chosen.clone();
        let mut choices = SettingChoices::of(chosen.unwrap_or_default(), inputs.login);
        let mut explained = Vec::new();
        for setting in &ALL {
            let taken = set(setting);
            if let Some(taken) = taken {
                let put = setting
                    .kind
                    .put(&taken.source_value.value, taken.unit, &mut choices);
                put.map_err(anyhow::Error::msg)?;
            }
            let profile = own.as_ref().filter(|profile| setting.is_chosen_by(profile));
            explained.push(explain(setting, taken, profile, &choices));
        }
        Self::of(&choices, explained)
    }

    fn of(choices: &SettingChoices, explained: Vec<ExplainedSetting>) -> Result<Self> {
        let agents = agents::agents(&choices.agents).map_err(anyhow::Error::msg)?;
        let with_memory = |memory: &'static [AgentMemory]| {
            let is_so =
                move |own: &AgentSettings| own.memory.is_some_and(|it| memory.contains(&it));
            let agents = agents.iter().filter(move |(_, own)| is_so(own));
            agents.map(|(agent, _)| agent.clone())
        };
        let mem0 = mem0::mem0(&choices.mem0).map_err(anyhow::Error::msg)?;
        if let (Some(agent), None) = (with_memory(&[AgentMemory::Mem0]).next(), &mem0) {
            bail!(
                "agents.{agent}: its memory is in mem0, and no server is named; write mem0 = {{ url = \"http://127.0.0.1:8888\" }}"
            );
        }
        let off_for = choices.memory_off.iter().filter_map(|text| scope(text));
        let off_for =
            off_for.chain(with_memory(&[AgentMemory::Off]).map(|agent| (ScopeKind::Agent, agent)));
        let named = |name: &String| (!name.is_empty()).then(|| name.clone());
        Ok(Self {
            person: choices.person.clone(),
            zone: zone(&choices.timezone).unwrap_or(TimeZone::UTC),
            durability: match choices.durability {
                "power" => DurabilityChoice::Power,
                _ => DurabilityChoice::Process,
            },
            store: match choices.store.as_str() {
                SQLITE => MemoryPlace::Folder,
                address => MemoryPlace::Server {
                    address: address.to_owned(),
                    ca: (choices.store_ca != SYSTEM).then(|| PathBuf::from(&choices.store_ca)),
                    vector_search: match choices.vector_search {
                        "approximate" => VectorSearchChoice::Approximate,
                        _ => VectorSearchChoice::Exact,
                    },
                },
            },
            tenant: Tenant(choices.tenant.clone()),
            context_tokens: choices.context_tokens,
            prompt_recall: choices.prompt_recall,
            personal_data: choices
                .personal_data
                .iter()
                .filter_map(|kind| kind.parse().ok())
                .collect(),
            models: ModelChoices::of(choices, &agents)?,
            prices: spend::prices(&choices.prices).map_err(anyhow::Error::msg)?,
            caps: spend::caps(&choices.caps).map_err(anyhow::Error::msg)?,
            currency: choices.currency.trim().to_owned(),
            curation: choices.curates.then_some(choices.curation),
            consolidation_agent: choices.consolidation_agent,
            switches: Switches {
                all_off: !choices.memory,
                off: off_for.collect(),
                on_agents: with_memory(&[AgentMemory::Here, AgentMemory::Mem0]).collect(),
                person: choices.person.clone(),
                pollution: PollutionRule {
                    is_on: choices.disable_on_external_context,
                    harmless_servers: choices.harmless_mcp_servers.iter().cloned().collect(),
                },
            },
            teams: Teams::parse(choices.teams.iter().map(String::as_str))
                .map_err(anyhow::Error::msg)?,
            venue: Venue {
                room_id: named(&choices.room_id),
                thread_id: named(&choices.thread_id).filter(|_| !choices.room_id.is_empty()),
                team: named(&choices.team),
                filed_in: None,
            },
            team_reads_member_memory: choices.team_reads_member_memory,
            profile: choices.profile()?,
            inject: choices.inject,
            agents,
            mem0,
            explained,
        })
    }
}

fn explain(
    setting: &'static Setting,
    taken: Option<&sources::SettingValue>,
    profile: Option<&Profile>,
    choices: &SettingChoices,
) -> ExplainedSetting {
    let (source, from) = match (taken, profile) {
        (Some(taken), _) => (taken.source_value.source, taken.source_value.name.clone()),
        (None, Some(profile)) => (SettingSource::Profile, profile.name.to_owned()),
        (None, None) => (SettingSource::Default, String::new()),
    };
    ExplainedSetting {
        name: setting.name,
        value: setting.kind.value(choices),
        source,
        from,
        about: setting.about,
        allowed: setting.kind.allowed(),
        other_names: setting.also.iter().map(|(name, _)| *name).collect(),
    }
}

/// Whether a text may name a tenant: the name is part of folder names, listings and names of token files.
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

/// The variables that are text; other values cannot be a setting's value.
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

/// Parses a scope such as `project/tidepool`.
pub(crate) fn scope(text: &str) -> Option<(ScopeKind, String)> {
    let (kind, name) = text.split_once('/')?;
    let kind = kind.trim().parse::<ScopeKind>().ok()?;
    let name = name.trim();
    (!name.is_empty()).then(|| (kind, name.to_owned()))
}

//! Plans the import of another system's block of settings: the outcome of each line, and the new daybook.toml.
//!
//! Every line is accounted for: taken, already so, refused with what to write instead, or unknown. A line that is
//! refused keeps no other from being taken.
//!
//! Not here: reading and writing files.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde::Serialize;
use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, TableLike};

use super::agents;
use super::names::{self, NameMeaning};
use super::sources::{GivenValue, SettingSource, SettingsLayer, parse_value};
use super::table::{ALL, Setting};
use super::{Settings, SettingsInputs};
use crate::folders::data_folder::display_path;
use crate::toml_text::{parse_document, parse_table};

/// Largest block that is read, in bytes.
pub(crate) const MOST_BYTES: u64 = 1 << 20;

/// The outcome of an import: its lines, the suggested profile, and the new text of daybook.toml.
pub(crate) struct ImportPlan {
    pub(crate) lines: Vec<PlanLine>,
    /// The profile of the system that the block is from.
    pub(crate) profile: Option<SuggestedProfile>,
    /// daybook.toml afterwards.
    pub(crate) text: String,
}

/// One name of the block.
#[derive(Debug, Serialize, PartialEq)]
pub(crate) struct PlanLine {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) outcome: NameOutcome,
}

/// The outcome of one name. Values of unknown names are not repeated: they may be any program's, keys included.
#[derive(Debug, Serialize, PartialEq)]
#[serde(tag = "became", rename_all = "snake_case")]
pub(crate) enum NameOutcome {
    Taken { setting: &'static str, value: Value },
    AlreadySo { setting: &'static str, value: Value },
    Refused { why: String },
    Unknown,
}

/// The profile of the block's system, and whether daybook.toml takes it.
#[derive(Debug, Serialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) struct SuggestedProfile {
    pub(crate) name: &'static str,
    /// daybook.toml names another profile, which is left as it is.
    pub(crate) kept: Option<String>,
    pub(crate) already: bool,
}

/// Plans the import of `block`, TOML or YAML by the extension of `name`, into the text `file` of daybook.toml at `path`.
pub(crate) fn plan(block: &str, name: &str, file: &str, path: &Path) -> Result<ImportPlan> {
    let given = read(block, name)?;
    let current = SettingsLayer::of_file(file, path)?;
    let SortedBlock {
        asked,
        agents,
        lines,
    } = sort(given, &current);
    let mut document = parse_document(file).with_context(|| display_path(path))?;
    for taken in asked.all() {
        if current.of(taken.setting).map(|now| &now.value) != Some(&taken.value) {
            write(&mut document, taken.setting, &taken.value);
        }
    }
    for (agent, memory) in &agents {
        if agent_memory(&current, agent) != Some(memory) {
            write_agent(&mut document, agent, memory);
        }
    }
    let profile = suggest(&lines, &current);
    if let Some(suggested) = &profile
        && suggested.kept.is_none()
        && !suggested.already
    {
        set(document.as_table_mut(), "profile", suggested.name.into());
    }
    let text = document.to_string();
    check(&text, path)?;
    Ok(ImportPlan {
        lines,
        profile,
        text,
    })
}

/// Parses the block into names with their values, without the content of unknown tables.
fn read(block: &str, name: &str) -> Result<Vec<(String, Value)>> {
    let ending = Path::new(name)
        .extension()
        .and_then(|ending| ending.to_str());
    let value = match ending {
        Some("toml") => of_toml(block).with_context(|| format!("{name} is not TOML"))?,
        Some("yaml" | "yml" | "json") => {
            of_yaml(block).with_context(|| format!("{name} is not YAML"))?
        }
        _ => of_toml(block).or_else(|toml| {
            of_yaml(block).map_err(|yaml| {
                anyhow::anyhow!(
                    "{name} is neither TOML ({}) nor YAML ({yaml:#})",
                    first_line(&toml)
                )
            })
        })?,
    };
    let mut leaves = names::leaves(&value);
    if let Some(at) = leaves
        .iter()
        .position(|(name, value)| name == "agents" && value.is_object())
    {
        let (_, agents) = leaves.remove(at);
        leaves.extend(
            agents
                .as_object()
                .into_iter()
                .flat_map(agents::foreign_names),
        );
    }
    if leaves.is_empty() {
        bail!("{name} sets nothing; give it a block such as `memory:` with what stands below it");
    }
    Ok(leaves)
}

fn of_toml(block: &str) -> Result<Value> {
    let table = parse_table(block).map_err(|error| anyhow!(without_excerpt(&error)))?;
    Ok(serde_json::to_value(table)?)
}

/// The message without the lines that it quotes: half of a secret is not recognised.
fn without_excerpt(error: &anyhow::Error) -> String {
    let text = error.to_string();
    let is_quoted = |line: &&str| {
        let number = |c: char| c.is_ascii_digit() || c == ' ';
        line.trim_start_matches(number).starts_with('|')
    };
    let kept: Vec<&str> = text.lines().filter(|line| !is_quoted(line)).collect();
    kept.join(": ")
}

fn of_yaml(block: &str) -> Result<Value> {
    let options = serde_saphyr::options! { with_snippet: false };
    Ok(serde_saphyr::from_str_with_options(block, options)?)
}

fn first_line(error: &anyhow::Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

/// What a block asks for, and the outcome of each of its names.
struct SortedBlock {
    asked: SettingsLayer,
    /// Agents whose memory it switches, with `on` or `off`.
    agents: BTreeMap<String, &'static str>,
    lines: Vec<PlanLine>,
}

/// What became of one name before the whole block was read.
enum SortedName {
    Setting(&'static Setting),
    Agent(String),
    Other(NameOutcome),
}

fn sort(given: Vec<(String, Value)>, current: &SettingsLayer) -> SortedBlock {
    let mut asked = SettingsLayer::default();
    let mut agents = BTreeMap::new();
    let sorted: Vec<(String, SortedName)> = given
        .into_iter()
        .map(|(name, value)| {
            let sorted = sort_name(&name, value, &mut asked, &mut agents);
            let sorted =
                sorted.unwrap_or_else(|why| SortedName::Other(NameOutcome::Refused { why }));
            (name, sorted)
        })
        .collect();
    let lines = sorted.into_iter().map(|(name, sorted)| PlanLine {
        name,
        outcome: match sorted {
            SortedName::Setting(setting) => outcome(setting, &asked, current),
            SortedName::Agent(agent) => agent_outcome(&agent, agents[&agent], current),
            SortedName::Other(outcome) => outcome,
        },
    });
    let lines = lines.collect();
    SortedBlock {
        asked,
        agents,
        lines,
    }
}

/// Adds one name's value to what is asked for.
///
/// # Errors
/// The reason why it is refused.
fn sort_name(
    name: &str,
    value: Value,
    asked: &mut SettingsLayer,
    agents: &mut BTreeMap<String, &'static str>,
) -> Result<SortedName, String> {
    if let Some(agent) = agents::switched_agent(name) {
        let switch = agents::switch_of(&value)?;
        if agents
            .insert(agent.to_owned(), switch)
            .is_some_and(|before| before != switch)
        {
            return Err(format!(
                "{agent} is switched twice, on and off; the last one counts"
            ));
        }
        return Ok(SortedName::Agent(agent.to_owned()));
    }
    if agents::is_search(name) {
        return Err(agents::SEARCH.to_owned());
    }
    // Other programs have settings with our own names, too; only names of other systems are imported.
    let meaning = match name.contains('.') {
        true => names::meaning(name),
        false => NameMeaning::Unknown,
    };
    match meaning {
        NameMeaning::Setting(setting, unit) => {
            let given = GivenValue {
                source: SettingSource::File,
                name: name.to_owned(),
                value,
            };
            let added = parse_value(setting, unit, given).and_then(|taken| asked.add(taken));
            match added {
                Ok(()) => Ok(SortedName::Setting(setting)),
                Err(error) => Err(format!("{error:#}")),
            }
        }
        NameMeaning::Refused(why) => Err(why.to_owned()),
        NameMeaning::Unknown => Ok(SortedName::Other(NameOutcome::Unknown)),
    }
}

fn outcome(
    setting: &'static Setting,
    asked: &SettingsLayer,
    current: &SettingsLayer,
) -> NameOutcome {
    let asked = asked.of(setting).map(|taken| taken.value.clone());
    let value = asked.unwrap_or_default();
    let setting_name = setting.name;
    match current.of(setting).is_some_and(|now| now.value == value) {
        true => NameOutcome::AlreadySo {
            setting: setting_name,
            value,
        },
        false => NameOutcome::Taken {
            setting: setting_name,
            value,
        },
    }
}

/// The outcome of an agent's switch.
fn agent_outcome(agent: &str, memory: &str, current: &SettingsLayer) -> NameOutcome {
    let is_so = agent_memory(current, agent) == Some(memory);
    let (setting, value) = ("agents", json!({ agent: { "memory": memory } }));
    match is_so {
        true => NameOutcome::AlreadySo { setting, value },
        false => NameOutcome::Taken { setting, value },
    }
}

/// What daybook.toml says of an agent's memory.
fn agent_memory(current: &SettingsLayer, agent: &str) -> Option<&'static str> {
    let setting = ALL.iter().find(|setting| setting.name == "agents")?;
    let tables = &current.of(setting)?.value;
    let own = agents::agents(tables).ok()?.remove(agent)?.memory?;
    Some(own.as_str())
}

/// Writes an agent's switch into its table, and removes MindRoom's spelling of it.
fn write_agent(document: &mut DocumentMut, agent: &str, memory: &str) {
    let agents = document.entry("agents").or_insert_with(implicit_table);
    let Some(agents) = agents.as_table_like_mut() else {
        return;
    };
    let own = agents.entry(agent).or_insert_with(toml_edit::table);
    if let Some(own) = own.as_table_like_mut() {
        own.remove("memory_backend");
        // MindRoom's form is a table, which `set` would leave in place.
        own.remove("memory");
        set(own, "memory", memory.into());
    }
}

/// A table without a line of its own.
fn implicit_table() -> Item {
    let mut table = toml_edit::Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

/// The profile of the one system whose names the block uses.
fn suggest(lines: &[PlanLine], current: &SettingsLayer) -> Option<SuggestedProfile> {
    let uses = |table: &str| {
        lines
            .iter()
            .any(|line| line.outcome != NameOutcome::Unknown && line.name.starts_with(table))
    };
    let name = match (uses("memory.auto_flush."), uses("memories.")) {
        (true, false) => "mindroom",
        (false, true) => "codex",
        (true, true) | (false, false) => return None,
    };
    let setting = ALL.iter().find(|setting| setting.name == "profile")?;
    let now = current.of(setting).and_then(|taken| taken.value.as_str());
    Some(SuggestedProfile {
        name,
        already: now == Some(name),
        kept: now.filter(|now| *now != name).map(str::to_owned),
    })
}

/// Writes a value, and removes other systems' names of the same setting.
fn write(document: &mut DocumentMut, setting: &Setting, value: &Value) {
    for (name, _) in setting.also {
        let path: Vec<&str> = name.split('.').collect();
        remove(document.as_table_mut(), &path);
    }
    let in_the_way = document
        .get_mut(setting.name)
        .and_then(Item::as_table_like_mut);
    match in_the_way {
        // `memory` is also the name of MindRoom's table, and TOML allows only one of the two.
        Some(table) => {
            let word = if value == "off" { "none" } else { "file" };
            set(table, "backend", word.into());
        }
        None => set(document.as_table_mut(), setting.name, in_toml(value)),
    }
}

/// The text of daybook.toml with one setting changed, and everything else unchanged.
pub(crate) fn with_setting(text: &str, name: &str, value: &str) -> anyhow::Result<String> {
    with_value(text, name, &value.into())
}

/// [`with_setting`] for a value of any kind.
pub(crate) fn with_value(text: &str, name: &str, value: &Value) -> anyhow::Result<String> {
    let mut document = parse_document(text)?;
    set(document.as_table_mut(), name, in_toml(value));
    Ok(document.to_string())
}

/// The text of daybook.toml without a name, which may have dots, and everything else unchanged.
pub(crate) fn without_name(text: &str, name: &str) -> anyhow::Result<String> {
    let mut document = parse_document(text)?;
    remove(
        document.as_table_mut(),
        &name.split('.').collect::<Vec<_>>(),
    );
    Ok(document.to_string())
}

fn in_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Number(number) => number.as_i64().unwrap_or(i64::MAX).into(),
        Value::Bool(on) => (*on).into(),
        Value::Array(list) => list.iter().map(in_toml).collect(),
        Value::String(text) => text.as_str().into(),
        Value::Null | Value::Object(_) => value.to_string().into(),
    }
}

/// Sets a key. A comment beside its old value stays.
fn set(table: &mut dyn TableLike, key: &str, mut value: toml_edit::Value) {
    if let Some(old) = table.get_mut(key).and_then(Item::as_value_mut) {
        *value.decor_mut() = old.decor().clone();
        *old = value;
    } else {
        table.insert(key, Item::Value(value));
    }
}

/// Removes a key, and the tables around it that are empty then.
fn remove(table: &mut dyn TableLike, path: &[&str]) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    if rest.is_empty() {
        table.remove(first);
        return;
    }
    let Some(inner) = table.get_mut(first).and_then(Item::as_table_like_mut) else {
        return;
    };
    let had_something = !inner.is_empty();
    remove(inner, rest);
    if had_something && inner.is_empty() {
        table.remove(first);
    }
}

/// Fails unless the new text can be read as settings.
fn check(text: &str, path: &Path) -> Result<()> {
    let inputs = SettingsInputs {
        flags: &[],
        environment: &[],
        file: text,
        path,
        login: "you",
    };
    let read = Settings::read(&inputs);
    read.context("nothing was changed: it does not go with the rest of daybook.toml")?;
    Ok(())
}

#[cfg(test)]
#[path = "import_tests.rs"]
mod tests;

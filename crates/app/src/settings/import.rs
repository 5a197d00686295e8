//! Taking over a seed's block of settings: which line becomes which setting, and daybook.toml as it is
//! afterwards.
//!
//! Every line is accounted for: taken, already so, understood but without use here, or unknown. A value
//! that is not allowed refuses the whole block, so that nothing is half taken over.
//!
//! Not here: reading and writing files.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::Value;
use toml_edit::{DocumentMut, Item, TableLike};

use super::names::{self, Meaning};
use super::sources::{Given, Layer, Source, take};
use super::table::{ALL, Setting};
use super::{Inputs, Settings};
use crate::root::shown;

/// Bigger blocks are no settings.
pub(crate) const MOST_BYTES: u64 = 1 << 20;

/// What a block comes to.
pub(crate) struct Plan {
    pub(crate) lines: Vec<Line>,
    /// The profile of the system that the block is from.
    pub(crate) profile: Option<Suggested>,
    /// daybook.toml afterwards.
    pub(crate) text: String,
}

/// One name of the block.
#[derive(Debug, Serialize, PartialEq)]
pub(crate) struct Line {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) became: Became,
}

/// What a name became. Values of unknown names are not repeated: they may be anybody's, keys included.
#[derive(Debug, Serialize, PartialEq)]
#[serde(tag = "became", rename_all = "snake_case")]
pub(crate) enum Became {
    Taken { setting: &'static str, value: Value },
    AlreadySo { setting: &'static str, value: Value },
    Unused { why: &'static str },
    Unknown,
}

/// A profile, and what was done about it.
#[derive(Debug, Serialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) struct Suggested {
    pub(crate) name: &'static str,
    /// daybook.toml names another profile, which is left as it is.
    pub(crate) kept: Option<String>,
    pub(crate) already: bool,
}

/// Takes over `block`, TOML or YAML by the ending of `name`, into the `file` that stands at `path`.
pub(crate) fn plan(block: &str, name: &str, file: &str, path: &Path) -> Result<Plan> {
    let given = read(block, name)?;
    let current = Layer::of_file(file, path)?;
    let (asked, lines) = sort(given, &current)?;
    let mut document: DocumentMut = file.parse().with_context(|| shown(path))?;
    for taken in asked.all() {
        if current.of(taken.setting).map(|now| &now.value) != Some(&taken.value) {
            write(&mut document, taken.setting, &taken.value);
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
    Ok(Plan {
        lines,
        profile,
        text,
    })
}

/// The names of the block that are not unknown tables of something else, with their values.
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
    let leaves = names::leaves(&value);
    if leaves.is_empty() {
        bail!("{name} sets nothing; give it a block such as `memory:` with what stands below it");
    }
    Ok(leaves)
}

fn of_toml(block: &str) -> Result<Value> {
    Ok(serde_json::to_value(block.parse::<toml::Table>()?)?)
}

fn of_yaml(block: &str) -> Result<Value> {
    let options = serde_saphyr::options! { with_snippet: false };
    Ok(serde_saphyr::from_str_with_options(block, options)?)
}

fn first_line(error: &anyhow::Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

/// What the block sets, and what became of each of its names.
fn sort(given: Vec<(String, Value)>, current: &Layer) -> Result<(Layer, Vec<Line>)> {
    let mut asked = Layer::default();
    let mut refused = Vec::new();
    let mut sorted = Vec::new();
    for (name, value) in given {
        // Other programs have settings of our names, too; what is taken over are seeds'.
        let meaning = match name.contains('.') {
            true => names::meaning(&name),
            false => Meaning::Unknown,
        };
        if let Meaning::Setting(setting, unit) = meaning {
            let given = Given {
                source: Source::File,
                name: name.clone(),
                value,
            };
            let added = take(setting, unit, given).and_then(|taken| asked.add(taken));
            refused.extend(added.err().map(|error| format!("{error:#}")));
        }
        sorted.push((name, meaning));
    }
    if !refused.is_empty() {
        bail!("nothing was changed:\n  {}", refused.join("\n  "));
    }
    let lines = sorted.into_iter().map(|(name, meaning)| Line {
        became: became(meaning, &asked, current),
        name,
    });
    let lines = lines.collect();
    Ok((asked, lines))
}

fn became(meaning: Meaning, asked: &Layer, current: &Layer) -> Became {
    let setting = match meaning {
        Meaning::Setting(setting, _) => setting,
        Meaning::Unused(why) => return Became::Unused { why },
        Meaning::Unknown => return Became::Unknown,
    };
    let asked = asked.of(setting).map(|taken| taken.value.clone());
    let value = asked.unwrap_or_default();
    let setting_name = setting.name;
    match current.of(setting).is_some_and(|now| now.value == value) {
        true => Became::AlreadySo {
            setting: setting_name,
            value,
        },
        false => Became::Taken {
            setting: setting_name,
            value,
        },
    }
}

/// The profile of the one system whose names the block uses.
fn suggest(lines: &[Line], current: &Layer) -> Option<Suggested> {
    let uses = |table: &str| {
        lines
            .iter()
            .any(|line| line.became != Became::Unknown && line.name.starts_with(table))
    };
    let name = match (uses("memory.auto_flush."), uses("memories.")) {
        (true, false) => "mindroom",
        (false, true) => "codex",
        (true, true) | (false, false) => return None,
    };
    let setting = ALL.iter().find(|setting| setting.name == "profile")?;
    let now = current.of(setting).and_then(|taken| taken.value.as_str());
    Some(Suggested {
        name,
        already: now == Some(name),
        kept: now.filter(|now| *now != name).map(str::to_owned),
    })
}

/// Puts a value in place, and takes out what seeds' names in the file say about the same thing.
fn write(document: &mut DocumentMut, setting: &Setting, value: &Value) {
    for (name, _) in setting.also {
        let path: Vec<&str> = name.split('.').collect();
        remove(document.as_table_mut(), &path);
    }
    let in_the_way = document
        .get_mut(setting.name)
        .and_then(Item::as_table_like_mut);
    match in_the_way {
        // `memory` is also the name of MindRoom's table, and a name stands for one thing in TOML.
        Some(table) => {
            let word = if value == "off" { "none" } else { "file" };
            set(table, "backend", word.into());
        }
        None => set(document.as_table_mut(), setting.name, in_toml(value)),
    }
}

/// A text of daybook.toml with one setting changed, and all else as it was.
pub(crate) fn with_setting(text: &str, name: &str, value: &str) -> anyhow::Result<String> {
    let mut document: DocumentMut = text.parse()?;
    set(document.as_table_mut(), name, value.into());
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

/// Sets a key; a comment beside its old value stays.
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

/// What is about to be written must be readable, and make sense as a whole.
fn check(text: &str, path: &Path) -> Result<()> {
    let inputs = Inputs {
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

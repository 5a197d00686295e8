//! Making Daybook known to the agents on this machine, and taking that back.
//!
//! A plan is made of pure changes of texts, each checked before anything is written: what belongs to
//! the person reads the same before and after, and doing it again changes nothing. Taking it back
//! gives the very bytes of a backup where nothing else has changed since, and removes exactly our
//! entries otherwise.
//!
//! Not here: asking and printing (`cli::setup`).

mod command;
mod diff;
mod file;
mod hooks;
mod host;
mod json;
mod servers;

use anyhow::{Context, Result, bail};

pub(crate) use command::{Program, quoted};
pub(crate) use diff::{Line, lines, text as diff_text};
pub(crate) use file::Settings;
pub(crate) use host::Host;

use crate::root::shown;
use hooks::Group;
use servers::Server;

/// What is to be done with a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// Our hooks stand in its settings, and our MCP server too if `mcp`.
    Setup { mcp: bool },
    /// Nothing of ours does.
    Undo,
}

/// One settings file that changes.
pub(crate) struct Change {
    pub(crate) host: Host,
    pub(crate) file: Settings,
    /// Its text afterwards; `None` when it was ours alone and goes.
    pub(crate) after: Option<String>,
}

/// What would change, and what the person should know.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) changes: Vec<Change>,
    pub(crate) notes: Vec<String>,
}

/// The hosts whose folders are on this machine.
pub(crate) fn found() -> Result<Vec<Host>> {
    let mut found = Vec::new();
    for host in Host::ALL {
        if host.folder()?.is_dir() {
            found.push(host);
        }
    }
    Ok(found)
}

/// What reaches `aim` for these hosts. Reads, and changes nothing.
pub(crate) fn plan(hosts: &[Host], program: &Program, aim: Aim) -> Result<Plan> {
    let mut plan = Plan::default();
    for &host in hosts {
        let hooks = Part::Hooks(host.groups(program));
        plan.add(host, Settings::read(host.hooks_path()?)?, &hooks, aim)?;
        let servers = Part::Servers {
            toml: host.servers_are_toml(),
            server: host.server(program),
        };
        if aim != (Aim::Setup { mcp: false }) {
            plan.add(host, Settings::read(host.servers_path()?)?, &servers, aim)?;
        }
    }
    Ok(plan)
}

impl Plan {
    fn add(&mut self, host: Host, file: Settings, part: &Part, aim: Aim) -> Result<()> {
        let name = shown(&file.path);
        let failed = || format!("{name} cannot be changed safely, so nothing was");
        let after = match aim {
            Aim::Setup { .. } => {
                let before = file.text.as_deref().unwrap_or_default();
                let after = part.with(before).with_context(failed)?;
                self.notes.extend(part.remarks(host, &name, &after));
                Some(after)
            }
            Aim::Undo => match &file.text {
                Some(_) => undone(&file, part).with_context(failed)?,
                None => None,
            },
        };
        if after != file.text {
            let texts = [file.text.as_deref(), after.as_deref()].map(Option::unwrap_or_default);
            part.check(texts).with_context(failed)?;
            self.changes.push(Change { host, file, after });
        }
        Ok(())
    }
}

/// A file without what is ours: a backup if setup alone came after it, else the text with our entries
/// cut out; `None` when nothing is left of a file that came with us.
fn undone(file: &Settings, part: &Part) -> Result<Option<String>> {
    let text = file.text.as_deref().unwrap_or_default();
    let without = part.without(text)?;
    if without == text {
        return Ok(Some(without));
    }
    // A copy that was kept when something of ours stood there already says nothing of before.
    let free = |backup: &String| part.without(backup).is_ok_and(|left| left == *backup);
    let mut backups = file.backups();
    backups.retain(free);
    let explains = |backup: &&String| part.with(backup).is_ok_and(|made| made == text);
    if let Some(backup) = backups.iter().find(explains) {
        return Ok(Some(backup.clone()));
    }
    let left: String = without.split_whitespace().collect();
    let ours_alone = backups.is_empty() && (left.is_empty() || left == "{}");
    Ok((!ours_alone).then_some(without))
}

/// What is ours in one file.
enum Part {
    Hooks(Vec<Group>),
    Servers { toml: bool, server: Server },
}

impl Part {
    fn with(&self, text: &str) -> Result<String> {
        match self {
            Self::Hooks(groups) => hooks::settle(text, groups),
            Self::Servers { toml: true, server } => servers::settle_toml(text, Some(server)),
            Self::Servers {
                toml: false,
                server,
            } => servers::settle_json(text, Some(server)),
        }
    }

    fn without(&self, text: &str) -> Result<String> {
        match self {
            Self::Hooks(_) => hooks::settle(text, &[]),
            Self::Servers { toml: true, .. } => servers::settle_toml(text, None),
            Self::Servers { toml: false, .. } => servers::settle_json(text, None),
        }
    }

    /// What belongs to the person, as programs read it.
    fn others(&self, text: &str) -> Result<serde_json::Value> {
        match self {
            Self::Hooks(_) => hooks::others(text),
            Self::Servers { toml: false, .. } => servers::others_json(text),
            Self::Servers { toml: true, .. } => {
                Ok(serde_json::to_value(servers::others_toml(text)?)?)
            }
        }
    }

    fn check(&self, [before, after]: [&str; 2]) -> Result<()> {
        if self.others(before)? != self.others(after)? {
            bail!("an entry of yours would be lost");
        }
        let again = match self.without(after)? == after {
            true => after.to_owned(),
            false => self.with(after)?,
        };
        if again != after {
            bail!("doing it again would change it again");
        }
        Ok(())
    }

    fn remarks(&self, host: Host, name: &str, after: &str) -> Vec<String> {
        let mut remarks = Vec::new();
        match self {
            Self::Servers { toml, server } => {
                if servers::is_taken(after, *toml, server) {
                    remarks.push(format!(
                        "{name} has an MCP server named daybook that is not this one; it stays"
                    ));
                }
                if *toml {
                    remarks.extend(codex_remarks(name, after));
                }
            }
            Self::Hooks(_) => {
                if serde_json::from_str::<serde::de::IgnoredAny>(after).is_err() {
                    remarks.push(format!(
                        "{name} has comments or trailing commas, and {} reads none of a file that has; they are kept",
                        host.name()
                    ));
                }
                if hooks::others(after).is_ok_and(|all| all["disableAllHooks"] == true) {
                    remarks.push(format!("{name} says disableAllHooks, so no hook runs"));
                }
            }
        }
        remarks
    }
}

/// What stands in the way of hooks in the configuration of Codex.
fn codex_remarks(name: &str, text: &str) -> Vec<String> {
    let mut remarks = Vec::new();
    let Ok(root) = toml::from_str::<toml::Table>(text) else {
        return remarks;
    };
    let features = root.get("features").and_then(toml::Value::as_table);
    for key in ["hooks", "codex_hooks"] {
        let says = features.and_then(|features| features.get(key));
        if says.and_then(toml::Value::as_bool) == Some(false) {
            remarks.push(format!("{name} says {key} = false, so Codex runs no hook"));
        }
    }
    let hooks = root.get("hooks").and_then(toml::Value::as_table);
    if hooks.is_some_and(|hooks| hooks.values().any(toml::Value::is_array)) {
        remarks.push(format!(
            "{name} has hooks of its own; Codex runs those and the ones in hooks.json, and remarks on it at its start"
        ));
    }
    remarks
}

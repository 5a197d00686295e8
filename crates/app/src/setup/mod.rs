//! Adds Daybook to the settings of hosts, and removes it again.
//!
//! A plan consists of pure changes of texts, each checked before anything is written: the person's own entries parse the
//! same before and after, and repeating the change changes nothing. Undoing restores the bytes of a backup if nothing else
//! has changed since, and removes exactly our entries otherwise.
//!
//! Not here: prompts and output (`cli::setup`).

mod command;
mod diff;
mod file;
mod hooks;
mod host;
mod json;
mod servers;

use anyhow::{Context, Result, bail};
use strum::VariantArray;

pub(crate) use command::Program;
pub(crate) use diff::{DiffLine, diff_lines, diff_text};
pub(crate) use file::SettingsFile;

use crate::folders::data_folder::display_path;
use crate::folders::hosts::AgentHost;
use crate::toml_text::parse_table;
use hooks::HookGroup;
use servers::ServerEntry;

/// The change to make to a host's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetupAction {
    /// Add our hooks, and our MCP server too if `mcp`.
    Setup { mcp: bool },
    /// Remove everything of ours.
    Undo,
}

/// One settings file that changes.
pub(crate) struct SettingsChange {
    pub(crate) host: AgentHost,
    pub(crate) file: SettingsFile,
    /// Its text afterwards; `None` for a file that held only our entries and is removed.
    pub(crate) after: Option<String>,
}

/// The files that would change, and notes for the person.
#[derive(Default)]
pub(crate) struct SetupPlan {
    pub(crate) changes: Vec<SettingsChange>,
    pub(crate) notes: Vec<String>,
}

/// The hosts whose folders exist on this machine.
pub(crate) fn installed_hosts() -> Result<Vec<AgentHost>> {
    let mut hosts = Vec::new();
    for &host in AgentHost::VARIANTS {
        if host.folder()?.is_dir() {
            hosts.push(host);
        }
    }
    Ok(hosts)
}

/// Plans `action` for these hosts. Reads settings, and changes nothing.
pub(crate) fn plan(
    hosts: &[AgentHost],
    program: &Program,
    action: SetupAction,
) -> Result<SetupPlan> {
    let mut plan = SetupPlan::default();
    for &host in hosts {
        let hooks = SettingsPart::Hooks(host.groups(program));
        plan.add(
            host,
            SettingsFile::read(host.hooks_path()?)?,
            &hooks,
            action,
        )?;
        let servers = SettingsPart::Servers {
            toml: host.servers_are_toml(),
            server: host.server(program),
        };
        if action != (SetupAction::Setup { mcp: false }) {
            plan.add(
                host,
                SettingsFile::read(host.servers_path()?)?,
                &servers,
                action,
            )?;
        }
    }
    Ok(plan)
}

impl SetupPlan {
    fn add(
        &mut self,
        host: AgentHost,
        file: SettingsFile,
        part: &SettingsPart,
        action: SetupAction,
    ) -> Result<()> {
        let name = display_path(&file.path);
        let failed = || format!("{name} cannot be changed safely, so nothing was");
        let after = match action {
            SetupAction::Setup { .. } => {
                let before = file.text.as_deref().unwrap_or_default();
                let after = part.with(before).with_context(failed)?;
                self.notes.extend(part.remarks(host, &name, &after));
                Some(after)
            }
            SetupAction::Undo => match &file.text {
                Some(_) => text_without_ours(&file, part).with_context(failed)?,
                None => None,
            },
        };
        if after != file.text {
            let texts = [file.text.as_deref(), after.as_deref()].map(Option::unwrap_or_default);
            part.check(texts).with_context(failed)?;
            self.changes.push(SettingsChange { host, file, after });
        }
        Ok(())
    }
}

/// The text of a file without our entries: a backup if only setup changed the file since, else the text with our entries
/// cut out; `None` when nothing is left of a file that setup created.
fn text_without_ours(file: &SettingsFile, part: &SettingsPart) -> Result<Option<String>> {
    let text = file.text.as_deref().unwrap_or_default();
    let without = part.without(text)?;
    if without == text {
        return Ok(Some(without));
    }
    // A backup that contains entries of ours does not show the file before setup.
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

/// Our entries in one file.
enum SettingsPart {
    Hooks(Vec<HookGroup>),
    Servers { toml: bool, server: ServerEntry },
}

impl SettingsPart {
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

    /// The person's own entries, parsed.
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

    fn remarks(&self, host: AgentHost, name: &str, after: &str) -> Vec<String> {
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
                    remarks.push(format!("{name} has disableAllHooks, so no hook runs"));
                }
            }
        }
        remarks
    }
}

/// Notes on settings of Codex that keep our hooks from running.
fn codex_remarks(name: &str, text: &str) -> Vec<String> {
    let mut remarks = Vec::new();
    let Ok(root) = parse_table(text) else {
        return remarks;
    };
    let features = root.get("features").and_then(toml::Value::as_table);
    for key in ["hooks", "codex_hooks"] {
        let says = features.and_then(|features| features.get(key));
        if says.and_then(toml::Value::as_bool) == Some(false) {
            remarks.push(format!("{name} has {key} = false, so Codex runs no hook"));
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

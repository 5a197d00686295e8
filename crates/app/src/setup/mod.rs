//! Adds Daybook to the settings of hosts, and removes it again.
//!
//! A plan consists of pure changes of texts, each checked before anything is written: the person's own entries parse the
//! same before and after, and repeating the change changes nothing. Undoing restores the bytes of a backup if nothing else
//! has changed since, and removes exactly our entries otherwise. A host with a file that cannot be changed so is left as it
//! is, and named; the others are set up.
//!
//! Not here: prompts and output (`cli::setup`).

mod command;
mod diff;
mod file;
mod hooks;
mod host;
mod json;
mod part;
mod servers;

use anyhow::{Context, Result};
use strum::VariantArray;

pub(crate) use command::Program;
pub(crate) use diff::{DiffLine, diff_lines, diff_text};
pub(crate) use file::SettingsFile;

use crate::folders::data_folder::display_path;
use crate::folders::hosts::AgentHost;
use host::SettingsParts;
use part::SettingsPart;

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
    /// Our entries in it.
    parts: Vec<SettingsPart>,
}

impl SettingsChange {
    /// Writes the change. Returns the path of the backup, if one was made.
    pub(crate) fn write(&self, today: &str) -> Result<Option<std::path::PathBuf>> {
        let after = self.after.as_deref();
        let backup = self.file.write(after, today)?;
        let is_free = |text: &str| is_without_ours(&self.parts, text);
        self.file.prune_backups(after, is_free);
        Ok(backup)
    }
}

/// The files that would change, and notes for the person.
#[derive(Default)]
pub(crate) struct SetupPlan {
    pub(crate) changes: Vec<SettingsChange>,
    pub(crate) notes: Vec<String>,
    /// Hosts that are left as they are, and why.
    pub(crate) refusals: Vec<(AgentHost, anyhow::Error)>,
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
        let mcp = action != (SetupAction::Setup { mcp: false });
        let files = host.parts(program, mcp)?;
        let mut of_host = SetupPlan::default();
        let planned = files
            .into_iter()
            .try_for_each(|file| of_host.add(host, file, action));
        match planned {
            Ok(()) => {
                plan.changes.append(&mut of_host.changes);
                plan.notes.append(&mut of_host.notes);
                plan.notes.extend(missing_update(host, mcp));
            }
            Err(error) => plan.refusals.push((host, error)),
        }
    }
    Ok(plan)
}

/// A note where neither a hook nor an MCP server would process what the hooks report.
fn missing_update(host: AgentHost, mcp: bool) -> Option<String> {
    let name = host.name();
    match (mcp, host.has_hooks(), host.has_updates()) {
        (true, _, _) | (false, true, true) => None,
        (false, true, false) => Some(format!(
            "without its MCP server {name} starts no update; run `daybook update` yourself, or `daybook serve`"
        )),
        (false, false, _) => Some(format!(
            "{name} has no hooks for memory, and --no-mcp leaves out the rest; nothing is added"
        )),
    }
}

impl SetupPlan {
    fn add(&mut self, host: AgentHost, file: SettingsParts, action: SetupAction) -> Result<()> {
        let SettingsParts { path, parts } = file;
        let file = SettingsFile::read(path)?;
        let name = display_path(&file.path);
        let failed = || format!("{name} cannot be changed safely, so nothing was");
        let after = match action {
            SetupAction::Setup { .. } => {
                let before = file.text.as_deref().unwrap_or_default();
                let after = part::with_all(&parts, before).with_context(failed)?;
                for part in &parts {
                    self.notes.extend(part::remarks(part, host, &name, &after));
                }
                Some(after)
            }
            SetupAction::Undo => match &file.text {
                Some(_) => text_without_ours(&file, &parts).with_context(failed)?,
                None => None,
            },
        };
        if after != file.text {
            let texts = [file.text.as_deref(), after.as_deref()].map(Option::unwrap_or_default);
            part::check(&parts, texts).with_context(failed)?;
            self.changes.push(SettingsChange {
                host,
                file,
                after,
                parts,
            });
        }
        Ok(())
    }
}

/// The text of a file without our entries: a backup if only setup changed the file since, else the text with our entries
/// cut out; `None` when nothing is left of a file that setup created.
fn text_without_ours(file: &SettingsFile, parts: &[SettingsPart]) -> Result<Option<String>> {
    let text = file.text.as_deref().unwrap_or_default();
    let without = part::without_all(parts, text)?;
    if without == text {
        return Ok(Some(without));
    }
    // A backup that contains entries of ours does not show the file before setup.
    let mut backups = file.backups();
    backups.retain(|backup| is_without_ours(parts, backup));
    let explains = |backup: &&String| part::with_all(parts, backup).is_ok_and(|made| made == text);
    if let Some(backup) = backups.iter().find(explains) {
        return Ok(Some(backup.clone()));
    }
    let ours_alone = backups.is_empty() && part::is_empty(parts, &without);
    Ok((!ours_alone).then_some(without))
}

fn is_without_ours(parts: &[SettingsPart], text: &str) -> bool {
    part::without_all(parts, text).is_ok_and(|left| left == text)
}

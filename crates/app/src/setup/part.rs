//! Our entries in one settings file: with them, without them, and what is the person's own.
//!
//! Not here: files (`file`), and the order of work (`setup`).

use anyhow::{Result, bail};
use serde_json::Value;

use super::hooks::{self, HookGroup};
use super::json::parse_settings;
use super::servers::{ServerEntry, ServerFormat};
use crate::folders::hosts::AgentHost;

/// One kind of our entries.
pub(super) enum SettingsPart {
    Hooks(Vec<HookGroup>),
    Servers(ServerFormat, ServerEntry),
}

impl SettingsPart {
    fn with(&self, text: &str) -> Result<String> {
        match self {
            Self::Hooks(groups) => hooks::settle(text, groups),
            Self::Servers(format, server) => format.settle(text, Some(server)),
        }
    }

    fn without(&self, text: &str) -> Result<String> {
        match self {
            Self::Hooks(_) => hooks::settle(text, &[]),
            Self::Servers(format, _) => format.settle(text, None),
        }
    }

    fn parse(&self, text: &str) -> Result<Value> {
        match self {
            Self::Hooks(_) => parse_settings(text),
            Self::Servers(format, _) => format.parse(text),
        }
    }

    fn strip(&self, root: &mut Value) {
        match self {
            Self::Hooks(_) => hooks::strip(root),
            Self::Servers(format, _) => format.strip(root),
        }
    }
}

/// The text with all `parts`.
pub(super) fn with_all(parts: &[SettingsPart], text: &str) -> Result<String> {
    let start = Ok(text.to_owned());
    parts.iter().fold(start, |text, part| part.with(&text?))
}

/// The text without any of them.
pub(super) fn without_all(parts: &[SettingsPart], text: &str) -> Result<String> {
    let start = Ok(text.to_owned());
    parts
        .iter()
        .rev()
        .fold(start, |text, part| part.without(&text?))
}

/// Fails unless the person's own settings are the same in both texts, and doing the change again would change nothing.
pub(super) fn check(parts: &[SettingsPart], [before, after]: [&str; 2]) -> Result<()> {
    if others(parts, before)? != others(parts, after)? {
        bail!("an entry of yours would be lost");
    }
    let again = match without_all(parts, after)? == after {
        true => after.to_owned(),
        false => with_all(parts, after)?,
    };
    if again != after {
        bail!("doing it again would change it again");
    }
    Ok(())
}

/// The person's own settings, parsed.
fn others(parts: &[SettingsPart], text: &str) -> Result<Value> {
    let Some(first) = parts.first() else {
        return Ok(Value::Null);
    };
    let mut root = first.parse(text)?;
    parts.iter().for_each(|part| part.strip(&mut root));
    if is_bare(&root) {
        root = Value::Object(serde_json::Map::new());
    }
    Ok(root)
}

/// Whether settings hold nothing: the version alone of a format with versions is no setting of a person's.
fn is_bare(root: &Value) -> bool {
    let mut members = root.as_object().into_iter().flatten();
    members.all(|(name, value)| name == "version" && *value == 1)
}

/// Whether a text holds nothing of the person's, so that a file of it can go.
pub(super) fn is_empty(parts: &[SettingsPart], text: &str) -> bool {
    let holds_comment = text.contains("//") || text.contains("/*") || text.contains('#');
    !holds_comment
        && others(parts, text).is_ok_and(|root| root.as_object().is_some_and(|all| all.is_empty()))
}

/// Notes on settings that keep our entries from working, or that are not ours.
pub(super) fn remarks(
    part: &SettingsPart,
    host: AgentHost,
    name: &str,
    after: &str,
) -> Vec<String> {
    let mut remarks = Vec::new();
    match part {
        SettingsPart::Servers(format, server) => {
            if format.is_taken(after, server) {
                remarks.push(format!(
                    "{name} has an MCP server named daybook that is not this one; it stays"
                ));
            }
            if host == AgentHost::Codex {
                remarks.extend(codex_remarks(name, after));
            }
        }
        SettingsPart::Hooks(groups) => {
            let is_strict = matches!(host, AgentHost::ClaudeCode | AgentHost::Codex);
            if is_strict && serde_json::from_str::<serde::de::IgnoredAny>(after).is_err() {
                remarks.push(format!(
                    "{name} has comments or trailing commas, and {} reads none of a file that has; they are kept",
                    host.name()
                ));
            }
            remarks.extend(hook_remarks(groups, host, name, after));
        }
    }
    remarks
}

/// Notes on settings that keep hooks from running.
fn hook_remarks(groups: &[HookGroup], host: AgentHost, name: &str, after: &str) -> Vec<String> {
    let Ok(root) = parse_settings(after) else {
        return Vec::new();
    };
    let mut remarks = Vec::new();
    if root["disableAllHooks"] == true {
        remarks.push(format!("{name} has disableAllHooks, so no hook runs"));
    }
    if root["hooksConfig"]["enabled"] == false {
        remarks.push(format!(
            "{name} has hooksConfig.enabled = false, so no hook runs"
        ));
    }
    let is_versioned = groups
        .iter()
        .any(|group| group.layout == hooks::HookLayout::Handlers);
    if is_versioned && root["version"] != 1 {
        remarks.push(format!(
            "{name} has no \"version\": 1, and {} runs no hook of such a file; add it",
            host.name()
        ));
    }
    remarks
}

/// Notes on settings of Codex that keep our hooks from running.
fn codex_remarks(name: &str, text: &str) -> Vec<String> {
    let mut remarks = Vec::new();
    let Ok(root) = ServerFormat::Toml.parse(text) else {
        return remarks;
    };
    for key in ["hooks", "codex_hooks"] {
        if root["features"][key] == false {
            remarks.push(format!("{name} has {key} = false, so Codex runs no hook"));
        }
    }
    let hooks = root["hooks"].as_object();
    if hooks.is_some_and(|hooks| hooks.values().any(Value::is_array)) {
        remarks.push(format!(
            "{name} has hooks of its own; Codex runs those and the ones in hooks.json, and remarks on it at its start"
        ));
    }
    remarks
}

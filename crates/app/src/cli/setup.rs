//! `daybook setup`: adds Daybook to the settings of the agents on this machine.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};
use strum::VariantArray;

use super::import::line;
use super::{CommonArgs, can_ask};
use crate::folders::data_folder::display_path;
use crate::folders::hosts::AgentHost;
use crate::setup::{
    DiffLine, Program, SettingsChange, SetupAction, SetupPlan, diff_lines, diff_text,
    installed_hosts, plan,
};
use crate::terminal::output::{bold, dim, eprint_line, json as print_json, print_line, warn};
use crate::terminal::suggest;

/// Add Daybook to the settings of the agents on this machine
///
/// Shows the change of each settings file, asks, keeps a copy beside it, and adds the MCP server, and
/// hooks where the agent has them. Doing it again changes nothing.
#[derive(Args)]
pub(crate) struct SetupCommand {
    /// Which agents [default: those found on this machine]
    #[arg(value_enum)]
    hosts: Vec<AgentHost>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Show the change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Take back what setup added, and nothing else
    #[arg(long)]
    undo: bool,
    /// Register the MCP server too; this is the default
    #[arg(long, overrides_with = "no_mcp")]
    mcp: bool,
    /// Leave the MCP servers as they are
    #[arg(long)]
    no_mcp: bool,
}

impl SetupCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let hosts = self.hosts()?;
        let program = Program::current(common.root.as_deref())?;
        let aim = match self.undo {
            true => SetupAction::Undo,
            false => SetupAction::Setup { mcp: !self.no_mcp },
        };
        let mut plan = plan(&hosts, &program, aim)?;
        if aim != SetupAction::Undo {
            program.check()?;
            plan.notes.extend(environment_warning(common));
        }
        if !common.json {
            show(&plan);
        }
        if hosts.len() == 1
            && let Some((_, error)) = plan.refusals.pop()
        {
            return Err(error);
        }
        if self.dry_run || plan.changes.is_empty() {
            return self.print_outcome(common, &hosts, &plan, &[]);
        }
        if !self.confirm(common, &plan)? {
            eprint_line!("Nothing was changed.");
            return Ok(ExitCode::SUCCESS);
        }
        let backups = write(&plan.changes)?;
        self.print_outcome(common, &hosts, &plan, &backups)
    }

    fn hosts(&self) -> Result<Vec<AgentHost>> {
        let hosts = match self.hosts.is_empty() {
            true => installed_hosts()?,
            false => self.hosts.clone(),
        };
        if hosts.is_empty() {
            let known: Vec<&str> = AgentHost::VARIANTS
                .iter()
                .map(|host| host.agent())
                .collect();
            bail!(
                "no agent was found on this machine; name one, as in `{}`: {}",
                suggest::command("setup claude-code"),
                known.join(", "),
            );
        }
        Ok(hosts)
    }

    fn confirm(&self, common: &CommonArgs, plan: &SetupPlan) -> Result<bool> {
        if self.yes {
            return Ok(true);
        }
        if !can_ask(common) {
            bail!(
                "there is no terminal to ask on; pass --yes to make this change, or --dry-run to see it"
            );
        }
        let files = crate::terminal::output::count(plan.changes.len() as u64, "file");
        loop {
            let answer = line(&format!("Change {files}?  [Y]es / [n]o   "))?;
            match answer.to_lowercase().as_str() {
                "" | "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                _ => eprint_line!("Please answer y or n."),
            }
        }
    }

    fn print_outcome(
        &self,
        common: &CommonArgs,
        hosts: &[AgentHost],
        plan: &SetupPlan,
        backups: &[Option<PathBuf>],
    ) -> Result<ExitCode> {
        let done = !backups.is_empty();
        if common.json {
            print_json(&as_json(plan, backups))?;
            return Ok(exit_code(plan));
        }
        for backup in backups.iter().flatten() {
            print_line!("{}", dim(&format!("kept      {}", display_path(backup))));
        }
        for note in &plan.notes {
            print_line!("{} {note}.", warn("note:"));
        }
        for (host, error) in &plan.refusals {
            eprint_line!("{} is left as it is: {error:#}", host.name());
        }
        let is_refused =
            |host: &AgentHost| plan.refusals.iter().any(|(refused, _)| refused == host);
        let hosts: Vec<AgentHost> = hosts
            .iter()
            .copied()
            .filter(|host| !is_refused(host))
            .collect();
        let names = listed(&hosts);
        match (done, self.undo) {
            _ if hosts.is_empty() => print_line!("Nothing was changed."),
            (false, _) if !plan.changes.is_empty() => print_line!("Nothing was changed."),
            (false, false) => {
                print_line!("Nothing to change: Daybook is set up for {names}.")
            }
            (false, true) => {
                print_line!("Nothing to undo: Daybook is not set up for {names}.")
            }
            (true, true) => {
                print_line!("Taken back. Sessions that run keep their hooks until they end.")
            }
            (true, false) => print_next_steps(&hosts),
        }
        Ok(exit_code(plan))
    }
}

/// Failure if a host could not be changed.
fn exit_code(plan: &SetupPlan) -> ExitCode {
    match plan.refusals.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// A verb that goes with the names of these hosts.
fn verb(hosts: &[AgentHost], verb: &str) -> String {
    match hosts {
        [_] => format!("{verb}s"),
        _ => verb.to_owned(),
    }
}

/// The hosts' names as people list them.
fn listed(hosts: &[AgentHost]) -> String {
    let names: Vec<&str> = hosts.iter().map(|host| host.name()).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Writes every change; when one fails, the error names those that were written before.
fn write(changes: &[SettingsChange]) -> Result<Vec<Option<PathBuf>>> {
    let today = jiff::Zoned::now().strftime("%Y-%m-%d").to_string();
    let mut backups = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        let done: Vec<String> = changes[..at]
            .iter()
            .map(|done| display_path(&done.file.path))
            .collect();
        let written = change.write(&today);
        let backup = match done.is_empty() {
            true => written?,
            false => written.with_context(|| format!("{} changed already", done.join(" and ")))?,
        };
        backups.push(backup);
    }
    Ok(backups)
}

fn show(plan: &SetupPlan) {
    for SettingsChange {
        host, file, after, ..
    } in &plan.changes
    {
        let what = match (&file.text, after) {
            (None, _) => "  (new)",
            (_, None) => "  (goes: nothing else is in it)",
            _ => "",
        };
        let name = display_path(&file.path);
        print_line!("{}  {}{what}", bold(host.name()), name);
        let [before, after] = [&file.text, after].map(|text| text.as_deref().unwrap_or_default());
        for line in diff_lines(before, after) {
            let text = diff_text(&[line]);
            let text = text.trim_end();
            match line {
                DiffLine::New(_) => print_line!("{}", bold(text)),
                DiffLine::Gone(_) => print_line!("{}", warn(text)),
                DiffLine::Same(_) | DiffLine::Skipped => print_line!("{}", dim(text)),
            }
        }
        print_line!();
    }
}

fn print_next_steps(hosts: &[AgentHost]) {
    let (starting, asking): (Vec<AgentHost>, Vec<AgentHost>) =
        hosts.iter().partition(|host| host.has_hooks());
    print_line!("Done, from the next session on:");
    if !starting.is_empty() {
        print_line!(
            "{} {} with what is remembered, and {} what is said.",
            listed(&starting),
            verb(&starting, "start"),
            verb(&starting, "report"),
        );
    }
    if !asking.is_empty() {
        print_line!(
            "{} can ask for what is remembered, through the MCP server.",
            listed(&asking)
        );
    }
    if hosts.contains(&AgentHost::Codex) {
        print_line!(
            "Codex         start it and enter /hooks: it runs new hooks only when you trust them"
        );
    }
    print_line!("See it        {}", suggest::command("context"));
    print_line!("Take it back  {}", suggest::command("setup --undo"));
}

/// A warning where `DAYBOOK_HOME` is set here: agents do not see the environment of this terminal.
fn environment_warning(common: &CommonArgs) -> Option<String> {
    let named = std::env::var_os("DAYBOOK_HOME").filter(|home| !home.is_empty())?;
    common.root.is_none().then(|| {
        format!(
            "DAYBOOK_HOME is set here; agents that are started without it use ~/.daybook. \
             To write the folder into the hooks, pass --root {}",
            display_path(std::path::Path::new(&named))
        )
    })
}

fn as_json(plan: &SetupPlan, backups: &[Option<PathBuf>]) -> Value {
    let changes = plan.changes.iter().enumerate().map(|(at, change)| {
        let [before, after] =
            [&change.file.text, &change.after].map(|text| text.as_deref().unwrap_or_default());
        json!({
            "host": change.host.name(),
            "file": change.file.path,
            "change": diff_text(&diff_lines(before, after)),
            "done": at < backups.len(),
            "backup": backups.get(at).cloned().flatten(),
        })
    });
    let refusals = plan
        .refusals
        .iter()
        .map(|(host, error)| json!({ "host": host.name(), "error": format!("{error:#}") }));
    json!({
        "changes": changes.collect::<Vec<_>>(),
        "notes": plan.notes,
        "refused": refusals.collect::<Vec<_>>(),
    })
}

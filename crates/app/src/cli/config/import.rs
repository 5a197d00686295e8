//! `daybook config import`: take over another system's block of settings.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;

use crate::cli::CommonArgs;
use crate::folders::data_folder;
use crate::settings::FILE;
use crate::settings::import::{
    ImportPlan, MOST_BYTES, NameOutcome, PlanLine, SuggestedProfile, plan,
};
use crate::setup::SettingsFile;
use crate::terminal::output::{count, dim, json as print_json, print_line, warn};
use crate::terminal::suggest;

/// Take over the settings of Codex or MindRoom, in TOML or YAML.
#[derive(Args)]
pub(super) struct ConfigImportCommand {
    /// The file with the block; `-`: standard input
    file: PathBuf,
    /// Show the outcome, and change nothing
    #[arg(long)]
    dry_run: bool,
}

impl ConfigImportCommand {
    pub(super) fn run(&self, common: &CommonArgs) -> Result<()> {
        let (block, name) = self.block()?;
        let folder = data_folder::locate(common.root.as_deref())?;
        let file = SettingsFile::read(folder.join(FILE))?;
        let old = file.text.as_deref().unwrap_or_default();
        let plan = plan(&block, &name, old, &file.path)?;
        let changes = plan.text != old;
        let mut kept = None;
        if changes && !self.dry_run {
            data_folder::create(&folder)?;
            let today = jiff::Zoned::now().strftime("%Y-%m-%d").to_string();
            kept = file.write(Some(&plan.text), &today)?;
            file.prune_backups(Some(&plan.text), |_| false);
        }
        if common.json {
            return print_json(&json!({
                "lines": plan.lines,
                "profile": plan.profile,
                "changed": changes && !self.dry_run,
                "file": file.path,
                "backup": kept,
            }));
        }
        print_plan(&plan);
        let shown = data_folder::display_path(&file.path);
        match (changes, self.dry_run) {
            (false, _) => print_line!("\n{shown} has all of it already."),
            (true, true) => {
                print_line!("\nNothing was changed. {shown} would be:\n\n{}", plan.text)
            }
            (true, false) => {
                let config = suggest::command("config");
                print_line!("\n{shown} is written; `{config}` explains it.")
            }
        }
        if let Some(kept) = kept {
            print_line!(
                "{}",
                dim(&format!("As it was: {}", data_folder::display_path(&kept)))
            );
        }
        Ok(())
    }

    fn block(&self) -> Result<(String, String)> {
        if self.file.as_os_str() == "-" {
            let name = "standard input".to_owned();
            return Ok((bounded(std::io::stdin().lock(), &name)?, name));
        }
        let name = self.file.display().to_string();
        let file = File::open(&self.file).with_context(|| format!("cannot read {name}"))?;
        Ok((bounded(file, &name)?, name))
    }
}

fn bounded(from: impl Read, name: &str) -> Result<String> {
    let mut text = String::new();
    let read = from.take(MOST_BYTES + 1).read_to_string(&mut text);
    let read = read.with_context(|| format!("cannot read {name}"))?;
    if read as u64 > MOST_BYTES {
        bail!("{name} is too big to be settings");
    }
    Ok(text)
}

fn print_plan(plan: &ImportPlan) {
    let width = plan.lines.iter().map(|line| line.name.len()).max();
    let width = width.unwrap_or(0);
    for PlanLine { name, outcome } in &plan.lines {
        let says = match outcome {
            NameOutcome::Taken { setting, value } => format!("taken as {setting} = {value}"),
            NameOutcome::AlreadySo { setting, value } => format!("already so: {setting} = {value}"),
            NameOutcome::Refused { why } => warn(&format!("refused: {why}")),
            NameOutcome::Unknown => warn("unknown: left out"),
        };
        print_line!("{name:width$}  {says}");
    }
    let is_unknown = |line: &&PlanLine| line.outcome == NameOutcome::Unknown;
    let unknown = plan.lines.iter().filter(is_unknown).count();
    if unknown > 0 {
        let names = count(unknown as u64, "name");
        print_line!("\n{names} of the block mean nothing here; the rest does not depend on them.");
    }
    if let Some(suggested) = &plan.profile {
        print_profile(suggested);
    }
}

fn print_profile(
    SuggestedProfile {
        name,
        kept,
        already,
    }: &SuggestedProfile,
) {
    match (kept, already) {
        (Some(kept), _) => print_line!(
            "\nThe block goes with profile = \"{name}\"; {FILE} has \"{kept}\", which stays."
        ),
        (None, true) => {
            print_line!("\nThe block goes with profile = \"{name}\": already so.")
        }
        (None, false) => {
            print_line!("\nThe block goes with profile = \"{name}\": taken, too.")
        }
    }
}

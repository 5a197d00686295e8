//! `daybook config import`: take over a seed's block of settings.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;

use crate::cli::Common;
use crate::output::{count, dim, json as print_json, warn};
use crate::root;
use crate::settings::FILE;
use crate::settings::import::{Became, Line, MOST_BYTES, Plan, Suggested, plan};
use crate::setup::Settings as SettingsFile;
use crate::suggest;

/// Take over the settings of Codex or MindRoom, in TOML or YAML.
#[derive(Args)]
pub(super) struct Import {
    /// The file with the block; `-`: standard input
    file: PathBuf,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
}

impl Import {
    pub(super) fn run(&self, common: &Common) -> Result<()> {
        let (block, name) = self.block()?;
        let folder = root::locate(common.root.as_deref())?;
        let file = SettingsFile::read(folder.join(FILE))?;
        let old = file.text.as_deref().unwrap_or_default();
        let plan = plan(&block, &name, old, &file.path)?;
        let changes = plan.text != old;
        let mut kept = None;
        if changes && !self.dry_run {
            root::create(&folder)?;
            let today = jiff::Zoned::now().strftime("%Y-%m-%d").to_string();
            kept = file.write(Some(&plan.text), &today)?;
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
        say(&plan);
        let shown = root::shown(&file.path);
        match (changes, self.dry_run) {
            (false, _) => anstream::println!("\n{shown} says all of it already."),
            (true, true) => {
                anstream::println!("\nNothing was changed. {shown} would be:\n\n{}", plan.text)
            }
            (true, false) => {
                let config = suggest::command("config");
                anstream::println!("\n{shown} is written; `{config}` explains it.")
            }
        }
        if let Some(kept) = kept {
            anstream::println!("{}", dim(&format!("As it was: {}", root::shown(&kept))));
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

fn say(plan: &Plan) {
    let width = plan.lines.iter().map(|line| line.name.len()).max();
    let width = width.unwrap_or(0);
    for Line { name, became } in &plan.lines {
        let says = match became {
            Became::Taken { setting, value } => format!("taken as {setting} = {value}"),
            Became::AlreadySo { setting, value } => format!("already so: {setting} = {value}"),
            Became::Unused { why } => format!("understood, but nothing here uses it yet: {why}"),
            Became::Unknown => warn("unknown: left out"),
        };
        anstream::println!("{name:width$}  {says}");
    }
    let is_unknown = |line: &&Line| line.became == Became::Unknown;
    let unknown = plan.lines.iter().filter(is_unknown).count();
    if unknown > 0 {
        let names = count(unknown as u64, "name");
        anstream::println!(
            "\n{names} of the block mean nothing here; the rest does not depend on them."
        );
    }
    if let Some(suggested) = &plan.profile {
        say_profile(suggested);
    }
}

fn say_profile(
    Suggested {
        name,
        kept,
        already,
    }: &Suggested,
) {
    match (kept, already) {
        (Some(kept), _) => anstream::println!(
            "\nThe block goes with profile = \"{name}\"; {FILE} says \"{kept}\", which stays."
        ),
        (None, true) => {
            anstream::println!("\nThe block goes with profile = \"{name}\": already so.")
        }
        (None, false) => {
            anstream::println!("\nThe block goes with profile = \"{name}\": taken, too.")
        }
    }
}

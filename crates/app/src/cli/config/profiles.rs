//! `daybook config profiles`: what each profile chooses, side by side.

use anyhow::Result;
use clap::Args;
use daybook_engine::profile::Profile;

use crate::cli::CommonArgs;
use crate::settings::compare::{ProfileRow, as_json, cell, markdown, rows};
use crate::settings::table::SettingGroup;
use crate::terminal::output::{bold, json as print_json, print_line};

/// Compare the profiles.
#[derive(Args)]
pub(super) struct ProfilesCommand {
    /// Print docs/profiles.md, which also lists the origin of each number
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

/// Longest cell that is shown whole.
const WIDEST: usize = 28;

impl ProfilesCommand {
    pub(super) fn run(&self, common: &CommonArgs) -> Result<()> {
        if self.markdown {
            anstream::print!("{}", markdown());
            return Ok(());
        }
        if common.json {
            return print_json(&as_json());
        }
        let rows = rows();
        let widths: Vec<usize> = (0..Profile::NAMES.len())
            .map(|at| {
                let cells = rows.iter().map(|row| cell_text(row, at).chars().count());
                cells.max().unwrap_or(0).max(Profile::NAMES[at].len())
            })
            .collect();
        let names: Vec<String> = Profile::NAMES.map(str::to_owned).into();
        print_line!("{}", bold(&line("", &names, &widths)));
        let mut group: Option<SettingGroup> = None;
        for row in &rows {
            if row.group != group {
                let title = row.group.map_or("Who does it", SettingGroup::title);
                print_line!("{}", bold(title));
                group = row.group;
            }
            let cells: Vec<String> = (0..widths.len()).map(|at| cell_text(row, at)).collect();
            print_line!("{}", line(row.name, &cells, &widths));
        }
        print_line!(
            "\nChoose one with profile = \"…\" in daybook.toml, or --set profile=… for one command."
        );
        Ok(())
    }
}

fn cell_text(row: &ProfileRow, at: usize) -> String {
    let text = cell(&row.values[at]);
    if text.chars().count() <= WIDEST {
        return text;
    }
    let head: String = text.chars().take(WIDEST - 1).collect();
    format!("{head}…")
}

fn line(name: &str, cells: &[String], widths: &[usize]) -> String {
    let cells = cells.iter().zip(widths);
    let cells: String = cells
        .map(|(cell, width)| format!("  {cell:width$}"))
        .collect();
    format!("  {name:18}{cells}").trim_end().to_owned()
}

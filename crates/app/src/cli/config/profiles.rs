//! `daybook config profiles`: what each profile chooses, side by side.

use anyhow::Result;
use clap::Args;
use daybook_engine::profile::Profile;

use crate::cli::Common;
use crate::output::{bold, json as print_json};
use crate::settings::compare::{Row, as_json, cell, markdown, rows};
use crate::settings::table::Group;

/// Compare the profiles.
#[derive(Args)]
pub(super) struct Profiles {
    /// Print docs/profiles.md, which also says where each number comes from
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

/// Longest cell that is shown whole.
const WIDEST: usize = 28;

impl Profiles {
    pub(super) fn run(&self, common: &Common) -> Result<()> {
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
                let cells = rows.iter().map(|row| shown(row, at).chars().count());
                cells.max().unwrap_or(0).max(Profile::NAMES[at].len())
            })
            .collect();
        let names: Vec<String> = Profile::NAMES.map(str::to_owned).into();
        anstream::println!("{}", bold(&line("", &names, &widths)));
        let mut group: Option<Group> = None;
        for row in &rows {
            if row.group != group {
                let title = row.group.map_or("Who does it", Group::title);
                anstream::println!("{}", bold(title));
                group = row.group;
            }
            let cells: Vec<String> = (0..widths.len()).map(|at| shown(row, at)).collect();
            anstream::println!("{}", line(row.name, &cells, &widths));
        }
        anstream::println!(
            "\nChoose one with profile = \"…\" in daybook.toml, or --set profile=… for one command."
        );
        Ok(())
    }
}

fn shown(row: &Row, at: usize) -> String {
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

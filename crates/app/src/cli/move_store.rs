//! `daybook move-store`: memory into a PostgreSQL database, or back into the data folder.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use daybook_engine::notices::election;
use serde_json::json;

use super::Common;
use crate::moving::{Came, Move, Moved};
use crate::output::{bold, count, dim, grouped, json as print_json};
use crate::root;
use crate::settings::{FILE, Source, masked, with_setting};
use crate::setup::Settings as File;
use crate::wiring::{block_on, stop_on_interrupt};

/// Move memory into a PostgreSQL database, or back into the data folder.
///
/// Copies everything but the index, which is made anew, compares both sides, and changes the setting
/// `store` at the end. Nobody can write to the memory meanwhile. Stopped, or interrupted in any way, it
/// goes on where it stopped when it is run again. What was moved from is kept, and can be read.
#[derive(Args)]
pub(crate) struct MoveStore {
    /// Where to: postgres://…, an empty database; or sqlite, the data folder
    #[arg(value_name = "ADDRESS")]
    to: String,
}

impl MoveStore {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        let moving = Move::open(common, &self.to)?;
        let folder = &moving.from.root;
        let Some(_elected) = election::stand(folder)
            .with_context(|| format!("cannot write below {}", root::shown(folder)))?
        else {
            bail!("an update is at work; run this again when it has ended");
        };
        let stop = stop_on_interrupt()?;
        match block_on(moving.carry_out(common, &stop))? {
            Came::Stopped => {
                bail!("stopped; memory is still where it was. Run this again to go on")
            }
            Came::Whole { tables, folders } => {
                let setting = self.change_setting(&moving)?;
                moving.end();
                self.tell(common, &tables, folders, &setting)?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }

    /// Makes the target what the data folder uses, and says what was done or is left to do.
    fn change_setting(&self, moving: &Move) -> Result<String> {
        let mut explained = moving.from.settings.explained.iter();
        let store = explained.find(|setting| setting.name == "store");
        let store = store.context("there is a setting store")?;
        let to = masked(&self.to);
        match store.source {
            Source::Flag => {
                return Ok(format!(
                    "Where memory was came from the command line: write --store {to} from now on."
                ));
            }
            Source::Environment => {
                return Ok(format!(
                    "Where memory was came from a variable: set {}={to} from now on.",
                    store.from
                ));
            }
            Source::File | Source::Profile | Source::Default => {}
        }
        let file = File::read(moving.from.root.join(FILE))?;
        let text = with_setting(file.text.as_deref().unwrap_or_default(), "store", &self.to)?;
        let today = jiff::Zoned::now().strftime("%Y-%m-%d").to_string();
        file.write(Some(&text), &today)?;
        Ok(format!(
            "{} now says store = \"{to}\".",
            root::shown(&file.path)
        ))
    }

    fn tell(&self, common: &Common, tables: &[Moved], folders: usize, setting: &str) -> Result<()> {
        let rows: u64 = tables.iter().map(|table| table.checksum.rows).sum();
        if common.json {
            let tables = tables.iter().map(|table| {
                json!({"table": table.table, "rows": table.checksum.rows, "hash": table.checksum.hash})
            });
            return print_json(&json!({
                "to": masked(&self.to),
                "tables": tables.collect::<Vec<_>>(),
                "folders": folders,
                "setting": setting,
            }));
        }
        for table in tables {
            let rows = grouped(table.checksum.rows);
            anstream::println!(
                "  {:<16} {rows:>12}  {}",
                table.table,
                dim(&table.checksum.hash)
            );
        }
        anstream::println!(
            "{} of {} and {} moved to {}; both sides are the same.",
            bold(&count(rows, "row")),
            count(tables.len() as u64, "table"),
            count(folders as u64, "memory folder"),
            masked(&self.to),
        );
        anstream::println!("{setting}");
        anstream::println!("Start again every agent, server and worker that uses this memory.");
        Ok(())
    }
}

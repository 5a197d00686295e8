//! `daybook move-store`: moves memory into a PostgreSQL database, or back into the data folder.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use daybook_engine::hook_events::update_lock::UpdateLock;
use serde_json::json;

use super::CommonArgs;
use crate::backup::store_move::{MoveOutcome, StoreMove, VerifiedTable};
use crate::folders::data_folder;
use crate::process::{block_on, stop_on_interrupt};
use crate::settings::{FILE, SettingSource, masked, with_setting};
use crate::setup::SettingsFile;
use crate::terminal::output::{bold, count, dim, grouped, json as print_json, print_line};

/// Move memory into a PostgreSQL database, or back into the data folder.
///
/// Copies everything but the index, which is rebuilt, compares both sides, and changes the setting
/// `store` at the end. No other process can write to the memory meanwhile. Stopped, or interrupted in any way, it
/// continues where it stopped when it is run again. The old store is kept, and can be read.
#[derive(Args)]
pub(crate) struct MoveStoreCommand {
    /// Where to: postgres://…, an empty database; or sqlite, the data folder
    #[arg(value_name = "ADDRESS")]
    to: String,
}

impl MoveStoreCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        let moving = StoreMove::open(common, &self.to)?;
        let folder = &moving.from.root;
        let Some(_elected) = UpdateLock::try_acquire(folder)
            .with_context(|| format!("cannot write below {}", data_folder::display_path(folder)))?
        else {
            bail!("an update is running; run this again when it has ended");
        };
        let stop = stop_on_interrupt()?;
        match block_on(moving.run(common, &stop))? {
            MoveOutcome::Stopped => {
                bail!("stopped; memory is still where it was. Run this again to continue")
            }
            MoveOutcome::Complete { tables, folders } => {
                let setting = self.change_setting(&moving)?;
                moving.end();
                self.print_outcome(common, &tables, folders, &setting)?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }

    /// Makes the target the data folder's store. Returns the message about what was done or is left to do.
    fn change_setting(&self, moving: &StoreMove) -> Result<String> {
        let mut explained = moving.from.settings.explained.iter();
        let store = explained.find(|setting| setting.name == "store");
        let store = store.context("there is a setting store")?;
        let to = masked(&self.to);
        match store.source {
            SettingSource::Flag => {
                return Ok(format!(
                    "The old store was set on the command line: pass --store {to} from now on."
                ));
            }
            SettingSource::Environment => {
                return Ok(format!(
                    "The old store was set by a variable: set {}={to} from now on.",
                    store.from
                ));
            }
            SettingSource::File | SettingSource::Profile | SettingSource::Default => {}
        }
        let file = SettingsFile::read(moving.from.root.join(FILE))?;
        let text = with_setting(file.text.as_deref().unwrap_or_default(), "store", &self.to)?;
        let today = jiff::Zoned::now().strftime("%Y-%m-%d").to_string();
        file.write(Some(&text), &today)?;
        Ok(format!(
            "{} now has store = \"{to}\".",
            data_folder::display_path(&file.path)
        ))
    }

    fn print_outcome(
        &self,
        common: &CommonArgs,
        tables: &[VerifiedTable],
        folders: usize,
        setting: &str,
    ) -> Result<()> {
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
            print_line!(
                "  {:<16} {rows:>12}  {}",
                table.table,
                dim(&table.checksum.hash)
            );
        }
        print_line!(
            "{} of {} and {} moved to {}; both sides are the same.",
            bold(&count(rows, "row")),
            count(tables.len() as u64, "table"),
            count(folders as u64, "memory folder"),
            masked(&self.to),
        );
        print_line!("{setting}");
        print_line!("Start again every agent, server and worker that uses this memory.");
        Ok(())
    }
}

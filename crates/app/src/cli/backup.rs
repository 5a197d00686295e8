//! `daybook backup` and `daybook restore`: the whole memory in one file.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;

use super::CommonArgs;
use crate::backup::{Manifest, restore, write};
use crate::folders::data_folder::{self, display_path};
use crate::settings::{MemoryPlace, Settings, masked};
use crate::terminal::output::{bold, count, json as print_json, print_line};
use crate::wiring::{Daybook, MemoryDatabase};

/// Write the whole memory to one file, while agents keep working.
///
/// The file is a tar: the database, the memory folders with their histories, daybook.toml, and a
/// manifest with a hash of each. It is readable by its owner alone. Memory in a PostgreSQL database is
/// backed up with pg_dump: this command prints how.
#[derive(Args)]
pub(crate) struct BackupCommand {
    /// The file to write, which must not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl BackupCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        refuse_server(
            common,
            "pg_dump --enable-row-security --format=custom --file=daybook.dump",
        )?;
        let daybook = Daybook::open_existing(common)?;
        #[cfg_attr(not(feature = "postgres"), expect(irrefutable_let_patterns))]
        let MemoryDatabase::File(store) = &daybook.database else {
            bail!("memory is in no file");
        };
        let manifest = write(&daybook.root, store, &self.file, daybook.clock.now().0)?;
        print_summary(common, "backed up to", &display_path(&self.file), &manifest)
    }
}

/// Create a data folder from a backup.
///
/// Everything is checked against the backup's manifest before anything is put in place. Imports that were undone
/// and memories that were forgotten since the backup are restored, too.
#[derive(Args)]
pub(crate) struct RestoreCommand {
    /// The backup
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl RestoreCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        refuse_server(
            common,
            "pg_restore --no-owner --exit-on-error daybook.dump --dbname",
        )?;
        let folder = data_folder::locate(common.root.as_deref())?;
        let manifest = restore(&self.file, &folder)?;
        print_summary(common, "restored to", &display_path(&folder), &manifest)
    }
}

/// A database on a server is backed up with the server's own programs: `command` and its address.
fn refuse_server(common: &CommonArgs, command: &str) -> Result<()> {
    let folder = data_folder::locate(common.root.as_deref())?;
    if let MemoryPlace::Server { address, .. } = Settings::load(&folder, &common.set)?.store {
        bail!(
            "memory is in a PostgreSQL database, and its own programs keep it:\n  \
             PGOPTIONS='-c daybook.tenants=all' {command} '{}'\n\
             see docs/operating.md, \"Backups\"",
            masked(&address)
        );
    }
    Ok(())
}

fn print_summary(
    common: &CommonArgs,
    did: &str,
    place: &str,
    manifest: &Manifest,
) -> Result<ExitCode> {
    let rows: u64 = manifest.tables.values().map(|table| table.rows).sum();
    let files = manifest.files.len() as u64;
    if common.json {
        print_json(
            &json!({"place": place, "rows": rows, "files": files, "tables": manifest.tables}),
        )?;
    } else {
        let (rows, files) = (count(rows, "row"), count(files, "file"));
        print_line!("{} and {} {did} {place}.", bold(&rows), bold(&files));
    }
    Ok(ExitCode::SUCCESS)
}

//! `daybook backup` and `daybook restore`: all that is remembered, in one file.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;

use super::Common;
use crate::backup::{Manifest, restore, write};
use crate::output::{bold, count, json as print_json};
use crate::root::{self, shown};
use crate::settings::{Place, Settings, masked};
use crate::wiring::{Database, Daybook};

/// Write all that is remembered to one file, while agents go on.
///
/// The file is a tar: the database, the memory folders with their histories, daybook.toml, and a
/// manifest with a hash of each. It is readable by its owner alone. Memory in a PostgreSQL database is
/// backed up with pg_dump: this says how.
#[derive(Args)]
pub(crate) struct Backup {
    /// The file to write, which must not be there
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Backup {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        refuse_server(
            common,
            "pg_dump --enable-row-security --format=custom --file=daybook.dump",
        )?;
        let daybook = Daybook::open_existing(common)?;
        #[cfg_attr(not(feature = "postgres"), expect(irrefutable_let_patterns))]
        let Database::File(store) = &daybook.database else {
            bail!("memory is in no file");
        };
        let manifest = write(&daybook.root, store, &self.file, daybook.clock.now().0)?;
        tell(common, "backed up to", &shown(&self.file), &manifest)
    }
}

/// Make a data folder from a backup.
///
/// Everything is checked against the backup's manifest before anything is put in place. What was undone
/// or forgotten since the backup was made is there again.
#[derive(Args)]
pub(crate) struct Restore {
    /// The backup
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Restore {
    pub(crate) fn run(&self, common: &Common) -> Result<ExitCode> {
        refuse_server(
            common,
            "pg_restore --no-owner --exit-on-error daybook.dump --dbname",
        )?;
        let folder = root::locate(common.root.as_deref())?;
        let manifest = restore(&self.file, &folder)?;
        tell(common, "restored to", &shown(&folder), &manifest)
    }
}

/// A database on a server is backed up with the server's own programs: `command` and its address.
fn refuse_server(common: &Common, command: &str) -> Result<()> {
    let folder = root::locate(common.root.as_deref())?;
    if let Place::Server { address, .. } = Settings::load(&folder, &common.set)?.store {
        bail!(
            "memory is in a PostgreSQL database, and its own programs keep it:\n  \
             PGOPTIONS='-c daybook.tenants=all' {command} '{}'\n\
             see docs/operating.md, \"Backups\"",
            masked(&address)
        );
    }
    Ok(())
}

fn tell(common: &Common, did: &str, place: &str, manifest: &Manifest) -> Result<ExitCode> {
    let rows: u64 = manifest.tables.values().map(|table| table.rows).sum();
    let files = manifest.files.len() as u64;
    if common.json {
        print_json(
            &json!({"place": place, "rows": rows, "files": files, "tables": manifest.tables}),
        )?;
    } else {
        let (rows, files) = (count(rows, "row"), count(files, "file"));
        anstream::println!("{} and {} {did} {place}.", bold(&rows), bold(&files));
    }
    Ok(ExitCode::SUCCESS)
}

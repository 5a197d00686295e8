//! `daybook backup` and `daybook restore`: the whole memory in one file; and memory files as they once were.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use daybook_domain::Timestamp;
use daybook_engine::jobs::persons_word::PersonsChange;
use daybook_engine::jobs::purge::PURGED;
use serde_json::json;

use super::CommonArgs;
use super::history::described;
use super::scope_args::{ScopeArgs, current_folder};
use crate::backup::{Manifest, restore, write};
use crate::folders::data_folder::{self, display_path};
use crate::process::{block_on, stop_on_interrupt};
use crate::purge;
use crate::service::RequestError;
use crate::service::history::{HistoryCommit, find_state};
use crate::service::memory_changes::{RequestedBy, make_change};
use crate::service::scope_choice::open_folder;
use crate::settings::{MemoryPlace, Settings, masked};
use crate::terminal::output::{bold, count, json as print_json, print_line, rfc3339};
use crate::terminal::progress::PurgeBar;
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

/// Create a data folder from a backup; with --at bring memory files back to an earlier state.
///
/// Of a backup, everything is checked against its manifest before anything is put in place. Imports that were undone
/// and memories that were forgotten since the backup are restored, too. What was purged stays gone, as far as the backup,
/// the folder `purged` in the data folder or --tombstones knows of it. The data folder must be empty, that folder apart.
///
/// With --at all memory files of one scope are as they were then, as a new commit: what was learned since and is in
/// no file any more is forgotten, what is in a file again is remembered. `daybook undo` takes it back.
#[derive(Args)]
pub(crate) struct RestoreCommand {
    /// The backup
    #[arg(
        value_name = "FILE",
        required_unless_present = "at",
        conflicts_with = "at"
    )]
    file: Option<PathBuf>,
    /// Instead of a backup: the state of the memory files, a commit or a time such as 2026-02-04 or yesterday
    #[arg(long, value_name = "STATE")]
    at: Option<String>,
    /// Also purge what this file of tombstones names: `purged/tombstones` of the folder that was backed up, as it was last
    #[arg(long, value_name = "FILE", conflicts_with = "at")]
    tombstones: Option<PathBuf>,
    #[command(flatten)]
    scope: ScopeArgs,
}

impl RestoreCommand {
    pub(crate) fn run(&self, common: &CommonArgs) -> Result<ExitCode> {
        match (&self.at, &self.file) {
            (Some(state), _) => self.restore_state(common, state),
            (None, Some(_)) if self.scope.is_given() => bail!(RequestError::Invalid(
                "a backup holds the whole memory; --scope and --project go with --at".to_owned()
            )),
            (None, Some(file)) => self.restore_backup(common, file),
            (None, None) => bail!(RequestError::Invalid(
                "name a backup, or a state with --at".to_owned()
            )),
        }
    }

    fn restore_state(&self, common: &CommonArgs, state: &str) -> Result<ExitCode> {
        let daybook = Daybook::open_existing(common)?;
        let (commit, changed) = block_on(async {
            let here = current_folder()?;
            let scope = self.scope.choice().one(&daybook, Some(&here)).await?;
            let folder = open_folder(&daybook, &scope).await?;
            let commit = find_state(&daybook, (&scope, &folder), state)?;
            let wanted = PersonsChange::Restore(commit.clone());
            let by = RequestedBy::Person;
            Ok((commit, make_change(&daybook, &scope, &wanted, by).await?))
        })?;
        let commit = HistoryCommit::from(&commit);
        if common.json {
            print_json(&json!({ "state": commit, "change": changed }))?;
        } else if changed.commit.is_some() {
            let state = described(&daybook, &commit);
            print_line!("{} is as it was at {state}", bold(&changed.scope));
        } else {
            print_line!("{} is in that state already.", bold(&changed.scope));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn restore_backup(&self, common: &CommonArgs, file: &Path) -> Result<ExitCode> {
        refuse_server(
            common,
            "pg_restore --no-owner --exit-on-error daybook.dump --dbname",
        )?;
        let folder = data_folder::locate(common.root.as_deref())?;
        let had_tombstones = folder.join(PURGED).join("tombstones").exists();
        let manifest = restore(file, &folder)?;
        let daybook = Daybook::open_existing(common)?;
        purge::join_tombstones(&daybook)?;
        if let Some(tombstones) = &self.tombstones {
            block_on(purge::add_tombstones(&daybook, tombstones))?;
        }
        let (stop, bar) = (stop_on_interrupt()?, PurgeBar::start(common));
        let purged = purge::purge_older(&daybook, (&stop, &bar));
        bar.end();
        let purged = purged?.map(|done| purge::summary(&done));
        print_summary(common, "restored to", &display_path(&folder), &manifest)?;
        if common.json {
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(summary) = purged {
            print_line!("Purged again: {summary}.");
        }
        if self.tombstones.is_none() && !had_tombstones {
            print_line!(
                "What was purged after the backup of {} is not known here and is restored. If purged/tombstones of \
                 the old folder exists, remove this folder and restore with --tombstones FILE.",
                rfc3339(Timestamp(manifest.made_at())).unwrap_or_default()
            );
        }
        Ok(ExitCode::SUCCESS)
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

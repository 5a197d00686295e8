//! Moves a memory to another database: rows, memory files, index, and last the setting that names it.
//!
//! The source is held meanwhile: other writers wait. Each step can be interrupted and repeated: the target shows what was
//! copied already. The source is closed only when both sides are equal, and is not deleted: a program that still uses it
//! gets an error that names the new database.
//!
//! A file in the data folder names the target of an unfinished move, so that a target with half of this memory can be
//! distinguished from one with another memory.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use daybook_domain::{JobKind, Tenant};
use daybook_engine::bounded;
use daybook_engine::files::layout::folder;
use daybook_engine::files::record::RecordFolder;
use daybook_engine::files::reindex::{reindex_all, reindex_head};
use daybook_engine::files::{FilesConfig, Folder};
use daybook_engine::jobs::{FolderSync, WorkerContext, rebuild_index};
use daybook_engine::profile::Ledger;
use daybook_engine::stop::Stop;
use daybook_store::sqlite::{SqliteOptions, SqliteStore};
use daybook_store::transfer::{self, Checksum, Outcome, Portable, TABLES};
use strum::VariantArray;

use crate::folders::data_folder::display_path;
use crate::process::block_on;
use crate::settings::{MemoryPlace, Settings, masked};
use crate::terminal::common_args::CommonArgs;
use crate::terminal::progress::CopyBar;
use crate::terminal::suggest;
use crate::wiring::{DATABASE, Daybook};

/// A table that is equal on both sides.
#[derive(Debug, Clone)]
pub(crate) struct VerifiedTable {
    pub(crate) table: &'static str,
    pub(crate) checksum: Checksum,
}

/// The outcome of a move.
pub(crate) enum MoveOutcome {
    /// A stop was requested; the next move continues.
    Stopped,
    /// Everything was copied and compared.
    Complete {
        tables: Vec<VerifiedTable>,
        /// Number of memory folders.
        folders: usize,
    },
}

/// Both ends of a move.
pub(crate) struct StoreMove {
    pub(crate) from: Daybook,
    pub(crate) to: Daybook,
    /// The target, for people.
    pub(crate) name: String,
}

impl StoreMove {
    /// Opens both ends, and refuses a target that holds another memory.
    pub(crate) fn open(common: &CommonArgs, address: &str) -> Result<Self> {
        let from = Daybook::open_existing(common)?;
        let common = common.with_store_at(address);
        let target = Settings::load(&from.root, &common.set)?;
        if target.store == from.settings.store {
            bail!("memory is in {} already", masked(address));
        }
        if from.settings.profile.ledger == Ledger::Json {
            bail!(
                "ledger = \"json\" keeps jobs in a file beside the database, and they would stay there; \
                 set ledger = \"database\", run `{}`, then move",
                suggest::command("update"),
            );
        }
        if target.store == MemoryPlace::Folder {
            rename_moved_database(&from.root)?;
        }
        let to = Daybook::open(from.root.clone(), &common.set)?;
        let moving = Self {
            from,
            to,
            name: masked(address),
        };
        block_on(moving.check_target())?;
        Ok(moving)
    }

    async fn check_target(&self) -> Result<()> {
        let to = self.to.database.portable();
        let note = self.note();
        let ours = format!("{}\n{}\n", self.name, to.made_at().await?);
        let noted = bounded::read_text(&note, 64 * 1024).unwrap_or_default();
        if to.is_closed().await? || (noted != ours && !transfer::is_empty(to).await?) {
            bail!(
                "{} holds another memory, and two are not mixed; name an empty database, or, if nobody \
                 needs what is there, drop it, make it anew and run this again",
                self.name
            );
        }
        let failed = || format!("cannot write {}", display_path(&note));
        fs::create_dir_all(note.parent().unwrap_or(&self.from.root)).with_context(failed)?;
        fs::write(&note, ours).with_context(failed)
    }

    fn note(&self) -> PathBuf {
        self.from.root.join("run").join("moving")
    }

    /// Copies and compares everything, and closes the source.
    pub(crate) async fn run(&self, common: &CommonArgs, stop: &Stop) -> Result<MoveOutcome> {
        self.from.free_vanished().await?;
        let held = self.from.database.portable().hold().await;
        let held = held
            .context("another process writes to this memory; run this again when it has ended")?;
        self.refuse_leases().await?;
        let Some(tables) = self.move_rows(common, stop).await? else {
            return Ok(MoveOutcome::Stopped);
        };
        let mut folders = 0;
        for tenant in transfer::tenants(self.to.database.portable()).await? {
            if stop.is_requested() {
                return Ok(MoveOutcome::Stopped);
            }
            folders += self.move_files(&tenant).await?;
        }
        held.close(&self.name).await?;
        // It would keep what is forgotten in the other database from now on.
        RecordFolder::of(&self.from.root)
            .remove()
            .context("cannot remove the record in files")?;
        Ok(MoveOutcome::Complete { tables, folders })
    }

    /// Removes the note of the move: the setting names the target now, or the person was asked to set it.
    pub(crate) fn end(&self) {
        let _ = fs::remove_file(self.note());
    }

    async fn refuse_leases(&self) -> Result<()> {
        let now = self.from.clock.now();
        let mut held = Vec::new();
        for &kind in JobKind::VARIANTS {
            for job in self.from.store.jobs_of_all_tenants(kind).await? {
                if let Some(lease) = job.lease.filter(|lease| lease.until > now) {
                    held.push(format!("{} by {}", job.key, lease.holder));
                }
            }
        }
        if let [first, rest @ ..] = held.as_slice() {
            bail!(
                "workers are on {} jobs ({first}, …); stop every `daybook worker`, `serve` and `update` \
                 that uses this memory, and run this again",
                rest.len() + 1
            );
        }
        Ok(())
    }

    async fn move_rows(
        &self,
        common: &CommonArgs,
        stop: &Stop,
    ) -> Result<Option<Vec<VerifiedTable>>> {
        let (from, to) = (self.from.database.portable(), self.to.database.portable());
        let mut all = 0;
        for table in &TABLES {
            all += from.rows(table).await?;
        }
        let copying = CopyBar::start(common, "copying", all, stop);
        for table in &TABLES {
            if transfer::copy(from, to, table, &copying).await? == Outcome::Stopped {
                return Ok(None);
            }
        }
        copying.end();
        let comparing = CopyBar::start(common, "comparing", all * 2, stop);
        let mut tables = Vec::new();
        for table in &TABLES {
            let Some((here, there)) = transfer::compare(from, to, table, &comparing).await? else {
                return Ok(None);
            };
            if here != there {
                bail!(
                    "the table {} is not the same on both sides: {} rows ({}) here, {} rows ({}) in {}; \
                     this memory stays where it is. Somebody else writes there",
                    table.name,
                    here.rows,
                    here.hash,
                    there.rows,
                    there.hash,
                    self.name
                );
            }
            tables.push(VerifiedTable {
                table: table.name,
                checksum: there,
            });
        }
        comparing.end();
        Ok(Some(tables))
    }

    /// Brings a tenant's folders and their shared histories to the same state and rebuilds its index. Returns the number of
    /// folders.
    async fn move_files(&self, tenant: &Tenant) -> Result<usize> {
        let mut worker = self.to.worker_context("move-store")?;
        worker.tenant = tenant.clone();
        let trees = self.to.trees.as_deref().or(self.from.trees.as_deref());
        let trees = trees.context("neither side shares memory files")?;
        let sharing = FolderSync {
            store: &*self.to.store,
            trees,
            root: &self.to.root,
        };
        let wait = worker.limits.folder_wait;
        let scopes = sharing.sync_all(tenant, &worker.stamp(), wait).await?;
        rebuild_index(&worker).await?;
        if self.to.trees.is_none() {
            reindex_all(&*worker.store, &worker.root, tenant, worker.clock.now()).await?;
            return Ok(scopes.len());
        }
        for scope in &scopes {
            index_head(&worker, scope).await?;
        }
        Ok(scopes.len())
    }
}

async fn index_head(worker: &WorkerContext, scope: &daybook_domain::Scope) -> Result<()> {
    let folder = Folder::open(folder(&worker.root, scope), FilesConfig::default())?;
    reindex_head(&*worker.store, &folder, scope, worker.clock.now()).await?;
    Ok(())
}

/// Renames a database that was moved away, so that a memory can be moved back into the folder.
fn rename_moved_database(root: &Path) -> Result<()> {
    let path = root.join(DATABASE);
    if !path.is_file() {
        return Ok(());
    }
    let closed = {
        let store = SqliteStore::open(&path, SqliteOptions::default())?;
        block_on(async { Ok(store.is_closed().await?) })?
    };
    if !closed {
        return Ok(());
    }
    for number in 1.. {
        let aside = root.join(format!("{DATABASE}.moved-{number}"));
        if aside.exists() {
            continue;
        }
        for part in ["-wal", "-shm", ""] {
            let old = root.join(format!("{DATABASE}{part}"));
            let new = root.join(format!("{DATABASE}.moved-{number}{part}"));
            if old.exists() {
                fs::rename(&old, new)
                    .with_context(|| format!("cannot set {} aside", display_path(&old)))?;
            }
        }
        break;
    }
    Ok(())
}

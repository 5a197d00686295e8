//! Moving a memory to another database: rows, memory files, index, and last the place itself.
//!
//! Nobody writes to the source meanwhile; whoever tries waits. Each step may be stopped and done again:
//! what is copied is read off the target. The source is closed only when both sides are the same, and
//! kept: a program that still uses it learns where its memory went.
//!
//! A note in the data folder says into which database a move is under way, so that a target that holds
//! half of this memory is told from one that holds another.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use daybook_domain::{JobKind, Tenant};
use daybook_engine::bounded;
use daybook_engine::files::layout::folder;
use daybook_engine::files::reindex::{reindex_all, reindex_head};
use daybook_engine::files::{FilesConfig, Folder};
use daybook_engine::jobs::{Sharing, Workshop, rebuild_index};
use daybook_engine::profile::Ledger;
use daybook_engine::stop::Stop;
use daybook_store::sqlite::{SqliteOptions, SqliteStore};
use daybook_store::transfer::{self, Checksum, Outcome, Portable, TABLES};

use crate::common::Common;
use crate::progress::Carrying;
use crate::root::shown;
use crate::settings::{Place, Settings, masked};
use crate::suggest;
use crate::wiring::{DATABASE, Daybook, block_on};

/// A table that is the same on both sides.
#[derive(Debug, Clone)]
pub(crate) struct Moved {
    pub(crate) table: &'static str,
    pub(crate) checksum: Checksum,
}

/// What a move came to.
pub(crate) enum Came {
    /// The end was asked for; doing it again goes on.
    Stopped,
    /// All is there.
    Whole {
        tables: Vec<Moved>,
        /// How many memory folders.
        folders: usize,
    },
}

/// Both ends of a move.
pub(crate) struct Move {
    pub(crate) from: Daybook,
    pub(crate) to: Daybook,
    /// Where memory goes, for people.
    pub(crate) name: String,
}

impl Move {
    /// Opens both ends, and refuses a target that holds something else's memory.
    pub(crate) fn open(common: &Common, address: &str) -> Result<Self> {
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
        if target.store == Place::Folder {
            set_aside(&from.root)?;
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
        let failed = || format!("cannot write {}", shown(&note));
        fs::create_dir_all(note.parent().unwrap_or(&self.from.root)).with_context(failed)?;
        fs::write(&note, ours).with_context(failed)
    }

    fn note(&self) -> PathBuf {
        self.from.root.join("run").join("moving")
    }

    /// Carries everything over and closes the source.
    pub(crate) async fn carry_out(&self, common: &Common, stop: &Stop) -> Result<Came> {
        self.from.free_vanished().await?;
        let held = self.from.database.portable().hold().await;
        let held =
            held.context("somebody writes to this memory; run it again when they are done")?;
        self.refuse_leases().await?;
        let Some(tables) = self.rows(common, stop).await? else {
            return Ok(Came::Stopped);
        };
        let mut folders = 0;
        for tenant in transfer::tenants(self.to.database.portable()).await? {
            if stop.asked() {
                return Ok(Came::Stopped);
            }
            folders += self.files(&tenant).await?;
        }
        held.close(&self.name).await?;
        Ok(Came::Whole { tables, folders })
    }

    /// Forgets that a move was under way: the setting names the target now, or its owner was told to.
    pub(crate) fn end(&self) {
        let _ = fs::remove_file(self.note());
    }

    async fn refuse_leases(&self) -> Result<()> {
        let now = self.from.clock.now();
        let mut held = Vec::new();
        for kind in JobKind::ALL {
            for job in self.from.store.jobs(kind).await? {
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

    async fn rows(&self, common: &Common, stop: &Stop) -> Result<Option<Vec<Moved>>> {
        let (from, to) = (self.from.database.portable(), self.to.database.portable());
        let mut all = 0;
        for table in &TABLES {
            all += from.rows(table).await?;
        }
        let copying = Carrying::start(common, "copying", all, stop);
        for table in &TABLES {
            if transfer::copy(from, to, table, &copying).await? == Outcome::Stopped {
                return Ok(None);
            }
        }
        copying.end();
        let comparing = Carrying::start(common, "comparing", all * 2, stop);
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
            tables.push(Moved {
                table: table.name,
                checksum: there,
            });
        }
        comparing.end();
        Ok(Some(tables))
    }

    /// Makes a tenant's folders and their shared histories the same and its index anew, and says how
    /// many folders it has.
    async fn files(&self, tenant: &Tenant) -> Result<usize> {
        let mut shop = self.to.workshop("move-store")?;
        shop.tenant = tenant.clone();
        let trees = self.to.trees.as_deref().or(self.from.trees.as_deref());
        let trees = trees.context("neither side shares memory files")?;
        let sharing = Sharing {
            store: &*self.to.store,
            trees,
            root: &self.to.root,
        };
        let wait = shop.limits.folder_wait;
        let scopes = sharing.level(tenant, &shop.stamp(), wait).await?;
        rebuild_index(&shop).await?;
        if self.to.trees.is_none() {
            reindex_all(&*shop.store, &shop.root, tenant, shop.clock.now()).await?;
            return Ok(scopes.len());
        }
        for scope in &scopes {
            index_head(&shop, scope).await?;
        }
        Ok(scopes.len())
    }
}

async fn index_head(shop: &Workshop, scope: &daybook_domain::Scope) -> Result<()> {
    let folder = Folder::open(folder(&shop.root, scope), FilesConfig::default())?;
    reindex_head(&*shop.store, &folder, scope, shop.clock.now()).await?;
    Ok(())
}

/// Gives a database that was moved away another name, so that memory can come back into the folder.
fn set_aside(root: &Path) -> Result<()> {
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
                    .with_context(|| format!("cannot set {} aside", shown(&old)))?;
            }
        }
        break;
    }
    Ok(())
}

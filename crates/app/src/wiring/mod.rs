//! An open data folder: settings, store, clock and models, wired together.
//!
//! Not here: requests to memory (`service`), background work (`background`).

#[cfg(feature = "interfaces")]
mod command;
mod opening;
pub(crate) mod record;
pub(crate) mod redaction;
mod settled_roots;
mod sharing;
pub(crate) mod thread_manager;
pub(crate) mod tombstones;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use daybook_domain::eligibility::Switches;
use daybook_domain::page::read_all;
use daybook_domain::seams::{PurgeStore, SpendStore, Store, TreeStore};
use daybook_domain::time::Clock;
use daybook_domain::working::ThreadStore;
use daybook_domain::{Gap, Job, JobKind, Tenant};
use daybook_engine::append::IngestContext;
use daybook_engine::files::layout::run_folder;
use daybook_engine::hook_events::spool::Spool;
use daybook_engine::triggers::Triggers;
#[cfg(feature = "postgres")]
use daybook_store::PostgresStore;
use daybook_store::flush_state::Ledgered;
use daybook_store::sqlite::SqliteStore;
use daybook_store::transfer::Portable;
use daybook_text::redact::Redactor;
use daybook_working::manager::MemoryManager;
use strum::VariantArray;

use crate::models::{ModelCache, ModelContext};
use crate::settings::Settings;
use record::RecordKeeper;
use settled_roots::SettledRoots;

/// Name of the database in the data folder.
pub(crate) const DATABASE: &str = "daybook.db";

/// The spool of hook events for the tenant of `settings` in the data folder at `root`.
pub(crate) fn spool_of(root: &Path, settings: &Settings) -> Spool {
    Spool::of(&run_folder(root, &settings.tenant))
}

/// The database that keeps a memory.
#[derive(Clone)]
pub(crate) enum MemoryDatabase {
    File(Arc<SqliteStore>),
    #[cfg(feature = "postgres")]
    Server(Arc<PostgresStore>),
}

impl MemoryDatabase {
    /// The database as portable rows, for copies and moves.
    pub(crate) fn portable(&self) -> &dyn Portable {
        match self {
            Self::File(file) => &**file,
            #[cfg(feature = "postgres")]
            Self::Server(server) => &**server,
        }
    }
}

/// An open data folder.
pub(crate) struct Daybook {
    pub(crate) root: PathBuf,
    pub(crate) settings: Settings,
    pub(crate) store: Arc<dyn Store>,
    /// The same database, as the store of threads.
    pub(crate) threads: Arc<dyn ThreadStore>,
    /// The same database, as the store of what models cost.
    pub(crate) spending: Arc<dyn SpendStore>,
    /// The same database, as the store that removes things for good.
    pub(crate) purges: Arc<dyn PurgeStore>,
    /// The same database, as the store of shared histories of memory files; `None` where one machine has them alone.
    pub(crate) trees: Option<Arc<dyn TreeStore>>,
    /// The same database, for health checks and copies.
    pub(crate) database: MemoryDatabase,
    /// The file that keeps the jobs of sessions, if settings choose one.
    pub(crate) ledger: Option<Arc<Ledgered<SqliteStore>>>,
    /// Keeps the record in files up to date; `None` where the database is on a server.
    pub(crate) record: Option<Arc<RecordKeeper>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tenant: Tenant,
    pub(crate) model_cache: ModelCache,
    /// The manager of the tenant's threads, made at the first use and shared by all its users.
    thread_manager: OnceLock<MemoryManager>,
    /// Roots whose project is known already, so that appends need not look it up.
    pub(crate) settled_roots: SettledRoots,
}

impl Daybook {
    /// The same data folder and store, for the memory of `tenant`.
    pub(crate) fn for_tenant(&self, tenant: &Tenant) -> Self {
        Self {
            root: self.root.clone(),
            settings: Settings {
                tenant: tenant.clone(),
                ..self.settings.clone()
            },
            store: Arc::clone(&self.store),
            threads: Arc::clone(&self.threads),
            spending: Arc::clone(&self.spending),
            purges: Arc::clone(&self.purges),
            trees: self.trees.clone(),
            database: self.database.clone(),
            ledger: self.ledger.clone(),
            record: self.record.clone(),
            clock: Arc::clone(&self.clock),
            tenant: tenant.clone(),
            model_cache: ModelCache::default(),
            thread_manager: OnceLock::new(),
            settled_roots: SettledRoots::default(),
        }
    }

    /// Writes what has changed since to the record in files.
    pub(crate) fn write_record(&self) -> Result<()> {
        self.record.as_ref().map_or(Ok(()), |record| record.write())
    }

    /// What models of this tenant are made from.
    pub(crate) fn models(&self) -> ModelContext<'_> {
        ModelContext {
            root: &self.root,
            settings: &self.settings,
            tenant: &self.tenant,
            store: &self.store,
            spending: &self.spending,
            clock: &self.clock,
            cache: &self.model_cache,
        }
    }

    /// The spool of hook events for this tenant.
    pub(crate) fn spool(&self) -> Spool {
        spool_of(&self.root, &self.settings)
    }

    /// The tenant's jobs of a kind, by key.
    pub(crate) async fn jobs(&self, kind: JobKind) -> Result<Vec<Job>> {
        Ok(read_all(|page| self.store.jobs(&self.tenant, kind, page)).await?)
    }

    /// Those of [`Daybook::jobs`] whose input is ahead.
    pub(crate) async fn open_jobs(&self, kind: JobKind) -> Result<Vec<Job>> {
        Ok(read_all(|page| self.store.open_jobs(&self.tenant, kind, page)).await?)
    }

    /// The tenant's gaps.
    pub(crate) async fn gaps(&self) -> Result<Vec<Gap>> {
        let mut gaps = Vec::new();
        for &kind in JobKind::VARIANTS {
            gaps.extend(read_all(|page| self.store.gaps(&self.tenant, kind, page)).await?);
        }
        Ok(gaps)
    }

    /// The switches that turn memory off.
    pub(crate) fn switches(&self) -> Switches {
        self.settings.switches.clone()
    }

    /// The rules by which sessions become due.
    pub(crate) fn triggers(&self) -> Triggers {
        let profile = &self.settings.profile;
        Triggers {
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            rules: profile.triggers,
            sweep: profile.sweep.clone(),
            switches: self.switches(),
        }
    }

    /// What an import needs.
    pub(crate) fn intake(&self) -> IngestContext {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        IngestContext {
            teams: self.settings.teams.clone(),
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            tenant: self.tenant.clone(),
            patience: self.settings.profile.triggers.patience,
            switches: self.switches(),
            redactor: Arc::new(Redactor::current()),
            readers: cores.min(4),
        }
    }

    /// Whether a connection pooler is known to stand before the server, which then cannot wake waiting clients.
    pub(crate) fn is_pooled(&self) -> bool {
        match &self.database {
            MemoryDatabase::File(_) => false,
            #[cfg(feature = "postgres")]
            MemoryDatabase::Server(server) => server.is_pooled(),
        }
    }
}

/// The tenant that the settings of a data folder name; the local tenant where they cannot be read.
pub(crate) fn tenant_of(folder: &Path, set: &[String]) -> Tenant {
    Settings::load(folder, set).map_or_else(|_| Tenant::local(), |settings| settings.tenant)
}

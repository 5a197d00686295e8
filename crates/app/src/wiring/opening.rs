//! Opens data folders and the databases that their settings name.
//!
//! Not here: the data folder that a command line names, and the advice where there is no memory (`command`).

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
#[cfg(feature = "postgres")]
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
#[cfg(feature = "postgres")]
use std::time::Instant;

use anyhow::{Context, Result, bail};
#[cfg(feature = "postgres")]
use daybook_domain::seams::TreeStore;
use daybook_domain::seams::{PurgeStore, SpendStore, Store};
use daybook_domain::time::Clock;
use daybook_domain::working::ThreadStore;
use daybook_domain::{Tenant, Timestamp};
use daybook_engine::files::reindex::reindex_everything;
use daybook_engine::profile::Ledger;
use daybook_store::flush_state::{self, Ledgered};
use daybook_store::sqlite::{self, PageCache, SqliteOptions, SqliteStore};
#[cfg(feature = "postgres")]
use daybook_store::{PostgresOptions, PostgresStore, Trust, VectorSearch, WaitObserver};

use super::record::{RecordKeeper, is_database_lost, restore_database};
use super::settled_roots::SettledRoots;
use super::tombstones::store_tombstones;
use super::{DATABASE, Daybook, MemoryDatabase, redaction};
#[cfg(feature = "postgres")]
use crate::clock::ServerClock;
use crate::clock::SystemClock;
use crate::folders::data_folder;
use crate::models::ModelCache;
use crate::process::{block_on, run_on_new_thread};
use crate::settings::{DurabilityChoice, MemoryPlace, Settings, VectorSearchChoice, masked};
#[cfg(feature = "postgres")]
use crate::terminal::messages::print_notice;
use crate::terminal::server_timeout::ServerTimeout;

/// Least time between two reports that work waits for a server.
#[cfg(feature = "postgres")]
const BETWEEN_REPORTS: Duration = Duration::from_secs(10);

impl Daybook {
    /// Whether there may be a memory: in the data folder at `folder`, or on the server that its settings, overridden by
    /// `set`, name.
    pub(crate) fn may_exist(folder: &Path, set: &[String]) -> bool {
        let is_on_server =
            || Settings::load(folder, set).is_ok_and(|s| s.store != MemoryPlace::Folder);
        folder.join(DATABASE).is_file() || is_on_server()
    }

    /// Opens the data folder at `folder` for background work, with settings overridden by `set`.
    pub(crate) fn open(folder: PathBuf, set: &[String]) -> Result<Self> {
        Self::open_for(ServerTimeout::Background, folder, set)
    }

    /// Opens the data folder at `folder`, with settings overridden by `set`.
    pub(crate) fn open_for(
        timeout: ServerTimeout,
        folder: PathBuf,
        set: &[String],
    ) -> Result<Self> {
        Self::open_with((timeout, PageCache::Large), folder, set)
    }

    /// Opens the data folder at `folder` for a process that answers an agent now and then, and of which there are as many as
    /// there are agents.
    pub(crate) fn open_beside_others(folder: PathBuf, set: &[String]) -> Result<Self> {
        Self::open_with((ServerTimeout::Interactive, PageCache::Small), folder, set)
    }

    fn open_with(
        (timeout, pages): (ServerTimeout, PageCache),
        folder: PathBuf,
        set: &[String],
    ) -> Result<Self> {
        let settings = Settings::load(&folder, set)?;
        redaction::install(&folder, &settings)?;
        match settings.store.clone() {
            MemoryPlace::Folder => Self::open_file(folder, settings, pages),
            MemoryPlace::Server {
                address,
                ca,
                vector_search,
            } => {
                let server = (address.as_str(), ca, vector_search);
                Self::open_server(timeout, folder, settings, server)
            }
        }
    }

    fn open_file(folder: PathBuf, settings: Settings, pages: PageCache) -> Result<Self> {
        let durability = match settings.durability {
            DurabilityChoice::Process => sqlite::Durability::Process,
            DurabilityChoice::Power => sqlite::Durability::Power,
        };
        let path = folder.join(DATABASE);
        let tenant = settings.tenant.clone();
        let is_restored = is_database_lost(&folder) && restore_database(&folder)?.is_some();
        let store = SqliteStore::open(&path, SqliteOptions { durability, pages })
            .with_context(|| format!("cannot open {}", data_folder::display_path(&path)))?;
        let database = Arc::new(store);
        let clock = Arc::new(SystemClock);
        let profile = &settings.profile;
        let ledger = match profile.ledger {
            Ledger::Database => None,
            Ledger::Json => {
                let stale = profile.work.stale_after;
                Some(open_ledger(&folder, &database, stale, clock.now())?)
            }
        };
        let (store, threads): (Arc<dyn Store>, Arc<dyn ThreadStore>) = match &ledger {
            Some(ledger) => (Arc::clone(ledger) as _, Arc::clone(ledger) as _),
            None => (Arc::clone(&database) as _, Arc::clone(&database) as _),
        };
        let purges: Arc<dyn PurgeStore> = match &ledger {
            Some(ledger) => Arc::clone(ledger) as _,
            None => Arc::clone(&database) as _,
        };
        if is_restored {
            let (store, now) = (Arc::clone(&database), clock.now());
            let (root, tenant) = (folder.clone(), tenant.clone());
            let purges = Arc::clone(&purges);
            let indexing = move || {
                block_on(async {
                    store_tombstones(&*purges, &root, &tenant).await?;
                    index_files(&store, &root, &tenant, now).await
                })
            };
            run_on_new_thread(indexing)?;
        }
        Ok(Self {
            record: Some(Arc::new(RecordKeeper::new(&folder, Arc::clone(&database)))),
            root: folder,
            settings,
            store,
            threads,
            spending: Arc::clone(&database) as Arc<dyn SpendStore>,
            purges,
            trees: None,
            database: MemoryDatabase::File(database),
            ledger,
            clock,
            tenant,
            model_cache: ModelCache::default(),
            thread_manager: OnceLock::new(),
            settled_roots: SettledRoots::default(),
        })
    }

    #[cfg(feature = "postgres")]
    fn open_server(
        timeout: ServerTimeout,
        folder: PathBuf,
        settings: Settings,
        (address, ca, search): (&str, Option<PathBuf>, VectorSearchChoice),
    ) -> Result<Self> {
        if settings.profile.ledger == Ledger::Json {
            bail!(
                "ledger = \"json\" keeps jobs in a file of this machine, and a PostgreSQL database is \
                 for several; set ledger = \"database\", or keep memory in the data folder with \
                 store = \"sqlite\""
            );
        }
        let trust = ca.map_or(Trust::System, Trust::File);
        let (mut options, observer) = match timeout {
            ServerTimeout::Background => (PostgresOptions::DEFAULT, Some(wait_reporter())),
            ServerTimeout::Interactive => (PostgresOptions::ANSWERING, None),
        };
        options.vectors = match search {
            VectorSearchChoice::Exact => VectorSearch::Exact,
            VectorSearchChoice::Approximate => VectorSearch::APPROXIMATE,
        };
        let opening = || {
            let opening = PostgresStore::open_observed(address, &trust, options, observer);
            let store = Arc::new(block_on(async { Ok(opening.await?) })?);
            let clock = ServerClock::synchronized_with(&store)?;
            Ok((store, clock))
        };
        let (database, clock) = run_on_new_thread(opening)
            .with_context(|| format!("cannot use the memory in {}", masked(address)))?;
        let tenant = settings.tenant.clone();
        Ok(Self {
            root: folder,
            settings,
            store: Arc::clone(&database) as Arc<dyn Store>,
            threads: Arc::clone(&database) as Arc<dyn ThreadStore>,
            spending: Arc::clone(&database) as Arc<dyn SpendStore>,
            purges: Arc::clone(&database) as Arc<dyn PurgeStore>,
            trees: Some(Arc::clone(&database) as Arc<dyn TreeStore>),
            database: MemoryDatabase::Server(database),
            ledger: None,
            record: None,
            clock: Arc::new(clock),
            tenant,
            model_cache: ModelCache::default(),
            thread_manager: OnceLock::new(),
            settled_roots: SettledRoots::default(),
        })
    }

    #[cfg(not(feature = "postgres"))]
    fn open_server(
        _: ServerTimeout,
        _: PathBuf,
        _: Settings,
        (address, _, _): (&str, Option<PathBuf>, VectorSearchChoice),
    ) -> Result<Self> {
        bail!(
            "{} is a PostgreSQL database, and this daybook was built without the feature `postgres`",
            masked(address)
        );
    }
}

/// An observer that prints what work waits for, at most once in [`BETWEEN_REPORTS`].
#[cfg(feature = "postgres")]
fn wait_reporter() -> WaitObserver {
    let last = Mutex::new(None::<Instant>);
    Arc::new(move |what: &str| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() >= BETWEEN_REPORTS) {
            *last = Some(Instant::now());
            print_notice(&format!("waiting for {what}"));
        }
    })
}

/// Indexes the memory files of a database that was made again.
async fn index_files(
    store: &SqliteStore,
    root: &Path,
    tenant: &Tenant,
    now: Timestamp,
) -> Result<()> {
    reindex_everything(store, root, tenant, now).await?;
    Ok(())
}

fn open_ledger(
    folder: &Path,
    database: &Arc<SqliteStore>,
    stale: Duration,
    now: Timestamp,
) -> Result<Arc<Ledgered<SqliteStore>>> {
    let path = folder.join(flush_state::FILE);
    let opening = || {
        let inner = Arc::clone(database);
        block_on(async { Ok(Ledgered::open(&path, inner, stale, now).await?) })
    };
    let ledger = run_on_new_thread(opening)
        .with_context(|| format!("cannot open {}", data_folder::display_path(&path)))?;
    Ok(Arc::new(ledger))
}

//! Putting the parts together: a data folder opened, with its store, clock and settings.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow, bail};
use daybook_domain::eligibility::Switches;
use daybook_domain::seams::Store;
use daybook_domain::time::Clock;
use daybook_domain::{Gap, Job, JobKind, Tenant, Timestamp};
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::ingest::import::Intake;
use daybook_engine::ingest::redact::Redactor;
use daybook_engine::jobs::{Presence, WorkLimits, Workshop, free_vanished};
use daybook_engine::notices::spool::Spool;
use daybook_engine::profile::Ledger;
use daybook_engine::stop::Stop;
use daybook_engine::triggers::Triggers;
use daybook_store::flush_state::{self, Ledgered};
use daybook_store::sqlite::{self, SqliteOptions, SqliteStore};

use crate::cli::Common;
use crate::root;
use crate::settings::{Durability, Settings};

/// Name of the database in the data folder.
const DATABASE: &str = "daybook.db";

/// The machine's clock.
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// Whose memory every door of this process opens on: command line, hooks, HTTP and MCP.
pub(crate) fn tenant() -> Tenant {
    Tenant::local()
}

/// An open data folder.
pub(crate) struct Daybook {
    pub(crate) root: PathBuf,
    pub(crate) settings: Settings,
    pub(crate) store: Arc<dyn Store>,
    /// The same store as the database that it is, to be looked over as a file.
    pub(crate) database: Arc<SqliteStore>,
    /// What keeps the jobs of sessions in a file of their own, if settings say so.
    pub(crate) ledger: Option<Arc<Ledgered<SqliteStore>>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tenant: Tenant,
}

impl Daybook {
    /// Opens the data folder, creating it when it is new.
    pub(crate) fn open_or_create(common: &Common) -> Result<Self> {
        let folder = root::locate(common.root.as_deref())?;
        root::create(&folder)?;
        Self::open(folder, &common.set)
    }

    /// Whether something is remembered in the data folder at `folder`.
    pub(crate) fn is_there(folder: &Path) -> bool {
        folder.join(DATABASE).is_file()
    }

    /// Opens the data folder, which must be there.
    pub(crate) fn open_existing(common: &Common) -> Result<Self> {
        let folder = root::locate(common.root.as_deref())?;
        // What hooks told is a memory, too, though nobody has taken it in yet.
        if !Self::is_there(&folder) && Spool::of(&folder).is_empty() {
            bail!(
                "there is no memory in {} yet; `daybook import` makes one",
                root::shown(&folder)
            );
        }
        Self::open(folder, &common.set)
    }

    /// Opens the data folder at `folder`, with the settings `set` over all others.
    pub(crate) fn open(folder: PathBuf, set: &[String]) -> Result<Self> {
        let settings = Settings::load(&folder, set)?;
        let durability = match settings.durability {
            Durability::Process => sqlite::Durability::Process,
            Durability::Power => sqlite::Durability::Power,
        };
        let path = folder.join(DATABASE);
        let store = SqliteStore::open(&path, SqliteOptions { durability })
            .with_context(|| format!("cannot open {}", root::shown(&path)))?;
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
        let store = match &ledger {
            Some(ledger) => Arc::clone(ledger) as Arc<dyn Store>,
            None => Arc::clone(&database) as Arc<dyn Store>,
        };
        Ok(Self {
            root: folder,
            settings,
            store,
            database,
            ledger,
            clock,
            tenant: tenant(),
        })
    }

    /// The tenant's jobs of a kind. The store lists those of all tenants, for workers.
    pub(crate) async fn jobs(&self, kind: JobKind) -> Result<Vec<Job>> {
        let mut jobs = self.store.jobs(kind).await?;
        jobs.retain(|job| job.key.tenant() == &self.tenant);
        Ok(jobs)
    }

    /// The tenant's gaps.
    pub(crate) async fn gaps(&self) -> Result<Vec<Gap>> {
        let mut gaps = self.store.gaps().await?;
        gaps.retain(|gap| gap.job.tenant() == &self.tenant);
        Ok(gaps)
    }

    /// Where memory is switched off.
    pub(crate) fn switches(&self) -> Switches {
        self.settings.switches.clone()
    }

    /// What tells when sessions are due.
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

    /// What reading transcripts needs.
    pub(crate) fn intake(&self) -> Intake {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Intake {
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            tenant: self.tenant.clone(),
            patience: self.settings.profile.triggers.patience,
            switches: self.switches(),
            redactor: Arc::new(Redactor::standard()),
            readers: cores.min(4),
        }
    }

    /// Announces this process as a worker, and frees what vanished ones held.
    pub(crate) async fn worker(&self) -> Result<(Workshop, Presence)> {
        let name = format!("pid-{}-{}", std::process::id(), self.clock.now().0);
        let presence = Presence::announce(&self.root, &name)
            .with_context(|| format!("cannot write below {}", root::shown(&self.root)))?;
        free_vanished(&self.root, &*self.store).await?;
        let work = self.settings.profile.work;
        let limits = WorkLimits {
            claim: work.claims,
            parallel: work.parallel,
            lease: work.lease,
            retry: work.retry,
            drain: work.drain,
            ..WorkLimits::default()
        };
        let shop = Workshop {
            store: Arc::clone(&self.store),
            root: self.root.clone(),
            clock: Arc::clone(&self.clock),
            extractor: Arc::new(Extractive),
            holder: presence.holder().to_owned(),
            person: self.settings.person.clone(),
            zone: self.settings.zone.clone(),
            tenant: self.tenant.clone(),
            switches: self.switches(),
            limits,
        };
        Ok((shop, presence))
    }
}

/// On a thread of its own: whoever opens a data folder may be at work on a runtime already.
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
    let opened = std::thread::scope(|scope| scope.spawn(opening).join());
    let opened = opened.unwrap_or_else(|_| Err(anyhow!("opening broke off")));
    let ledger = opened.with_context(|| format!("cannot open {}", root::shown(&path)))?;
    Ok(Arc::new(ledger))
}

/// Lets everything else on this machine go first: hooks answer while agents wait for them, and what is
/// learned a little later is learned.
pub(crate) fn stand_back() {
    // Where this is not allowed, work goes on as before.
    #[cfg(unix)]
    let _ = rustix::process::nice(15);
}

/// Runs `work` to its end on this thread.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .context("cannot start")?;
    runtime.block_on(work)
}

/// A stop that Ctrl-C, and the end signal of service managers, ask for. The second one ends at once.
pub(crate) fn stop_on_interrupt() -> Result<Stop> {
    let stop = Stop::default();
    let asked = stop.clone();
    ctrlc::set_handler(move || {
        if asked.asked() {
            std::process::exit(130);
        }
        asked.ask();
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(stop)
}

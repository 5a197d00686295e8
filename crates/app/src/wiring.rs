//! Putting the parts together: a data folder opened, with its store, clock and settings.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
#[cfg(feature = "postgres")]
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
#[cfg(feature = "postgres")]
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use daybook_domain::eligibility::Switches;
use daybook_domain::model::Model;
use daybook_domain::seams::{SpendStore, Store, TreeStore};
use daybook_domain::time::Clock;
use daybook_domain::working::ThreadStore;
use daybook_domain::{Gap, Job, JobKind, Tenant, Timestamp};
#[cfg(feature = "postgres")]
use daybook_engine::bounded;
use daybook_engine::files::audit::scopes_on_disk;
use daybook_engine::files::layout::run_folder;
#[cfg(feature = "postgres")]
use daybook_engine::files::name::FileName;
use daybook_engine::ingest::import::Intake;
use daybook_engine::ingest::redact::Redactor;
use daybook_engine::jobs::{Presence, WorkLimits, Workshop, free_vanished};
use daybook_engine::notices::spool::Spool;
use daybook_engine::profile::Ledger;
use daybook_engine::stop::Stop;
use daybook_engine::triggers::Triggers;
use daybook_engine::working::manager::MemoryManager;
use daybook_store::flush_state::{self, Ledgered};
use daybook_store::sqlite::{self, SqliteOptions, SqliteStore};
use daybook_store::transfer::Portable;
#[cfg(feature = "postgres")]
use daybook_store::{PostgresOptions, PostgresStore, Trust, WaitObserver};

#[cfg(feature = "postgres")]
use crate::clock::ServerClock;
use crate::clock::SystemClock;
use crate::common::{Common, Patience};
#[cfg(feature = "postgres")]
use crate::logging::say;
use crate::output::count;
use crate::root;
use crate::settings::{Durability, Place, Settings, masked};
use crate::suggest;
use crate::telling::SettledRoots;

/// Least time between two reports that work waits for a server.
#[cfg(feature = "postgres")]
const BETWEEN_REPORTS: Duration = Duration::from_secs(10);

/// Name of the database in the data folder.
pub(crate) const DATABASE: &str = "daybook.db";

/// What hooks left for the tenant of `settings` in the data folder at `root`.
pub(crate) fn spool_of(root: &Path, settings: &Settings) -> Spool {
    Spool::of(&run_folder(root, &settings.tenant))
}

/// A database, by what it is.
#[derive(Clone)]
pub(crate) enum Database {
    File(Arc<SqliteStore>),
    #[cfg(feature = "postgres")]
    Server(Arc<PostgresStore>),
}

impl Database {
    /// The database as rows that can be carried elsewhere.
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
    /// The same store, which keeps threads.
    pub(crate) threads: Arc<dyn ThreadStore>,
    /// Where it stands what models cost.
    pub(crate) spending: Arc<dyn SpendStore>,
    /// Where histories of memory files are shared, if several machines share this memory.
    pub(crate) trees: Option<Arc<dyn TreeStore>>,
    /// The same store as the database that it is, to be looked over.
    pub(crate) database: Database,
    /// What keeps the jobs of sessions in a file of their own, if settings say so.
    pub(crate) ledger: Option<Arc<Ledgered<SqliteStore>>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tenant: Tenant,
    /// The model that extracts, made when it is needed: all that ask it share its connections, and its
    /// bound on requests at once.
    pub(crate) extract_model: OnceLock<Arc<dyn Model>>,
    /// What keeps the tenant's threads, made when it is needed: whoever works with threads shares it.
    pub(crate) manager: OnceLock<MemoryManager>,
    /// Where appends need not look for projects any more.
    pub(crate) settled: SettledRoots,
}

impl Daybook {
    /// Opens the data folder, creating it when it is new.
    pub(crate) fn open_or_create(common: &Common) -> Result<Self> {
        let folder = root::locate(common.root.as_deref())?;
        root::create(&folder)?;
        Self::open_for(common.patience, folder, &common.set)
    }

    /// Whether something may be remembered: in the data folder at `folder`, or on the server that its
    /// settings, with `set` over them, name.
    pub(crate) fn is_there(folder: &Path, set: &[String]) -> bool {
        let elsewhere = || Settings::load(folder, set).is_ok_and(|s| s.store != Place::Folder);
        folder.join(DATABASE).is_file() || elsewhere()
    }

    /// Opens the data folder, which must be there.
    pub(crate) fn open_existing(common: &Common) -> Result<Self> {
        let folder = root::locate(common.root.as_deref())?;
        check_readable(&folder)?;
        // What hooks told is a memory, too, though nobody has taken it in yet.
        let told = |settings: Settings| !spool_of(&folder, &settings).is_empty();
        let is_told = || Settings::load(&folder, &common.set).is_ok_and(told);
        if !Self::is_there(&folder, &common.set) && !is_told() {
            let scopes = scopes_on_disk(&folder, &tenant_of(&folder, &common.set)).len() as u64;
            if scopes > 0 {
                bail!(
                    "{} has memory files of {} and no database: `{}` brings a backup back, \
                     `{}` makes the files known to a new one",
                    root::shown(&folder),
                    count(scopes, "scope"),
                    suggest::command("restore"),
                    suggest::command("doctor --repair")
                );
            }
            bail!(
                "there is no memory in {} yet; `{}` makes one",
                root::shown(&folder),
                suggest::command("import"),
            );
        }
        Self::open_for(common.patience, folder, &common.set)
    }

    /// Opens the data folder at `folder` for work in the background, with the settings `set` over all
    /// others.
    pub(crate) fn open(folder: PathBuf, set: &[String]) -> Result<Self> {
        Self::open_for(Patience::Work, folder, set)
    }

    /// Opens the data folder at `folder`, with the settings `set` over all others.
    pub(crate) fn open_for(patience: Patience, folder: PathBuf, set: &[String]) -> Result<Self> {
        let settings = Settings::load(&folder, set)?;
        match settings.store.clone() {
            Place::Folder => Self::on_file(folder, settings),
            Place::Server { address, ca } => {
                Self::on_server(patience, folder, settings, &address, ca)
            }
        }
    }

    fn on_file(folder: PathBuf, settings: Settings) -> Result<Self> {
        let durability = match settings.durability {
            Durability::Process => sqlite::Durability::Process,
            Durability::Power => sqlite::Durability::Power,
        };
        let path = folder.join(DATABASE);
        let tenant = settings.tenant.clone();
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
        let (store, threads): (Arc<dyn Store>, Arc<dyn ThreadStore>) = match &ledger {
            Some(ledger) => (Arc::clone(ledger) as _, Arc::clone(ledger) as _),
            None => (Arc::clone(&database) as _, Arc::clone(&database) as _),
        };
        Ok(Self {
            root: folder,
            settings,
            store,
            threads,
            spending: Arc::clone(&database) as Arc<dyn SpendStore>,
            trees: None,
            database: Database::File(database),
            ledger,
            clock,
            tenant,
            extract_model: OnceLock::new(),
            manager: OnceLock::new(),
            settled: SettledRoots::default(),
        })
    }

    #[cfg(feature = "postgres")]
    fn on_server(
        patience: Patience,
        folder: PathBuf,
        settings: Settings,
        address: &str,
        ca: Option<PathBuf>,
    ) -> Result<Self> {
        if settings.profile.ledger == Ledger::Json {
            bail!(
                "ledger = \"json\" keeps jobs in a file of this machine, and a PostgreSQL database is \
                 for several; set ledger = \"database\", or keep memory in the data folder with \
                 store = \"sqlite\""
            );
        }
        let trust = ca.map_or(Trust::System, Trust::File);
        let (options, observer) = match patience {
            Patience::Work => (PostgresOptions::DEFAULT, Some(wait_reporter())),
            Patience::Answer => (PostgresOptions::ANSWERING, None),
        };
        let opening = || {
            let opening = PostgresStore::open_observed(address, &trust, options, observer);
            let store = Arc::new(block_on(async { Ok(opening.await?) })?);
            let clock = ServerClock::set_by(&store)?;
            Ok((store, clock))
        };
        let (database, clock) = apart(opening)
            .with_context(|| format!("cannot use the memory in {}", masked(address)))?;
        let tenant = settings.tenant.clone();
        Ok(Self {
            root: folder,
            settings,
            store: Arc::clone(&database) as Arc<dyn Store>,
            threads: Arc::clone(&database) as Arc<dyn ThreadStore>,
            spending: Arc::clone(&database) as Arc<dyn SpendStore>,
            trees: Some(Arc::clone(&database) as Arc<dyn TreeStore>),
            database: Database::Server(database),
            ledger: None,
            clock: Arc::new(clock),
            tenant,
            extract_model: OnceLock::new(),
            manager: OnceLock::new(),
            settled: SettledRoots::default(),
        })
    }

    #[cfg(not(feature = "postgres"))]
    fn on_server(
        _: Patience,
        _: PathBuf,
        _: Settings,
        address: &str,
        _: Option<PathBuf>,
    ) -> Result<Self> {
        bail!(
            "{} is a PostgreSQL database, and this daybook was built without the feature `postgres`",
            masked(address)
        );
    }

    /// The same data folder and store, opened on the memory of `tenant`.
    pub(crate) fn of_tenant(&self, tenant: &Tenant) -> Self {
        Self {
            root: self.root.clone(),
            settings: Settings {
                tenant: tenant.clone(),
                ..self.settings.clone()
            },
            store: Arc::clone(&self.store),
            threads: Arc::clone(&self.threads),
            spending: Arc::clone(&self.spending),
            trees: self.trees.clone(),
            database: self.database.clone(),
            ledger: self.ledger.clone(),
            clock: Arc::clone(&self.clock),
            tenant: tenant.clone(),
            extract_model: OnceLock::new(),
            manager: OnceLock::new(),
            settled: SettledRoots::default(),
        }
    }

    /// What hooks left for this tenant.
    pub(crate) fn spool(&self) -> Spool {
        spool_of(&self.root, &self.settings)
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

    /// How the names of workers in this data folder begin. Leases on a server name the machine, too:
    /// nobody judges workers of another one.
    fn ours(&self) -> Result<String> {
        match &self.database {
            Database::File(_) => Ok("pid-".to_owned()),
            #[cfg(feature = "postgres")]
            Database::Server(_) => Ok(format!("{}-pid-", machine(&self.root)?)),
        }
    }

    /// Whether a pooler before the server keeps it from waking whoever waits, as far as is known.
    pub(crate) fn is_pooled(&self) -> bool {
        match &self.database {
            Database::File(_) => false,
            #[cfg(feature = "postgres")]
            Database::Server(server) => server.is_pooled(),
        }
    }

    /// Frees what workers in this data folder held that are no longer there.
    pub(crate) async fn free_vanished(&self) -> Result<usize> {
        Ok(free_vanished(&self.root, &*self.store, &self.ours()?).await?)
    }

    /// Announces this process as a worker, and frees what vanished ones held.
    pub(crate) async fn worker(&self) -> Result<(Workshop, Presence)> {
        let process = format!("{}{}-{:08x}", self.ours()?, std::process::id(), run_tag()?);
        let presence = Presence::announce(&self.root, &process)
            .with_context(|| format!("cannot write below {}", root::shown(&self.root)))?;
        self.free_vanished().await?;
        Ok((self.workshop(presence.holder())?, presence))
    }

    /// What stages that work are given, in the name of `holder`.
    pub(crate) fn workshop(&self, holder: &str) -> Result<Workshop> {
        let work = self.settings.profile.work;
        let limits = WorkLimits {
            claim: work.claims,
            window: work.window,
            parallel: work.parallel,
            lease: work.lease,
            retry: work.retry,
            drain: work.drain,
            ..WorkLimits::default()
        };
        Ok(Workshop {
            store: Arc::clone(&self.store),
            trees: self.trees.clone(),
            root: self.root.clone(),
            clock: Arc::clone(&self.clock),
            extractor: self.extractor(holder)?,
            holder: holder.to_owned(),
            person: self.settings.person.clone(),
            zone: self.settings.zone.clone(),
            tenant: self.tenant.clone(),
            switches: self.switches(),
            limits,
        })
    }
}

/// What tells this run of the program from others that had, or in another container have, its process id.
fn run_tag() -> Result<u32> {
    static TAG: OnceLock<u32> = OnceLock::new();
    let mut random = [0; 4];
    getrandom::fill(&mut random)?;
    Ok(*TAG.get_or_init(|| u32::from_ne_bytes(random)))
}

/// Reports that work waits for the server and for what, at most once in [`BETWEEN_REPORTS`].
#[cfg(feature = "postgres")]
fn wait_reporter() -> WaitObserver {
    let last = Mutex::new(None::<Instant>);
    Arc::new(move |what: &str| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() >= BETWEEN_REPORTS) {
            *last = Some(Instant::now());
            say(&format!("waiting for {what}"));
        }
    })
}

/// A name for this data folder that no other one has, made once.
#[cfg(feature = "postgres")]
fn machine(root: &Path) -> Result<String> {
    let path = root.join("machine");
    let failed = || format!("cannot write {}", root::shown(&path));
    let mut name = [0; 8];
    getrandom::fill(&mut name)?;
    let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut file = tempfile::NamedTempFile::new_in(root).with_context(failed)?;
    std::io::Write::write_all(&mut file, name.as_bytes()).with_context(failed)?;
    // Whoever was first has named it.
    let _ = file.persist_noclobber(&path);
    let name = bounded::read_text(&path, 1024).with_context(failed)?;
    // Workers' lock files are called after it.
    Ok(format!("at-{}", FileName::folder(name.trim())))
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
    let ledger = apart(opening).with_context(|| format!("cannot open {}", root::shown(&path)))?;
    Ok(Arc::new(ledger))
}

/// Whose memory the settings of a data folder name; the local tenant's where they cannot be read.
pub(crate) fn tenant_of(folder: &Path, set: &[String]) -> Tenant {
    Settings::load(folder, set).map_or_else(|_| Tenant::local(), |settings| settings.tenant)
}

/// A folder that may not be read is not one without a memory.
fn check_readable(folder: &Path) -> Result<()> {
    let failed = || {
        format!(
            "the data folder {} cannot be read; check its owner and permissions",
            root::shown(folder)
        )
    };
    for path in [folder.to_owned(), folder.join(DATABASE)] {
        match std::fs::metadata(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(failed);
            }
            Ok(_) | Err(_) => {}
        }
    }
    match std::fs::read_dir(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(failed)
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// On a thread of its own: whoever opens a data folder may be at work on a runtime already.
fn apart<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let done = std::thread::scope(|scope| scope.spawn(work).join());
    done.unwrap_or_else(|_| Err(anyhow!("opening broke off")))
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
        .enable_all()
        .build()
        .context("cannot start")?;
    runtime.block_on(work)
}

/// A stop that Ctrl-C, and the end signal of service managers, ask for. The second one ends at once.
pub(crate) fn stop_on_interrupt() -> Result<Stop> {
    let stop = Stop::default();
    let asked = stop.clone();
    ctrlc::set_handler(move || {
        if asked.is_end() {
            std::process::exit(130);
        }
        asked.ask();
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(stop)
}

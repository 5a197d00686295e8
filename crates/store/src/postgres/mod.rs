//! A store in a PostgreSQL database (15 or later) that any number of machines share.
//!
//! Each call is one transaction, or several where its seam allows that. Writers run side by side: a row that
//! decides something is locked as it is read (`SELECT … FOR UPDATE`), always in this order, so that few wait in
//! a circle: import, session, job, scopes, observations, jobs of scopes, lanes, tallies; in transactions of
//! their own, the call of a model and then the budgets that it counts in, and the model of a tenant's vectors
//! and then the documents that get some. A transaction in a deadlock is rolled back by the server and tried
//! again, like one whose connection broke. After a connection that broke in a commit the row that the
//! transaction leaves in `commits` is looked up, so nothing is done twice and no lost write counts as kept.
//!
//! Tenants are isolated twice: every statement names its tenant, and row-level security lets a transaction see
//! only the rows of the tenant that it began for; workers, who serve all tenants, begin without that
//! restriction.
//!
//! Times come from callers. The server's own clock only records when a migration was applied, and the age of
//! the rows in `commits`.
//!
//! Not here: rules. Rows change by the transitions of `domain` and the pure modules beside this one.

mod append_group;
mod append_queue;
mod call;
mod changes;
mod connection;
mod dial;
mod events;
mod evidence_rows;
mod extractions;
mod fault;
mod gaps;
mod index;
mod index_rows;
mod job_rows;
mod jobs;
mod kept_statements;
mod lanes;
mod migrations;
mod names;
mod near_index;
mod observation_rows;
mod outcome;
mod outlines;
mod overviews;
mod own_session;
mod places;
mod pollution;
mod pool;
mod purge;
mod quarantine;
mod queries;
mod remotes;
mod rescans;
mod retractions;
mod retry;
mod row_numbers;
mod selections;
mod sessions;
mod sources;
mod spend;
mod staged;
mod supersessions;
mod threads;
mod tombstones;
mod transfer;
mod trees;
mod tx_start;
mod undo;
mod uses;
mod values;
mod vector_rows;
mod vectors;

use std::sync::Arc;
use std::time::Duration;

use daybook_domain::{StoreError, Timestamp};
use deadpool::Runtime;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use append_queue::AppendQueue;
use call::CallObserver;
pub use call::WaitObserver;
use changes::{ChangeNotifier, WakeMode};
use connection::{TenantAccess, Tx, TxMode};
pub use dial::Trust;
use dial::{Dialer, DialerRuntime};
use fault::READ_ONLY;
use kept_statements::StatementKeeping;
use outcome::CommitTracker;
use pool::{ConnectionManager, Pool};
use values::get;

/// How a [`PostgresStore`] behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PostgresOptions {
    /// Most connections that are kept open. More lets more calls run at once and costs the server
    /// about 10 MB each.
    pub connections: usize,
    /// Longest wait for a free connection, or for a new one.
    pub connect: Duration,
    /// Longest run of one statement. A longer one is ended, and its caller gets [`StoreError::Busy`].
    pub statement: Duration,
    /// Longest wait for an answer beyond that: a lost or frozen server ends no statement.
    pub silence: Duration,
    /// Longest wait for another session's lock before the server is asked which session holds it. The wait is
    /// repeated until the call has used up its time.
    pub lock: Duration,
    /// Longest pause of a transaction between two statements before the server ends it: so long the locks of a
    /// machine that vanished are held.
    pub idle: Duration,
    /// Longest time of one call, all its waits and tries included. A longer one survives longer outages, a
    /// shorter one answers sooner.
    pub call: Duration,
    /// How often a transaction is tried before its caller gets the error. More tries survive longer restarts of
    /// the server: 12 last about three seconds.
    pub tries: u32,
    /// How the vectors nearest to a query's are found.
    pub vectors: VectorSearch,
}

/// How the vectors nearest to a query's are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorSearch {
    /// By comparing all of a tenant's, as other stores do.
    Exact,
    /// By an index of the extension `vector`, which misses some, for tenants with many documents.
    Approximate {
        /// Fewest documents of such a tenant.
        from: usize,
    },
}

impl VectorSearch {
    /// From so many documents on, comparing all takes several times as long as asking the index.
    pub const APPROXIMATE: Self = Self::Approximate { from: 20_000 };
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl PostgresOptions {
    /// Suits one process of a few.
    pub const DEFAULT: Self = Self {
        connections: 8,
        connect: Duration::from_secs(10),
        statement: Duration::from_secs(30),
        silence: Duration::from_secs(10),
        lock: Duration::from_secs(2),
        idle: Duration::from_secs(15),
        call: Duration::from_secs(45),
        tries: 12,
        vectors: VectorSearch::Exact,
    };

    /// For calls with a caller that waits for the answer: they give up after three seconds.
    pub const ANSWERING: Self = Self {
        // A row may take two waits: for its turn and for the row.
        lock: Duration::from_secs(1),
        call: Duration::from_secs(3),
        ..Self::DEFAULT
    };

    /// Longest wait for the answer to one statement; zero means no limit.
    fn answer_limit(&self, mode: TxMode) -> Duration {
        match mode {
            TxMode::Read | TxMode::Write => self.statement + self.silence,
            TxMode::Migrate => Duration::ZERO,
        }
    }

    /// The settings that limit one transaction.
    fn limits(&self, mode: TxMode) -> [(&'static str, String); 4] {
        let (statement, lock) = match mode {
            // Work whose caller has gone is cancelled.
            TxMode::Read | TxMode::Write => (self.statement.min(self.call), self.lock),
            TxMode::Migrate => (Duration::ZERO, Duration::ZERO),
        };
        let millis = |time: Duration| time.as_millis().to_string();
        [
            ("statement_timeout", millis(statement)),
            ("lock_timeout", millis(lock)),
            ("idle_in_transaction_session_timeout", millis(self.idle)),
            // Compiling a statement takes longer than running any of ours.
            ("jit", "off".to_owned()),
        ]
    }

    /// The limits of all transactions of a session, as options of the command line.
    fn session_limits(&self) -> String {
        let limits = self.limits(TxMode::Write);
        let limits = limits.map(|(name, value)| format!("-c {name}={value}"));
        limits.join(" ")
    }
}

/// A store in a PostgreSQL database.
#[derive(Debug, Clone)]
pub struct PostgresStore {
    /// The database, for messages; without a password.
    server: String,
    commits: Arc<CommitTracker>,
    observer: CallObserver,
    options: PostgresOptions,
    pool: Pool,
    changes: Arc<ChangeNotifier>,
    /// Commits appends in groups; `None` in the task that does so.
    appends: Option<Arc<AppendQueue>>,
    driver: Arc<DialerRuntime>,
}

impl PostgresStore {
    /// Opens the store in the database that `address` names, creating or upgrading its tables where needed.
    /// `address` is a URL (`postgres://ada@host/daybook`) or `host=… user=… dbname=…`.
    ///
    /// The role needs to be allowed to create tables in the schema that comes first in its search
    /// path, and nothing else. Connections are encrypted where the server can (`sslmode=prefer`), always
    /// (`require`, and whenever `trust` names a file) or never (`disable`); the server's certificate is
    /// checked against [`Trust`] whenever there is one.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the address cannot be read, [`StoreError::TooNew`] when a newer
    /// Daybook wrote there, [`StoreError::Corrupt`] when something else did,
    /// [`StoreError::Unavailable`] when the server cannot be reached or refuses.
    pub async fn open(
        address: &str,
        trust: &Trust,
        options: PostgresOptions,
    ) -> Result<Self, StoreError> {
        Self::open_observed(address, trust, options, None).await
    }

    /// As [`PostgresStore::open`]; `observer` receives a message whenever a call takes long, with what it waits
    /// for.
    ///
    /// # Errors
    /// As [`PostgresStore::open`].
    pub async fn open_observed(
        address: &str,
        trust: &Trust,
        options: PostgresOptions,
        observer: Option<WaitObserver>,
    ) -> Result<Self, StoreError> {
        let config = dial::config(address, trust, options.connect)?;
        let server = server_name(&config);
        let driver = DialerRuntime::start()?;
        let dialer = Dialer::new(&driver, trust)?;
        let changes = ChangeNotifier::new(config.clone(), dialer.clone());
        let keeping = Arc::<StatementKeeping>::default();
        let limits = options.session_limits();
        let manager = ConnectionManager::new(config, &limits, dialer, Arc::clone(&keeping));
        let pool = Pool::builder(manager)
            .max_size(options.connections)
            .wait_timeout(Some(options.connect))
            .create_timeout(Some(options.connect))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| StoreError::Unavailable {
                what: server.clone(),
                source: error.into(),
            })?;
        let mut store = Self {
            server,
            commits: Arc::default(),
            observer: CallObserver(observer),
            options,
            pool,
            changes: Arc::new(changes),
            appends: None,
            driver: Arc::new(driver),
        };
        migrations::ensure(&store).await?;
        near_index::open(&store).await?;
        keeping.begin();
        store.note_server_time().await;
        store.appends = Some(AppendQueue::start(store.driver.handle(), store.clone()));
        Ok(store)
    }

    /// The server's clock.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn server_time(&self) -> Result<Timestamp, StoreError> {
        let ask = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT AS now";
        let asking = |tx: Tx| async move { get(&tx.one(ask, &[]).await?, "now") };
        self.read(TenantAccess::All, asking).await
    }

    /// Describes the server, and checks that the database holds what it should.
    ///
    /// # Errors
    /// As [`PostgresStore::open`].
    pub async fn check(&self) -> Result<String, StoreError> {
        migrations::ensure(self).await?;
        let ask = "SELECT current_setting('server_version') AS version, pg_is_in_recovery()
            OR current_setting('default_transaction_read_only')::BOOLEAN AS read_only";
        let asking = |tx: Tx| async move {
            let row = tx.one(ask, &[]).await?;
            Ok((get(&row, "version")?, get(&row, "read_only")?))
        };
        let (version, read_only): (String, bool) = self.read(TenantAccess::All, asking).await?;
        if read_only {
            return Err(StoreError::Unavailable {
                what: format!("{}, PostgreSQL {version}", self.server),
                source: READ_ONLY.into(),
            });
        }
        let pooled = match self.changes.await_wake_mode(self.options.connect).await {
            WakeMode::Pooled => ", through a pooler, so that workers poll once a second",
            WakeMode::Notified | WakeMode::Unknown => "",
        };
        Ok(format!("{}, PostgreSQL {version}{pooled}", self.server))
    }

    /// Whether a waiting caller has found a pooler in between, which delivers no notifications: callers poll
    /// once a second.
    #[must_use]
    pub fn is_pooled(&self) -> bool {
        self.changes.wake_mode() == WakeMode::Pooled
    }
}

fn server_name(config: &Config) -> String {
    let database = match config.get_dbname().or(config.get_user()) {
        Some(database) => format!("database {database}"),
        None => "the database".to_owned(),
    };
    let hosts: Vec<String> = config.get_hosts().iter().map(host_name).collect();
    match hosts.is_empty() {
        true => database,
        false => format!("{database} on {}", hosts.join(", ")),
    }
}

fn host_name(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(folder) => folder.display().to_string(),
    }
}

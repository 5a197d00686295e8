//! PostgreSQL for tests: one throw-away server for each test process, with a database for each test;
//! servers of a test's own, which it may stop and crash; and a relay that breaks connections on request.

mod cluster;
mod pooler;
mod relay;
mod server;
mod shell;

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

pub use cluster::Identity;
use cluster::{ADMIN, Cluster, ClusterOptions, ROLE};
use pooler::Pooler;
pub use relay::Relay;
pub use server::{Ending, OpenSession, PostgresServer};
use shell::skip;

/// Settings that make many small tests fast: no data needs to survive a crash.
const FAST: &str = "synchronous_commit = off\nfull_page_writes = off\nmax_connections = 200";

static CLUSTER: LazyLock<Option<Cluster>> = LazyLock::new(|| {
    let making = ClusterOptions {
        settings: FAST,
        ..ClusterOptions::PLAIN
    };
    Cluster::start(&making)
});
static POOLER: LazyLock<Option<Pooler>> = LazyLock::new(|| Pooler::before(CLUSTER.as_ref()?, ""));
/// Drops the settings with which clients begin a session, where the other one refuses them.
static POOLER_WITHOUT_SETTINGS: LazyLock<Option<Pooler>> =
    LazyLock::new(|| Pooler::before(CLUSTER.as_ref()?, "ignore_startup_parameters = options"));
static TEMPLATE: Mutex<bool> = Mutex::new(false);
static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// A database that is dropped together with this value.
#[derive(Debug)]
pub struct TestDatabase {
    name: String,
}

/// An empty database; `None`, with a printed warning, where PostgreSQL is not installed.
///
/// # Panics
/// When PostgreSQL is not installed and the variable `CI` is set, and when it does not start.
#[must_use]
pub fn empty() -> Option<TestDatabase> {
    Some(CLUSTER.as_ref()?.create("template0"))
}

/// A copy of a database that `prepare` fills once for this process; it receives the address.
///
/// # Panics
/// As [`empty`].
#[must_use]
pub fn prepared(prepare: impl FnOnce(&str)) -> Option<TestDatabase> {
    let cluster = CLUSTER.as_ref()?;
    let lock = TEMPLATE.lock();
    let mut is_made = lock.expect("the one who came first could prepare the database");
    if !*is_made {
        cluster.run("createdb", &["-O", ROLE, "-T", "template0", "prepared"]);
        prepare(&cluster.address(ROLE, "prepared"));
        *is_made = true;
    }
    drop(is_made);
    Some(cluster.create("prepared"))
}

/// Whether the server comes with an extension. False, with a printed warning, where it does not.
///
/// # Panics
/// As [`empty`], and when the server comes without it and the variable `DAYBOOK_EXTENSIONS` is `required`. `CI`
/// does not decide here, because CI also tests servers that are packaged without extensions.
#[must_use]
pub fn has_extension(extension: &str) -> bool {
    let Some(cluster) = CLUSTER.as_ref() else {
        return false;
    };
    let find = format!("SELECT count(*) FROM pg_available_extensions WHERE name = '{extension}'");
    if cluster.ask("postgres", &find) == "1" {
        return true;
    }
    let what_is_missing = format!("the server comes without the extension {extension}");
    let needed = std::env::var_os("DAYBOOK_EXTENSIONS");
    assert!(
        needed.is_none_or(|needed| needed != "required"),
        "{what_is_missing}"
    );
    skip(&format!("{what_is_missing}, so nothing is tested on it"));
    false
}

impl TestDatabase {
    /// The address for its owner.
    #[must_use]
    pub fn address(&self) -> String {
        cluster().address(ROLE, &self.name)
    }

    /// The address for its owner through PgBouncer, which assigns each transaction to any of a few
    /// connections; `None`, with a printed warning, where PgBouncer is not installed.
    ///
    /// # Panics
    /// As [`empty`], of PgBouncer.
    #[must_use]
    pub fn pooled(&self) -> Option<String> {
        Some(self.through(POOLER.as_ref()?))
    }

    /// As [`TestDatabase::pooled`], through a PgBouncer that silently drops the settings with which a client
    /// begins a session.
    ///
    /// # Panics
    /// As [`empty`], of PgBouncer.
    #[must_use]
    pub fn pooled_without_settings(&self) -> Option<String> {
        Some(self.through(POOLER_WITHOUT_SETTINGS.as_ref()?))
    }

    fn through(&self, pooler: &Pooler) -> String {
        let folder = pooler.folder().display().to_string();
        let direct = cluster().folder().display().to_string();
        self.address().replace(&direct, &folder)
    }

    /// The lines that PgBouncer has logged about this database; none before it runs.
    #[must_use]
    pub fn pooler_log(&self) -> Vec<String> {
        let log = POOLER.as_ref().map(Pooler::log).unwrap_or_default();
        let ours = format!(" {}/", self.name);
        let lines = log.lines().filter(|line| line.contains(&ours));
        lines.map(str::to_owned).collect()
    }

    /// Its address as a URL.
    #[must_use]
    pub fn url(&self) -> String {
        let folder = cluster().folder().display().to_string();
        let folder = folder.replace('%', "%25").replace('/', "%2F");
        format!("postgres://{ROLE}@{folder}/{}", self.name)
    }

    /// A program that comes with the server, such as `pg_dump`.
    #[must_use]
    pub fn program(&self, name: &str) -> Command {
        Command::new(cluster().programs.join(name))
    }

    /// The address for a role that may do everything.
    #[must_use]
    pub fn admin(&self) -> String {
        cluster().address(ADMIN, &self.name)
    }

    /// Installs an extension.
    ///
    /// # Panics
    /// When the server does not come with it ([`has_extension`]).
    pub fn install(&self, extension: &str) {
        cluster().ask(&self.name, &format!("CREATE EXTENSION {extension}"));
    }

    /// Runs statements with `psql` as the role that may do everything. Returns rows as lines, with columns
    /// separated by `|`.
    ///
    /// # Panics
    /// When a statement fails.
    #[must_use]
    pub fn ask(&self, sql: &str) -> String {
        cluster().ask(&self.name, sql)
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        cluster().run("dropdb", &["--force", &self.name]);
    }
}

fn cluster() -> &'static Cluster {
    CLUSTER.as_ref().expect("a database stands on a server")
}

impl Cluster {
    fn create(&self, template: &str) -> TestDatabase {
        let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        // Copies the files: the other strategy writes all pages into the log first.
        let copy = "--strategy=file_copy";
        self.run("createdb", &["-O", ROLE, "-T", template, copy, &name]);
        TestDatabase { name }
    }

    fn ask(&self, database: &str, sql: &str) -> String {
        let rows = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"];
        let arguments = [&rows[..], &["-d", database, "-c", sql]].concat();
        self.run("psql", &arguments).trim_end().to_owned()
    }
}

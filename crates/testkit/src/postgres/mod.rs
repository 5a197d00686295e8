//! PostgreSQL for tests: one throw-away server for each test process, with a database for each test;
//! servers of a test's own, which may be hurt; and a way to a server that breaks when it is told to.

mod cluster;
mod pooler;
mod relay;
mod server;
mod shell;

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

pub use cluster::Identity;
use cluster::{ADMIN, Cluster, Making, ROLE};
use pooler::Pooler;
pub use relay::Relay;
pub use server::{Ending, Server, Session};

/// What makes many small tests fast: nothing needs to outlive a crash.
const FAST: &str = "synchronous_commit = off\nfull_page_writes = off\nmax_connections = 200";

static CLUSTER: LazyLock<Option<Cluster>> = LazyLock::new(|| {
    let making = Making {
        settings: FAST,
        ..Making::PLAIN
    };
    Cluster::start(&making)
});
static POOLER: LazyLock<Option<Pooler>> = LazyLock::new(|| Pooler::before(CLUSTER.as_ref()?));
static TEMPLATE: Mutex<bool> = Mutex::new(false);
static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// A database that is dropped with this.
#[derive(Debug)]
pub struct Database {
    name: String,
}

/// An empty database; `None`, said loudly, where PostgreSQL is not installed.
///
/// # Panics
/// When PostgreSQL is not installed and the variable `CI` is set, and when it does not start.
#[must_use]
pub fn empty() -> Option<Database> {
    Some(CLUSTER.as_ref()?.create("template0"))
}

/// A copy of a database that `prepare`, which is given its address, made once for this process.
///
/// # Panics
/// As [`empty`].
#[must_use]
pub fn prepared(prepare: impl FnOnce(&str)) -> Option<Database> {
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

impl Database {
    /// Where its owner finds it.
    #[must_use]
    pub fn address(&self) -> String {
        cluster().address(ROLE, &self.name)
    }

    /// Where its owner finds it through PgBouncer, which hands each transaction to any of a few
    /// connections; `None`, said loudly, where that is not installed.
    ///
    /// # Panics
    /// As [`empty`], of PgBouncer.
    #[must_use]
    pub fn pooled(&self) -> Option<String> {
        let folder = POOLER.as_ref()?.folder().display().to_string();
        let direct = cluster().folder().display().to_string();
        Some(self.address().replace(&direct, &folder))
    }

    /// What PgBouncer, once it runs, has logged of this database.
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

    /// Where a role finds it that may do everything.
    #[must_use]
    pub fn admin(&self) -> String {
        cluster().address(ADMIN, &self.name)
    }

    /// What `psql` answers to statements of the role that may do everything: rows as lines, columns
    /// between `|`.
    ///
    /// # Panics
    /// When a statement fails.
    #[must_use]
    pub fn ask(&self, sql: &str) -> String {
        cluster().ask(&self.name, sql)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        cluster().run("dropdb", &["--force", &self.name]);
    }
}

fn cluster() -> &'static Cluster {
    CLUSTER.as_ref().expect("a database stands on a server")
}

impl Cluster {
    fn create(&self, template: &str) -> Database {
        let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        // By copying files: the other way writes all of them into the log first.
        let copy = "--strategy=file_copy";
        self.run("createdb", &["-O", ROLE, "-T", template, copy, &name]);
        Database { name }
    }

    fn ask(&self, database: &str, sql: &str) -> String {
        let rows = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"];
        let arguments = [&rows[..], &["-d", database, "-c", sql]].concat();
        self.run("psql", &arguments).trim_end().to_owned()
    }
}

//! A server of a test's own, which it may stop, crash and pause.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::Child;

use super::cluster::{Cluster, ClusterOptions, Identity, ROLE, TcpOptions};

/// The name of its only database.
const DATABASE: &str = "daybook";
/// The tablespace on its small disk.
const SMALL: &str = "small";

/// A session that stays open until it is dropped.
#[derive(Debug)]
pub struct OpenSession(Child);

impl Drop for OpenSession {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How a server ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// An orderly stop, which disconnects all clients.
    Fast,
    /// A stop as in a crash: the server recovers when it starts again.
    Immediate,
}

impl Ending {
    fn mode(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Immediate => "immediate",
        }
    }
}

/// A server with one empty database. What it has committed survives its crash.
#[derive(Debug)]
pub struct PostgresServer(Cluster);

impl PostgresServer {
    /// Starts a server. `None`, with a printed warning, where PostgreSQL is not installed.
    ///
    /// # Panics
    /// As [`super::empty`].
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::with("")
    }

    /// Starts a server for benchmarks, which also waits for the disk at each commit, as one in production does.
    ///
    /// # Panics
    /// As [`super::empty`].
    #[must_use]
    pub fn durable() -> Option<Self> {
        Self::with("fsync = on")
    }

    fn with(settings: &str) -> Option<Self> {
        let server = Self(Cluster::start(&ClusterOptions {
            settings,
            ..ClusterOptions::PLAIN
        })?);
        server.0.run("createdb", &["-O", ROLE, DATABASE]);
        Some(server)
    }

    /// Starts a server that is also reached over TCP on 127.0.0.1, where the owner of the database needs the
    /// password; it encrypts with `identity`, if there is one. Returns its port as well.
    ///
    /// # Panics
    /// As [`super::empty`].
    #[must_use]
    pub fn over_tcp(identity: Option<&Identity>, password: &str) -> Option<(Self, u16)> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr());
        let port = free.expect("there is a free port").port();
        let server = Self(Cluster::start(&ClusterOptions {
            tcp: Some(TcpOptions { port, identity }),
            ..ClusterOptions::PLAIN
        })?);
        server.0.run("createdb", &["-O", ROLE, DATABASE]);
        server.ask(&format!("ALTER ROLE {ROLE} PASSWORD '{password}'"));
        Some((server, port))
    }

    /// Starts a server whose database is on a disk of its own with `bytes` bytes. `None`, with a printed warning,
    /// also where no such disk can be made.
    ///
    /// # Panics
    /// As [`super::empty`].
    #[must_use]
    pub fn on_small_disk(bytes: u32) -> Option<Self> {
        let server = Self(Cluster::start(&ClusterOptions {
            small_disk: Some(bytes),
            ..ClusterOptions::PLAIN
        })?);
        let folder = server.folder().join(SMALL);
        let place = format!("CREATE TABLESPACE {SMALL} LOCATION '{}'", folder.display());
        server.0.ask("postgres", &place);
        let create = ["-O", ROLE, "-D", SMALL, "--strategy=file_copy", DATABASE];
        server.0.run("createdb", &create);
        Some(server)
    }

    /// Starts a standby that follows this server, and can be read meanwhile.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn standby(&self) -> Self {
        let cluster = Cluster::start(&ClusterOptions {
            settings: "hot_standby_feedback = on",
            stands_by_for: Some(&self.0),
            ..ClusterOptions::PLAIN
        });
        Self(cluster.expect("the one that it follows was started, too"))
    }

    /// Promotes a standby: it accepts writes from now on, and follows no other server.
    pub fn promote(&self) {
        self.0.control(&["promote"]);
    }

    /// The folder of its socket.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.0.folder()
    }

    /// The address for the owner of the database.
    #[must_use]
    pub fn address(&self) -> String {
        self.0.address(ROLE, DATABASE)
    }

    /// The id of the server's main process.
    ///
    /// # Panics
    /// When the server is gone.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.0.process().parse().expect("a process has a number")
    }

    /// Runs a statement with `psql` as the role that may do everything. Returns rows as lines, with columns
    /// separated by `|`.
    ///
    /// # Panics
    /// When it fails.
    pub fn ask(&self, sql: &str) -> String {
        self.0.ask(DATABASE, sql)
    }

    /// Opens a session of the database's owner that runs these statements and then stays open.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn session(&self, sql: &str) -> OpenSession {
        OpenSession(self.0.session(ROLE, DATABASE, sql))
    }

    /// Stops the server and starts it again.
    pub fn restart(&self, ending: Ending) {
        self.0.control(&["-m", ending.mode(), "restart"]);
    }

    /// Stops the server.
    pub fn stop(&self, ending: Ending) {
        self.0.control(&["-m", ending.mode(), "stop"]);
    }

    /// Starts the server again.
    pub fn go_on(&self) {
        self.0.control(&["start"]);
    }

    /// Suspends the server's processes while `meanwhile` runs: connections stay open, and no request is answered.
    pub fn while_paused<T>(&self, meanwhile: impl FnOnce() -> T) -> T {
        struct GoesOn<'a>(&'a Cluster);
        impl Drop for GoesOn<'_> {
            fn drop(&mut self) {
                self.0.signal("CONT");
            }
        }
        self.0.signal("STOP");
        let _goes_on = GoesOn(&self.0);
        meanwhile()
    }
}

//! A server of a test's own, that may be hurt.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::Child;

use super::cluster::{Cluster, Identity, Making, ROLE, Tcp};

/// The one database on it.
const DATABASE: &str = "daybook";
/// The place on its small disk.
const SMALL: &str = "small";

/// A session that stays open until it is dropped.
#[derive(Debug)]
pub struct Session(Child);

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How a server ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// In good order; whoever is connected is sent away.
    Fast,
    /// As in a crash: it repairs itself when it starts again.
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

/// A server with one empty database. What it says is committed outlives its own crash.
#[derive(Debug)]
pub struct Server(Cluster);

impl Server {
    /// `None`, said loudly, where PostgreSQL is not installed.
    ///
    /// # Panics
    /// As [`super::empty`].
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::with("")
    }

    /// One for measuring, that also waits for the disk at each commit, as a server in earnest does.
    ///
    /// # Panics
    /// As [`super::empty`].
    #[must_use]
    pub fn durable() -> Option<Self> {
        Self::with("fsync = on")
    }

    fn with(settings: &str) -> Option<Self> {
        let server = Self(Cluster::start(&Making {
            settings,
            ..Making::PLAIN
        })?);
        server.0.run("createdb", &["-O", ROLE, DATABASE]);
        Some(server)
    }

    /// One that is reached over TCP on 127.0.0.1, too, where the owner of the database says their
    /// password; it encrypts with `identity`, if there is one. Gives its port as well.
    ///
    /// # Panics
    /// As [`super::empty`].
    #[must_use]
    pub fn over_tcp(identity: Option<&Identity>, password: &str) -> Option<(Self, u16)> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr());
        let port = free.expect("there is a free port").port();
        let server = Self(Cluster::start(&Making {
            tcp: Some(Tcp { port, identity }),
            ..Making::PLAIN
        })?);
        server.0.run("createdb", &["-O", ROLE, DATABASE]);
        server.ask(&format!("ALTER ROLE {ROLE} PASSWORD '{password}'"));
        Some((server, port))
    }

    /// One whose database lies on a disk of `bytes` of its own. `None`, said loudly, where no such
    /// disk can be made, too.
    ///
    /// # Panics
    /// As [`super::empty`].
    #[must_use]
    pub fn on_small_disk(bytes: u32) -> Option<Self> {
        let server = Self(Cluster::start(&Making {
            small_disk: Some(bytes),
            ..Making::PLAIN
        })?);
        let folder = server.folder().join(SMALL);
        let place = format!("CREATE TABLESPACE {SMALL} LOCATION '{}'", folder.display());
        server.0.ask("postgres", &place);
        let create = ["-O", ROLE, "-D", SMALL, "--strategy=file_copy", DATABASE];
        server.0.run("createdb", &create);
        Some(server)
    }

    /// Another server that follows this one, and can be read meanwhile.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn standby(&self) -> Self {
        let cluster = Cluster::start(&Making {
            settings: "hot_standby_feedback = on",
            stands_by_for: Some(&self.0),
            ..Making::PLAIN
        });
        Self(cluster.expect("the one that it follows was started, too"))
    }

    /// Makes a standby the server: from now on it can be written, and follows nobody.
    pub fn promote(&self) {
        self.0.control(&["promote"]);
    }

    /// The folder of its socket.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.0.folder()
    }

    /// Where the owner of the database finds it.
    #[must_use]
    pub fn address(&self) -> String {
        self.0.address(ROLE, DATABASE)
    }

    /// The process that all others of the server come from.
    ///
    /// # Panics
    /// When the server is gone.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.0.process().parse().expect("a process has a number")
    }

    /// What `psql` answers to a statement of the role that may do everything: rows as lines, columns
    /// between `|`.
    ///
    /// # Panics
    /// When it fails.
    pub fn ask(&self, sql: &str) -> String {
        self.0.ask(DATABASE, sql)
    }

    /// A session of the owner of the database that runs these statements and then stays open.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn session(&self, sql: &str) -> Session {
        Session(self.0.session(ROLE, DATABASE, sql))
    }

    /// Ends it and starts it again.
    pub fn restart(&self, ending: Ending) {
        self.0.control(&["-m", ending.mode(), "restart"]);
    }

    /// Ends it.
    pub fn stop(&self, ending: Ending) {
        self.0.control(&["-m", ending.mode(), "stop"]);
    }

    /// Starts it again.
    pub fn go_on(&self) {
        self.0.control(&["start"]);
    }

    /// Lets it do nothing, while `meanwhile` happens: connections stay open, and nobody answers.
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

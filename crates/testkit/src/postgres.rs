//! PostgreSQL for tests: one throw-away server for each test process, and a database for each test.
//!
//! The server listens on a socket in a temporary folder alone. A shell waits on a pipe that this
//! process holds, then stops the server and removes the folder; so nothing is left behind, however
//! this process ends. PostgreSQL refuses to run as root, so root hands it to an ordinary user.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

/// The role that owns the databases. It is an ordinary one, as an operator would make it.
const ROLE: &str = "daybook";
/// The role that may do everything.
const ADMIN: &str = "admin";

/// Settings of a server whose data need not survive a power cut.
const FORGETFUL: &str = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off";

/// Runs the server until the pipe on its input ends. `$1` is the folder, `$2` settings.
const SCRIPT: &str = r#"
{
    initdb -D "$1/data" -U admin -A trust -E UTF8 --locale=C --no-sync &&
    pg_ctl -D "$1/data" -l "$1/log" -w start -o "-c listen_addresses= -k '$1' \
        -c max_connections=200 $2" &&
    createuser -h "$1" -U admin daybook
} >"$1/start" 2>&1 && echo ready || cat "$1/start"
read -r _
pg_ctl -D "$1/data" -m immediate stop >/dev/null 2>&1
cd / && rm -rf "$1"
"#;

static CLUSTER: LazyLock<Option<Cluster>> = LazyLock::new(|| Cluster::start(FORGETFUL));
static TEMPLATE: Mutex<bool> = Mutex::new(false);
static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// A server for measuring: nobody else's databases are on it. It ends with this, or with the process.
#[derive(Debug)]
pub struct Server(Cluster);

impl Server {
    /// A server with an empty database `measured`; a `durable` one waits for the disk at each commit.
    /// `None`, said loudly, where PostgreSQL is not installed.
    ///
    /// # Panics
    /// As [`empty`].
    #[must_use]
    pub fn start(durable: bool) -> Option<Self> {
        let cluster = Cluster::start(if durable { "" } else { FORGETFUL })?;
        cluster.run("createdb", &["-O", ROLE, "-T", "template0", "measured"]);
        Some(Self(cluster))
    }

    /// Where the owner of its database finds it.
    #[must_use]
    pub fn address(&self) -> String {
        self.0.address(ROLE, "measured")
    }

    /// The process that all others of the server come from.
    ///
    /// # Panics
    /// When the server is gone.
    #[must_use]
    pub fn process(&self) -> u32 {
        let file = self.0.folder.join("data/postmaster.pid");
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let first = text.lines().next().and_then(|line| line.parse().ok());
        first.expect("a running server notes its process")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The end of its input ends it.
        drop(self.0.shell.stdin.take());
        let _ = self.0.shell.wait();
    }
}

/// The server. Its pipe closes when this process ends.
#[derive(Debug)]
struct Cluster {
    folder: PathBuf,
    programs: PathBuf,
    shell: Child,
}

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

    /// Where a role finds it that may do everything.
    #[must_use]
    pub fn admin(&self) -> String {
        cluster().address(ADMIN, &self.name)
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
    fn start(settings: &str) -> Option<Self> {
        let Some(programs) = programs() else {
            assert!(
                std::env::var_os("CI").is_none(),
                "PostgreSQL is not installed: there must be an initdb"
            );
            // Not by a macro, whose output the test harness would keep to itself.
            let skipped = b"\nSKIPPED: PostgreSQL is not installed, so nothing is tested on it\n";
            let _ = std::io::stderr().write_all(skipped);
            return None;
        };
        let folder = tempfile::Builder::new().prefix("daybook-pg-").tempdir();
        let folder = folder.expect("a temporary folder can be made").keep();
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT, "sh"]).arg(&folder).arg(settings);
        shell
            .env("PATH", with_path(&programs))
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // A group of its own, so that an interrupt from the terminal leaves it to clear up.
        shell.process_group(0);
        if folder.metadata().is_ok_and(|folder| folder.uid() == 0) {
            let (uid, gid) = ordinary_user();
            chown(&folder, Some(uid), Some(gid)).expect("root may give a folder away");
            shell.uid(uid).gid(gid);
        }
        let mut shell = shell.spawn().expect("there is a shell");
        wait_for(&mut shell);
        Some(Self {
            folder,
            programs,
            shell,
        })
    }

    fn address(&self, role: &str, database: &str) -> String {
        let folder = self.folder.display();
        format!("host={folder} user={role} dbname={database}")
    }

    fn create(&self, template: &str) -> Database {
        let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        // By copying files: the other way writes all of them into the log first.
        let copy = "--strategy=file_copy";
        self.run("createdb", &["-O", ROLE, "-T", template, copy, &name]);
        Database { name }
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(self.programs.join(program));
        command.arg("-h").arg(&self.folder).args(["-U", ADMIN]);
        let output = command.args(arguments).output();
        let output = output.expect("what comes with initdb can be started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {arguments:?}: {said}");
    }
}

/// Waits until the server listens.
fn wait_for(shell: &mut Child) {
    let output = shell.stdout.take().expect("its output is a pipe");
    let mut said = String::new();
    for line in BufReader::new(output).lines() {
        let line = line.expect("the shell says text");
        if line == "ready" {
            return;
        }
        said.push_str(&line);
        said.push('\n');
        if line.contains("error:") || line.contains("FATAL") {
            break;
        }
    }
    panic!("PostgreSQL does not start:\n{said}");
}

/// The folder of `initdb` and its like: from the path, else where Debian keeps them, newest first.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let versions = Path::new("/usr/lib/postgresql").read_dir();
    let mut versions: Vec<PathBuf> = versions
        .map(|versions| versions.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    versions.sort();
    folders.extend(versions.into_iter().rev().map(|folder| folder.join("bin")));
    // Through links: what comes with it stands beside the real one.
    let mut found = folders
        .iter()
        .filter_map(|folder| folder.join("initdb").canonicalize().ok());
    found.next()?.parent().map(Path::to_owned)
}

fn with_path(programs: &Path) -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(programs.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).expect("these came from a path")
}

/// User and group to run as in place of root.
fn ordinary_user() -> (u32, u32) {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let find = |name: &str| {
        let mut users = users.lines().map(|line| line.split(':'));
        let mut numbers = users.find_map(|mut user| (user.next() == Some(name)).then_some(user))?;
        let uid = numbers.nth(1)?.parse().ok()?;
        Some((uid, numbers.next()?.parse().ok()?))
    };
    let user = find("postgres").or_else(|| find("nobody"));
    user.expect("there is a user nobody")
}

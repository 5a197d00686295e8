//! PgBouncer before a server, which assigns each transaction to any of a few connections.

use std::path::{Path, PathBuf};

use super::cluster::{ADMIN, Cluster, ROLE};
use super::shell::{PrivateFolder, ShellProcess, skip_unless_ci};

/// Runs it until the pipe on its input ends. `$1` is the folder, `$2` the program.
const SCRIPT: &str = r#"
"$2" -q "$1/pgbouncer.ini" >"$1/start" 2>&1 &
pid=$!
until [ -S "$1/.s.PGSQL.5432" ] || ! kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
kill -0 "$pid" 2>/dev/null && echo ready || { cat "$1/start"; echo over; }
read -r _
kill "$pid"
wait "$pid"
cd / && rm -rf "$1" 2>/dev/null
"#;

/// Connections to one database of the server: fewer than a store has, so that they are shared.
const CONNECTIONS: usize = 3;

/// A running PgBouncer.
#[derive(Debug)]
pub(super) struct Pooler {
    folder: PrivateFolder,
    _shell: ShellProcess,
}

impl Pooler {
    /// Starts PgBouncer before a server; `settings` are added to its own. `None`, with a printed warning, where it is not installed.
    pub(super) fn before(cluster: &Cluster, settings: &str) -> Option<Self> {
        let Some(program) = program() else {
            skip_unless_ci("PgBouncer is not installed");
            return None;
        };
        let folder = PrivateFolder::new("daybook-pgb-");
        let (own, server) = (folder.path.display(), cluster.folder().display());
        folder.write("users", &format!("\"{ROLE}\" \"\"\n\"{ADMIN}\" \"\"\n"));
        let settings = format!(
            "[databases]\n* = host={server}\n[pgbouncer]\npool_mode = transaction\n\
             default_pool_size = {CONNECTIONS}\nmax_client_conn = 500\nlisten_port = 5432\n\
             unix_socket_dir = {own}\nauth_type = trust\nauth_file = {own}/users\nlogfile = {own}/log\n\
             {settings}\n"
        );
        folder.write("pgbouncer.ini", &settings);
        let mut shell = folder.shell(SCRIPT);
        shell.arg(&folder.path).arg(program);
        let shell = ShellProcess::start(shell, &folder.path);
        Some(Self {
            folder,
            _shell: shell,
        })
    }

    /// The folder of its socket.
    pub(super) fn folder(&self) -> &Path {
        &self.folder.path
    }

    /// The text of its log.
    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path.join("log")).expect("it logs from its start")
    }
}

/// Its program: from the path, else where Debian installs it.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push(PathBuf::from("/usr/sbin"));
    let mut programs = folders.into_iter().map(|folder| folder.join("pgbouncer"));
    programs.find(|program| program.is_file())
}

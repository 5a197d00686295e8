//! One running server, whose files are removed when the process ends.
//!
//! It listens on a socket in a temporary folder, and over TCP only where a test asks for that.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::shell::{PrivateFolder, ShellProcess, skip, skip_unless_ci};

/// The role that owns the databases. It is an ordinary one, as an operator would make it.
pub(super) const ROLE: &str = "daybook";
/// The role that may do everything.
pub(super) const ADMIN: &str = "admin";

/// Makes and runs the server until the pipe on its input ends. `$1` is the folder, `$2` the settings,
/// `$3` the folder of the server that it stands by for, if any.
const SCRIPT: &str = r#"
{
    if [ -n "$3" ]; then
        pg_basebackup -h "$3" -U admin -D "$1/data" -R -X stream -c fast --no-sync
    else
        initdb -D "$1/data" -U admin -A trust --auth-host=password -E UTF8 --locale=C --no-sync
    fi &&
    printf "unix_socket_directories = '%s'\nlisten_addresses = ''\nfsync = off\n%s\n" "$1" "$2" \
        >>"$1/data/postgresql.conf" &&
    pg_ctl -D "$1/data" -l "$1/log" -w start &&
    { [ -n "$3" ] || createuser -h "$1" -U admin daybook; }
} >"$1/start" 2>&1 && echo ready || { cat "$1/start"; echo over; }
read -r _
# One that is paused hears nothing else.
read -r pid 2>/dev/null <"$1/data/postmaster.pid" && kill -CONT "$pid"
pg_ctl -D "$1/data" -m immediate stop >/dev/null 2>&1
cd / && rm -rf "$1" 2>/dev/null
"#;

/// As root: runs the rest as the user `$1` and group `$2`, with a small disk at `$4/small`. No other process
/// sees the disk, and it is removed when the script ends.
const ON_SMALL_DISK: &str = r#"
owner=$1 group=$2 bytes=$3 folder=$4
shift 3
mkdir "$folder/small" && mount -t tmpfs -o "size=$bytes,uid=$owner,gid=$group,mode=700" small "$folder/small" &&
    setpriv --reuid="$owner" --regid="$group" --clear-groups sh -c "$SCRIPT" sh "$@"
umount "$folder/small" && rm -rf "$folder"
"#;

/// How a server is made.
pub(super) struct ClusterOptions<'a> {
    /// Lines of `postgresql.conf`.
    pub(super) settings: &'a str,
    /// The server whose data it copies and follows.
    pub(super) stands_by_for: Option<&'a Cluster>,
    /// Bytes of a disk of its own.
    pub(super) small_disk: Option<u32>,
    /// How it is also reached over TCP, with a password.
    pub(super) tcp: Option<TcpOptions<'a>>,
}

impl ClusterOptions<'_> {
    /// A server that listens on a socket alone.
    pub(super) const PLAIN: Self = Self {
        settings: "",
        stands_by_for: None,
        small_disk: None,
        tcp: None,
    };
}

/// How a server is reached over TCP.
pub(super) struct TcpOptions<'a> {
    /// On 127.0.0.1.
    pub(super) port: u16,
    /// The certificate and key for encryption, if it encrypts.
    pub(super) identity: Option<&'a Identity>,
}

/// The certificate and key of a server that encrypts, as PEM.
#[derive(Debug)]
pub struct Identity {
    /// Its certificate, followed by those that lead to an authority.
    pub certificate: String,
    /// The key of its certificate.
    pub key: String,
}

impl TcpOptions<'_> {
    /// Lines of `postgresql.conf`. The files lie beside the data.
    fn settings(&self) -> String {
        let encrypted = "ssl = on\nssl_cert_file = '../server.crt'\nssl_key_file = '../server.key'";
        format!(
            "listen_addresses = '127.0.0.1'\nport = {}\n{}",
            self.port,
            self.identity.map_or("", |_| encrypted)
        )
    }

    fn write(&self, folder: &PrivateFolder) {
        if let Some(identity) = self.identity {
            folder.write("server.crt", &identity.certificate);
            folder.write("server.key", &identity.key);
        }
    }
}

/// A running server, or standby.
#[derive(Debug)]
pub(super) struct Cluster {
    folder: PrivateFolder,
    pub(super) programs: PathBuf,
    port: Option<u16>,
    _shell: ShellProcess,
}

impl Cluster {
    /// Starts a server. `None`, with a printed warning, where PostgreSQL is not installed, or what `making` needs is
    /// not allowed.
    pub(super) fn start(making: &ClusterOptions<'_>) -> Option<Self> {
        let Some(programs) = programs() else {
            skip_unless_ci("PostgreSQL is not installed");
            return None;
        };
        let folder = PrivateFolder::new("daybook-pg-");
        let mut shell = match (making.small_disk, folder.owner) {
            (None, _) => folder.shell(SCRIPT),
            (Some(bytes), Some(owner)) if has_mounts() => on_small_disk(owner, bytes),
            (Some(_), _) => {
                std::fs::remove_dir(&folder.path).expect("it is empty");
                skip("only root, where it may mount, can make a small disk, so none is filled");
                return None;
            }
        };
        let mut settings = making.settings.to_owned();
        if let Some(tcp) = &making.tcp {
            tcp.write(&folder);
            settings = settings + "\n" + &tcp.settings();
        }
        let origin = making.stands_by_for.map(Self::folder);
        let port = making.tcp.as_ref().map(|tcp| tcp.port);
        shell
            .arg(&folder.path)
            .arg(settings)
            .arg(origin.unwrap_or(Path::new("")))
            .env("PATH", with_path(&programs))
            .envs(port_variable(port));
        let shell = ShellProcess::start(shell, &folder.path);
        Some(Self {
            folder,
            programs,
            port,
            _shell: shell,
        })
    }

    /// The folder of its socket.
    pub(super) fn folder(&self) -> &Path {
        &self.folder.path
    }

    pub(super) fn address(&self, role: &str, database: &str) -> String {
        let folder = self.folder().display();
        format!("host={folder} user={role} dbname={database}")
    }

    /// Runs a client program as the role that may do everything, and returns its output.
    pub(super) fn run(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(self.programs.join(program));
        command.arg("-h").arg(self.folder()).args(["-U", ADMIN]);
        command.envs(port_variable(self.port));
        succeeds(command.args(arguments))
    }

    /// Starts a session that runs statements and then waits for more, which never come.
    pub(super) fn session(&self, role: &str, database: &str, sql: &str) -> Child {
        let mut command = Command::new(self.programs.join("psql"));
        command.args(["-X", "-q", "-d", &self.address(role, database)]);
        command.envs(port_variable(self.port));
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut session = command.spawn().expect("psql can be started");
        let input = session.stdin.as_mut().expect("its input is a pipe");
        writeln!(input, "{sql};").expect("it reads");
        session
    }

    /// Runs `pg_ctl` on the server.
    pub(super) fn control(&self, arguments: &[&str]) {
        let mut command = Command::new(self.programs.join("pg_ctl"));
        command.arg("-D").arg(self.data()).arg("-w").arg("-l");
        command.arg(self.folder().join("log")).args(arguments);
        command.current_dir(self.folder()).stdin(Stdio::null());
        if let Some((uid, gid)) = self.folder.owner {
            command.uid(uid).gid(gid);
        }
        succeeds(&mut command);
    }

    /// Sends a signal to all processes of the server, to its main process first.
    pub(super) fn signal(&self, name: &str) {
        let first = self.process();
        let kill = |pid: &str| succeeds(Command::new("kill").args(["-s", name, pid]));
        kill(&first);
        let all = succeeds(Command::new("ps").args(["-A", "-o", "ppid=", "-o", "pid="]));
        for process in all.lines() {
            let mut ids = process.split_whitespace();
            if let (true, Some(pid)) = (ids.next() == Some(first.as_str()), ids.next()) {
                // A process may have ended meanwhile.
                let _ = Command::new("kill").args(["-s", name, pid]).output();
            }
        }
    }

    /// The id of its main process.
    pub(super) fn process(&self) -> String {
        let lock = std::fs::read_to_string(self.data().join("postmaster.pid"));
        let lock = lock.expect("the server runs");
        lock.lines()
            .next()
            .expect("its process is named")
            .to_owned()
    }

    fn data(&self) -> PathBuf {
        self.folder().join("data")
    }
}

/// The environment variable that passes the server's port to programs, where that is not the usual one.
fn port_variable(port: Option<u16>) -> Option<(&'static str, String)> {
    port.map(|port| ("PGPORT", port.to_string()))
}

fn on_small_disk((uid, gid): (u32, u32), bytes: u32) -> Command {
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "sh", "-c", ON_SMALL_DISK, "sh"]);
    shell.args([uid, gid, bytes].map(|number| number.to_string()));
    shell.env("SCRIPT", SCRIPT);
    shell
}

fn has_mounts() -> bool {
    let try_it = "mount -t tmpfs none /mnt && command -v setpriv";
    let tried = Command::new("unshare")
        .args(["--mount", "sh", "-c", try_it])
        .output();
    tried.is_ok_and(|tried| tried.status.success())
}

#[track_caller]
fn succeeds(command: &mut Command) -> String {
    let output = command.output().expect("the program can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
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
    // Resolves links: the other programs are beside the real file.
    let mut found = folders
        .iter()
        .filter_map(|folder| folder.join("initdb").canonicalize().ok());
    found.next()?.parent().map(Path::to_owned)
}

fn with_path(programs: &Path) -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(programs.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).expect("these came from a path")
}

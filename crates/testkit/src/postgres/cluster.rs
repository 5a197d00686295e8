//! One running server, whose files go when the process does.
//!
//! It listens on a socket in a temporary folder alone. A shell waits on a pipe that this process
//! holds, then stops the server and removes the folder; so nothing is left behind, however this
//! process ends. PostgreSQL refuses to run as root, so root hands it to an ordinary user.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

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
        initdb -D "$1/data" -U admin -A trust -E UTF8 --locale=C --no-sync
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

/// As root: runs the rest as the user `$1` and group `$2`, with a small disk of its own, which nobody
/// else sees and which goes with it, at `$4/small`.
const ON_SMALL_DISK: &str = r#"
owner=$1 group=$2 bytes=$3 folder=$4
shift 3
mkdir "$folder/small" && mount -t tmpfs -o "size=$bytes,uid=$owner,gid=$group,mode=700" small "$folder/small" &&
    setpriv --reuid="$owner" --regid="$group" --clear-groups sh -c "$SCRIPT" sh "$@"
umount "$folder/small" && rm -rf "$folder"
"#;

/// How a server is made.
pub(super) struct Making<'a> {
    /// Lines of `postgresql.conf`.
    pub(super) settings: &'a str,
    /// Whose data it copies and follows.
    pub(super) stands_by_for: Option<&'a Cluster>,
    /// Bytes of a disk of its own.
    pub(super) small_disk: Option<u32>,
}

/// A server. The pipe to its shell closes when this is dropped, or the process ends.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) folder: PathBuf,
    pub(super) programs: PathBuf,
    /// Whom root runs it as.
    owner: Option<(u32, u32)>,
    shell: Child,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

impl Cluster {
    /// `None`, said loudly, where PostgreSQL is not installed, or what `making` needs is not allowed.
    pub(super) fn start(making: &Making<'_>) -> Option<Self> {
        let Some(programs) = programs() else {
            assert!(
                std::env::var_os("CI").is_none(),
                "PostgreSQL is not installed: there must be an initdb"
            );
            skip("PostgreSQL is not installed, so nothing is tested on it");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("daybook-pg-").tempdir();
        let folder = folder.expect("a temporary folder can be made").keep();
        let is_root = folder.metadata().is_ok_and(|folder| folder.uid() == 0);
        let owner = is_root.then(ordinary_user);
        if let Some((uid, gid)) = owner {
            chown(&folder, Some(uid), Some(gid)).expect("root may give a folder away");
        }
        let mut shell = match (making.small_disk, owner) {
            (None, _) => alone(owner),
            (Some(bytes), Some(owner)) if has_mounts() => on_small_disk(owner, bytes),
            (Some(_), _) => {
                std::fs::remove_dir(&folder).expect("it is empty");
                skip("only root, where it may mount, can make a small disk, so none is filled");
                return None;
            }
        };
        let origin = making.stands_by_for.map(|cluster| cluster.folder.as_path());
        shell
            .arg(&folder)
            .arg(making.settings)
            .arg(origin.unwrap_or(Path::new("")))
            .env("PATH", with_path(&programs))
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // A group of its own, so that an interrupt from the terminal leaves it to clear up.
        shell.process_group(0);
        let mut shell = shell.spawn().expect("there is a shell");
        wait_for(&mut shell);
        Some(Self {
            folder,
            programs,
            owner,
            shell,
        })
    }

    pub(super) fn address(&self, role: &str, database: &str) -> String {
        let folder = self.folder.display();
        format!("host={folder} user={role} dbname={database}")
    }

    /// Runs a client program as the role that may do everything, and gives what it says.
    pub(super) fn run(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(self.programs.join(program));
        command.arg("-h").arg(&self.folder).args(["-U", ADMIN]);
        succeeds(command.args(arguments))
    }

    /// Runs `pg_ctl` on the server.
    pub(super) fn control(&self, arguments: &[&str]) {
        let mut command = Command::new(self.programs.join("pg_ctl"));
        command.arg("-D").arg(self.data()).arg("-w").arg("-l");
        command.arg(self.folder.join("log")).args(arguments);
        command.current_dir(&self.folder).stdin(Stdio::null());
        if let Some((uid, gid)) = self.owner {
            command.uid(uid).gid(gid);
        }
        succeeds(&mut command);
    }

    /// Sends a signal to all processes of the server, to the first one first.
    pub(super) fn signal(&self, name: &str) {
        let first = self.process();
        let kill = |pid: &str| succeeds(Command::new("kill").args(["-s", name, pid]));
        kill(&first);
        let all = succeeds(Command::new("ps").args(["-A", "-o", "ppid=", "-o", "pid="]));
        for process in all.lines() {
            let mut ids = process.split_whitespace();
            if let (true, Some(pid)) = (ids.next() == Some(first.as_str()), ids.next()) {
                // One may have ended meanwhile.
                let _ = Command::new("kill").args(["-s", name, pid]).output();
            }
        }
    }

    /// The first of its processes.
    pub(super) fn process(&self) -> String {
        let lock = std::fs::read_to_string(self.data().join("postmaster.pid"));
        let lock = lock.expect("the server runs");
        lock.lines()
            .next()
            .expect("its process is named")
            .to_owned()
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }
}

fn alone(owner: Option<(u32, u32)>) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", SCRIPT, "sh"]);
    if let Some((uid, gid)) = owner {
        shell.uid(uid).gid(gid);
    }
    shell
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

/// Not by a macro, whose output the test harness would keep to itself.
fn skip(why: &str) {
    let _ = std::io::stderr().write_all(format!("\nSKIPPED: {why}\n").as_bytes());
}

#[track_caller]
fn succeeds(command: &mut Command) -> String {
    let output = command.output().expect("the program can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Waits until the server listens.
fn wait_for(shell: &mut Child) {
    let output = shell.stdout.take().expect("its output is a pipe");
    let mut said = String::new();
    for line in BufReader::new(output).lines() {
        let line = line.expect("the shell says text");
        match line.as_str() {
            "ready" => return,
            "over" => break,
            _ => said = said + &line + "\n",
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

fn with_path(programs: &Path) -> OsString {
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

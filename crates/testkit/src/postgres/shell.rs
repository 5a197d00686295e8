//! Runs a program that ends, and whose folder is removed, when the test process ends.
//!
//! A shell waits on a pipe that this process holds open, then ends the program and removes the folder; so
//! nothing is left behind, however this process ends. PostgreSQL and PgBouncer refuse to run as root,
//! so root starts them as an ordinary user.

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A temporary folder, and the user as whom root runs programs in it.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    pub(super) path: PathBuf,
    pub(super) owner: Option<(u32, u32)>,
}

impl PrivateFolder {
    pub(super) fn new(prefix: &str) -> Self {
        let folder = tempfile::Builder::new().prefix(prefix).tempdir();
        let path = folder.expect("a temporary folder can be made").keep();
        let is_root = path.metadata().is_ok_and(|folder| folder.uid() == 0);
        let folder = Self {
            owner: is_root.then(ordinary_user),
            path,
        };
        folder.give_away(&folder.path);
        folder
    }

    /// Writes a file into the folder that its owner alone may read.
    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.path.join(name);
        std::fs::write(&path, text).expect("the folder is ours");
        let private = Permissions::from_mode(0o600);
        std::fs::set_permissions(&path, private).expect("the file is ours");
        self.give_away(&path);
    }

    fn give_away(&self, path: &Path) {
        if let Some((uid, gid)) = self.owner {
            chown(path, Some(uid), Some(gid)).expect("root may give a file away");
        }
    }

    /// A shell that runs `script` as the folder's owner.
    pub(super) fn shell(&self, script: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "sh"]);
        if let Some((uid, gid)) = self.owner {
            shell.uid(uid).gid(gid);
        }
        shell
    }
}

/// A running shell. Its pipe closes when this is dropped, or the process ends.
#[derive(Debug)]
pub(super) struct ShellProcess(Child);

impl ShellProcess {
    /// Starts `shell` in `folder`, and waits until it prints `ready`.
    ///
    /// # Panics
    /// When it prints `over`, or ends; the message quotes what it printed before.
    pub(super) fn start(mut shell: Command, folder: &Path) -> Self {
        shell
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // A group of its own, so that an interrupt from the terminal leaves it to clear up.
        shell.process_group(0);
        let mut shell = Self(shell.spawn().expect("there is a shell"));
        shell.wait_for_ready();
        shell
    }

    fn wait_for_ready(&mut self) {
        let output = self.0.stdout.take().expect("its output is a pipe");
        let mut said = String::new();
        for line in BufReader::new(output).lines() {
            let line = line.expect("the shell says text");
            match line.as_str() {
                "ready" => return,
                "over" => break,
                _ => said = said + &line + "\n",
            }
        }
        panic!("it does not start:\n{said}");
    }
}

impl Drop for ShellProcess {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Warns on standard error that something is not tested. Not with a macro, whose output the test harness would
/// capture.
pub(super) fn skip(why: &str) {
    let _ = std::io::stderr().write_all(format!("\nSKIPPED: {why}\n").as_bytes());
}

/// The same, but panics where the variable `CI` is set: CI must have every program.
pub(super) fn skip_unless_ci(what_is_missing: &str) {
    assert!(std::env::var_os("CI").is_none(), "{what_is_missing}");
    skip(&format!("{what_is_missing}, so nothing is tested on it"));
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

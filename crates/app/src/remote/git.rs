//! Runs the person's git, to fetch from the repository and to push to it.
//!
//! Transports and credentials are what people have set up for their own git. So git is started for these two, with
//! arguments that are addresses and names of commits, and for nothing else; histories are read and written without it.
//! It may not ask on the terminal, and it is ended with all programs that it started when it takes too long or the person
//! interrupts. Its hooks and its upkeep of repositories are off.
//!
//! Not here: which addresses are refused (`address`).

#![expect(
    clippy::disallowed_types,
    reason = "only the person's git has their transports and credentials"
)]

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use daybook_engine::files::history::CommitHash;
use daybook_engine::files::remote::FETCHED;

use super::RemoteAddress;
use crate::process::was_interrupted;
use crate::service::RequestError;

/// The branch that memory files are exchanged through.
const BRANCH: &str = "refs/heads/main";
/// Longest that git may take to name the newest commit.
const ASK: Duration = Duration::from_secs(60);
/// Longest that git may take to fetch or push.
const TRANSFER: Duration = Duration::from_secs(10 * 60);
/// Time between the request to end and the end.
const GRACE: Duration = Duration::from_secs(2);
/// How often a running git is checked. The standard library has no wait for a child with a timeout.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);
/// Most of what git prints that is read, in bytes.
const OUTPUT_BYTES: u64 = 64 * 1024;
/// Variables by which a git that runs a hook points its children to another repository.
const FOREIGN: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];
/// Settings of every call: no program but git and its transports runs, and it keeps to the transports of people.
const SETTINGS: [&str; 6] = [
    "core.hooksPath=/dev/null",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.fsckObjects=true",
    "push.gpgSign=false",
    "submodule.recurse=false",
];

/// The person's git, on a mirror.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    program: PathBuf,
    mirror: PathBuf,
    address: RemoteAddress,
}

/// Result of a push.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PushOutcome {
    /// The repository has the commit.
    Pushed,
    /// Another machine pushed first.
    Moved,
}

struct GitOutput {
    status: ExitStatus,
    out: String,
    error: String,
}

impl Git {
    pub(crate) fn new(mirror: PathBuf, address: RemoteAddress) -> Self {
        Self {
            program: "git".into(),
            mirror,
            address,
        }
    }

    /// The newest commit of the repository; `None` if it has none.
    pub(crate) fn newest(&self) -> Result<Option<CommitHash>> {
        let address = self.address.as_str();
        let asked = self.run(&["ls-remote", "--refs", "--", address, BRANCH], ASK)?;
        let out = asked.succeeded("ask", address)?;
        let name = out.split_whitespace().next();
        Ok(name.map(str::parse).transpose()?)
    }

    /// Fetches the newest commit.
    pub(crate) fn fetch(&self) -> Result<()> {
        let (address, branch) = (self.address.as_str(), format!("+{BRANCH}:{FETCHED}"));
        let words = ["fetch", "--quiet", "--no-tags", "--", address, &branch];
        self.run(&words, TRANSFER)?
            .succeeded("fetch from", address)?;
        Ok(())
    }

    /// Pushes `commit`, which contains `onto`, the newest commit so far.
    pub(crate) fn push(&self, commit: CommitHash, onto: Option<CommitHash>) -> Result<PushOutcome> {
        let (address, branch) = (self.address.as_str(), format!("{commit}:{BRANCH}"));
        let words = ["push", "--quiet", "--no-verify", "--", address, &branch];
        let pushed = self.run(&words, TRANSFER)?;
        if pushed.status.success() || self.newest()? == Some(commit) {
            return Ok(PushOutcome::Pushed);
        }
        if self.newest()? != onto {
            return Ok(PushOutcome::Moved);
        }
        pushed.succeeded("push to", address)?;
        Ok(PushOutcome::Pushed)
    }

    fn run(&self, words: &[&str], longest: Duration) -> Result<GitOutput> {
        let (mut out, mut error) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let mut command = Command::new(&self.program);
        command.arg("--git-dir").arg(&self.mirror);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(words).current_dir(&self.mirror);
        command
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(error.try_clone()?);
        for name in FOREIGN {
            command.env_remove(name);
        }
        command.env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh");
        if !self.has_own_ssh() {
            command.env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
        }
        let status = run_to_end(command, longest)?;
        Ok(GitOutput {
            status,
            out: text_of(&mut out)?,
            error: text_of(&mut error)?,
        })
    }

    /// Whether the person chose how git starts ssh. Theirs then decides whether it may ask.
    fn has_own_ssh(&self) -> bool {
        let names = ["GIT_SSH", "GIT_SSH_COMMAND"];
        if names.iter().any(|name| std::env::var_os(name).is_some()) {
            return true;
        }
        let mut command = Command::new(&self.program);
        command
            .args(["config", "--get", "core.sshCommand"])
            .current_dir(&self.mirror);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        run_to_end(command, ASK).is_ok_and(|status| status.success())
    }
}

impl GitOutput {
    /// What git printed.
    ///
    /// # Errors
    /// When it failed, with its own words.
    fn succeeded(self, doing: &str, address: &str) -> Result<String> {
        if self.status.success() {
            return Ok(self.out);
        }
        let words = self.error.trim();
        let words = if words.is_empty() {
            "it printed no reason"
        } else {
            words
        };
        bail!(RequestError::Unavailable(format!(
            "git could not {doing} {address}; try it with your own git first. It printed:\n{words}"
        )))
    }
}

/// Runs a command, and ends it with all that it started after `longest`, or when the person interrupts.
fn run_to_end(mut command: Command, longest: Duration) -> Result<ExitStatus> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => anyhow::Error::new(RequestError::Unavailable(
            "git is not on the PATH; `daybook sync` uses your git to reach the repository, so install it first"
                .to_owned(),
        )),
        _ => anyhow::Error::new(error).context("cannot start git"),
    })?;
    let until = Instant::now() + longest;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if was_interrupted() {
            end(&mut child);
            bail!("interrupted; nothing is lost, and the next `daybook sync` continues");
        }
        if Instant::now() >= until {
            end(&mut child);
            bail!(RequestError::Unavailable(format!(
                "git did not end within {} s and was stopped; nothing is lost, and the next `daybook sync` continues",
                longest.as_secs()
            )));
        }
        std::thread::sleep(CHECK_INTERVAL);
    }
}

/// Ends a child and the programs that it started.
fn end(child: &mut Child) {
    signal_group(child, false);
    let until = Instant::now() + GRACE;
    while Instant::now() < until && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(CHECK_INTERVAL);
    }
    signal_group(child, true);
    let _ = child.wait();
}

#[cfg(unix)]
fn signal_group(child: &Child, at_once: bool) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let signal = if at_once { Signal::KILL } else { Signal::TERM };
    // A group whose programs have all ended is no error.
    let _ = kill_process_group(Pid::from_child(child), signal);
}

#[cfg(not(unix))]
fn signal_group(child: &mut Child, _: bool) {
    let _ = child.kill();
}

fn text_of(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()
        .and_then(|()| file.take(OUTPUT_BYTES).read_to_end(&mut bytes))
        .context("cannot read what git printed")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn git(program: PathBuf, folder: &std::path::Path) -> Git {
        Git {
            program,
            mirror: folder.to_owned(),
            address: RemoteAddress::parse("/srv/memory.git").expect("an address"),
        }
    }

    fn script(folder: &std::path::Path, text: &str) -> PathBuf {
        let path = folder.join("git");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a script");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).expect("a program");
        path
    }

    #[test]
    fn a_missing_git_is_named_with_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = git(folder.path().join("no-git"), folder.path());
        let error = missing.newest().expect_err("no git").to_string();
        assert!(error.contains("git is not on the PATH"), "{error}");
    }

    #[test]
    fn a_git_that_hangs_is_ended_with_what_it_started() {
        let folder = tempfile::tempdir().expect("a folder");
        let hanging = git(
            script(folder.path(), "sleep 600 & echo $! > child\nwait"),
            folder.path(),
        );
        let child = folder.path().join("child");
        let mut command = Command::new(&hanging.program);
        command.current_dir(folder.path());
        let error = run_to_end(command, Duration::from_millis(300)).expect_err("a timeout");
        assert!(error.to_string().contains("was stopped"), "{error}");
        // Without the group, the sleeping program would still be there.
        let number = std::fs::read_to_string(child).expect("it started");
        let pid = rustix::process::Pid::from_raw(number.trim().parse().expect("a number"));
        let is_alive = rustix::process::test_kill_process(pid.expect("a process")).is_ok();
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", number.trim()));
        let is_zombie = stat.is_ok_and(|stat| stat.contains(") Z "));
        assert!(!is_alive || is_zombie);
    }

    #[test]
    fn what_git_prints_is_in_the_error_and_no_variable_leads_it_elsewhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = script(
            folder.path(),
            "echo \"prompt $GIT_TERMINAL_PROMPT dir $GIT_DIR\" >&2; exit 3",
        );
        let error = git(program, folder.path())
            .fetch()
            .expect_err("a failure")
            .to_string();
        assert!(
            error.contains("prompt 0 dir \n") || error.ends_with("prompt 0 dir"),
            "{error}"
        );
    }
}

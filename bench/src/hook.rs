//! How long a host waits for a hook, run as a process on a large root: at rest, and while eight importers write.
//!
//! `hook [memories]` makes a root of so many events. Prompts are beginnings of stored messages, so that some lines match.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::process::{daybook, ms, timed};
use crate::transcripts::{human_messages, write_session};

const CALLS: usize = 300;
const IMPORTERS: u64 = 8;
/// New sessions for each importer.
const ROUNDS: u64 = 100;
/// Events of the root unless the command line says otherwise.
const MEMORIES: u64 = 100_000;
/// Events of each of its sessions.
const SESSION: u64 = 2_000;
const FIRST_SEED: u64 = 1_000;
/// Words of a prompt.
const PROMPT: usize = 8;

/// Hooks of all kinds, against starting the program.
pub(crate) fn process() -> Result<()> {
    process_with(&[])
}

/// The same with a number of memories.
pub(crate) fn process_with(arguments: &[String]) -> Result<()> {
    let memories = match arguments.first() {
        Some(memories) => memories.parse()?,
        None => MEMORIES,
    };
    let made = tempfile::tempdir()?;
    let sessions = u64::div_ceil(memories, SESSION).max(1);
    for n in 0..sessions {
        let path = made.path().join(format!("{n}.jsonl"));
        write_session(&path, FIRST_SEED + n, memories.min(SESSION))?;
    }
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("root");
    let name = root.display().to_string();
    timed(&[
        "import",
        &made.path().display().to_string(),
        "--root",
        &name,
    ])?;
    let prompts = prompts(memories.min(SESSION));
    println!("  at rest, {memories} events");
    measure(&root, &prompts)?;
    let to_come = tempfile::tempdir()?;
    sessions_to_come(to_come.path())?;
    println!("  while {IMPORTERS} importers write");
    let done = AtomicBool::new(false);
    let imported = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for n in 0..IMPORTERS {
            let (done, imported, name, made) = (&done, &imported, &name, to_come.path());
            scope.spawn(move || write_until(done, imported, name, made, n));
        }
        let measured = measure(&root, &prompts);
        done.store(true, Ordering::Relaxed);
        measured
    })?;
    println!(
        "  wanted at rest: p99 of a prompt under 25 ms, of a session start under 15, of others under 10   \
         ({} imports went on meanwhile)",
        imported.load(Ordering::Relaxed)
    );
    Ok(())
}

/// Beginnings of the human messages of the first session.
fn prompts(events: u64) -> Vec<String> {
    let messages = human_messages(FIRST_SEED, events);
    let beginning = |words: &String| {
        let words: Vec<&str> = words.split(' ').take(PROMPT).collect();
        words.join(" ")
    };
    messages.iter().map(beginning).collect()
}

/// The times of one kind of call.
struct HookTimings<'a> {
    name: &'a str,
    times: Vec<Duration>,
    answered: usize,
}

impl<'a> HookTimings<'a> {
    fn new(name: &'a str) -> Self {
        Self {
            name,
            times: Vec::with_capacity(CALLS),
            answered: 0,
        }
    }

    fn add(&mut self, (took, is_answered): (Duration, bool)) {
        self.times.push(took);
        self.answered += usize::from(is_answered);
    }

    fn print(&mut self, base: Duration) {
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|share| at(&mut self.times, share));
        println!(
            "    {:20} p50 {:6.1} ms, p95 {:6.1}, p99 {:6.1}   ratio of p50 {:.1}   answered {} of {CALLS}",
            self.name,
            ms(p50),
            ms(p95),
            ms(p99),
            p50.as_secs_f64() / base.as_secs_f64(),
            self.answered
        );
    }
}

fn measure(root: &Path, prompts: &[String]) -> Result<()> {
    let mut floor = HookTimings::new("--version");
    let mut stop = HookTimings::new("stop");
    let mut confirmed = HookTimings::new("prompt, \"yes\"");
    let mut prompted = HookTimings::new("prompt, with recall");
    let mut start = HookTimings::new("session start");
    for n in 0..CALLS {
        let prompt = &prompts[n % prompts.len()];
        floor.add(call(root, "--version", n, "")?);
        stop.add(call(root, "Stop", n, "")?);
        confirmed.add(call(root, "UserPromptSubmit", n, "yes")?);
        prompted.add(call(root, "UserPromptSubmit", n, prompt)?);
        start.add(call(root, "SessionStart", n, "")?);
    }
    if start.answered < CALLS {
        bail!("a session start got an empty answer");
    }
    let base = at(&mut floor.times, 0.5);
    for measured in [
        &mut floor,
        &mut stop,
        &mut confirmed,
        &mut prompted,
        &mut start,
    ] {
        measured.print(base);
    }
    Ok(())
}

fn at(times: &mut [Duration], share: f64) -> Duration {
    times.sort();
    times[((times.len() - 1) as f64 * share) as usize]
}

/// Times the n-th call of a kind, in a session of its own. Returns also whether the answer has any output.
fn call(root: &Path, event: &str, n: usize, prompt: &str) -> Result<(Duration, bool)> {
    let payload = json!({
        "hook_event_name": event,
        "session_id": format!("5f3a-{n}"),
        "cwd": "/home/ada/tidepool",
        "transcript_path": "/home/ada/none.jsonl",
        "source": "startup",
        "prompt": prompt,
    });
    let mut command = Command::new(daybook()?);
    match event {
        // The same pipes, and nothing to do.
        "--version" => command.arg(event),
        _ => command.args(["hook", "claude-code", "--root"]).arg(root),
    };
    let began = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("daybook does not start")?;
    if let Some(mut input) = child.stdin.take() {
        // A process that does not read its input has ended already.
        let _ = serde_json::to_writer(&mut input, &payload);
    }
    let output = child.wait_with_output()?;
    let took = began.elapsed();
    if !output.status.success() {
        bail!("the hook {event} failed");
    }
    Ok((took, !output.stdout.is_empty()))
}

/// Writes the importers' sessions before the measurement; importer and round name a file.
fn sessions_to_come(made: &Path) -> Result<()> {
    for n in 0..IMPORTERS {
        for round in 0..ROUNDS {
            write_session(&to_come(made, n, round), 10_000 + n * 1_000 + round, 200)?;
        }
    }
    Ok(())
}

fn to_come(made: &Path, n: u64, round: u64) -> PathBuf {
    made.join(format!("new-{n}-{round}.jsonl"))
}

/// Imports one new session after another, each in a process; after the last it starts over.
fn write_until(done: &AtomicBool, imported: &AtomicU64, root: &str, made: &Path, n: u64) {
    for round in 0.. {
        if done.load(Ordering::Relaxed) {
            return;
        }
        let path = to_come(made, n, round % ROUNDS).display().to_string();
        let import = ["import", &path, "--no-process", "--root", root];
        if timed(&import).is_ok() {
            imported.fetch_add(1, Ordering::Relaxed);
        }
    }
}

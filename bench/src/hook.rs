//! How long a host waits for a hook, as a process, on a large root: at rest, and while eight
//! importers write.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::process::{daybook, ms, timed};
use crate::transcripts::write_session;

const CALLS: usize = 300;
const IMPORTERS: u64 = 8;
/// New sessions for each importer.
const ROUNDS: u64 = 100;

/// Hooks of both kinds, against starting the program.
pub(crate) fn process() -> Result<()> {
    let made = tempfile::tempdir()?;
    for n in 0..50 {
        write_session(&made.path().join(format!("{n}.jsonl")), 1_000 + n, 2_000)?;
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
    println!("  at rest");
    measure(&root)?;
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
        let measured = measure(&root);
        done.store(true, Ordering::Relaxed);
        measured
    })?;
    println!(
        "  wanted: p99 under 15 ms, session start under 40 ms   ({} imports went on meanwhile)",
        imported.load(Ordering::Relaxed)
    );
    Ok(())
}

fn measure(root: &Path) -> Result<()> {
    let mut starts = Vec::new();
    let mut stops = Vec::new();
    let mut floor = Vec::new();
    for _ in 0..CALLS {
        stops.push(call(root, "Stop", false)?);
        starts.push(call(root, "SessionStart", true)?);
        floor.push(call(root, "--version", true)?);
    }
    let base = at(&mut floor, 0.99);
    for (name, times) in [("stop", &mut stops), ("session start", &mut starts)] {
        let (half, most) = (at(times, 0.5), at(times, 0.99));
        println!(
            "    {name:14} p50 {:6.1} ms, p99 {:6.1} ms   ratio of p99 {:.1}",
            ms(half),
            ms(most),
            most.as_secs_f64() / base.as_secs_f64()
        );
    }
    println!(
        "    {:14} p50 {:6.1} ms, p99 {:6.1} ms",
        "--version",
        ms(at(&mut floor, 0.5)),
        ms(base)
    );
    Ok(())
}

fn at(times: &mut [Duration], share: f64) -> Duration {
    times.sort();
    times[((times.len() - 1) as f64 * share) as usize]
}

fn call(root: &Path, event: &str, answered: bool) -> Result<Duration> {
    let payload = json!({
        "hook_event_name": event,
        "session_id": "5f3a",
        "cwd": "/home/ada/tidepool",
        "transcript_path": "/home/ada/none.jsonl",
        "source": "startup",
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
        .spawn()
        .context("daybook does not start")?;
    if let Some(mut input) = child.stdin.take() {
        // One that does not read has ended already.
        let _ = serde_json::to_writer(&mut input, &payload);
    }
    let output = child.wait_with_output()?;
    let took = began.elapsed();
    if !output.status.success() || (answered && output.stdout.is_empty()) {
        bail!("the hook {event} answered nothing");
    }
    Ok(took)
}

/// What the importers take in, made before anything is measured: `(importer, round)` names a file.
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

/// Imports one new session after another, each as a process; when there is no new one left, the same
/// again.
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

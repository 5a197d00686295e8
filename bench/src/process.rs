//! Runs the built `daybook` as a process, and measures it from outside.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How long the engine took, and its baseline in the same run.
pub(crate) struct Timing {
    pub(crate) engine: Duration,
    pub(crate) baseline: Duration,
}

/// The release binary beside this one.
pub(crate) fn daybook() -> Result<PathBuf> {
    let here = std::env::current_exe()?;
    let built = here.with_file_name("daybook");
    if !built.is_file() {
        bail!(
            "{} is not built; run `cargo build --release` first",
            built.display()
        );
    }
    Ok(built)
}

/// Runs `daybook` and returns how long it took. Fails if the command fails.
pub(crate) fn timed(arguments: &[&str]) -> Result<Duration> {
    let mut command = Command::new(daybook()?);
    let command = command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let began = Instant::now();
    let status = command.status().context("daybook does not start")?;
    let took = began.elapsed();
    if !status.success() {
        bail!("daybook {} ended with {status}", arguments.join(" "));
    }
    Ok(took)
}

/// Runs `daybook` and returns how long it took, and its peak memory in bytes.
pub(crate) fn watched(arguments: &[&str]) -> Result<(Duration, u64)> {
    let began = Instant::now();
    let mut child = Command::new(daybook()?)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .context("daybook does not start")?;
    let mut peak = 0;
    let status = loop {
        peak = peak.max(high_water(child.id()).unwrap_or(0));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    if !status.success() {
        bail!("daybook {} ended with {status}", arguments.join(" "));
    }
    Ok((began.elapsed(), peak))
}

/// The peak resident memory of a process in bytes, as the kernel records it.
pub(crate) fn high_water(pid: u32) -> Option<u64> {
    size_in(&format!("/proc/{pid}/status"), "VmHWM:")
}

/// Resets this process's [`high_water`], where the system supports it.
pub(crate) fn reset_high_water() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The resident memory of a process in bytes.
pub(crate) fn resident(pid: u32) -> Option<u64> {
    size_in(&format!("/proc/{pid}/status"), "VmRSS:")
}

/// The memory of a process in bytes, of which pages that several share count in part (PSS).
pub(crate) fn proportional(pid: u32) -> Option<u64> {
    size_in(&format!("/proc/{pid}/smaps_rollup"), "Pss:")
}

fn size_in(status_file: &str, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(status_file).ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// The middle of several timings.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Milliseconds, with a decimal.
pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

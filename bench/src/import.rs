//! How fast transcripts are taken in, redacted, logged durably and indexed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::process::{median, ms, timed};
use crate::transcripts::{real, write_session};

const RUNS: usize = 5;

/// The first import, against reading and parsing the same lines and nothing more.
pub(crate) fn first() -> Result<()> {
    let made = tempfile::tempdir()?;
    let folder = inputs(made.path())?;
    let files = files(&folder);
    let bytes: u64 = files
        .iter()
        .filter_map(|file| fs::metadata(file).ok())
        .map(|m| m.len())
        .sum();
    let mut imports = Vec::new();
    let mut floors = Vec::new();
    for _ in 0..RUNS {
        let root = tempfile::tempdir()?;
        let root = root.path().join("root").display().to_string();
        imports.push(timed(&[
            "import",
            &folder.display().to_string(),
            "--no-process",
            "--root",
            &root,
        ])?);
        floors.push(parse_only(&files)?);
    }
    let (import, floor) = (median(imports), median(floors));
    let rate = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    println!(
        "  {} files, {:.1} MB of JSONL from {}",
        files.len(),
        bytes as f64 / 1e6,
        folder.display()
    );
    println!(
        "  import, whole process    {:8.1} ms   {:6.1} MB/s   (wanted: 40)",
        ms(import),
        rate(import)
    );
    println!(
        "  floor: parse and discard {:8.1} ms   {:6.1} MB/s   ratio {:.2}",
        ms(floor),
        rate(floor),
        import.as_secs_f64() / floor.as_secs_f64()
    );
    Ok(())
}

/// The second import of the same folder, against starting the program.
pub(crate) fn again() -> Result<()> {
    let made = tempfile::tempdir()?;
    for n in 0..40 {
        write_session(&made.path().join(format!("{n}.jsonl")), n, 500)?;
    }
    let folder = made.path().display().to_string();
    let root = tempfile::tempdir()?;
    let root = root.path().join("root").display().to_string();
    timed(&["import", &folder, "--root", &root])?;
    let mut seconds = Vec::new();
    let mut starts = Vec::new();
    for _ in 0..11 {
        seconds.push(timed(&["import", &folder, "--root", &root])?);
        starts.push(timed(&["--version"])?);
    }
    let (second, start) = (median(seconds), median(starts));
    println!(
        "  second import of 40 files {:6.1} ms   (wanted: under 100)",
        ms(second)
    );
    println!(
        "  --version                 {:6.1} ms   ratio {:.1}",
        ms(start),
        second.as_secs_f64() / start.as_secs_f64()
    );
    Ok(())
}

fn inputs(made: &Path) -> Result<PathBuf> {
    if let Some(folder) = real() {
        return Ok(folder);
    }
    for n in 0..20 {
        write_session(&made.join(format!("{n}.jsonl")), n, 3_000)?;
    }
    Ok(made.to_owned())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

fn parse_only(files: &[PathBuf]) -> Result<Duration> {
    let began = Instant::now();
    let mut lines = 0_u64;
    for file in files {
        for line in fs::read(file)?.split(|byte| *byte == b'\n') {
            lines += u64::from(serde_json::from_slice::<serde_json::Value>(line).is_ok());
        }
    }
    std::hint::black_box(lines);
    Ok(began.elapsed())
}

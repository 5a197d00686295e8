//! Checks that a damaged transcript affects no other transcript.
//!
//! Transcripts of every format are damaged by seeded scripts, and imported in folders with a sound one among them. An
//! import must succeed in time, report every file, and import the sound one completely; no reader or extractor may panic.
//! `MUTATIONS=200000` runs more, `MUTATIONS_SEED=7` others.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use daybook_testkit::mutation::{TRANSCRIPTS, mutate};
use serde_json::Value;

use crate::process::daybook;
use crate::transcripts::{SeededNumbers, real, write_session};

/// Damaged transcripts, unless `MUTATIONS` says otherwise.
const COUNT: u64 = 20_000;
/// Damaged transcripts in one folder.
const FOLDER: u64 = 250;
/// Events of the sound session in each folder.
const EVENTS: u64 = 20;
/// Longest time for a folder, and so for any single file.
const LONGEST: Duration = Duration::from_secs(5);
/// One in so many may be a transcript of an agent without a reader.
const STRANGE: u64 = 5;
/// Larger files beside the project are not used as seeds, because size is not tested here.
const SEED_BYTES: u64 = 64 * 1024;

/// Totals over all folders.
#[derive(Default)]
struct MutationTotals {
    statuses: BTreeMap<String, u64>,
    longest: Duration,
    panics: Vec<String>,
    slow: Vec<String>,
    ended: Vec<String>,
}

/// Imports them, folder by folder.
pub(crate) fn import() -> Result<()> {
    let count = number("MUTATIONS", COUNT)?;
    let seed = number("MUTATIONS_SEED", 20_261_122)?;
    let read = TRANSCRIPTS.map(|(_, bytes)| bytes);
    let others = transcripts_of_others()?;
    let all: Vec<&[u8]> = read
        .into_iter()
        .chain(others.iter().map(Vec::as_slice))
        .collect();
    let mut totals = MutationTotals::default();
    let began = Instant::now();
    for folder in 0..count.div_ceil(FOLDER) {
        let place = tempfile::tempdir()?;
        let files = place.path().join("transcripts");
        fs::create_dir(&files)?;
        for n in folder * FOLDER..count.min((folder + 1) * FOLDER) {
            let mut numbers = SeededNumbers(seed.wrapping_add(n));
            // Few edits more often than many, so that most files are still taken for what they were.
            let longest = numbers.next() % 16;
            let length = 4 + longest * longest;
            let script: Vec<u8> = (0..length).map(|_| numbers.next() as u8).collect();
            let seeds = if n % STRANGE == 0 {
                all.as_slice()
            } else {
                &read
            };
            fs::write(files.join(format!("{n}.jsonl")), mutate(seeds, &script))?;
        }
        write_session(
            &files.join("sound.jsonl"),
            seed.wrapping_add(folder),
            EVENTS,
        )?;
        take_in(&files, &place.path().join("root"), folder, &mut totals)?;
    }
    totals.print(count, began.elapsed());
    let faults = totals.panics.len() + totals.slow.len() + totals.ended.len();
    ensure!(faults == 0, "{faults} of these should not be");
    Ok(())
}

fn number(variable: &str, otherwise: u64) -> Result<u64> {
    match std::env::var(variable) {
        Ok(text) => text
            .parse()
            .with_context(|| format!("{variable}={text} is no number")),
        Err(_) => Ok(otherwise),
    }
}

/// Small transcripts of other agents, where they are beside the project.
fn transcripts_of_others() -> Result<Vec<Vec<u8>>> {
    let mut seeds = Vec::new();
    let mut paths = Vec::new();
    if let Some(folder) = real() {
        collect(&folder.join("fixtures"), &mut paths)?;
    }
    paths.sort();
    for path in paths {
        if fs::metadata(&path)?.len() <= SEED_BYTES {
            seeds.push(fs::read(path)?);
        }
    }
    Ok(seeds)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => collect(&path, paths)?,
            false => paths.push(path),
        }
    }
    Ok(())
}

/// Imports one folder into a data folder of its own, and adds the result to the totals.
fn take_in(files: &Path, root: &Path, folder: u64, totals: &mut MutationTotals) -> Result<()> {
    let began = Instant::now();
    let output = Command::new(daybook()?)
        .args(["import", "--json", "--root"])
        .args([root, files])
        .stdin(Stdio::null())
        .output()?;
    let took = began.elapsed();
    totals.longest = totals.longest.max(took);
    if took > LONGEST {
        totals.slow.push(format!("folder {folder} took {took:?}"));
    }
    let complaints = String::from_utf8_lossy(&output.stderr);
    let panics = complaints.lines().filter(|line| line.contains("panicked"));
    totals
        .panics
        .extend(panics.map(|line| format!("folder {folder}: {line}")));
    let Ok(report) = serde_json::from_slice::<Value>(&output.stdout) else {
        let last = complaints.lines().last().unwrap_or_default();
        totals
            .ended
            .push(format!("folder {folder}: {} {last}", output.status));
        return Ok(());
    };
    let reports = report["files"].as_array().context("a list of files")?;
    let expected = fs::read_dir(files)?.count();
    if reports.len() != expected {
        let many = reports.len();
        totals.ended.push(format!(
            "folder {folder}: {many} of {expected} files accounted for"
        ));
    }
    for file in reports {
        let status = file["status"].as_str().unwrap_or("none");
        *totals.statuses.entry(status.to_owned()).or_default() += 1;
        let is_sound = file["path"]
            .as_str()
            .is_some_and(|path| path.ends_with("sound.jsonl"));
        if is_sound && (status != "new" || file["bad_lines"] != 0) {
            bail!("folder {folder}: the sound session was not taken in: {file}");
        }
    }
    Ok(())
}

impl MutationTotals {
    fn print(&self, count: u64, took: Duration) {
        println!(
            "  {count} damaged transcripts in {:.0} s",
            took.as_secs_f64()
        );
        for (status, files) in &self.statuses {
            println!("  {files:>8}  {status}");
        }
        println!(
            "  longest import of a folder of {FOLDER}: {:.2} s   (wanted: under 5)",
            self.longest.as_secs_f64()
        );
        for (what, found) in [
            ("panics", &self.panics),
            ("imports over 5 s", &self.slow),
            ("imports that ended for one file", &self.ended),
        ] {
            println!("  {:>8}  {what}   (wanted: 0)", found.len());
            for line in found.iter().take(20) {
                println!("            {line}");
            }
        }
    }
}

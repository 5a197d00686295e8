//! Counts what the readers find in real transcripts, and prints a sample of human messages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use daybook_engine::transcripts::census::Census;
use daybook_engine::transcripts::item::Via;
use serde_json::Value;

use crate::process::{daybook, timed};
use crate::transcripts::real;

/// How many of a person's words are printed.
const SAMPLE: usize = 20;

/// Counts the transcripts beside the project, by rule.
pub(crate) fn count() -> Result<()> {
    let Some(folder) = real() else {
        println!("  there is no ../shared/data/transcripts here");
        return Ok(());
    };
    let mut files = Vec::new();
    for agent in ["claude-code", "codex"] {
        collect(&folder.join(agent), &mut files)?;
    }
    files.sort_by_key(|path| {
        let size = fs::metadata(path).map_or(0, |file| file.len());
        (std::cmp::Reverse(size), path.clone())
    });
    let census = Census::of(&files)?;
    print(&census);
    sample(&census, &folder);
    projects(&folder)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => collect(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}

fn line(what: &str, n: u64) {
    println!("  {n:>7}  {what}");
}

fn print(census: &Census) {
    line("files, the longest first", census.files);
    line("lines that could not be read", census.bad_lines);
    line("sessions, by the host's id", census.sessions.len() as u64);
    line("files that only repeat a longer one", census.copies);
    line(
        "files that share an id and no event with another",
        census.same_id,
    );
    line("sub-agents' files that joined their session", census.joined);
    line(
        "sub-agents' files whose session is not here",
        census.orphans,
    );
    line("titles, of other sessions for the most part", census.titles);
    line(
        "events that stood in a second file, and count once",
        census.repeated,
    );
    println!("  who said it");
    for (origin, n) in &census.origins {
        line(&format!("  {origin}"), *n);
    }
    println!("  where a person's words were found");
    for (via, n) in &census.human {
        line(&format!("  {}", way(*via)), *n);
    }
    println!("  how calls ended");
    for (status, n) in &census.results {
        line(&format!("  {}", status.unwrap_or("not recorded")), *n);
    }
    let branches: BTreeSet<&String> = census.places.values().flatten().collect();
    let gone = census
        .places
        .keys()
        .filter(|root| !Path::new(root).exists());
    println!("  where");
    line("  checkouts, worktrees folded", census.places.len() as u64);
    line("  of them gone from this machine", gone.count() as u64);
    line("  branches", branches.len() as u64);
}

fn way(via: Via) -> &'static str {
    match via {
        Via::Message => "messages of their own",
        Via::Refusal => "reasons for refusing a call",
        Via::Answer => "answers to questions",
        Via::Queue => "typed while the agent worked",
    }
}

/// Some of each kind, evenly spread, so that the same are printed every time.
fn sample(census: &Census, folder: &Path) {
    println!("  {SAMPLE} of them, for reading");
    let mut by_way: BTreeMap<Via, Vec<_>> = BTreeMap::new();
    for said in &census.said {
        by_way.entry(said.2).or_default().push(said);
    }
    // The rare ways first, so that the common one fills what is left.
    let mut ways: Vec<_> = by_way.into_iter().collect();
    ways.sort_by_key(|(_, said)| said.len());
    let (mut left, mut waiting) = (SAMPLE, ways.len());
    for (via, said) in ways {
        let share = (left / waiting).min(said.len());
        (left, waiting) = (left - share, waiting - 1);
        let step = (said.len() / share.max(1)).max(1);
        for (path, number, _, text) in said.into_iter().step_by(step).take(share) {
            let file = path.strip_prefix(folder).unwrap_or(path).display();
            let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let words: String = words.chars().take(110).collect();
            println!("    {} · {file}:{number}\n      {words}", way(via));
        }
    }
}

/// What the command makes of them.
fn projects(folder: &Path) -> Result<()> {
    let place = tempfile::tempdir()?;
    let root = place.path().join("root").display().to_string();
    timed(&["import", &folder.display().to_string(), "--root", &root])?;
    let listed = Command::new(daybook()?)
        .args(["projects", "list", "--json", "--root", &root])
        .output()?;
    let listed: Value = serde_json::from_slice(&listed.stdout)?;
    let known = listed["projects"]
        .as_object()
        .context("a list of projects")?;
    println!("  projects");
    for (key, facts) in known {
        let many = |name: &str| facts[name].as_array().map_or(0, Vec::len);
        let guessed = if facts["guessed"] == true {
            ", guessed"
        } else {
            ""
        };
        println!(
            "    {key}: {} checkouts ({} gone), {} branches{guessed}",
            many("checkouts"),
            many("gone"),
            many("branches")
        );
    }
    Ok(())
}

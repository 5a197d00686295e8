//! How long a recall takes, as a process, on a large root.

use anyhow::Result;
use tempfile::TempDir;

use crate::process::{median, ms, timed};
use crate::transcripts::{SeededNumbers, write_session};

/// A data folder in `folder` that holds 100,000 events.
pub(crate) fn large_root(folder: &TempDir) -> Result<String> {
    let made = tempfile::tempdir()?;
    for n in 0..50 {
        write_session(&made.path().join(format!("{n}.jsonl")), 1_000 + n, 2_000)?;
    }
    let root = folder.path().join("root").display().to_string();
    timed(&[
        "import",
        &made.path().display().to_string(),
        "--root",
        &root,
    ])?;
    Ok(root)
}

/// Recall on 100,000 events, against starting the program.
pub(crate) fn process() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let root = large_root(&folder)?;
    let mut numbers = SeededNumbers(99);
    let mut questions: Vec<String> = (0..20).map(|_| numbers.sentence(5)).collect();
    questions.push("the and of".to_owned());
    let mut recalls = Vec::new();
    let mut starts = Vec::new();
    for question in &questions {
        recalls.push(timed(&["recall", question, "--root", &root])?);
        starts.push(timed(&["--version"])?);
    }
    let worst = recalls.iter().max().copied().unwrap_or_default();
    let (recall, start) = (median(recalls), median(starts));
    println!(
        "  recall     median {:6.1} ms, worst {:6.1} ms   (wanted: under 30)",
        ms(recall),
        ms(worst)
    );
    println!(
        "  --version  median {:6.1} ms   (wanted: under 5)   ratio {:.1}",
        ms(start),
        recall.as_secs_f64() / start.as_secs_f64()
    );
    Ok(())
}

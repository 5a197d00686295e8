//! How much memory an import takes that is larger than memory should be.

use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::Result;

use crate::process::watched;
use crate::transcripts::{SeededNumbers, write_session};

const GIB: u64 = 1 << 30;
const LONG_LINE: usize = 64 << 20;

/// A file of 1 GiB with one line of 64 MiB in it, against a file of a thousandth of that.
pub(crate) fn large() -> Result<()> {
    let made = tempfile::tempdir()?;
    let (small, large) = (
        made.path().join("small.jsonl"),
        made.path().join("large.jsonl"),
    );
    write_session(&small, 1, 2_000)?;
    write_large(&large)?;
    let mut peaks = Vec::new();
    for file in [&small, &large] {
        let root = tempfile::tempdir()?;
        let root = root.path().join("root").display().to_string();
        let file_name = file.display().to_string();
        let (took, peak) = watched(&["import", &file_name, "--no-process", "--root", &root])?;
        let bytes = std::fs::metadata(file)?.len();
        println!(
            "  {:8.1} MB   {:6.1} s   {:6.1} MB/s   peak {:6.1} MiB",
            bytes as f64 / 1e6,
            took.as_secs_f64(),
            bytes as f64 / 1e6 / took.as_secs_f64(),
            peak as f64 / f64::from(1 << 20)
        );
        peaks.push(peak);
    }
    println!(
        "  wanted: under 200 MiB; ratio of the peaks {:.2}",
        peaks[1] as f64 / peaks[0] as f64
    );
    Ok(())
}

fn write_large(path: &std::path::Path) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut numbers = SeededNumbers(7);
    let filler = numbers.sentence(400);
    let mut written = 0_u64;
    let mut n = 0_u64;
    while written < GIB {
        let long = n == 50_000;
        let text = if long {
            filler.repeat(LONG_LINE / filler.len())
        } else {
            numbers.sentence(120)
        };
        let call = format!("t{n}");
        let line = serde_json::json!({
            "type": "user",
            "uuid": format!("u{n}"),
            "sessionId": "0f0e0d0c-0000-4000-8000-000000000001",
            "cwd": "/home/ada/tidepool",
            "timestamp": "2026-03-02T10:00:00.000Z",
            "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": call, "content": text},
            ]},
            "toolUseResult": {"stdout": filler.repeat(2), "stderr": ""},
        })
        .to_string();
        written += line.len() as u64 + 1;
        writeln!(out, "{line}")?;
        n += 1;
    }
    out.flush()?;
    Ok(())
}

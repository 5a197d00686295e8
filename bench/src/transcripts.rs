//! Transcripts for measurements: real ones if they exist, otherwise generated with a fixed seed.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use daybook_domain::{Scope, SessionId};
use daybook_engine::import::{FileReport, ImportProgress};
use daybook_engine::jobs::WorkProgress;
use serde_json::json;

/// The folder of real transcripts, if it exists beside the project or above it.
pub(crate) fn real() -> Option<PathBuf> {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().skip(1);
    above
        .map(|folder| folder.join("shared/data/transcripts"))
        .find(|folder| folder.is_dir())
}

/// Discards the progress of an import and of work.
pub(crate) struct DiscardProgress;

impl ImportProgress for DiscardProgress {
    fn bytes(&self, _: u64) {}
    fn file(&self, _: &FileReport) {}
}

impl WorkProgress for DiscardProgress {
    fn session_read(&self, _: &SessionId) {}
    fn scope_written(&self, _: &Scope) {}
}

/// A small pseudo-random generator with the same sequence on every machine.
pub(crate) struct SeededNumbers(pub(crate) u64);

impl SeededNumbers {
    pub(crate) fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A word of a vocabulary of 8,000, common ones often, as in real text.
    pub(crate) fn word(&mut self) -> String {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let rank = (8000_f64.powf(share)) as u64;
        let letters = "etaoinshrdlu";
        let mut word = String::new();
        let mut rest = rank * 7 + 3;
        while rest > 0 {
            let at = (rest % 12) as usize;
            word.push_str(&letters[at..=at]);
            rest /= 12;
        }
        word
    }

    pub(crate) fn sentence(&mut self, words: u64) -> String {
        (0..words)
            .map(|_| self.word())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// Writes one Claude Code session of `events` events. Returns its size in bytes.
pub(crate) fn write_session(path: &Path, seed: u64, events: u64) -> Result<u64> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut numbers = SeededNumbers(seed);
    let session = format!("{:08x}-0000-4000-8000-{:012x}", numbers.next() as u32, seed);
    let mut bytes = 0;
    for n in 0..events {
        let line = line(&mut numbers, &session, n).to_string();
        bytes += line.len() as u64 + 1;
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(bytes)
}

/// The human messages of such a session, in order.
pub(crate) fn human_messages(seed: u64, events: u64) -> Vec<String> {
    let mut numbers = SeededNumbers(seed);
    numbers.next();
    let lines = (0..events).map(|n| line(&mut numbers, "", n));
    let messages = lines.filter_map(|line| Some(line["message"]["content"].as_str()?.to_owned()));
    messages.collect()
}

fn line(numbers: &mut SeededNumbers, session: &str, n: u64) -> serde_json::Value {
    let (kind, content) = match n % 10 {
        0 => {
            let words = 8 + numbers.below(20);
            ("user", json!(numbers.sentence(words)))
        }
        1 | 4 | 7 => {
            let words = 12 + numbers.below(30);
            (
                "assistant",
                json!([{"type": "text", "text": numbers.sentence(words)}]),
            )
        }
        2 | 5 | 8 => {
            let words = 6 + numbers.below(10);
            let input = json!({"command": numbers.sentence(words)});
            (
                "assistant",
                json!([{"type": "tool_use", "id": format!("t{n}"), "name": "Bash", "input": input}]),
            )
        }
        _ => {
            let words = 30 + numbers.below(120);
            let call = format!("t{}", n - 1);
            (
                "user",
                json!([{"type": "tool_result", "tool_use_id": call, "content": numbers.sentence(words)}]),
            )
        }
    };
    let minute = n / 10 % 60;
    let hour = n / 600 % 24;
    json!({
        "type": kind,
        "uuid": format!("{session}-{n}"),
        "sessionId": session,
        "cwd": "/home/ada/tidepool",
        "gitBranch": "main",
        "timestamp": format!("2026-03-02T{hour:02}:{minute:02}:{:02}.000Z", n % 10 * 6),
        "message": {"role": kind, "content": content},
    })
}

//! Transcripts to measure with: real ones where they are, else made with a fixed seed.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;

/// The folder of real transcripts, if it is beside the project.
pub(crate) fn real() -> Option<PathBuf> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    let folder = project.parent()?.join("shared/data/transcripts");
    folder.is_dir().then_some(folder)
}

/// A small generator of numbers: the same sequence on every machine.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
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

/// Writes one Claude Code session of `events` events and says how many bytes it takes.
pub(crate) fn write_session(path: &Path, seed: u64, events: u64) -> Result<u64> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut numbers = Numbers(seed);
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

fn line(numbers: &mut Numbers, session: &str, n: u64) -> serde_json::Value {
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

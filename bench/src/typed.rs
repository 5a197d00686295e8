//! Compares the readers with labels of a person's typed words in real transcripts.
//!
//! `evaluation/typed.toml` says which words of a file were typed, by fingerprints. A reader finds a text whole or not at
//! all, and each text that it takes for a person's without a label is the host's.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use daybook_engine::transcripts::census::Census;
use serde::Deserialize;

use crate::transcripts::real;

/// Share of the typed words that must be found.
const WANTED: f64 = 0.98;
/// Missed and wrong texts that are named.
const NAMED: usize = 20;

#[derive(Deserialize)]
struct Labels {
    transcript: Vec<LabelledFile>,
}

/// The labels of one file.
#[derive(Deserialize)]
struct LabelledFile {
    file: String,
    part: Part,
    /// `LINE:WORDS:FINGERPRINT` of each text that was typed.
    typed: Vec<String>,
    /// Fingerprints of texts that count for neither side.
    #[serde(default)]
    either: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    Tune,
    Report,
}

/// What the readers found in the files of one host.
#[derive(Default)]
struct Score {
    files: u64,
    words: u64,
    found: u64,
    by_host: u64,
}

/// Scores each host's reader on both parts; fails where the reported part misses what is wanted.
pub(crate) fn compare() -> Result<()> {
    let Some(folder) = real() else {
        println!("  there is no ../shared/data/transcripts here");
        return Ok(());
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../evaluation/typed.toml");
    let text = std::fs::read_to_string(&path).context(path.display().to_string())?;
    let labels: Labels = toml::from_str(&text)?;
    let mut scores: BTreeMap<(Part, String), Score> = BTreeMap::new();
    let mut wrong = Vec::new();
    for file in &labels.transcript {
        let score = scores.entry((file.part, host_of(&file.file))).or_default();
        compare_file(&folder, file, score, &mut wrong)?;
    }
    let mut fails = false;
    for part in [Part::Tune, Part::Report] {
        let of_part = scores.iter().filter(|((of, _), _)| *of == part);
        let of_part: Vec<(&str, &Score)> =
            of_part.map(|((_, host), score)| (&**host, score)).collect();
        let total = print(part, &of_part);
        fails |= part == Part::Report && (total.by_host > 0 || total.share() < WANTED);
    }
    for line in wrong.iter().take(NAMED) {
        println!("  {line}");
    }
    ensure!(
        !fails,
        "the readers miss what is wanted of the reported part"
    );
    Ok(())
}

/// The agent whose samples a file is among.
fn host_of(file: &str) -> String {
    let host = match file.split('/').collect::<Vec<_>>().as_slice() {
        ["fixtures", _, "agents", agent, ..] => agent,
        ["fixtures", ..] => "chat",
        [folder, ..] => folder.trim_end_matches("-large"),
        [] => "",
    };
    host.to_owned()
}

fn compare_file(
    folder: &Path,
    labels: &LabelledFile,
    score: &mut Score,
    wrong: &mut Vec<String>,
) -> Result<()> {
    let census = Census::of(&[folder.join(&labels.file)])?;
    let mut typed: BTreeMap<&str, Vec<(&str, u64)>> = BTreeMap::new();
    for label in &labels.typed {
        let parts: Vec<&str> = label.split(':').collect();
        let [line, words, print] = parts[..] else {
            anyhow::bail!("{}: {label} is no LINE:WORDS:FINGERPRINT", labels.file);
        };
        let words: u64 = words.parse()?;
        score.words += words;
        typed.entry(print).or_default().push((line, words));
    }
    score.files += 1;
    for (_, line, _, text) in &census.said {
        let print = fingerprint(text);
        match typed.get_mut(&*print).and_then(Vec::pop) {
            Some((_, words)) => score.found += words,
            None if labels.either.contains(&print) => {}
            None => {
                score.by_host += 1;
                wrong.push(format!("not typed: {}:{line} ({print})", labels.file));
            }
        }
    }
    for (line, words) in typed.values().flatten() {
        wrong.push(format!("missed: {}:{line}, {words} words", labels.file));
    }
    Ok(())
}

/// FNV-1a over the words of a text with single blanks between them. Lines that stand for an image are none.
fn fingerprint(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("[image"));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let bytes = words.join(" ").into_bytes().into_iter();
    let print = bytes.fold(0x811c_9dc5_u32, |print, byte| {
        (print ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    format!("{print:08x}")
}

impl Score {
    fn share(&self) -> f64 {
        match self.words {
            0 => 1.0,
            words => self.found as f64 / words as f64,
        }
    }

    fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.words += other.words;
        self.found += other.found;
        self.by_host += other.by_host;
    }
}

/// Prints the scores of one part, and their sum, which it returns.
fn print(part: Part, scores: &[(&str, &Score)]) -> Score {
    println!("  {part:?}");
    let mut total = Score::default();
    for (_, score) in scores {
        total.add(score);
    }
    for (host, score) in scores.iter().copied().chain([("all", &total)]) {
        println!(
            "    {host:<12} {:>4} files  {:>6} typed words  {:>6.2} % found  {:>3} texts of the host as a person's",
            score.files,
            score.words,
            score.share() * 100.0,
            score.by_host,
        );
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_of_words_and_not_of_their_layout() {
        assert_eq!(
            fingerprint("count the\n gulls "),
            fingerprint("count the gulls")
        );
        assert_ne!(
            fingerprint("count the gulls"),
            fingerprint("count the gull")
        );
        assert_eq!(fingerprint("a"), "e40c292c");
    }

    #[test]
    fn a_file_belongs_to_the_agent_whose_folder_it_is_in() {
        assert_eq!(host_of("claude-code-large/1.jsonl"), "claude-code");
        assert_eq!(host_of("fixtures/stage0/agents/pi/small.jsonl"), "pi");
        assert_eq!(host_of("fixtures/session_simple.jsonl"), "chat");
    }
}

//! Ten questions that the owner of the real transcripts would ask. Checks that evidence is among the first three answers,
//! and that no answer to a question about what was never discussed is called likely.

use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process::{daybook, timed};
use crate::transcripts::real;

/// Answers that are checked.
const FIRST: usize = 3;

/// A question and its evidence: a session and a range of its lines. `None` for what was never discussed.
struct OwnerQuestion(&'static str, Option<(&'static str, u64, u64)>);

const QUESTIONS: [OwnerQuestion; 10] = [
    OwnerQuestion(
        "how many checkpoints does explain list?",
        Some(("7f78", 650, 700)),
    ),
    OwnerQuestion(
        "why does explain show only checkpoints since the merge from main?",
        Some(("7f78", 600, 640)),
    ),
    OwnerQuestion("what replaces brews in goreleaser?", Some(("48f4", 1, 60))),
    OwnerQuestion(
        "how should the redact tests state what they expect?",
        Some(("768d", 40, 100)),
    ),
    OwnerQuestion(
        "what if a second session creates overlapping files?",
        Some(("a318", 40, 60)),
    ),
    OwnerQuestion("what is ENT-129 about?", Some(("7f78", 229, 263))),
    OwnerQuestion(
        "which shell do we print completion instructions for?",
        Some(("2859", 1, 40)),
    ),
    OwnerQuestion("which database do we use?", None),
    OwnerQuestion("how do we deploy to kubernetes?", None),
    OwnerQuestion("what did the customer say about the invoice?", None),
];

/// Asks all questions in a fresh memory.
pub(crate) fn ask() -> Result<()> {
    let Some(folder) = real() else {
        println!("  there is no ../shared/data/transcripts here");
        return Ok(());
    };
    let place = tempfile::tempdir()?;
    let root = place.path().join("root").display().to_string();
    timed(&["import", &folder.display().to_string(), "--root", &root])?;
    let mut right = 0;
    for OwnerQuestion(question, evidence) in &QUESTIONS {
        let output = Command::new(daybook()?)
            .args(["recall", question, "--json", "--root", &root])
            .output()?;
        let answer: Value = serde_json::from_slice(&output.stdout)?;
        let results = answer["results"].as_array().context("a list of results")?;
        let place = match evidence {
            None => (answer["confidence"] != "likely").then_some(0),
            Some(lines) => results
                .iter()
                .take(FIRST)
                .position(|found| rests_on(found, lines)),
        };
        right += u32::from(place.is_some());
        let verdict = match (place, evidence) {
            (Some(_), None) => "not likely, rightly".to_owned(),
            (Some(at), Some(_)) => format!("evidence in answer {}", at + 1),
            (None, _) => "MISSED".to_owned(),
        };
        println!("  {verdict:20} {question}");
        if let Some(first) = results.first() {
            let text = first["text"].as_str().unwrap_or_default();
            let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let text: String = text.chars().take(120).collect();
            println!(
                "  {:20}   {text} [{}]",
                "",
                first["citation"].as_str().unwrap_or("-")
            );
        }
    }
    println!("  {right} of {}   (wanted: at least 8)", QUESTIONS.len());
    Ok(())
}

/// Whether an answer's citation names one of the lines.
fn rests_on(found: &Value, (session, from, to): &(&str, u64, u64)) -> bool {
    let Some((label, lines)) = found["citation"].as_str().and_then(|c| c.split_once(":L")) else {
        return false;
    };
    let cited = lines
        .split([',', '-'])
        .filter_map(|line| line.parse::<u64>().ok());
    label == *session && cited.into_iter().any(|line| (*from..=*to).contains(&line))
}
